# The command learn: a command runs once with access to every public host. The policy that
# learn writes then allows this command and nothing else.
load helpers
load internet

# A build that fetches from two hosts and writes files.
make_project()
{
	cat >Makefile <<-'MAKE'
	.RECIPEPREFIX = >
	test:
	> curl -fsS -o page http://allowed.test/
	> curl -fsS -o port http://v4.test:8080/
	> git clone -q https://git.test/repo.git
	> mkdir -p out && cat repo/file >out/all
	> @echo all is well
	MAKE
	export GIT_SSL_CAINFO=$NET/ca.pem
}

clean_project()
{
	rm -rf page port repo out
}

@test "learn: what comes out of it is enough, and a third host stays closed" {
	make_project
	agentbox_split learn --yes --save p -- make test
	[ "$status" -eq 0 ]
	[ "$(cat out/all)" = content ]
	diff -u - <(printf '%s\n' "$output") <<-'END'
	{
	  "extends": "default",
	  "network": {
	    "allow": [
	      "allowed.test",
	      "git.test",
	      "v4.test:8080"
	    ],
	    "reason": {
	      "v4.test:8080": "port 8080 is unusual"
	    }
	  }
	}
	END
	diff <(printf '%s\n' "$output") <(jq 'del(.description)' "$HOME/.config/agentbox/profiles/p.json")
	[[ "$stderr" == *"all is well"* ]]
	[[ "$stderr" == *"the run connected to 3 hosts:"* ]]
	[[ "$stderr" == *"agentbox run --profile p -- "* ]]
	[[ "$stderr" == *"programs that ran:"*"/curl"* ]]
	agentbox config check "$HOME/.config/agentbox/profiles/p.json"
	[ "$status" -eq 0 ]

	clean_project
	agentbox_split run --profile p --unknown deny -- make test
	[ "$status" -eq 0 ]
	[[ "$output" == *"all is well" ]]
	[ -z "$stderr" ]
	[ "$(cat out/all)" = content ]
	agentbox run --profile p --unknown deny -- curl -fsS http://other.test/
	[ "$status" -ne 0 ]
	[[ "$output" == *"other.test:80"* ]]
	agentbox run --profile p --unknown deny -- curl -fsS http://v4.test/
	[ "$status" -ne 0 ]
	agentbox run --profile p --unknown deny -- curl -fsS http://allowed.test/
	[ "$status" -eq 0 ]
}

@test "learn: a secret of the command line is in the policy, and one of the settings is not" {
	export MY_KEY=MyRealValue-0123456789abcdef OTHER_KEY=OtherRealValue-0123456789
	mkdir -p "$HOME/.config/agentbox"
	echo '{ "secrets": { "OTHER_KEY": { "hosts": ["o.test"] } } }' >"$HOME/.config/agentbox/config.json"
	agentbox_split learn --yes --secret MY_KEY@keys.test,more.test --save p -- sh -c 'echo "$MY_KEY" >before'
	[ "$status" -eq 0 ]
	[ "$(jq -c . <<<"$output")" = '{"extends":"default","secrets":{"MY_KEY":{"hosts":["keys.test:443","more.test:443"]}}}' ]
	[[ "$output$stderr" != *RealValue* ]]
	agentbox config check "$HOME/.config/agentbox/profiles/p.json"
	[ "$status" -eq 0 ]
	agentbox run --profile p -- sh -c '[ "$MY_KEY" = "$(cat before)" ] && [ ${#MY_KEY} -gt 20 ]'
	[ "$status" -eq 0 ]
	agentbox_split secrets list --profile p --json
	jq -e '.secrets | map(select(.name == "MY_KEY")) | .[0].hosts == ["keys.test:443", "more.test:443"]' <<<"$output"
	# Another command that needs another one adds it.
	agentbox_split learn --yes --secret GITHUB_TOKEN --save p -- true
	[ "$status" -eq 125 ]
	GITHUB_TOKEN=ghp_0123456789abcdefghij0123456789abcdef agentbox_split learn --yes --secret GITHUB_TOKEN --save p -- true
	[ "$status" -eq 0 ]
	jq -e '.secrets | keys == ["GITHUB_TOKEN", "MY_KEY"]' "$HOME/.config/agentbox/profiles/p.json"
}

