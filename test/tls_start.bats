load helpers

# The program as it is, but for one thing: it ends, loudly, where the TLS
# library is initialised. Only a static build has it.
setup()
{
	box_setup
	no_tls=$ROOT/build/test/agentbox-no-tls
	[ -x "$no_tls" ] || skip "this build cannot count it"
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
