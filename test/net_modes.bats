# The network modes, chosen by a settings file alone, without options.
# root-in-turn: root may bind low ports and make devices, which the box must not inherit

UNJUDGED=1
load helpers
load attack/attack
load internet

settings()
{
	mkdir -p "$HOME/.config/agentbox"
	cat >"$HOME/.config/agentbox/config.json"
}

tries='
	curl -sS -m 60 http://allowed.test/ 2>/dev/null || echo "allowed.test: no"
	curl -s -m 60 -o /dev/null -w "other.test: %{http_code}\n" http://other.test/ || echo "other.test: no"
	echo x 2>/dev/null >inside && echo "workspace: written" || echo "workspace: no"
	echo x 2>/dev/null >"$HOME/../outside" && echo "elsewhere: written" || echo "elsewhere: no"'

@test "modes: the whitelist mode reaches what is listed and writes the workspace" {
	settings <<-'END'
	{ "extends": "workspace-write-whitelist",
	  "network": { "allow": ["allowed.test"] } }
	END
	agentbox_split run -- sh -c "$tries"
	[ "$status" -eq 0 ]
	expect <<-END
	hello allowed.test http HTTP/1.1
	other.test: 403
	workspace: written
	elsewhere: no
	END
	# Which mode it was is on record, and nobody was asked.
	[ "$(audit 'select(.kind == "start") | .policy.profile')" = workspace-write-whitelist ]
	[ "$(audit 'select(.kind == "violation" and .domain) | .domain' | sort -u)" = other.test ]
}

@test "modes: without the whitelist nothing is reached" {
	settings <<-'END'
	{ "extends": "workspace-write" }
	END
	agentbox_split run -- sh -c "$tries"
	[ "$status" -eq 0 ]
	expect <<-END
	allowed.test: no
	other.test: 000
	other.test: no
	workspace: written
	elsewhere: no
	END
}

@test "modes: the read-only mode writes nothing either" {
	settings <<-'END'
	{ "extends": "read-only" }
	END
	agentbox_split run -- sh -c "$tries"
	[ "$status" -eq 0 ]
	expect <<-END
	allowed.test: no
	other.test: 000
	other.test: no
	workspace: no
	elsewhere: no
	END
}

@test "modes: a mode that does not exist is an error, and nothing runs" {
	settings <<-'END'
	{ "extends": "workspace-whitelist" }
	END
	agentbox_split run -- touch made
	[ "$status" -eq 125 ]
	[ ! -e made ]
	[[ "$stderr" == *"workspace-whitelist"* ]]
}