@test "learn: private addresses and denied hosts stay closed while it learns" {
	agentbox_split learn --yes --deny denied.test -c '
		for host in private.test metadata.test 10.0.0.5 loop.test denied.test allowed.test; do
			curl -fsS -o /dev/null http://$host/ && echo "$host open"
		done
		exit 0'
	[ "$status" -eq 0 ]
	[ "$(grep ' open$' <<<"$stderr")" = "allowed.test open" ]
	[ "$(jq -c .network.allow <<<"$output")" = '["allowed.test"]' ]
	[[ "$stderr" == *"these hosts were denied, and the policy does not allow them:"* ]]
	for host in private.test metadata.test 10.0.0.5 loop.test denied.test; do
		[[ "$stderr" == *"  $host:80  "* ]]
	done
}

@test "learn: a host that cannot be reached is no part of the policy" {
	agentbox_split learn --yes -c 'curl -fsS http://refused.test/; curl -fsS http://none-such.test/; exit 3'
	[ "$status" -eq 3 ]
	[ "$(jq -c . <<<"$output")" = '{"extends":"default"}' ]
	[[ "$stderr" == *"these connections failed"*"  none-such.test"*"  refused.test"* ]]
	[[ "$stderr" == *"ended with status 3"* ]]
	agentbox_split learn --yes --json -c 'curl -fsS http://refused.test/; exit 3'
	[ "$(wc -l <<<"$output")" -eq 1 ]
	jq -e '.policy.extends == "default" and .status == 3 and (.notes | length > 0)' <<<"$output"
}

@test "learn: a profile without a network gets a filtered one, and the policy too" {
	agentbox_split learn --yes --profile workspace-write --save p -- curl -fsS http://allowed.test/
	[ "$status" -eq 0 ]
	[ "$(jq -c . <<<"$output")" = '{"extends":"workspace-write","network":{"allow":["allowed.test"],"mode":"filtered"}}' ]
	agentbox run --profile p -- curl -fsS http://allowed.test/
	[ "$status" -eq 0 ]
	agentbox run --profile p -- curl -fsS http://other.test/
	[ "$status" -ne 0 ]
	agentbox_split learn --yes --net blocked -- true
	[[ "$stderr" == *"the policy sets the network to blocked; it is filtered while learning"* ]]
	agentbox_split learn --yes --profile workspace-write -- true
	[ "$(jq -c . <<<"$output")" = '{"extends":"workspace-write"}' ]
}

@test "learn: folders that it could not write, but never those of everybody" {
	readonly_home
	mkdir -p "$HOME/.cache/tool" "$HOME/.ssh"
	agentbox_split learn --yes --save p -c 'echo x >~/.cache/tool/x; echo x >~/.bashrc; echo x >~/.ssh/x; echo x >here; exit 0'
	[ "$status" -eq 0 ]
	[ "$(jq -c . <<<"$output")" = '{"extends":"default","filesystem":{"reason":{"~/.cache/tool":"outside the workspace"},"write":["~/.cache/tool"]}}' ]
	[[ "$stderr" == *"$HOME/.bashrc"* ]]
	[[ "$stderr" == *"$HOME/.ssh/x"* ]]
	agentbox run --profile p -c 'echo x >~/.cache/tool/x && echo y >here'
	[ "$status" -eq 0 ]
	[ "$(cat "$HOME/.cache/tool/x")" = x ]
	agentbox run --profile p -c 'echo x >~/.bashrc'
	[ "$status" -ne 0 ]
	[ ! -e "$HOME/.bashrc" ]
}

