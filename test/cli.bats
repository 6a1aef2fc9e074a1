load helpers

# usage STATUS TEXT ARG...: refused with this status, with one line on standard
# error that has TEXT and names the help, and nothing on standard output.
usage()
{
	local want=$1 text=$2
	shift 2

	agentbox_split "$@"
	[ "$status" -eq "$want" ] || return 1
	[ -z "$output" ] || return 1
	[[ "$stderr" == "agentbox: "*"$text"*" --help)" ]] || return 1
	[ "$(wc -l <<<"$stderr")" -eq 1 ]
}

# helps ARG...: prints help on standard output and ends well.
helps()
{
	agentbox_split "$@"
	[ "$status" -eq 0 ] && [ -z "$stderr" ] && [[ "$output" == *agentbox* ]]
}

commands="run config|show config|check config|path profile|list profile|show policy|diff trust"

@test "no command: the overview, and status 2" {
	agentbox
	[ "$status" -eq 2 ]
	[[ "$output" == *"agentbox run -- npm test"* ]]
	[[ "$output" == *"Watch and answer:"* ]]
}

@test "--help in all its forms" {
	local c
	for c in --help -h help "help run" "help config" "help config show" "help -h" "help --man run"; do
		helps $c
	done
	for c in $commands config profile policy; do
		helps ${c/|/ } --help
		helps ${c/|/ } -h
	done
}

@test "--help wins over what stands behind it, and not over mistakes before it" {
	helps run --help -- true
	helps config show --net blocked --help
	usage 2 "unknown option --nett" config show --nett blocked --help
}

@test "run: --help behind the command belongs to the command" {
	need userns
	agentbox_split run --net blocked -- sh -c 'echo "$1"' sh --help
	[ "$status" -eq 0 ]
	[ "$output" = --help ]
}

@test "--version: the name, a number and the build" {
	local c
	for c in --version -V version; do
		agentbox "$c"
		[ "$status" -eq 0 ]
		[[ "$output" =~ ^agentbox\ [0-9]+\.[0-9]+\.[0-9]+\ \(build\ [0-9a-z-]+\)$ ]]
	done
	[ "$("$AGENTBOX" version --json | jq -r '.version + " (build " + .build + ")"')" = "${output#agentbox }" ]
}

@test "an unknown command guesses" {
	usage 2 "unknown command 'rnu'; did you mean run?" rnu -- true
	usage 2 "unknown command 'confg'; did you mean config?" confg
	usage 2 "unknown command 'zzzzzzzz', and no program on PATH has that name" zzzzzzzz
	usage 2 "./nothing is not a program" ./nothing
	usage 2 "unknown command 'frob'" help frob
	usage 2 "unknown option --frob" --frob
	usage 2 "--net is an option of run: agentbox run --net ..." --net blocked true
}

@test "an agent that is not installed is said so" {
	mkdir "$TEST_DIR/bin"
	for c in claude codex; do
		PATH=$TEST_DIR/bin run -127 "$AGENTBOX" $c --version
		[ "$output" = "agentbox: $c is not installed (not in PATH)" ]
	done
	printf '#!/bin/sh\necho here\n' >"$TEST_DIR/bin/claude"
	chmod +x "$TEST_DIR/bin/claude"
	PATH=$TEST_DIR/bin:$PATH agentbox claude --version
	[ "$status" -eq 0 ]
	[[ "$output" == *here* ]]
}

@test "the overview lists what a newcomer needs first" {
	agentbox --help
	[ "$(sed -n '/^Set up:/,/^$/s/^  \([a-z]*\) .*/\1/p' <<<"$output" | xargs)" = \
		"init doctor hook alias completion import mcp serve help version gc" ]
}

@test "words of other programs are known" {
	usage 2 "did you mean agentbox ps?" status
	usage 2 "did you mean agentbox stop RUN?" kill x
	# A program of that name exists as well.
	[ ! -x "$(type -P top)" ] || [[ "$stderr" == *"agentbox run -- kill"* ]]
	usage 125 "unknown option --network; did you mean --net " run --network none -- true
	usage 125 "unknown option -p; did you mean --publish [HOSTPORT:]PORT?" run -p 80 -- true
	usage 125 "unknown option -e; did you mean --env" run -e A=B -- true
	usage 125 "unknown option -i; not needed" run -it -- true
	usage 125 "unknown option --rm; not needed: a box ends with its command" run --rm -- true
	usage 125 "unknown option --allow-write; did you mean --write PATH?" run --allow-write . -- true
	usage 125 "unknown option --no-network; use --net blocked" run --no-network -- true
	# Not where it means nothing.
	usage 2 "unknown option --rm (see" ps --rm
}

