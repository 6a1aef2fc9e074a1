# What runs on the host before a run starts has ended before the host is looked at: a secret's command, an
# approver, a person who takes a while to answer. Whatever they write, at once or late, is protected, hidden
# or shown without its login as if it had always been there.
# root-in-turn: no permission of a file stops root, so only the walls can

load helpers
load attack/attack

# Before it writes, a program does one of these.
MOMENTS=(: 'sleep 0.02' 'sleep 0.3')
TIMES=4

setup_file()
{
	attack_build frozen
	# Without the time that a loader takes.
	gcc -O1 -static -Wall -Wextra -Werror -o "$ATTACK/quick" "$ROOT/test/attack/quick.c"
}

teardown_file()
{
	attack_clean
}

setup()
{
	box_setup
	mkdir -p "$HOME/bin" "$HOME/.config/agentbox"
	printf '#!/bin/sh\necho "ran: git $*"\n' >"$HOME/bin/git"
	chmod +x "$HOME/bin/git"
	export PATH=$HOME/bin:$PATH
	cat >"$TEST_DIR/write" <<-X
		mkdir -p ~/.config/pip ~/.aws "$WORKSPACE/.git/hooks" "$WORKSPACE/.git/objects" "$WORKSPACE/.git/refs"
		printf '[global]\nindex-url = https://me:hunter2word@mirror.test/simple\n' >~/.config/pip/pip.conf
		echo 'machine mirror.test password hunter2word' >~/.netrc
		printf '[default]\naws_secret_access_key = hunter2word\n' >~/.aws/credentials
		echo old >"$WORKSPACE/.envrc"
		echo 'ref: refs/heads/main' >"$WORKSPACE/.git/HEAD"
		echo plain words >~/plain
	X
	LOOK='cat ~/plain ~/.config/pip/pip.conf ~/.netrc ~/.aws/credentials
		echo new >>.envrc; echo new >.git/hooks/post-commit
		echo mine >work && cat work'
}

