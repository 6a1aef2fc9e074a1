# Asking for approval on a terminal, and remembered approvals. `git` is a stub
# that only prints that it was run.

load helpers

setup()
{
	need program:tmux
	box_setup
	mkdir "$HOME/bin"
	printf '#!/bin/sh\necho "ran: git $*"\n' >"$HOME/bin/git"
	chmod +x "$HOME/bin/git"
	export PATH=$HOME/bin:$PATH AGENTBOX
	cat >"$TEST_DIR/rc" <<-'RC'
	PS1='outer> '
	unset PROMPT_COMMAND HISTFILE
	bind 'set enable-bracketed-paste off' 2>/dev/null
	RC
}

# A shell on the terminal: a session of its own.
outer_shell()
{
	tty_start bash --noprofile --rcfile "$TEST_DIR/rc" -i
	tty_wait '^outer>'
}

# A line typed and sent, without an answer that came too late for its question.
tty_line()
{
	tty_key C-u
	tty_type "$1"
	tty_key Enter
}

unanswered()
{
	tty_matches '\[o\]nce .*\[\?\] more$'
}

# Press a key once the question is there and can have been read.
press()
{
	wait_for 90 unanswered
	sleep "${2:-1}"
	tty_key "$1"
}

# The same, until the key is accepted as an answer. Keys count only some time
# after the question was drawn; on a slow machine the first one may come too
# early.
answer()
{
	local again

	press "$1" 0.4
	for again in {1..18}; do
		wait_for 5 eval '! unanswered' && return 0
		tty_key "$1"
	done
	return 1
}

# press_until KEY REGEX: press KEY until the screen matches. A key that is read
# together with others is not an answer, which happens on a slow machine.
press_until()
{
	local again

	for again in {1..18}; do
		sleep 0.4
		tty_key "$1"
		wait_for 5 tty_matches "$2" && return 0
	done
	return 1
}

asked()
{
	tty_screen | grep -c 'approval needed'
}

@test "asking: shows the command, the reason, the rule and the folder; once is once" {
	outer_shell
	tty_line '$AGENTBOX run -- git push origin; echo "status=$?"'
	answer o
	tty_wait '^status=0'
	tty_wait '^agentbox: approval needed: git push origin$'
	tty_wait '  rule git-publish$'
	tty_wait "^          in $(cut -c1-60 <<<"$WORKSPACE")"
	tty_wait '\[\?\] more  once$'
	tty_wait '^ran: git push origin'
	tty_line '$AGENTBOX run -- git push origin; echo "status=$?"'
	answer n
	tty_wait '^status=126'
	[ "$(asked)" -eq 2 ]
}

@test "asking: no is no, and is remembered for the session" {
	outer_shell
	tty_line '$AGENTBOX run -- git push; echo "status=$?"'
	answer n
	tty_wait '^status=126'
	tty_wait 'you answered no'
	tty_line 'clear; $AGENTBOX run -- git push; echo "second=$?"'
	tty_wait '^second=126'
	tty_wait 'you answered no in this session'
	tty_line '$AGENTBOX run --yes -- git push; echo "third=$?"'
	tty_wait '^third=126'
	tty_line 'clear; $AGENTBOX approvals revoke --session; $AGENTBOX run -- git push; echo "fourth=$?"'
	answer o
	tty_wait '^fourth=0'
}

@test "asking: a no is another session's own" {
	outer_shell
	tty_line '$AGENTBOX run -- git push; echo "status=$?"'
	answer n
	tty_wait '^status=126'
	tty_line 'clear; setsid -w $AGENTBOX run --yes -- git push; echo "second=$?"'
	tty_wait '^second=0'
}

@test "asking: session holds in the same session, for this command, folder and policy" {
	outer_shell
	tty_line '$AGENTBOX run -- git push; echo "status=$?"'
	answer s
	tty_wait '^status=0'
	tty_line 'clear; $AGENTBOX run -- git push; echo "again=$?"'
	tty_wait '^again=0'
	[ "$(asked)" -eq 1 ]
	tty_line 'clear; setsid -w $AGENTBOX run -- git push; echo "session=$?"'
	tty_wait '^session=126'
	tty_line 'clear; $AGENTBOX run -- git push x; echo "command=$?"'
	answer C-c
	tty_wait '^command=126'
	tty_line 'clear; mkdir sub; cd sub; $AGENTBOX run -- git push; echo "folder=$?"'
	answer C-c
	tty_wait '^folder=126'
	tty_line 'clear; cd ..; $AGENTBOX run --net allowed -- git push; echo "policy=$?"'
	answer C-c
	tty_wait '^policy=126'
	tty_line 'clear; $AGENTBOX run -- git push; echo "still=$?"'
	tty_wait '^still=0'
}