@test "learn: nor what is protected, wherever it is, nor the folder that it is in" {
	readonly_home
	git init -q "$HOME/repo"
	mkdir -p "$HOME/repo/.git/hooks" "$HOME/other/.config/tool" "$HOME/other/.claude/x"
	agentbox_split learn --yes -- sh -c '
		for i in repo/.git/hooks other/.config other/.config/tool other/.claude/x; do
			echo >~/$i/new
		done
		exit 0'
	[ "$status" -eq 0 ]
	jq -e '.filesystem.write == ["~/other/.config/tool"]' <<<"$output"
	[[ "$stderr" == *"$HOME/repo/.git/hooks/new  protected: "* ]]
	[[ "$stderr" == *"$HOME/other/.config/new  protected: "* ]]
	[[ "$stderr" != *"--write $HOME/repo/.git/hooks "* ]]
	[[ "$stderr" != *"--write $HOME/other/.config "* ]]
	agentbox_split learn --yes --save p -- sh -c 'echo >~/repo/.git/new; exit 0'
	jq -e '.filesystem.write == ["~/repo/.git"]' <<<"$output"
	cat >try <<-'EOF'
		for i in hooks/new new; do (echo >~/repo/.git/$i); done
	EOF
	agentbox run --profile p -- sh try
	[ "$status" -eq 0 ]
	[ -e "$HOME/repo/.git/new" ]
	[ ! -e "$HOME/repo/.git/hooks/new" ]
}

@test "learn: nor in the workspace of a profile that writes nothing" {
	mkdir -p .git/hooks src
	agentbox_split learn --yes --profile read-only -- sh -c 'echo >.git/hooks/new; echo >src/new; exit 0'
	[ "$status" -eq 0 ]
	jq -e '.filesystem.write == ["./src"]' <<<"$output"
}

@test "learn: a home folder behind a link is one all the same" {
	local real=$HOME

	mkdir -p "$real/own" "$real/dots/fish" "$real/.vim/plugin"
	ln -s dots "$real/.config"
	ln -s "$real" "$TEST_DIR/link"
	HOME=$TEST_DIR/link agentbox_split learn --yes --home readonly -- sh -c '
		for i in . own .config/fish .vim/plugin; do
			echo >~/$i/x
		done'
	jq -e '.filesystem.write == ["~/own"]' <<<"$output"
	[[ "$stderr" == *"$real/x  would open the whole home folder"* ]]
	[[ "$stderr" == *"$real/dots/fish/x  programs take keys"* ]]
	[[ "$stderr" != *"--write $real -- "* ]]
	[[ "$stderr" == *"--write $real/own "*"-- "* ]]
}

@test "learn: without a terminal only with --yes, and nothing has run" {
	agentbox learn -- touch ran
	[ "$status" -eq 126 ]
	[[ "$output" == *"--yes"* ]]
	[ ! -e ran ]
	agentbox learn --yes -- touch ran
	[ "$status" -eq 0 ]
	[ -e ran ]
}

@test "learn: one question on the terminal" {
	need program:tmux
	tty_start "$AGENTBOX" learn -- touch ran
	tty_wait 'Continue\? \[y/N\]'
	tty_type n
	tty_key Enter
	tty_end
	[ "$status" -eq 126 ]
	[ ! -e ran ]
	tty_stop
	tty_start "$AGENTBOX" learn -- sh -c 'test -t 0 && test -t 1 && touch ran'
	tty_wait 'Continue\? \[y/N\]'
	tty_type y
	tty_key Enter
	tty_end
	[ "$status" -eq 0 ]
	[ -e ran ]
	[[ "$output" == *'"extends": "default"'* ]]
}

@test "learn: stopped from its terminal, and continued" {
	need program:tmux
	tty_start bash --norc -i
	# It forks nothing: see the test of terminal.bats about the background.
	mkfifo never
	tty_type "$AGENTBOX learn --yes -- bash -c 'trap \"exit 9\" INT; while :; do echo x >tick; read -t 0.05 <>never; done'"
	tty_key Enter
	wait_for 90 test -s tick
	tty_key C-z
	tty_wait 'Stopped'
	rm tick
	tty_type 'fg >/dev/null; echo status=$?'
	tty_key Enter
	wait_for 90 test -s tick
	tty_key C-c
	tty_wait 'status=9'
	tty_type 'exit 0'
	tty_key Enter
	tty_end
}

