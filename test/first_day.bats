# unsanitized: other files test each step
# The first day of a user, from the first command to the last, on one terminal.
load helpers
load internet
load screen

# line TEXT: clear the screen and type TEXT as a command line.
line()
{
	tty_key C-l
	wait_for 90 eval '[ "$(tty_tmux capture-pane -p | grep -c .)" -eq 1 ]'
	tty_tmux clear-history
	tty_type "$1; echo \"[\$?]\""
	tty_key Enter
}

# ended STATUS: wait for the end of that line. The screen is in $output; lines that
# the terminal has broken are whole there.
ended()
{
	tty_wait '^\[[0-9]+\]$' && tty_wait '^>$'
	output=$(tty_tmux capture-pane -p -J -S -)
	echo "$output"
	tty_matches "^\[$1\]\$"
}

# says TEXT: it is in $output, where agentbox breaks lines at spaces.
says()
{
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"$1"* ]]
}

# does TEXT: both, with status 0.
does()
{
	line "$1"
	ended 0
}

# Press Ctrl-C, which ends the whole line.
interrupt()
{
	tty_key C-c
	tty_wait '^>$'
	! tty_matches '^\[' || false
}

unchanged()
{
	run git status --porcelain
	echo "$output"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "first day: init, run, answer, why, dev server, publish, review, apply, undo" {
	local -a WAY
	local id fetch='curl -s -o /dev/null -w got=%{http_code} --max-time 200 http://other.test/; echo'

	make_repo
	echo '{ "lockfileVersion": 3, "packages": {} }' >package-lock.json
	printf 'echo 3 tests passed\n%s\n' "$fetch" >tests.sh
	cat >server.py <<-'PYTHON'
	import http.server, socketserver
	class Hello(http.server.BaseHTTPRequestHandler):
	    def do_GET(self):
	        self.send_response(200); self.end_headers(); self.wfile.write(b"hello\n")
	socketserver.TCPServer.allow_reuse_address = True
	server = socketserver.TCPServer(("127.0.0.1", 3000), Hello)
	print("ready", flush=True)
	server.serve_forever()
	PYTHON
	git add . && git commit -qm project
	echo "PS1='> '" >"$HOME/.bashrc"
	: >"$HOME/.bash_history"
	mkdir "$TEST_DIR/bin"
	ln -s "$AGENTBOX" "$TEST_DIR/bin/agentbox"
	find_way
	tty_start env SHELL=/bin/bash PAGER=cat "PATH=$TEST_DIR/bin:/usr/bin:/bin" "${WAY[@]}" bash -i
	tty_wait '^>$'

	# Set up: what is shown is what is written, and it is trusted.
	line 'agentbox init'
	tty_wait '^Write this and trust it\? \[y/N\]'
	tty_matches '^detected +node \(package-lock.json\)$'
	[ ! -e .agentbox.json ]
	tty_key y Enter
	ended 0
	says "$PWD/.agentbox.json is written, and trusted"
	tty_matches '^doctor: '
	tty_matches '^to run a command in the box: agentbox COMMAND'
	[ "$(jq -c . .agentbox.json)" = '{"with":["node"]}' ]
	# A group is one row, and its origin fits on the line.
	does 'agentbox config show'
	tty_matches '^network.allow +@npm +\.agentbox.json:2$'
	git add . && git commit -qm init

	# A command that needs no permission, and a host that needs one: no.
	line 'agentbox sh tests.sh'
	tty_wait 'wants other.test:80'
	read_it
	tty_key n
	ended 0
	tty_matches '^3 tests passed'
	tty_matches '^got=403'
	tty_matches '^agentbox: 1 request was denied'
	id=$(tty_screen | sed -nE 's/^  ([a-z2-9]{5}-1)  other.test:80 .*/\1/p')
	[ -n "$id" ]
	does 'agentbox why'
	[[ "$output" == *"other.test:80"*"the answer was no"*"id $id"* ]]
	does 'agentbox why other.test'
	[[ "$output" == *"in this project:  agentbox allow $id --project"* ]]
	unchanged

	# For the project: written at the end, not asked about again, and taken back.
	line 'agentbox sh tests.sh'
	tty_wait 'wants other.test:80'
	read_it
	tty_key p
	ended 0
	tty_matches '^got=200'
	says "other.test is allowed in $PWD/.agentbox.json"
	[ "$(jq -c .network.allow .agentbox.json)" = '["other.test"]' ]
	does 'agentbox sh tests.sh'
	[[ "$output" == *"got=200"* && "$output" != *"agentbox:"* ]]
	does 'agentbox allow other.test --project --undo'
	[[ "$output" == *'-    "allow": ["other.test"]'* ]]
	does 'agentbox run --unknown deny -- sh tests.sh'
	[[ "$output" == *"got=403"* ]]
	git add . && git commit -qm host --allow-empty

	# A dev server: the note names the command that makes it reachable.
	line 'agentbox python3 server.py'
	tty_wait '^agentbox: port 3000 is open only inside the box; agentbox publish [a-z2-9]{5} 3000$'
	id=$(run_id)
	run inside curl -s --max-time 60 http://127.0.0.1:3000/
	[ "$status" -eq 7 ]
	# Twice is not an error.
	for _ in first second; do
		agentbox publish "$id" 3000
		[ "$status" -eq 0 ]
		[ "$output" = "port 3000 of $id is on 127.0.0.1:3000 until the run ends" ]
	done
	[ "$(inside curl -s --max-time 60 http://127.0.0.1:3000/)" = hello ]
	agentbox ports
	[[ "$output" == 3000*python3*"published on 127.0.0.1:3000" ]]
	interrupt

	# Changes wait in a layer; apply and undo take them to the disk and back.
	unchanged
	line 'agentbox run --review -- sh -c "echo more >>file; echo new >new; rm tests.sh"'
	tty_wait '^agentbox: 3 changes'
	tty_wait '\[a\]pply +\[r\]eview +\[d\]iscard +\[l\]ater'
	read_it
	tty_key l
	ended 0
	unchanged
	does 'agentbox diff'
	[[ "$output" == *"+++ b/file"*"+more"*"+++ b/new"*"+new"*"--- a/tests.sh"* ]]
	line 'agentbox apply'
	tty_wait 'or \[n\]one\?'
	# A wrong answer is asked about once.
	tty_type 'all of them, please'
	tty_key Enter
	wait_for 90 eval '[ "$(tty_screen | grep -o "or \[n\]one?" | wc -l)" -eq 2 ]'
	tty_wait '\[n\]one\?$'
	tty_key a Enter
	ended 0
	tty_matches '^3 changes applied; to take it back: agentbox undo '
	[ "$(tail -n 1 file) $(cat new)" = "more new" ]
	[ ! -e tests.sh ]
	does 'agentbox undo'
	[[ "$output" == *"3 changes taken back"* ]]
	unchanged
	[ ! -e new ]

	# A shell is marked, and ends without a complaint about its history.
	line 'agentbox shell --net blocked'
	tty_wait '^\(box [a-z2-9]{5}\) >$'
	tty_type 'exit'
	tty_key Enter
	ended 0
	! tty_matches 'denied' || false

	# Ctrl-C ends a loop, not only the command in it.
	line 'while :; do agentbox sh -c "echo started; exec sleep 100"; done'
	tty_wait '^started'
	interrupt
	tty_type exit
	tty_key Enter
	tty_end
	unchanged
}
