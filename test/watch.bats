# unsanitized: unit tests and fuzz targets cover its parts
# `agentbox watch`: events on the whole screen, and questions answered by a key.
load helpers
load internet
load screen

# A box that fetches the URL in the file ask, as often as there is one.
servant_start()
{
	cat >servant <<-'END'
	while [ ! -e stop ]; do
		if [ -e ask ]; then
			url=$(cat ask)
			rm ask
			curl -s -o /dev/null -w '%{http_code}\n' --max-time 200 "$url" >>got
		fi
		sleep 0.05
	done
	END
	box_start run "$@" -- sh servant
	wait_for 90 servant_ready
}

servant_ready()
{
	"$AGENTBOX" ps --json 2>/dev/null | jq -e '.[0].allowed != null' >/dev/null
}

ask()
{
	echo "$1" >ask.tmp
	mv ask.tmp ask
}

servant_end()
{
	: >stop
	box_end
	[ "$status" -eq 0 ]
}

# watch in an interactive shell, so that what it leaves behind can be seen.
watch_start()
{
	printf '%s\n' "PS1='outer> '" "unset PROMPT_COMMAND HISTFILE" >"$TEST_DIR/rc"
	export AGENTBOX
	tty_start bash --noprofile --rcfile "$TEST_DIR/rc" -i
	tty_wait '^outer>'
	tty_type "stty -g >before; \$AGENTBOX watch $*; echo status=\$?; stty -g >after; echo left"
	tty_key Enter
}

restored()
{
	tty_wait '^left'
	[ "$(tty_tmux display-message -p '#{alternate_on} #{cursor_flag}')" = "0 1" ]
	diff before after
}

@test "watch: requests and denials as they happen, and the screen is given back" {
	servant_start --allow allowed.test
	watch_start
	tty_wait "$(run_id).*sh servant"
	ask http://allowed.test/
	tty_wait 'ok +GET allowed.test:80/'
	tty_wait '1 allowed'
	ask http://other.test/
	tty_wait 'denied +other.test:80'
	tty_wait '1 denied'
	tty_type d
	wait_for 90 eval '! tty_matches "ok +GET"'
	tty_wait 'denied +other.test:80'
	tty_type q
	tty_wait '^status=0'
	restored
	servant_end
}

@test "watch: a question is answered by a key, and the request goes on" {
	servant_start --unknown ask
	watch_start
	tty_wait 'sh servant'
	ask http://other.test/
	tty_wait '> .*other.test:80'
	tty_wait '1 question waiting'
	read_it
	tty_type o
	wait_for 90 grep -qx 200 got
	tty_wait 'answered: 1 waiting connection released +q quit +\? help'
	wait_for 90 eval '! tty_matches "question waiting"'
	ask http://v4.test/
	tty_wait '> .*v4.test:80'
	read_it
	tty_type n
	wait_for 90 grep -qx 403 got
	! tty_matches '0 connections' || false
	tty_type q
	restored
	servant_end
}

@test "watch: the end of the run is said" {
	servant_start
	watch_start "$(run_id)"
	tty_wait 'sh servant'
	servant_end
	tty_wait 'the run has ended with status 0'
	tty_type q
	restored
}

@test "watch: without a run the next one is waited for" {
	watch_start
	tty_wait 'no active runs; waiting for one'
	servant_start
	tty_wait 'sh servant'
	tty_type q
	restored
	servant_end
}

@test "watch: of several runs one is chosen" {
	servant_start
	local first=$BOX
	# Another servant, which ends with the same word.
	box_start run --name second -- sh -c 'while [ ! -e stop ]; do sleep 0.05; done'
	wait_for 90 eval '[ "$("$AGENTBOX" ps --json | jq length)" = 2 ]'
	watch_start
	tty_wait 'choose a run'
	tty_wait '> [a-z2-9]{5}( second)?  sh'
	tty_wait '[a-z2-9]{5} second  sh -c'
	tty_key Down
	tty_key Enter
	tty_wait '0 allowed'
	tty_type q
	restored
	: >stop
	box_end
	BOX=$first
	box_end
	[ "$status" -eq 0 ]
}

@test "watch: it fits any terminal" {
	servant_start --allow allowed.test
	watch_start
	tty_wait 'sh servant'
	ask http://allowed.test/
	tty_wait 'ok +GET allowed.test:80/'
	tty_resize 20 5
	tty_wait '^ ok +GET'
	tty_resize 160 40
	tty_wait 'HOST +ALLOW +DENY'
	tty_wait 'GET allowed.test:80/'
	tty_type q
	restored
	servant_end
}

@test "watch: ended by a signal, or stopped, it gives the screen back" {
	local pid

	servant_start
	watch_start
	tty_wait 'sh servant'
	tty_key C-z
	tty_wait 'Stopped'
	[ "$(tty_tmux display-message -p '#{alternate_on} #{cursor_flag}')" = "0 1" ]
	tty_type 'fg'
	tty_key Enter
	tty_wait '0 allowed'
	pid=$(pgrep -t "$(tty_tmux display-message -p '#{pane_tty}' | sed 's,/dev/,,')" -x agentbox)
	kill -TERM "$pid"
	tty_wait 'Terminated'
	[ "$(tty_tmux display-message -p '#{alternate_on} #{cursor_flag}')" = "0 1" ]
	tty_type 'stty -g >after; echo le''ft'
	tty_key Enter
	tty_wait '^left'
	diff before after
	servant_end
}

@test "watch: names that are made to deceive are written out" {
	local name

	name=$(printf 'x\033[2Jgit')
	cp /usr/bin/curl "$name"
	box_start run --unknown ask -- "./$name" -s -o /dev/null \
		--max-time 200 http://xn--bcher-kva.test/
	watch_start
	tty_wait '> .*xn--bcher-kva.test:80  .punycode: not ASCII letters.  x.x1b.x5b2Jgit'
	tty_wait "^ [a-z2-9]{5}  .*x.x1b.2Jgit"
	read_it
	tty_type n
	tty_wait 'the run has ended with status 0'
	tty_type q
	restored
	box_end
}

@test "watch: without a terminal, another command is named" {
	agentbox watch </dev/null
	[ "$status" -eq 2 ]
	[[ "$output" == *"agentbox log -f"* ]]
	agentbox watch nosuch </dev/null
	[ "$status" -ne 0 ]
	[[ "$output" == *"nosuch"* ]]
}
