load helpers

@test "rules list: every rule has a name, a decision and what it is about" {
	agentbox rules list
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" =~ ^RULE\ +VERDICT\ +WHAT$ ]]
	[ "${#lines[@]}" -gt 40 ]
	run awk 'NR > 1 && $2 !~ /^(allow|sandboxed|escalated|forbidden)$/ || NF < 3' <<<"$output"
	[ -z "$output" ]
}

@test "rules list: the same as JSON" {
	run "$AGENTBOX" rules list
	[ "$status" -eq 0 ]
	local names
	names=$(awk 'NR > 1 { print $1 }' <<<"$output")
	run "$AGENTBOX" rules list --json
	[ "$status" -eq 0 ]
	[ "$(jq -r '.builtin[].name' <<<"$output")" = "$names" ]
	[ "$(jq -c .user <<<"$output")" = '[]' ]
	[ "$(jq -r '.builtin[] | select(.name == "sudo").decision' <<<"$output")" = escalated ]
	[ "$(jq '[.builtin[] | select((.reason | endswith(".")) and .what != "")] | length' <<<"$output")" -eq "$(jq '.builtin | length' <<<"$output")" ]
}

@test "rules list: the user's own come first, with where they come from" {
	mkdir -p "$HOME/.config/agentbox"
	printf '{"commands":{\n"rules":[{"match":"git push *","decision":"forbidden"},\n{"prefix":["a"],"decision":"allow"}],\n"override":{"sudo":"forbidden"}}}' \
		>"$HOME/.config/agentbox/config.json"
	agentbox rules list
	[ "$status" -eq 0 ]
	[[ "${lines[1]}" =~ ^user\ +forbidden\ +'git push *'\ +.*config.json:2$ ]]
	[[ "${lines[2]}" =~ ^user\ +allow\ +'a ...'\ +.*config.json:3$ ]]
	grep -qE '^sudo +forbidden .*\(built in: escalated; .*config.json:4\)$' <<<"$output"
	run "$AGENTBOX" rules list --json
	[ "$(jq -r '.user[0].match' <<<"$output")" = 'git push *' ]
	[ "$(jq -r '.builtin[] | select(.name == "sudo") | .decision + " " + .builtin' <<<"$output")" = 'forbidden escalated' ]
}

@test "rules list: says what a project that is not trusted adds, and what not" {
	printf '{"commands":{"rules":[{"match":"x","decision":"allow"},{"match":"y","decision":"forbidden"}]}}' >.agentbox.json
	run --separate-stderr "$AGENTBOX" rules list
	[ "$status" -eq 0 ]
	[[ "${lines[1]}" == user*forbidden*y*"not trusted"* ]]
	[[ "$stderr" == *"asks for more (1 key): agentbox trust"* ]]
}

@test "rules: a wrong word or option is a mistake" {
	agentbox rules
	[ "$status" -eq 2 ]
	agentbox rules lst
	[ "$status" -eq 2 ]
	[[ "$output" == *"did you mean rules list?"* ]]
	agentbox rules list extra
	[ "$status" -eq 2 ]
}
