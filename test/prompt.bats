# unsanitized: unit tests and fuzz targets cover its parts
# A question about a host that is on no list appears on the terminal of the
# command. Nothing in the box can draw, cover or answer it.
load helpers
load internet
load screen

# box_on_terminal ARG...: agentbox run --unknown ask ARG... on a terminal.
box_on_terminal()
{
	local -a WAY

	find_way
	tty_start "${WAY[@]}" "$AGENTBOX" run --unknown ask "$@"
}

# The line and its end are written together: a message may come at any time.
fetch="curl -s -o /dev/null -w 'got=%{http_code}\\n' --max-time 200 http://other.test/; echo"

# The question, and long enough for a person to have read it.
question()
{
	tty_wait 'wants' && tty_wait "$1"
	read_it
}

alternate_screen()
{
	[ "$(tty_tmux display-message -p '#{alternate_on}')" = "$1" ]
}

records()
{
	jq -r "$1" "$AGENTBOX_STATE"/runs/*/audit.jsonl
}

@test "prompt: yes lets the request through, and the screen comes back" {
	box_on_terminal -- sh -c "echo before; $fetch"
	question 'other.test:80'
	# Who it is comes a moment later.
	tty_wait 'curl \(pid [0-9]+, started by (da|ba)?sh\)'
	tty_matches '\[o\]nce +\[r\]un +\[p\]roject +\[a\]lways +\[n\]o +\[d\]eny always'
	! tty_matches '^before' || false
	tty_key o
	tty_end
	[ "$status" -eq 0 ]
	[[ "$output" == *"before"*"got=200"* ]]
	[[ "$output" != *"wants"* ]]
	[ "$(records 'select(.kind == "question") | "\(.answer) \(.by)"')" = "once terminal" ]
}

@test "prompt: no is a 403 with an id that explains itself" {
	box_on_terminal -- sh -c "$fetch"
	question 'other.test:80'
	tty_key n
	tty_end
	[[ "$output" == *"got=403"* ]]
	[ "$(records 'select(.kind == "question") | "\(.answer) \(.by)"')" = "no terminal" ]
}

@test "prompt: once is asked again, for the run is not" {
	# Not before the first question has left the screen.
	box_on_terminal -- sh -c "$fetch; until [ -e go ]; do sleep 0.05; done; $fetch; $fetch"
	question 'other.test:80'
	tty_key o
	tty_wait '^got=200'
	: >go
	question 'other.test:80'
	tty_key r
	tty_end
	[ "$(grep -o 'got=200' <<<"$output" | wc -l)" -eq 3 ]
}

@test "prompt: always is in the user's settings afterwards" {
	box_on_terminal -- sh -c "$fetch"
	question 'other.test:80'
	tty_key a
	tty_end
	[[ "$output" == *"got=200"* ]]
	# Each line begins where lines begin.
	grep -q '^agentbox: other.test is allowed in' <<<"$output"
	grep -q '^          +  "network": {' <<<"$output"
	grep -q '^          +    "allow": \["other.test"\]' <<<"$output"
	jq -e '.network.allow | index("other.test") or index("other.test:80")' \
		"$HOME/.config/agentbox/config.json"
}

@test "prompt: project is in its settings when the run has ended, and trusted" {
	box_on_terminal -- sh -c "$fetch; test ! -e .agentbox.json && echo not-yet"
	question 'other.test:80'
	tty_key p
	tty_end
	[[ "$output" == *"got=200"*"not-yet"* ]]
	[[ "$(unwrap)" == *"other.test is allowed in $PWD/.agentbox.json from now on:"* ]]
	[ "$(jq -c .network.allow .agentbox.json)" = '["other.test"]' ]
	! grep -q other.test "$HOME/.config/agentbox/config.json" || false
	# The next run does not ask; one that changed it since would.
	agentbox run --unknown deny -- sh -c "$fetch"
	[[ "$output" == *"got=200"* ]]
	echo >>.agentbox.json
	agentbox run --unknown deny -- sh -c "$fetch"
	[[ "$output" == *"got=403"* ]]
}

@test "prompt: deny always is in the user's settings, and is not asked about" {
	box_on_terminal -- sh -c "$fetch; ${fetch/:\/\/other.test/:\/\/other.test:8080}"
	question 'other.test:80'
	tty_key d
	tty_end
	[ "$(grep -o 'got=403' <<<"$output" | wc -l)" -eq 2 ]
	[[ "$(unwrap)" == *"other.test is denied in "* ]]
	# Its own answer is not told as a change by somebody else.
	[[ "$output" != *"settings have changed"* ]]
	[ "$(jq -c .network.deny "$HOME/.config/agentbox/config.json")" = '["other.test"]' ]
	[ "$(records 'select(.kind == "question") | .answer' | wc -l)" -eq 1 ]
	# Nothing is advised that this entry would override.
	agentbox why last
	[[ "$output" == *" --always"*"agentbox deny other.test --undo"* ]]
	[[ "$output" != *"--project"* && "$output" != *"run --allow"* ]]
	agentbox deny other.test --undo
	agentbox why last
	[[ "$output" == *"--project"* ]]
}

@test "prompt: a group is allowed with its other hosts" {
	box_on_terminal -- sh -c "curl -s -o /dev/null --max-time 200 http://pypi.org/; curl -s -o /dev/null -w 'then=%{http_code}\\n' --max-time 200 http://files.pythonhosted.org/"
	question 'pypi.org:80'
	tty_wait '\[g\]roup @pypi'
	tty_key g
	tty_end
	# Nobody was asked about the second one, which does not exist here.
	[[ "$output" == *"then=502"* ]]
	[ "$(records 'select(.kind == "question") | "\(.domain) \(.answer)"')" = "pypi.org run" ]
	[ "$(records 'select(.kind == "grant") | .entry' | sort | paste -sd' ')" = "*.pypi.org *.pythonhosted.org pypi.org" ]
}

@test "prompt: a quiet host is denied without a question or a line, another one is asked about" {
	jq '.network.quiet = ["other.test"]' "$HOME/.config/agentbox/config.json" >settings
	cp settings "$HOME/.config/agentbox/config.json"
	box_on_terminal -- sh -c "$fetch; ${fetch/other/v4}"
	question 'v4.test:80'
	tty_key o
	tty_end
	[[ "$output" == *"got=403"*"got=200"* ]]
	[[ "$output" != *"denied"* ]]
	[ "$(records 'select(.kind == "violation") | "\(.domain) \(.rule)"')" = "other.test network.quiet" ]
	[ "$(records 'select(.kind == "question") | .domain')" = v4.test ]
}

@test "prompt: Ctrl-C is a no and does not interrupt the command" {
	box_on_terminal -- sh -c "$fetch; echo went-on; exec sleep 100"
	question 'other.test:80'
	tty_key C-c
	tty_wait '^went-on'
	tty_matches 'got=403'
	# Afterwards it does what it always does.
	tty_key C-c
	tty_end
	[ "$status" -eq 130 ]
}

@test "prompt: [?] shows all there is to know" {
	box_on_terminal -- sh -c "$fetch"
	question 'other.test:80'
	tty_key '?'
	tty_wait 'agentbox allow [a-z2-9]+-[0-9]+'
	tty_wait '\| curl -s -o /dev/null'
	tty_key n
	tty_end
	[[ "$output" == *"got=403"* ]]
}

@test "prompt: what the box writes meanwhile is shown afterwards" {
	box_on_terminal -- sh -c "(until [ -e go ]; do sleep 0.05; done; printf '\\033[2J\\033[Hagentbox: all is well\\n'; : >printed) & $fetch; wait"
	question 'other.test:80'
	: >go
	wait_for 90 test -e printed
	sleep 0.2
	tty_matches 'wants'
	! tty_matches 'all is well' || false
	tty_key o
	tty_end
	[[ "$output" == *"all is well"* ]]
	[[ "$output" == *"got=200"* ]]
}

@test "prompt: what was typed before is no answer" {
	box_on_terminal -- sh -c "echo ready; read -r line; stty -echo; echo go; until [ -e typed ]; do sleep 0.05; done; $fetch; echo \"line=\$line\""
	tty_wait '^ready'
	tty_type 'first'
	tty_key Enter
	tty_wait '^go'
	tty_type 'oooo'
	: >typed
	question 'other.test:80'
	tty_key n
	tty_end
	[[ "$output" == *"got=403"* ]]
	[[ "$output" == *"line=first"* ]]
}

@test "prompt: a program on the whole screen draws itself again" {
	seq -f 'line-%g' 100 >text
	box_on_terminal -- sh -c "(until [ -e go ]; do sleep 0.05; done; { $fetch; } >got) & LESS= LESSSECURE=1 less text; wait; cat got"
	tty_wait '^line-1$'
	: >go
	question 'other.test:80'
	! tty_matches '^line-1$' || false
	tty_key o
	tty_wait '^line-1$'
	alternate_screen 1
	# A key that comes while it draws is lost in it.
	wait_for 90 eval 'tty_type q; sleep 0.3; tty_ended'
	tty_end
	[[ "$output" == *"got=200"* ]]
}

@test "prompt: it fits a terminal that becomes small" {
	box_on_terminal -- sh -c "$fetch"
	question 'other.test:80'
	tty_resize 30 4
	tty_wait '^other.test:80'
	tty_wait 'o/r/p/a/n/d'
	tty_resize 80 24
	tty_wait 'no answer in [0-9]+ s means no'
	tty_key o
	tty_end
	[[ "$output" == *"got=200"* ]]
}

@test "prompt: an answer from elsewhere takes the question away" {
	box_on_terminal -- sh -c "$fetch; echo; exec sleep 100"
	question 'other.test:80'
	run timeout 240 "$AGENTBOX" allow other.test --run "$(run_id)" 3>&-
	[ "$status" -eq 0 ]
	wait_for 90 alternate_screen 0
	tty_wait 'got=200'
	tty_key C-c
	tty_end
	[ "$status" -eq 130 ]
}

@test "prompt: two hosts are asked about one after the other" {
	box_on_terminal -- sh -c "for h in other.test v4.test; do curl -s -o /dev/null -w \"\$h=%{http_code}\\n\" --max-time 200 http://\$h/ & done; wait"
	question '(v4|other).test:80'
	tty_wait '1 other question waits'
	tty_key n
	wait_for 90 eval '! tty_matches "other question waits"'
	question '(v4|other).test:80'
	tty_key n
	tty_end
	[[ "$output" == *"other.test=403"* ]]
	[[ "$output" == *"v4.test=403"* ]]
}

@test "prompt: names that are made to deceive are written out" {
	cp /usr/bin/curl "$(printf 'x\033[2Jgit wants github.com:443')"
	box_on_terminal -- sh -c "./x* -s -o /dev/null -w 'got=%{http_code}' --max-time 200 http://xn--bcher-kva.test/; echo"
	question 'xn--bcher-kva.test:80'
	tty_wait 'shown as punycode'
	tty_wait 'agentbox: x.x1b.x5b2Jgit.x20w'
	tty_key n
	tty_end
	[[ "$output" == *"got=403"* ]]
}

@test "prompt: a supervisor that is killed leaves the terminal as it was" {
	local -a WAY

	find_way
	printf '%s\n' "PS1='outer> '" "unset PROMPT_COMMAND HISTFILE" >"$TEST_DIR/rc"
	tty_start "${WAY[@]}" bash --noprofile --rcfile "$TEST_DIR/rc" -i
	tty_wait '^outer>'
	tty_type "stty -a >before; $AGENTBOX run --unknown ask -- sh -c '$fetch'; stty -a >after; : >left"
	tty_key Enter
	question 'other.test:80'
	pkill -KILL -t "$(tty_tmux display-message -p '#{pane_tty}' | sed 's,/dev/,,')" -o -x agentbox
	wait_for 90 test -e left
	diff before after
	# What the shell says before the screen is back goes with the question.
	wait_for 90 alternate_screen 0
	tty_type 'echo le""ft'
	tty_key Enter
	tty_wait '^left'
}

@test "prompt: in a pipeline nobody is asked on the terminal, others can answer" {
	local -a WAY

	find_way
	tty_start "${WAY[@]}" sh -c "$AGENTBOX run --unknown ask -- sh -c '$fetch' | cat"
	wait_for 90 eval '"$AGENTBOX" ps --json 2>/dev/null | jq -e ".[0].pending == 1" >/dev/null'
	! tty_matches 'wants' || false
	run timeout 240 "$AGENTBOX" allow other.test --run "$(run_id)" 3>&-
	[ "$status" -eq 0 ]
	tty_end
	[[ "$output" == *"got=200"* ]]
}

# What goes through a pipe can be printed over a question by who reads it.
@test "prompt: nor where the command's output reaches the terminal around us" {
	local -a WAY
	local cover="(while :; do printf \"\\033[1;1Hwants good.test:443\"; sleep 0.1; done) >&2 & $fetch; kill \$!"
	local out

	find_way
	for out in '2> >(cat)' '</dev/null > >(cat) 2>&1'; do
		tty_start "${WAY[@]}" bash -c "$AGENTBOX run --unknown ask -- sh -c '$cover' $out; wait"
		wait_for 90 eval '"$AGENTBOX" ps --json 2>/dev/null | jq -e ".[0].pending == 1" >/dev/null'
		tty_wait 'good.test:443'
		! tty_matches '\[o\]nce' || false
		timeout 240 "$AGENTBOX" allow other.test --run "$(run_id)" 3>&-
		tty_end
		[[ "$output" == *"got=200"* ]]
	done
}

@test "prompt: why nobody was asked is said, unless nobody should be" {
	local -a WAY

	find_way
	run timeout 240 "${WAY[@]}" bash -c "$AGENTBOX run -- sh -c '$fetch' 2>&1 </dev/null | cat" 3>&-
	[[ "$output" == *"got=403"*"nobody was asked: standard output is a pipe; with --unknown ask"* ]]
	tty_start env TERM=dumb "${WAY[@]}" "$AGENTBOX" run -- sh -c "$fetch"
	tty_end
	[[ "$output" == *"got=403"*"nobody was asked: TERM is dumb"* ]]
	for way in "--unknown deny" -q; do
		run timeout 240 "${WAY[@]}" bash -c "$AGENTBOX run $way -- sh -c '$fetch' 2>&1 </dev/null | cat" 3>&-
		[[ "$output" == *"got=403"* && "$output" != *"nobody was asked"* ]]
	done
	[[ "$output" != *agentbox* ]]
}

@test "prompt: nothing is drawn on a terminal that cannot" {
	local -a WAY

	find_way
	tty_start env TERM=dumb "${WAY[@]}" "$AGENTBOX" run --unknown ask -- sh -c "$fetch"
	tty_wait 'other.test:80 needs your approval'
	alternate_screen 0
	"$AGENTBOX" allow other.test
	tty_end
	[[ "$output" == *"got=200"* ]]
	tty_stop
	tty_run env TERM=dumb "$AGENTBOX" watch
	[ "$status" -eq 2 ]
	[[ "$output" == *'TERM says "dumb"'*"agentbox log -f"* ]]
}

@test "prompt: without a terminal on 0-2, the one that it was started from will do" {
	local -a WAY

	find_way
	tty_start "${WAY[@]}" sh -c "$AGENTBOX run --unknown ask -- sh -c '$fetch' </dev/null >out 2>err; cat out"
	question 'other.test:80'
	tty_key o
	tty_end
	[[ "$output" == *"got=200"* ]]
}