@test "asking: always holds in every session, until it expires or is revoked" {
	outer_shell
	tty_line '$AGENTBOX run -- git push; echo "status=$?"'
	answer a
	tty_wait '^status=0'
	[ "$(stat -c %a "$AGENTBOX_STATE/approvals.json")" = 600 ]
	tty_line 'clear; setsid -w $AGENTBOX run -- git push; echo "session=$?"'
	tty_wait '^session=0'
	cp "$AGENTBOX_STATE/approvals.json" "$TEST_DIR/kept"
	sed -i 's/"expires":[0-9]*/"expires":1000000000/' "$AGENTBOX_STATE/approvals.json"
	tty_line 'clear; setsid -w $AGENTBOX run -- git push; echo "expired=$?"'
	tty_wait '^expired=126'
	cat "$TEST_DIR/kept" >"$AGENTBOX_STATE/approvals.json"
	run "$AGENTBOX" approvals list
	echo "$output"
	[[ "$output" == *"git push"*"in $WORKSPACE, rule git-publish"* ]]
	run "$AGENTBOX" approvals revoke "$(awk 'NR == 2 { print $1 }' <<<"$output")"
	[ "$status" -eq 0 ]
	tty_line 'clear; setsid -w $AGENTBOX run -- git push; echo "revoked=$?"'
	tty_wait '^revoked=126'
	run "$AGENTBOX" approvals list
	[ "$output" = "no remembered answers" ]
}

@test "asking: Ctrl-C, Ctrl-D and Escape mean no, and are not remembered" {
	outer_shell
	local key
	for key in C-c C-d Escape; do
		tty_line 'clear; $AGENTBOX run -- git push; echo "status=$?"'
		answer "$key"
		tty_wait '^status=126'
		tty_wait 'no answer was given'
	done
	tty_line 'clear; $AGENTBOX run -- git push; echo "last=$?"'
	answer o
	tty_wait '^last=0'
}

@test "asking: other keys mean nothing" {
	outer_shell
	tty_line '$AGENTBOX run -- git push; echo "status=$?"'
	press Enter
	local key
	for key in y O A Space Up Down Left; do
		tty_key "$key"
		sleep 0.05
	done
	tty_type 'oo'
	sleep 0.3
	! tty_matches '^status=' || false
	press_until o '^status=0'
}

@test "asking: what was typed before the question does not answer it" {
	outer_shell
	tty_line 'sleep 1; $AGENTBOX run -- git push; echo "status=$?"'
	tty_type 'oooo'
	tty_wait '\[o\]nce .*more$'
	tty_type 'oooo'
	sleep 0.5
	! tty_matches '^status=' || false
	press_until n '^status=126'
}

@test "asking: ? says more and asks again" {
	outer_shell
	tty_line '$AGENTBOX run -c "true && git push"; echo "status=$?"'
	wait_for 90 unanswered
	press_until '?' 'because of this part'
	tty_wait '^          \| git push'
	tty_wait '30 days'
	answer o
	tty_wait '^status=0'
}

@test "asking: lines of a command cannot be taken for ours" {
	outer_shell
	tty_line "\$AGENTBOX run -c \$'echo \\e[1A\\n          [o]nce\\ngit push'; echo \"status=\$?\""
	tty_wait '^          \| echo \\x1b\[1A'
	tty_wait '^          \|           \[o\]nce'
	tty_wait '^          \| git push'
	answer C-c
	tty_wait '^status=126'
}

@test "asking: also when 0 to 2 are something else, and the command gets none of it" {
	outer_shell
	printf '#!/bin/sh\necho "ran: $(cat)"\n' >"$HOME/bin/git"
	tty_line 'echo input | $AGENTBOX run -- git push >out 2>err; echo "status=$?"'
	answer o
	tty_wait '^status=0'
	[ "$(cat out)" = "ran: input" ]
	[ ! -s err ]
}

