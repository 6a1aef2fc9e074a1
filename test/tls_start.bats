# A run without TLS does not initialize it.
# unsanitized: it applies to a static build only
# root-in-turn: root may bind low ports and make devices, which the box must not inherit
load helpers

# The program as it is, but for one thing: it ends, loudly, where the TLS
# library is initialised. Only a static build has it.
setup()
{
	box_setup
	no_tls=$ROOT/build/test/agentbox-no-tls
	[ -x "$no_tls" ] || lacks "this build cannot count it"
}

without_tls()
{
	run "$no_tls" "$@"
	echo "$output"
	[[ "$output" != *"TLS is initialised"* ]]
}

@test "tls: what runs nothing does not initialise it" {
	without_tls --version
	[ "$status" -eq 0 ]
	without_tls check ls
	[ "$status" -eq 0 ]
	without_tls config show
	[ "$status" -eq 0 ]
	without_tls rules list
	[ "$status" -eq 0 ]
}

@test "tls: a run without secrets does not initialise it" {
	need userns
	without_tls run -- echo done
	[ "$status" -eq 0 ]
	[ "$output" = done ]
	without_tls run --net blocked -- echo done
	[ "$status" -eq 0 ]
	[ "$output" = done ]
}

@test "tls: a filtered run without secrets does not initialise it" {
	need userns
	without_tls run --net filtered --allow example.com -- echo done
	[ "$status" -eq 0 ]
	[ "$output" = done ]
}

@test "tls: secrets and rules about paths do, and would be counted" {
	need userns
	OPENAI_API_KEY=sk-made-up-0123456789 run "$no_tls" run --secret OPENAI_API_KEY -- echo done
	[ "$status" -eq 97 ]
	[ "$output" = "TLS is initialised" ]
	mkdir -p "$HOME/.config/agentbox"
	echo '{ "network": { "http": [{ "host": "a.example", "methods": ["GET"] }] } }' \
		>"$HOME/.config/agentbox/config.json"
	run "$no_tls" run -- echo done
	[ "$status" -eq 97 ]
}