teardown()
{
	PATH=${PATH#*:} box_teardown
}

# secret SCRIPT: the setting of a secret whose command this is.
secret()
{
	printf '#!/bin/sh\n%s\necho value-of-the-secret\n' "$1" >"$TEST_DIR/get"
	chmod +x "$TEST_DIR/get"
	printf '{"secrets":{"KEY":{"from":"command","command":["%s"],"hosts":["h.test"]}}}' "$TEST_DIR/get" \
		>"$HOME/.config/agentbox/config.json"
}

forget()
{
	rm -rf "$HOME/.config/pip" "$HOME/.netrc" "$HOME/.aws" "$HOME/plain" "$WORKSPACE/.envrc" "$WORKSPACE/.git" \
		"$WORKSPACE/work"
}

# The box has what it may have, and nothing else; on the host it is all there.
walls_are_up()
{
	[[ "$output" != *hunter2* ]]
	[[ "$output" == *"plain words"*"index-url = https://mirror.test/simple"*"mine"* ]]
	[ "$(cat .envrc)" = old ]
	[ ! -e .git/hooks/post-commit ]
	[ "$(cat ~/.config/pip/pip.conf ~/.netrc ~/.aws/credentials | grep -c hunter2word)" -eq 3 ]
}

# On a slow or busy machine a look is old soon, and taken again anyway. So in every other run no time passes.
choose_clock()
{
	CLOCK=
	(($1 % 2)) || CLOCK=$ATTACK/frozen
}

# starts TIMES ARG...: start a run as often, with every moment; `before MOMENT` arranges who writes.
starts()
{
	local times=$1 moment
	shift

	for moment in "${MOMENTS[@]}"; do
		before "$moment"
		for ((n = 0; n < times; n++)); do
			forget
			choose_clock "$n"
			run setsid -w timeout --kill-after=5 60 $CLOCK "$AGENTBOX" "$@" </dev/null 3>&-
			printf '$ %s: agentbox %s\n%s\n[status %s]\n' "$moment" "$*" "$output" "$status"
			walls_are_up
		done
	done
}

# bats test_tags=root
@test "before a start: what a secret's command writes is looked at" {
	# The twins, in walls_are_up: a plain file that it writes, and the settings without their login, are read.
	before() { secret "$1; . $TEST_DIR/write"; }
	starts $TIMES run --yes --secret KEY -- sh -c "$LOOK"
}

# quickly FILE TEXT LOOK: often, the secret's command writes FILE at once, which a shell cannot. The box, which is
# read-only and so starts sooner, reads it as LOOK.
quickly()
{
	local n file=$1 text=$2 look=$3

	jq -n --arg quick "$ATTACK/quick" --arg file "$file" --arg text "$text" \
		'{ secrets: { KEY: { from: "command", command: [$quick, $file, $text], hosts: ["h.test"] } } }' \
		>"$HOME/.config/agentbox/config.json"
	mkdir -p "${file%/*}"
	for ((n = 0; n < 6; n++)); do
		rm -f "$file"
		choose_clock "$n"
		run timeout 60 $CLOCK "$AGENTBOX" run --yes --read-only --secret KEY -- cat "$file" 3>&-
		echo "$output"
		[ "$status" -eq 0 ]
		[[ "$output" != *hunter2* ]]
		[[ "$output" == *"$look"* ]]
		grep -q hunter2word "$file"
	done
}

# bats test_tags=root
@test "before a start: what a secret's command writes within a millisecond is looked at" {
	quickly "$HOME/.config/pip/pip.conf" '[global]|index-url = https://me:hunter2word@mirror.test/simple|' \
		"index-url = https://mirror.test/simple"
}

# bats test_tags=root
@test "before a start: the same with the registries of cargo" {
	quickly "$HOME/.cargo/config.toml" \
		'[registries.mirror]|index = "https://me:hunter2word@mirror.test/index"|' \
		'index = "https://mirror.test/index"'
}

# bats test_tags=root
@test "before a start: the same with the older name of pip's settings" {
	quickly "$HOME/.pip/pip.conf" '[global]|index-url = https://me:hunter2word@mirror.test/simple|' \
		"index-url = https://mirror.test/simple"
}

@test "before a start: the same in a run that is reviewed" {
	before() { secret "$1; . $TEST_DIR/write"; }
	starts 2 run --yes --review --secret KEY -- sh -c "$LOOK"
	[ ! -e work ]
}

@test "before a start: the same in a box that stays, and in its further commands" {
	before() { secret "$1; . $TEST_DIR/write"; }
	for moment in "${MOMENTS[@]}"; do
		before "$moment"
		forget
		# Its supervisor is another process.
		run timeout 60 "$ATTACK/frozen" --all "$AGENTBOX" run --yes --keep --name stays --secret KEY -- \
			sh -c "$LOOK" </dev/null 3>&-
		echo "$output"
		[ "$status" -eq 0 ]
		walls_are_up
		rm work
		agentbox run --yes --in stays -- sh -c "$LOOK"
		walls_are_up
		agentbox stop stays
		[ "$status" -eq 0 ]
	done
}

@test "before a start: what an approver writes is looked at" {
	before() { script="$1; . $TEST_DIR/write; echo '{\"answer\":\"once\"}'"; printf '%s' "$script" >"$TEST_DIR/approve"; }
	starts $TIMES run --approver "sh $TEST_DIR/approve" -- sh -c "$LOOK; git push"
	[[ "$output" == *"ran: git push"* ]]
}

@test "before a start: an approver and a secret's command, one after the other" {
	before()
	{
		secret "$1; . $TEST_DIR/write"
		printf '%s' "$1; mkdir -p ~/.config/pip; echo '# early' >~/.config/pip/pip.conf; echo '{\"answer\":\"once\"}'" \
			>"$TEST_DIR/approve"
	}
	starts 3 run --secret KEY --approver "sh $TEST_DIR/approve" -- sh -c "$LOOK; git push"
	[[ "$output" == *"ran: git push"* ]]
}

@test "before a start: what appears while a person is asked is looked at" {
	tty_start "$AGENTBOX" run -- sh -c "$LOOK; git push"
	tty_wait '\[n\]o'
	forget
	sh "$TEST_DIR/write"
	# Keys count only some time after the question was drawn.
	answered() { tty_key o; ! tty_matches '\[\?\] more$'; }
	wait_for 90 answered
	tty_end
	[[ "$output" == *"ran: git push"* ]]
	walls_are_up
}

@test "before a start: what a secret's command leaves in the background writes nothing" {
	# It writes without an end; the first look of the box, which is later than our own, sees the last line.
	before() { secret ". $TEST_DIR/write; ($1; while :; do echo late >>~/late; done) >/dev/null 2>&1 &"; }
	for moment in : 'sleep 0.02' 'sleep 0.3'; do
		before "$moment"
		for ((n = 0; n < TIMES; n++)); do
			forget
			: >~/late
			agentbox run --yes --secret KEY -- sh -c "$LOOK; echo lines: \$(grep -c late ~/late); sleep 0.02"
			walls_are_up
			[[ "$output" == *"lines: $(grep -c late ~/late)"$'\n'* ]]
		done
	done
}

@test "before a start: a file with a secret is read after every command of another one" {
	for names in 'A B' 'B A'; do
		read -r file command <<<"$names"
		echo '{"token":"first-value-of-a-token","other":"shown"}' >~/token.json
		secret 'echo "{\"token\":\"second-value-of-a-token\",\"other\":\"shown\"}" >~/token.json'
		jq -n --arg get "$TEST_DIR/get" --arg file "$file" --arg command "$command" '{ secrets: {
			($file): { from: "file", file: "~/token.json", key: "token", files: ["~/token.json"], hosts: ["a.test"] },
			($command): { from: "command", command: [$get], hosts: ["b.test"] } } }' \
			>"$HOME/.config/agentbox/config.json"
		agentbox run --secret A --secret B -- cat "$HOME/token.json"
		[ "$status" -eq 0 ]
		[[ "$output" == *'"other":"shown"'* ]]
		[[ "$output" != *value-of-a-token* ]]
		grep -q second-value ~/token.json
	done
}