@test "asking: not in the background, where it is refused" {
	outer_shell
	tty_line '$AGENTBOX run -- git push & wait $!; echo "status=$?"'
	tty_wait '^status=126'
	tty_wait 'in the background cannot ask'
	[ "$(asked)" -eq 0 ]
}

@test "asking: the terminal is as it was, also after a signal" {
	outer_shell
	tty_line 'stty -a >before; $AGENTBOX run -- git push; stty -a >after; echo "status=$?"'
	answer o
	tty_wait '^status=0'
	diff before after
	tty_line 'clear; $AGENTBOX run -- git push; echo "status=$?"; stty -a >after; echo ended'
	tty_wait '\[o\]nce .*more$'
	local tty
	tty=$(tty_tmux display-message -p '#{pane_tty}')
	pkill -TERM -t "${tty#/dev/}" -x agentbox
	tty_wait '^status=143'
	tty_wait '^ended'
	diff before after
}

@test "asking: Ctrl-Z stops it, and in the foreground it asks again" {
	outer_shell
	tty_line 'stty -a >before; $AGENTBOX run -- git push'
	wait_for 90 unanswered
	press_until C-z 'Stopped'
	# The old question is not the new one.
	tty_line 'stty -a >after; clear; echo cleared'
	tty_wait '^cleared'
	tty_tmux clear-history
	tty_line 'fg; echo "status=$?"'
	answer o
	tty_wait '^status=0'
	diff before after
}

@test "asking: a terminal that goes away means no" {
	outer_shell
	tty_line 'trap "" HUP; $AGENTBOX run -- git push; echo $? >status'
	tty_wait '\[o\]nce .*more$'
	tty_stop
	wait_for 90 test -s status
	[ "$(cat status)" -eq 126 ]
}

@test "asking: who was not asked has nothing remembered" {
	agentbox approvals list
	[ "$status" -eq 0 ]
	[ "$output" = "no remembered answers" ]
	agentbox approvals list --json
	[ "$output" = "[]" ]
	# Without a word it is the list.
	agentbox approvals
	[ "$status" -eq 0 ]
	[ "$output" = "no remembered answers" ]
	agentbox approvals --json
	[ "$output" = "[]" ]
	agentbox approvals lists
	[ "$status" -eq 2 ]
	[ ! -e "$AGENTBOX_STATE" ]
}

@test "approvals: the list and what can be revoked" {
	need program:jq
	outer_shell
	tty_line '$AGENTBOX run -- git push; echo "status=$?"'
	answer s
	tty_wait '^status=0'
	tty_line 'clear; $AGENTBOX run -- git push x; echo "second=$?"'
	answer a
	tty_wait '^second=0'
	tty_line 'clear; $AGENTBOX run -- git push y; echo "third=$?"'
	answer n
	tty_wait '^third=126'
	tty_line 'clear; $AGENTBOX approvals list --json >list; echo listed'
	tty_wait '^listed'
	[ "$(jq -r 'sort_by(.command)[] | "\(.command) \(.answer) \(.session)"' list)" = \
		$'git push yes true\ngit push x yes false\ngit push y no true' ]
	jq -e 'all(.cwd == "'"$WORKSPACE"'" and .rule == "git-publish" and (.created | length == 20))' list
	jq -e 'all(.session == (.expires == null))' list
	# From another session those of this one cannot be seen.
	run setsid -w "$AGENTBOX" approvals list --json 3>&-
	[ "$(jq -r '.[].command' <<<"$output")" = "git push x" ]
	tty_line "clear; \$AGENTBOX approvals revoke $(jq -r '.[] | select(.answer == "no").id' list) nosuch; echo \"revoke=\$?\""
	tty_wait '^revoke=1'
	tty_wait ' revoked'
	tty_wait 'no answer with id nosuch'
	tty_line 'clear; $AGENTBOX approvals revoke --all; $AGENTBOX approvals list'
	tty_wait '^2 revoked'
	tty_wait '^no remembered answers'
}

@test "approvals: revoke wants to know which" {
	agentbox approvals revoke
	[ "$status" -eq 2 ]
	agentbox approvals revoke --all a123456
	[ "$status" -eq 2 ]
	agentbox approvals revoke a123456
	[ "$status" -eq 1 ]
}