@test "a program in place of a command is run in the box, and a command of ours wins" {
	need userns
	mkdir bin
	printf '#!/bin/sh\nprintf "%%s." inside "$SANDBOX_RUNTIME" "$@"\n' | tee bin/frobnicate >bin/ps
	chmod +x bin/*
	PATH=$PWD/bin:$PATH
	agentbox_split frobnicate a --net
	[ "$status" -eq 0 ]
	[ "$output" = inside.1.a.--net. ]
	agentbox_split ./bin/frobnicate
	[ "$output" = inside.1. ]
	agentbox_split -- ps x
	[ "$output" = inside.1.x. ]
	# A command of ours, also where a program has its name; a folder and a plain file are neither.
	agentbox_split ps
	[[ "$output" != *inside* ]]
	usage 2 "bin/ is not a program" bin/
	: >plain
	usage 2 "./plain is not a program" ./plain
}

@test "run: an option behind the command that fails is pointed out" {
	need userns
	agentbox_split run sh -c 'exit 3' --net blocked
	[ "$status" -eq 3 ]
	[[ "$stderr" == "agentbox: --net comes after the command, so sh got it; "*"agentbox run --net ... -- sh" ]]
	# Not if it succeeds, if "--" says whose it is, or if other programs have it, too.
	local c
	for c in "sh -c true --net" "-- sh -c false --net" "sh -c false --write" "-q sh -c false --net"; do
		agentbox_split run $c
		[ -z "$stderr" ]
	done
}

@test "an unknown word behind a command guesses" {
	usage 2 "unknown command 'config shwo'; did you mean config show?" config shwo
	usage 2 "unknown command 'profile lst'; did you mean profile list?" profile lst
	usage 2 "unknown command 'policy dif'; did you mean policy diff?" policy dif
	usage 2 "unknown command 'config zzzzzzzz'" config zzzzzzzz
	usage 2 "agentbox config show|get|set|unset|edit|check|path" config
	usage 2 "agentbox profile list|show" profile
	usage 2 "agentbox policy diff|explain|test" policy
}

@test "an unknown option guesses: 125 for run, 2 for all others" {
	local c want
	for c in $commands; do
		want=2
		[ "$c" != run ] || want=125
		usage $want "unknown option --frobnicate" ${c/|/ } --frobnicate
		usage $want "unknown option -Z" ${c/|/ } -Z
	done
	usage 125 "unknown option --alow; did you mean --allow?" run --alow github.com -- true
	usage 2 "unknown option --jsno; did you mean --json?" config show --jsno
	usage 2 "unknown option --revok; did you mean --revoke?" trust --revok
}

@test "options that need a value, and options that take none" {
	usage 2 "--net needs a value: --net blocked|filtered|allowed" config show --net
	usage 2 "--json takes no value" config show --json=yes
	usage 125 "--timeout needs a value" run --timeout
	usage 125 "-c needs a value" run -c
	usage 125 "--deny-read needs a value: --deny-read PATH" run --deny-read -- true
	usage 125 "-c needs a value" run -c --
	usage 2 "--help: invalid value" ps --help=some
	usage 125 "--deny-read needs a value: --deny-read PATH" run --deny-read -- true
	usage 125 "-c needs a value" run -c -- true
	agentbox run --write ./nowhere -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"--write: ./nowhere does not exist"*"create it first"* ]]
	usage 125 "--quiet takes no value" run --quiet=1 -- true
}

@test "options that cannot be combined are named, with the reason if there is one" {
	local command want

	while IFS='|' read -r command want; do
		agentbox $command
		[ "$status" -eq 2 ]
		[[ "$output" == "agentbox: $want"*" (see agentbox ${command%% *} --help)" ]]
	done <<-'END'
	log --list --stats|--list cannot be combined with --stats
	log --all abcde|--all cannot be combined with RUN
	log --verify --host x.test|--verify cannot be combined with --host: it reads whole records
	log --key file|--key needs --verify
	stop --all abcde|--all cannot be combined with RUN: it ends every run
	apply --safe --patch|--safe cannot be combined with --patch
	undo --theirs --ours|--theirs cannot be combined with --ours
	allow x.test --always --for 1m|--for cannot be combined with --always
	check --null x|--null needs --batch
	END
	# The twins.
	agentbox stop --all
	[ "$status" -eq 0 ]
	agentbox_split log --list --json
	[ "$status" -ne 2 ]
	agentbox run --in nobody --cwd . -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"--in cannot be combined with --cwd: it belongs to the box, which exists already"* ]]
}

@test "a value stands behind its option or behind an equals sign" {
	local a b
	a=$("$AGENTBOX" config show --json --net blocked --write=/srv/x)
	b=$("$AGENTBOX" config show --json --net=blocked --write /srv/x)
	[ "$a" = "$b" ]
	[ "$(jq -r '."network.mode".value' <<<"$a")" = blocked ]
	[ "$(jq -r '."filesystem.write"[1].value' <<<"$a")" = /srv/x ]
	# A value may look like an option, and be empty.
	agentbox config show --env "A=-v" --env "B="
	[ "$status" -eq 0 ]
}

@test "options may stand behind the words, until --" {
	[ "$("$AGENTBOX" policy diff ci read-only --json | jq -r .b)" = read-only ]
	[ "$("$AGENTBOX" policy diff ci --json read-only | jq -r .b)" = read-only ]
	agentbox policy diff -- ci --json
	[ "$status" -eq 2 ]
	[[ "$output" == *'"--json"'* ]]
}

@test "too many and too few words" {
	usage 2 'unknown section or key x' config show x
	usage 2 'unexpected argument "x"' config show network x
	usage 2 'unexpected argument "b"' config check a b
	usage 2 'unexpected argument "x"' config path x
	usage 2 'unexpected argument "x"' profile list x
	usage 2 'unexpected argument "y"' profile show x y
	usage 2 'agentbox profile show [--json] NAME' profile show
	usage 2 'agentbox policy diff [--json] A B' policy diff ci
	usage 2 'unexpected argument "z"' policy diff x y z
}

@test "run: a usage error is 125 and nothing runs" {
	usage 125 "no command given" run
	usage 125 "no command given" run --
	usage 125 '--cwd: there is no folder nowhere' run --cwd nowhere true
	usage 125 '--cwd: there is no folder /etc/passwd' run --cwd /etc/passwd true
	usage 125 '--fd: invalid value "x"' run --fd x -- true
	agentbox run --net nonsense -- touch ran
	[ "$status" -eq 125 ]
	[[ "$output" == *'--net: invalid value "nonsense"'* ]]
	agentbox run --config nowhere.json -- touch ran
	[ "$status" -eq 125 ]
	printf '{ "x": 1 }' >.agentbox.json
	agentbox run -- touch ran
	[ "$status" -eq 125 ]
	[[ "$output" == *".agentbox.json:1:3: x: unknown key"* ]]
	rm .agentbox.json
	cd "$HOME"
	agentbox run -- touch ran
	[ "$status" -eq 125 ]
	[[ "$output" == *"home folder"*"--workspace DIR"* ]]
	[ -z "$(find "$HOME" -name ran)" ]
}

@test "output that cannot be written is a failure" {
	local c
	for c in "config show" "config path" "profile list" "profile show ci" "policy diff ci default"; do
		run bash -c '"$0" "$@" >/dev/full' "$AGENTBOX" $c
		echo "$c: $status $output"
		[ "$status" -eq 1 ]
		[[ "$output" == "agentbox: cannot write the result"* ]]
		run bash -c '"$0" "$@" >/dev/null' "$AGENTBOX" $c
		[ "$status" -eq 0 ]
	done
}

@test "JSON is one value on one line, and errors leave none" {
	local c
	for c in "config show" "config path" "profile list" "profile show ci" "policy diff ci default"; do
		agentbox_split $c --json
		[ "$status" -eq 0 ]
		[ "${#lines[@]}" -eq 1 ]
		jq -e . <<<"$output" >/dev/null
	done
	agentbox_split profile show --json nothing
	[ "$status" -eq 2 ]
	[ -z "$output" ]
}

# coloured ENV...: is there a colour on the screen of these commands?
coloured()
{
	tty_start env "$@" sh -c "$AGENTBOX rnu; $AGENTBOX check 'rm -rf /'; $AGENTBOX doctor"
	tty_end
	tty_tmux capture-pane -e -p -S - >screen
	# `run` calls this in a subshell, of whose terminals the teardown knows nothing.
	tty_tmux kill-server
	grep -q $'\033\\[31m' screen
}

@test "colours: on a terminal, and as --color and NO_COLOR say" {
	need program:tmux
	coloured A=1
	grep -q $'\033\\[31magentbox:' screen
	grep -q $'\033\\[31mforbidden' screen
	run ! coloured NO_COLOR=1
	run ! coloured TERM=dumb
	# What is printed is the same otherwise.
	local c
	for c in "check 'rm -rf /'" "doctor" "nothing"; do
		eval "$AGENTBOX $c" >plain 2>&1 || true
		[[ "$(cat plain)" != *$'\033['* ]]
		eval "$AGENTBOX --color=always $c" >colours 2>&1 || true
		! grep -q $'\033\\[' colours || : >seen
		sed 's/\x1b\[[0-9]*m//g' colours >without
		cmp plain without
	done
	[ -e seen ]
	eval "$AGENTBOX doctor --color always" | grep -q $'\033\\['
	usage 2 '--color: invalid value "some"; use auto, always or never' --color some ps
	usage 2 '--color: invalid value "some"; use auto, always or never' ps --color=some
}

# overruns COMMAND: the longest line that it prints on a terminal of 50 columns.
overruns()
{
	tty_start sh -c "read -r _; $1"
	tty_resize 50 24
	tty_key Enter
	tty_end
	tty_tmux capture-pane -J -p -S - | sed 's/ *$//' >screen
	tty_tmux kill-server
	awk 'length > most { most = length } END { print most }' screen
}

@test "narrow terminals: help and tables fit" {
	need program:tmux
	local c
	[ "$(overruns "$AGENTBOX --help | cat" | tail -n 1)" -gt 60 ]
	for c in "--help" "ps --help" "doctor"; do
		[ "$(overruns "$AGENTBOX $c" | tail -n 1)" -le 50 ]
	done
}

@test "narrow terminals: messages fit, and a command to copy is not broken" {
	need program:tmux
	local c
	for c in "run --timeout 100ms -- sleep 60" "run -- sh -c 'echo x >~/.left'"; do
		[ "$(overruns "$AGENTBOX $c" | tail -n 1)" -le 50 ]
	done
	overruns "$AGENTBOX run --timeout 100ms -- sleep 60"
	grep -qx 'agentbox: the command was ended after its time' screen
	grep -qx '          limit (100ms); raise it with --timeout' screen
	overruns "$AGENTBOX why -- git push --force"
	grep -qx '    approve it in one run:' screen
	grep -qx '    agentbox run --yes -- git push --force' screen
}

@test "without HOME the home comes from the system" {
	agentbox config path
	[ "$status" -eq 0 ]
	run env -u HOME "$AGENTBOX" config path
	[ "$status" -eq 0 ]
	[[ "$output" == *"/etc/agentbox/config.json"* ]]
	[[ "$output" != *"$HOME/.config"* ]]
}

@test "a current folder that is gone is said" {
	mkdir gone
	cd gone
	rmdir ../gone
	agentbox config show
	[ "$status" -eq 2 ]
	[[ "$output" == *"current folder"* ]]
	cd ..
	agentbox config show
	[ "$status" -eq 0 ]
}

@test "a name in an error message is escaped" {
	mkdir $'odd\033[31m'
	mkfifo $'odd\033[31m/.agentbox.json'
	agentbox config show --workspace $'odd\033[31m'
	[ "$status" -eq 1 ]
	[[ "$output" == *'odd\x1b[31m/.agentbox.json is not a file'* ]]
	[[ "$output" != *$'\033'* ]]
	agentbox run --workspace $'odd\033[31m' -- true
	[ "$status" -eq 125 ]
	[[ "$output" != *$'\033'* ]]
	agentbox $'\033[31m'
	[ "$status" -eq 2 ]
	[[ "$output" != *$'\033'* ]]
}