@test "before a start: a file that a later command gives another value is hidden" {
	printf '#!/bin/sh\necho first-value-of-a-token\n' >"$TEST_DIR/print"
	chmod +x "$TEST_DIR/print"
	for after in true 'echo second-value-of-a-token >~/token'; do
		echo first-value-of-a-token >~/token
		# The clock of file times has moved on since.
		touch "$TEST_DIR/then"
		wait_for 60 sh -c "touch $TEST_DIR/now; [ $TEST_DIR/now -nt $TEST_DIR/then ]"
		secret "$after"
		jq -n --arg get "$TEST_DIR/get" --arg print "$TEST_DIR/print" '{ secrets: {
			A: { from: "command", command: [$print], files: ["~/token"], hosts: ["a.test"] },
			B: { from: "command", command: [$get], hosts: ["b.test"] } } }' \
			>"$HOME/.config/agentbox/config.json"
		agentbox run --secret A --secret B -- sh -c 'echo "got: $(cat ~/token)"'
		[ "$status" -eq 0 ]
		[[ "$output" != *value-of-a-token* ]]
		if [ "$after" = true ]; then
			[[ "$output" =~ got:\ .+ ]]
		else
			[[ "$output" == *"written while a secret's command ran"*"it is hidden"* ]]
		fi
	done
}

@test "before a start: an interrupted apply is settled, and then the workspace is looked at" {
	mkdir -p "$HOME/outer/inner"
	cd "$HOME/outer/inner"
	echo 1 >a
	launch run --review --name dev -- sh -c 'echo 22 >a; echo n >new; echo hunter2word >token' </dev/null
	# The fourth rename puts the first file in place.
	run timeout 60 strace -qqq -o /dev/null -e trace=renameat,renameat2 \
		-e inject=renameat,renameat2:signal=KILL:when=4 "$AGENTBOX" apply dev --all 3>&-
	[ "$status" -ne 0 ]
	# The folder around it is writable, too: what we change there ourselves is no reason to start again.
	# A file that is denied, and there only now, is hidden.
	agentbox run --yes --review --name dev --write "$HOME/outer" --deny-read "$PWD/token" -- sh -c 'cat token; cat a new'
	[ "$status" -eq 0 ]
	[[ "$output" == *"an interrupted apply was completed"*22*n* ]]
	[[ "$output" != *hunter2word* ]]
	grep -q hunter2word token
}