@test "learn: a command that is forbidden stays so, and nothing is printed" {
	agentbox_split learn --yes -- rm -rf /
	[ "$status" -eq 126 ]
	[ -z "$output" ]
	agentbox_split learn --yes -- no-such-command
	[ "$status" -eq 127 ]
	[ -z "$output" ]
}

@test "learn: a profile is not replaced by accident, nor is one that is built in" {
	mkdir -p "$HOME/.config/agentbox/profiles"
	echo '{}' >"$HOME/.config/agentbox/profiles/mine.json"
	agentbox learn --save mine -- touch ran
	[ "$status" -eq 125 ]
	[[ "$output" == *"the profile exists"* ]]
	for name in ci ../x .x a/b '' 'a b'; do
		agentbox learn --yes --save "$name" -- touch ran
		[ "$status" -eq 125 ]
	done
	agentbox learn --yes --profile mine --save mine -- true
	[ "$status" -eq 125 ]
	[ "$(cat "$HOME/.config/agentbox/profiles/mine.json")" = '{}' ]
	[ ! -e ran ]
	agentbox learn --yes --save mine -- true
	[ "$status" -eq 0 ]
	jq -e '.extends == "default"' "$HOME/.config/agentbox/profiles/mine.json"
}

@test "learn: a profile that exists gets more, and loses nothing" {
	agentbox_split learn --yes --save p -- curl -fsS http://allowed.test/
	[ "$status" -eq 0 ]
	agentbox_split learn --yes --save p -- true
	[ "$status" -eq 0 ]
	[[ "$stderr" == *"profile p has all of it"* ]]
	[ "$(jq -c .network.allow "$HOME/.config/agentbox/profiles/p.json")" = '["allowed.test"]' ]
	jq '.limits.timeout = "5m"' "$HOME/.config/agentbox/profiles/p.json" >x.json
	cp x.json "$HOME/.config/agentbox/profiles/p.json"
	agentbox_split learn --yes --save p -- curl -fsS http://origin.test/
	[ "$status" -eq 0 ]
	[[ "$stderr" == *"added to profile p"*'+'*'origin.test'* ]]
	[ "$(jq -c '[.network.allow, .limits.timeout]' "$HOME/.config/agentbox/profiles/p.json")" = \
		'[["allowed.test","origin.test"],"5m"]' ]
	"$AGENTBOX" profile list | grep -E '^p +Learned from: curl -fsS http://allowed.test/$'
	# Comments would be lost.
	echo '{ "network": {} } // mine' >"$HOME/.config/agentbox/profiles/c.json"
	agentbox learn --yes --save c -- true
	[ "$status" -ne 0 ]
	[[ "$output" == *"has comments, which would be lost"* ]]
	[ "$(cat "$HOME/.config/agentbox/profiles/c.json")" = '{ "network": {} } // mine' ]
	# One that is not JSON stays as it is.
	echo '{ "network": ' >"$HOME/.config/agentbox/profiles/q.json"
	agentbox learn --yes --save q -- true
	[ "$status" -ne 0 ]
	[ "$(cat "$HOME/.config/agentbox/profiles/q.json")" = '{ "network": ' ]
}

@test "learn: what a stronger layer takes back is said" {
	mkdir -p "$HOME/.config/agentbox"
	echo '{ "network": { "allow": { "only": ["other.test"] } } }' >"$HOME/.config/agentbox/config.json"
	agentbox_split learn --yes --save p -- curl -fsS http://allowed.test/
	[ "$status" -eq 0 ]
	[[ "$stderr" == *"overrides this part of the profile:"*"network.allow: allowed.test"* ]]
	rm "$HOME/.config/agentbox/config.json"
	agentbox_split learn --yes --save p -- curl -fsS http://allowed.test/
	[[ "$stderr" != *"overrides this part of the profile:"* ]]
}

@test "learn: no setting has the word, and in a box there is nothing to learn" {
	agentbox run --unknown learn -- true
	[ "$status" -eq 125 ]
	echo '{ "network": { "unknown": "learn" } }' >file.json
	agentbox config check file.json
	[ "$status" -ne 0 ]
	agentbox run -- "$AGENTBOX" learn --yes -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"inside a box"* ]]
}
