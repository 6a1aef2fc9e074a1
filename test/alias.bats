# once: it prints the same lines for every user
# unsanitized: it prints two lines
load helpers

@test "alias: a program with a profile of its name gets it" {
	agentbox alias claude
	[ "$status" -eq 0 ]
	[ "$output" = 'claude() { agentbox run --profile claude -- claude "$@"; }' ]
}

@test "alias: any other program is run by the default profile" {
	agentbox alias cursor-agent aider
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = 'cursor-agent() { agentbox run -- cursor-agent "$@"; }' ]
	[ "${lines[1]}" = 'aider() { agentbox run -- aider "$@"; }' ]
}

@test "alias: what is printed works in bash" {
	run bash -c "PATH=$(dirname "$AGENTBOX"):\$PATH; eval \"\$(agentbox alias printf)\"; cd '$WORKSPACE' && printf '%s.' 'a b' c"
	[ "$status" -eq 0 ]
	[ "$output" = "a b.c." ]
}

@test "alias: fish has words of its own" {
	agentbox alias --fish claude
	[ "$output" = 'function claude; agentbox run --profile claude -- claude $argv; end' ]
}

@test "alias: what is not a name is refused, and nothing is printed" {
	for name in 'a;b' '$(id)' '-x' 'a b' ''; do
		agentbox alias -- claude "$name"
		[ "$status" -eq 2 ]
		[[ "$output" != *'()'* ]]
	done
}
