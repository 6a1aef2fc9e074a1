# whole-tree: it compares documents with the sources
# unsanitized: it compares texts
load helpers
load stand_ins

# The help of each command is printed from the tables that parse its options,
# so it is the truth that the manual pages and completions are held against. All
# tests look at the same texts, which are made once:
#
#   HELP/commands      from the overview
#   HELP/words.C       the words that may follow the command C, if there are any
#   HELP/leaves        everything that has options of its own: "run", "config show" and so on
#   HELP/options.LEAF  "--net", "-v", one a line, sorted
#   HELP/all.LEAF      its whole help
#   HELP/page.NAME     a manual page as text
setup_file()
{
	local c w leaf

	export HELP=$BATS_FILE_TMPDIR
	"$AGENTBOX" --help | sed -n '/^Run:/,$s/^  \([a-z]*\) .*/\1/p' >"$HELP/commands"
	for c in $(commands); do
		"$AGENTBOX" "$c" --help | sed -n "/^Examples:/,/^\$/d; s/^  agentbox $c \([a-z-]*\).*/\1/p" >"$HELP/words.$c"
		[ -s "$HELP/words.$c" ] || echo "$c"
		for w in $(words "$c"); do
			echo "$c $w"
		done
	done >"$HELP/leaves"
	while read -r leaf; do
		# shellcheck disable=SC2086
		"$AGENTBOX" $leaf --help=all >"$HELP/all.$leaf"
		grep -oE '^  (-[a-zA-Z0], |    )--[a-z-]+' "$HELP/all.$leaf" | grep -oE -- '--?[a-zA-Z0][a-z-]*' |
			sort -u >"$HELP/options.$leaf" || true
	done <"$HELP/leaves"
}

commands()
{
	cat "$HELP/commands"
}

words()
{
	cat "$HELP/words.$1"
}

options()
{
	cat "$HELP/options.$1"
}

# enums LEAF: "--net blocked filtered allowed", one option a line.
enums()
{
	sed -nE 's/^  (-., |    )(--[a-z-]+) ([a-z]+(\|[a-z]+)+) .*/\2 \3/p' "$HELP/all.$1" | tr '|' ' '
}

all_options()
{
	{
		printf '%s\n' --version -V --color
		cat "$HELP"/options.*
	} | sort -u
}

# page FILE: as text, without line breaks in the middle of a word.
page()
{
	[ -s "$HELP/page.$1" ] || mandoc -Tascii -Owidth=1000 "$ROOT/man/$1" | sed 's/.\x08//g' >"$HELP/page.$1"
	cat "$HELP/page.$1"
}

# without_examples: a page, without the section whose commands have options of other programs.
without_examples()
{
	awk '/^[A-Z]/ { skip = $0 == "EXAMPLES" } !skip'
}

# named: the options that the text on standard input names.
named()
{
	grep -oE '(^|[^a-zA-Z0-9_-])(--[a-z][a-z-]*|-[a-zA-Z0])($|[^a-zA-Z0-9-])' |
		grep -oE -- '-+[a-zA-Z0][a-z-]*' | sort -u
}

# same WHAT A B: two sorted lists that must be equal.
same()
{
	[ "$2" = "$3" ] || diff --label "$1: in the program" --label "$1: written down" -u \
		<(sort -u <<<"$2") <(sort -u <<<"$3")
}

schema_keys()
{
	jq -r '.properties | to_entries[] | select(.key | IN("$schema", "managed", "description") | not) |
		if .value.properties then .key as $g | .value.properties |
		keys[] | "\($g).\(.)" else .key end' "$ROOT/share/agentbox.schema.json"
}

presets()
{
	"$AGENTBOX" profile presets --json | jq -r '"auto", .[].name'
}

properties()
{
	jq -r '."$defs".properties.items.enum[]' "$ROOT/share/agentbox.schema.json"
}

groups()
{
	"$AGENTBOX" config show --allow @zzzzzzzzzz 2>&1 | grep -o '@[a-z]*' |
		grep -v zzz
}

# The help itself.

@test "help: there is something to compare with" {
	[ "$(commands | wc -l)" -ge 5 ]
	[ "$(words config)" = $'show\nget\nset\nunset\nedit\ncheck\npath\nreload\nschema' ]
	[ "$(options run | wc -l)" -ge 25 ]
	options run | grep -qx -- --net
	options run | grep -qx -- -v
	options 'config show' | grep -qx -- --json
	enums run | grep -qx -- '--net blocked filtered allowed'
	[ "$(properties | wc -l)" -eq 14 ]
	[ "$(groups | wc -l)" -ge 7 ]
	[ "$(schema_keys | wc -l)" -ge 25 ]
}

@test "help: fits on 80 columns" {
	local l
	{
		"$AGENTBOX" --help
		for l in $(commands); do
			"$AGENTBOX" "$l" --help
		done
		while read -r l; do
			"$AGENTBOX" $l --help
		done <"$HELP/leaves"
		cat "$HELP"/all.*
	} >help
	run awk 'length > 80' help
	echo "$output"
	[ -z "$output" ]
}

# Manual pages.

@test "help: every command has examples, and the overview has sections" {
	local c
	for c in $(commands); do
		"$AGENTBOX" "$c" --help | grep -A 1 '^Examples:' | grep -q '^  agentbox '
	done
	[ "$("$AGENTBOX" --help | grep -c '^[A-Z][A-Za-z ]*:$')" -eq 5 ]
	# Common options first, the rest on request; what `check` lists changes a verdict.
	[ "$("$AGENTBOX" run --help | wc -l)" -le 45 ]
	"$AGENTBOX" run --help | grep -q '^Every option: agentbox run --help=all'
	run ! grep -qE -- '--(publish|memory|net)' <("$AGENTBOX" check --help)
	grep -q -- --profile <("$AGENTBOX" check --help)
	grep -q -- --memory <("$AGENTBOX" check --help=all)
}

@test "help: the manual in the program says what the pages say" {
	need program:mandoc
	local f name
	for f in "$ROOT"/man/*.[0-9]; do
		name=${f##*/agentbox-}
		name=${name##*/}
		"$AGENTBOX" help --man "${name%.[0-9]}" >page
		# Bullets and quotes are of another kind; the first and the last line are mandoc's own.
		same "$name" "$(tr '\140*' "'o" <page | tr -s ' \n' '\n' | grep .)" \
			"$(page "${f##*/}" | sed '1d; $d' | tr '\140*' "'o" | tr -s ' \n' '\n' | grep .)"
	done
}

# in_rows FILE: the names in its rows of options that cannot be combined.
in_rows()
{
	tr '\n' ' ' <"$1" | sed 's/"[[:space:]]*"//g' | grep -oE '(OPTION_ROWS\(|_rows\[\] = \{)[^)}]*' |
		grep -oE '"[^":]*' | tr -d '"' | tr ' ' '\n' | grep -E '^[a-z]' | sed '/^needs$/d; s/.*/"&"/'
}

# unlisted FILE...: the options that each file asks for by a name that none of its tables has.
unlisted()
{
	local f
	for f in "$@"; do
		comm -23 <({
			grep -oE '\b(given|value_of|count_given)\([^()"]*"[a-z-]+"' "$f" | grep -o '"[^"]*"'
			in_rows "$f"
		} | sort -u) \
			<(grep -hoE '\b(FLAG|VALUE)\("[a-z-]+"|^	\{ "help"' "$f" "$ROOT"/cmd/{options,run}.c |
				grep -o '"[^"]*"' | sort -u)
	done
}

@test "options: a command asks only for options that its table has" {
	[ "$(grep -lE '\bgiven\(args, "' "$ROOT"/cmd/*.c | wc -l)" -gt 20 ]
	[ -z "$(unlisted "$ROOT"/cmd/*.c)" ]
	sed 's/given(args, "stat")/given(args, "stats")/' "$ROOT/cmd/diff.c" >diff.c
	[ "$(unlisted diff.c)" = '"stats"' ]
	[ "$(in_rows "$ROOT/cmd/diff.c" | paste -sd' ')" = '"stat" "json" "html" "json" "html" "hunks" "json" "labelled" "safe"' ]
	sed 's/hunks needs json/hunk needs json/' "$ROOT/cmd/diff.c" >diff.c
	[ "$(unlisted diff.c)" = '"hunk"' ]
}

@test "man: one page for each command, and none for anything else" {
	need program:mandoc
	same pages "$(commands | sed 's/.*/agentbox-&.1/'; echo agentbox.1; echo agentbox.json.5)" \
		"$(cd "$ROOT/man" && ls ./*.[0-9] | sed 's,^\./,,')"
	same commands "$(commands)" \
		"$(page agentbox.1 | sed -n '/^COMMANDS/,/^GUARANTEES/p' | grep -oE 'agentbox-[a-z]+\(1\)' | sed 's/agentbox-\(.*\)(1)/\1/')"
}

@test "man: every option is in the page of its command, and no other" {
	need program:mandoc
	local c l
	for c in $(commands); do
		same "agentbox-$c.1" "$(grep -E "^$c( |$)" "$HELP/leaves" | while read -r l; do
			options "$l"
		done | sort -u)" "$(page "agentbox-$c.1" | without_examples | named)"
	done
}

@test "man: the general pages name no option that does not exist" {
	need program:mandoc
	local f o
	all_options >known
	for f in agentbox.1 agentbox.json.5; do
		page "$f" | named >named
		[ -s named ]
		run comm -13 known named
		echo "$f: $output"
		[ -z "$output" ]
	done
}

@test "man: words behind a command, values and groups are named" {
	need program:mandoc
	local c w
	for c in $(commands); do
		for w in $(words "$c"); do
			page "agentbox-$c.1" | grep -q "agentbox $c $w"
		done
	done
	enums run | while read -r c w; do
		page agentbox-run.1 | grep -qE -- "$c ${w// / ?\\| ?}"
	done
	for w in $(groups); do
		page agentbox.json.5 | grep -qF -- "$w"
	done
}

@test "man: guarantees and profiles are all there" {
	need program:mandoc
	same properties "$(properties)" \
		"$(page agentbox.1 | sed -n '/^GUARANTEES/,/^ENGINES/p' | grep -oE '^ {5}[a-z-]+( |$)' | tr -d ' ')"
	same profiles "$("$AGENTBOX" profile list --json | jq -r '.[].name')" \
		"$(page agentbox-profile.1 | sed -n '/Built-in profiles/,/^EXIT/p' | grep -oE '^ {5}[a-z]+[a-z, -]*( |$)' | tr ',' '\n' | grep -oE '[a-z-]+' )"
}

@test "man: agentbox.json(5) has every key of the schema, and no other" {
	same keys "$(schema_keys)" \
		"$(sed -n 's/^\.It Cm \([a-z][A-Za-z.]*\)$/\1/p' "$ROOT/man/agentbox.json.5")"
}

@test "man: agentbox.json(5) has the true defaults" {
	local key value text
	"$AGENTBOX" profile show default --json | jq -r 'to_entries[] |
		select(.value | type == "object") | select(.key != "profile") |
		"\(.key) \(.value.value)"' >defaults
	[ "$(wc -l <defaults)" -ge 12 ]
	while read -r key value; do
		text=$(awk -v key="$key" '/^\.It/ { on = $0 == ".It Cm " key } on' \
			"$ROOT/man/agentbox.json.5" | tr '\n' ' ')
		echo "$key: $text"
		[[ "$text" =~ default\ (\.Ql\ )?$value[\ ,] ]]
	done <defaults
}

@test "man: every key is in an example of agentbox.json(5)" {
	awk '/^\.Bd/ { name = sprintf("x%02d.json", ++n); next }
		/^\.Ed/ { name = "" }
		name { print > name }' "$ROOT/man/agentbox.json.5"
	[ "$(ls x*.json | wc -l)" -ge 26 ]
	[ "$(cat x*.json | jq -s 'map(del(.managed) | paths(type != "object" and type != "array") | map(strings) | .[:if .[0] == "secrets" or .[0] == "tools" then 1 else 2 end] | join(".")) | unique | length')" -eq "$(schema_keys | wc -l)" ]
}

@test "man: mandoc has nothing to say against the pages" {
	need program:mandoc
	# Pages refer to each other, and need not be installed for it: nobody looks for them.
	# Two files: in one, a message may be inside a line of the other.
	run bash -c 'errors=$1
		shift
		MANPATH=/none mandoc -Tlint -Wstyle "$@" 2>"$errors" | grep -v "referenced manual not found"
		grep -v "outdated mandoc.db" "$errors"' - "$TEST_DIR/errors" "$ROOT"/man/*.[0-9] "$ROOT"/man/library/*
	echo "$output"
	[ -z "$output" ]
}

@test "man: the pages fit on 80 columns, and examples of settings on 60" {
	need program:mandoc
	mandoc -Ios=here -Tascii -Owidth=78 "$ROOT"/man/*.[0-9] "$ROOT"/man/library/* 2>/dev/null | sed 's/.\x08//g' >narrow
	# All of them, each with its last line.
	[ "$(grep -c '^here .* here$' narrow)" -eq "$(ls "$ROOT"/man/*.[0-9] "$ROOT"/man/library/* | wc -l)" ]
	awk 'length > 80' narrow >wide
	mandoc -Tascii -Owidth=58 "$ROOT/man/agentbox.json.5" 2>/dev/null | sed 's/.\x08//g' | awk 'length > 60' >>wide
	cat wide
	[ ! -s wide ]
}

@test "man: pages refer to pages that exist" {
	local name section
	grep -hoE '^\.(It )?Xr agentbox[^ ]* [0-9]' "$ROOT"/man/*.[0-9] "$ROOT"/man/library/* |
		sed 's/^\.\(It \)\?Xr //' | sort -u >refs
	[ -s refs ]
	while read -r name section; do
		echo "$name($section)"
		[ -f "$ROOT/man/$name.$section" ] || [ -f "$ROOT/man/library/$name.$section" ]
	done <refs
}

@test "man and completions: what is there is installed" {
	local f
	for f in "$ROOT"/man/*.[0-9] "$ROOT"/man/library/*; do
		grep -qF "${f##*/man/}'" "$ROOT/man/meson.build"
	done
	for f in "$ROOT"/completions/*agentbox*; do
		grep -qF "'${f##*/}'" "$ROOT/completions/meson.build"
	done
	grep -qF "subdir('man')" "$ROOT/meson.build"
	grep -qF "subdir('completions')" "$ROOT/meson.build"
}

# Completions. The program is found on the PATH, as a user has it.

on_path()
{
	mkdir -p bin
	ln -sf "$AGENTBOX" bin/agentbox
	PATH=$PWD/bin:$PATH
}

# bash_for WORD...: what bash would offer for the last word.
bash_for()
{
	bash --norc -c '
		. "$0/completions/agentbox.bash"
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_agentbox
		[ ${#COMPREPLY[@]} -eq 0 ] || printf "%s\n" "${COMPREPLY[@]}"' \
		"$ROOT" agentbox "$@"
}

# fish_for LINE: what fish would offer at its end.
fish_for()
{
	fish --no-config -c 'source $argv[1]/completions/agentbox.fish
		complete -C $argv[2]' "$ROOT" "agentbox $1" | cut -f 1
}

@test "completions: the program carries them, and the same files are installed" {
	local shell
	cmp <("$AGENTBOX" completion bash) "$ROOT/completions/agentbox.bash"
	cmp <("$AGENTBOX" completion fish) "$ROOT/completions/agentbox.fish"
	cmp <("$AGENTBOX" completion zsh) "$ROOT/completions/_agentbox"
	agentbox completion tcsh
	[ "$status" -eq 2 ]
}

@test "completions: the shells can read them" {
	bash -n "$ROOT/completions/agentbox.bash"
	need program:zsh
	zsh -n "$ROOT/completions/_agentbox"
	# Also with source, as for other programs.
	[ "$(zsh -fc 'autoload -U compinit; compinit -uD; source $1; echo $_comps[agentbox]' zsh \
		"$ROOT/completions/_agentbox" 2>&1)" = _agentbox ]
	need program:fish
	fish -n "$ROOT/completions/agentbox.fish"
}

@test "completions: bash offers every option of every command, and no other" {
	on_path
	local l i=0
	# One bash for all of them.
	bash --norc -c '
		. "$0/completions/agentbox.bash"
		i=0
		while read -r -u 9 -a leaf; do
			COMP_WORDS=(agentbox "${leaf[@]}" -) COMP_CWORD=$((${#leaf[@]} + 1)) COMPREPLY=()
			_agentbox
			[ ${#COMPREPLY[@]} -eq 0 ] || printf "%s\n" "${COMPREPLY[@]}" | sort -u >"offered.$i"
			i=$((i + 1))
		done 9<"$1"' "$ROOT" "$HELP/leaves"
	while read -r l; do
		same "bash, $l" "$(options "$l")" "$(cat "offered.$i")"
		i=$((i + 1))
	done <"$HELP/leaves"
	[ "$i" -gt 50 ]
}

@test "completions: bash offers commands, words and values" {
	on_path
	local c l o values
	same commands "$(commands)" "$(bash_for '' | grep -v '^-')"
	for c in $(commands); do
		[ -z "$(words "$c")" ] || same "$c" "$(words "$c")" "$(bash_for "$c" '')"
	done
	enums run >enums
	while read -r o values; do
		same "$o" "$(tr ' ' '\n' <<<"$values")" "$(bash_for run "$o" '')"
		same "$o=" "$(tr ' ' '\n' <<<"$values")" "$(bash_for run "$o" = '')"
	done <enums
	same groups "$(groups)" "$(bash_for run --allow '')"
	same properties "$(properties)" "$(bash_for run --require '')"
	same presets "$(presets)" "$(bash_for run --with '')"
	[ "$(bash_for run --require net-fence,lim)" = net-fence,limits ]
	for o in $(bash_for run --secret ''); do
		agentbox config show --secret "$o"
		[ "$status" -eq 0 ]
	done
	[ "$o" ]
}

@test "completions: bash offers profiles, the user's own too" {
	on_path
	mkdir -p "$HOME/.config/agentbox/profiles"
	printf '{}' >"$HOME/.config/agentbox/profiles/mine.json"
	same profiles "$("$AGENTBOX" profile list --json | jq -r '.[].name')" "$(bash_for run --profile '')"
	[ "$(bash_for config show --profile mi)" = mine ]
	[ "$(bash_for profile show mi)" = mine ]
	[ "$(bash_for policy diff ci mi)" = mine ]
}

@test "completions: bash offers agents, ids of denials, and what a program completes itself" {
	on_path
	same agents "$("$AGENTBOX" hook list --json | jq -r '.hooks[].agent' | sort -u)" \
		"$(bash_for hook install '')"
	: >live.sh
	need userns
	"$AGENTBOX" run --unknown deny -- curl -s http://ads.example.com/ >/dev/null 2>&1 || true
	local id
	id=$("$AGENTBOX" log --denied --json | jq -r 'select(.kind == "violation").id')
	[ "$(bash_for why "$id")" = "$id" ]
	[ "$(bash_for allow "$id")" = "$id" ]
	[ "$(bash_for allow ads)" = ads.example.com ]
	# It could be a host: `allow` would ask which one is meant.
	[ -z "$(bash_for allow live)" ]
	[ "$(bash_for allow ./live)" = ./live.sh ]
	# A program in place of a command, and its own completion, without the bash-completion package.
	printf '#!/bin/sh\n' >bin/frobnicate
	chmod +x bin/frobnicate
	[ "$(bash_for frobni)" = frobnicate ]
	for words in "frobnicate" "run frobnicate" "-- frobnicate" "run --net blocked -- frobnicate"; do
		[ "$(bash --norc -c '
			_frobnicate() { COMPREPLY=("$1,$2,$3,$COMP_CWORD"); }
			complete -F _frobnicate frobnicate
			. "$0/completions/agentbox.bash"
			COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
			_agentbox
			echo "${COMPREPLY[@]}"' "$ROOT" agentbox $words st)" = frobnicate,st,frobnicate,1 ]
	done
}

@test "completions: bash offers files and folders where they belong" {
	on_path
	mkdir a-folder
	: >a-file
	same files $'a-file\na-folder' "$(bash_for run --write a-)"
	[ "$(bash_for run --workspace a-)" = a-folder ]
	same files $'a-file\na-folder' "$(bash_for config check a-)"
	same files $'a-file\na-folder' "$(bash_for run -- ls a-)"
	same files $'a-file\na-folder' "$(bash_for run --net blocked ls a-)"
	# Behind the command, options are the command's own.
	[ -z "$(bash_for run ls --net)" ]
	[ -z "$(bash_for run -- ls --net)" ]
}

# bats test_tags=slow
@test "completions: fish offers every option of every command, and no other" {
	need program:fish
	on_path
	local l i=0
	# One fish for all of them: its start takes longer than an answer.
	fish --no-config -c 'source $argv[1]/completions/agentbox.fish
		set i 0
		while read -l leaf
			complete -C "agentbox $leaf -" | cut -f 1 >offered.$i
			set i (math $i + 1)
		end <$argv[2]' "$ROOT" "$HELP/leaves"
	while read -r l; do
		same "fish, $l" "$(options "$l")" "$(cat "offered.$i")"
		i=$((i + 1))
	done <"$HELP/leaves"
	[ "$i" -gt 50 ]
}

@test "completions: fish offers commands, words, values and profiles" {
	need program:fish
	on_path
	local c o values
	same commands "$(commands)" "$(fish_for '')"
	for c in $(commands); do
		[ -z "$(words "$c")" ] || same "$c" "$(words "$c")" "$(fish_for "$c ")"
	done
	enums run >enums
	while read -r o values; do
		same "$o" "$(tr ' ' '\n' <<<"$values")" "$(fish_for "run $o ")"
	done <enums
	same groups "$(groups)" "$(fish_for 'run --allow ')"
	same properties "$(properties)" "$(fish_for 'run --require ')"
	same presets "$(presets)" "$(fish_for 'run --with ')"
	[ "$(fish_for 'run --require net-fence,lim')" = net-fence,limits ]
	same secrets "$(bash_for run --secret '')" "$(fish_for 'run --secret ')"
	same profiles "$("$AGENTBOX" profile list --json | jq -r '.[].name')" "$(fish_for 'run --profile ')"
	: >a-file
	[ "$(fish_for 'run -- ls a-f')" = a-file ]
	[ -z "$(fish_for 'run ls --net')" ]
}

@test "completions: zsh names every option, value and group, and no other" {
	local o values w
	same zsh "$(all_options)" "$({
		grep -oE -- '--[a-z][a-z-]*' "$ROOT/completions/_agentbox"
		grep -oE -- '\{-[a-zA-Z0]\+?,' "$ROOT/completions/_agentbox" | grep -oE -- '-[a-zA-Z0]'
	} | sort -u)"
	enums run >enums
	while read -r o values; do
		grep -qF -- "$o=[" "$ROOT/completions/_agentbox"
		grep -F -- "$o=[" "$ROOT/completions/_agentbox" | grep -qE "\((${values// /|})( (${values// /|}))*\)"
		for w in $values; do
			grep -F -- "$o=[" "$ROOT/completions/_agentbox" | grep -qw -- "$w"
		done
	done <enums
	for w in $(groups) $(properties) $(commands); do
		grep -qw -- "${w#@}" "$ROOT/completions/_agentbox"
	done
	for o in $(commands); do
		[ -z "$(words "$o")" ] || grep -q "$o '$(words "$o" | xargs)'" "$ROOT/completions/_agentbox"
	done
}

@test "completions: zsh completes on a terminal" {
	need program:zsh
	need program:tmux
	on_path
	tty_start env PATH="$PATH" zsh -f
	tty_type "PS1='> '; fpath=('$ROOT/completions' \$fpath); autoload -Uz compinit; compinit -u -D; echo rea''dy"
	tty_key Enter
	tty_wait '^ready'
	for line in 'agentbox conf|agentbox config' \
		'agentbox config sh|agentbox config show' \
		'agentbox run --read-|agentbox run --read-only' \
		'agentbox run --net blo|agentbox run --net blocked' \
		'agentbox run --net=fil|agentbox run --net=filtered' \
		'agentbox run --profile read|agentbox run --profile read-only' \
		'agentbox config show --jso|agentbox config show --json' \
		'agentbox profile show claud|agentbox profile show claude' \
		'agentbox trust --revo|agentbox trust --revoke'; do
		tty_key C-u C-l
		tty_type "${line%|*}"
		tty_key Tab
		tty_wait "^> ${line#*|} *$"
	done
	tty_key C-u C-d
	tty_end
}

# Documents: README.md, CONTRIBUTING.md, SECURITY.md, docs/, examples/. What is an example in them
# and how it is run: documents.py.

documents()
{
	find "$ROOT" -maxdepth 1 -name '*.md' ! -name CHANGELOG.md
	find "$ROOT/docs" "$ROOT/examples" -name '*.md'
}

# shown FILE: its examples do what they show.
shown()
{
	need program:curl
	need doctor "this machine cannot run every profile"
	stand_ins
	run "$ROOT/test/documents.py" run "$HOME/bin/agentbox" "$PWD" "$ROOT/$1" 3>&-
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "documents: every file that is named exists" {
	documents | xargs "$ROOT/test/documents.py" names "$ROOT"
}

@test "documents: a name that does not exist is found" {
	echo 'See `lib/no/such_file.c` and [this](nowhere.md), not `scripts/test`.' >page.md
	run "$ROOT/test/documents.py" names "$ROOT" "$PWD/page.md"
	echo "$output"
	[ "$status" -eq 1 ]
	[[ "$output" == *"no lib/no/such_file.c"*"no nowhere.md"* ]]
	[[ "$output" != *"no scripts/test"* ]]
	echo 'See `scripts/test`, `test/*.bats` and [this](page.md).' >page.md
	"$ROOT/test/documents.py" names "$ROOT" "$PWD/page.md"
}

@test "documents: every example can be run, or says who shows it" {
	documents | xargs "$ROOT/test/documents.py" forms
}

@test "documents: an example that is wrong is found, and its right twin is not" {
	local right='```console\n$ echo one two\none ...\n$ true\n```\n```sh\nfalse  # exit status 1\n```\n'
	local wrong

	printf "$right" >page.md
	"$ROOT/test/documents.py" run "$AGENTBOX" "$PWD" "$PWD/page.md"
	for wrong in '```console\n$ echo one\ntwo\n```\n' '```console\n$ echo one\n```\n' \
		'```sh\nfalse\n```\n' '```json\n{ "network": { "alow": [] } }\n```\n'; do
		mkdir -p one && printf "$wrong" >page.md
		PATH=$(dirname "$AGENTBOX"):$PATH run "$ROOT/test/documents.py" run "$AGENTBOX" "$PWD" "$PWD/page.md"
		echo "$output"
		[ "$status" -eq 1 ]
	done
	printf '```text\n$ agentbox ps\n```\n' >page.md
	run "$ROOT/test/documents.py" forms page.md
	[ "$status" -eq 1 ]
	printf '<!-- shown by test/steer.bats -->\n```text\n$ agentbox ps\n```\n' >page.md
	"$ROOT/test/documents.py" forms page.md
}

@test "SECURITY.md: each sentence has a test that holds it" {
	python3 "$ROOT/test/claims.py" "$ROOT"
}

@test "SECURITY.md: a sentence without a test is found, and a test that does not exist" {
	local security=$PWD/SECURITY.md list=$PWD/claims.txt

	# wrong WORD TEXT...: what is said about the two files
	wrong()
	{
		run python3 "$ROOT/test/claims.py" "$ROOT" "$security" "$list"
		[ "$status" -eq 1 ]
		[ "$(wc -l <<<"$output")" -eq 1 ]
		[[ "$output" == *"$1"*"$2"* ]]
	}
	cat >SECURITY.md <<-'END'
	## Guarantees

	- `one`: no file is changed,
	  by nobody. Nor is it read. It is so.

	## What is outside

	- **Two.** It is not promised. A box may
	  do it.
	END
	cat >"$list" <<-END
	\`one\`: no file is changed, by
	  docs.bats: help: there is something to compare with
	Nor is it
	  unit base_text_sha256: no such check
	It is so.
	  none: it says nothing new
	**Two.** It is not
	  source lib/base/base.h: #pragma once
	A box may
	  source lib/base/base.h: #include
	END
	wrong "does not exist" "no such check"
	sed -i '/no such check/d' "$list"
	wrong "nothing holds" "Nor is it"
	sed -i '/^Nor is it/d' "$list"
	wrong "no test is named for" "Nor is it read."
	sed -i 's/Nor is it read. //' SECURITY.md
	cp SECURITY.md before
	printf '\n## Another section\n\nAnd more.\n' >>SECURITY.md
	wrong "no test is named for" "And more."
	mv before SECURITY.md
	# The twin.
	python3 "$ROOT/test/claims.py" "$ROOT" "$security" "$list"
	sed -i 's/changed,/replaced,/' SECURITY.md
	run python3 "$ROOT/test/claims.py" "$ROOT" "$security" "$list"
	[[ "$output" == *"0 sentences begin so"*"no test is named for"* ]]
	sed -i 's/replaced,/changed,/' SECURITY.md
	sed -i 's/there is something/there is nothing/' "$list"
	wrong "does not exist" "docs.bats"
	sed -i 's/there is nothing/there is something/; s/#pragma once/#pragma twice/' "$list"
	wrong "is not there" "#pragma twice"
	sed -i 's/#pragma twice/#pragma once/; s/none: .*/none: no/' "$list"
	wrong "is no reason" "none: no"
	sed -i 's/none: no/words/' "$list"
	wrong "neither a test nor a reason" "words"
}

@test "attacks: each that worked once has its tests, with variants and what is allowed" {
	python3 "$ROOT/test/claims.py" --attacks "$ROOT"
}

@test "attacks: one without enough tests is found, and a test that does not exist" {
	local list=$PWD/attacks.txt

	# wrong TEXT SCRIPT: what is said of the list after this change to it.
	wrong()
	{
		sed "$2" right >"$list"
		run python3 "$ROOT/test/claims.py" --attacks "$ROOT" "$list"
		echo "$output"
		[ "$status" -eq 1 ]
		[ "${#lines[@]}" -eq 1 ]
		[[ "$output" == "$list:"*"$1"* ]]
	}
	cat >right <<-END
	# A file is read
	A file is read
	  attack docs.bats: attacks: one without enough tests is found, and a test that does not exist
	  variant docs.bats: help: there is something to compare with
	  variant docs.bats: help: fits on 80 columns
	  twin docs.bats: README.md: fits in about 250 lines
	END
	# The twin; a part of a test may be one, where the test says so.
	python3 "$ROOT/test/claims.py" --attacks "$ROOT" right
	sed 's/twin .*/twin docs.bats: attacks: one without enough tests is found, and a test that does not exist/' right >"$list"
	python3 "$ROOT/test/claims.py" --attacks "$ROOT" "$list"
	wrong "1 of at least 2 for variant: A file is read" '/80 columns/d'
	wrong "0 of at least 1 for attack: A file is read" '/^  attack/d'
	wrong "0 of at least 1 for twin: A file is read" '/^  twin/d'
	wrong "does not exist: docs.bats: help: fits on 81 columns" 's/80/81/'
	wrong "does not exist: nope.bats: help: fits on 80 columns" 's/docs.bats: help: fits/nope.bats: help: fits/'
	wrong "does not exist: none: it is a reason" 's/docs.bats: help: fits.*/none: it is a reason/'
	wrong "twice: docs.bats: help: fits on 80 columns" '/80 columns/p'
	wrong "twice: A file is read" '$r right'
	wrong "neither an attack, a variant nor a twin: words" '$a\  words'
	wrong "does not say which part is the twin: docs.bats: help: fits on 80" 's/twin .*/twin docs.bats: help: fits on 80 columns/'
	: >"$list"
	run python3 "$ROOT/test/claims.py" --attacks "$ROOT" "$list"
	[[ "$status" -eq 1 && "$output" == *"there is nothing to compare" ]]
}

@test "README.md: its examples do what they show" {
	shown README.md
}

@test "README.md: fits in about 250 lines" {
	[ "$(wc -l <"$ROOT/README.md")" -le 260 ]
}

@test "docs/first-day.md: its examples do what they show" {
	shown docs/first-day.md
}

@test "docs/network.md: its examples do what they show" {
	shown docs/network.md
}

@test "docs/secrets.md: its examples do what they show" {
	shown docs/secrets.md
}

@test "docs/ssh.md: its examples do what they show" {
	shown docs/ssh.md
}

@test "docs/boxes.md: its examples do what they show" {
	shown docs/boxes.md
}

@test "docs/steering.md: its examples do what they show" {
	shown docs/steering.md
}

@test "docs/serve.md: its examples do what they show" {
	shown docs/serve.md
}

@test "docs/library.md: its examples do what they show" {
	shown docs/library.md
}

@test "docs/python.md: its examples do what they show" {
	export PYTHONPATH=$ROOT/bindings/python PYTHONDONTWRITEBYTECODE=1
	shown docs/python.md
}

@test "docs/node.md: its examples do what they show" {
	mkdir -p "$HOME/node_modules"
	cp -R "$ROOT/bindings/node" "$HOME/node_modules/agentbox"
	shown docs/node.md
}

@test "docs/review.md: its examples do what they show" {
	shown docs/review.md
}

@test "docs/settings.md: its examples do what they show" {
	shown docs/settings.md
}

@test "docs/commands.md: its examples do what they show" {
	shown docs/commands.md
}

@test "docs/agents.md: its examples do what they show" {
	shown docs/agents.md
}

@test "docs/install.md: its examples do what they show" {
	shown docs/install.md
}

@test "docs/kernels.md: its examples do what they show" {
	shown docs/kernels.md
}

@test "docs/docker.md: its examples do what they show" {
	shown docs/docker.md
}

@test "docs/tools.md: its examples do what they show" {
	shown docs/tools.md
}

@test "docs/deploy.md: its examples do what they show" {
	shown docs/deploy.md
}

@test "documents for developers: their examples do what they show" {
	local file

	for file in adding-a-rule adding-a-setting hacking launch; do
		shown "docs/$file.md"
		rm -rf "$HOME/bin" .git
	done
}

@test "documents: every one with examples is run" {
	local file count

	documents | xargs "$ROOT/test/documents.py" count >counts
	[ "$(wc -l <counts)" -ge 30 ]
	while read -r count file; do
		file=${file#"$ROOT/"}
		[ "$count" -eq 0 ] && continue
		case $file in
		docs/architecture.md) continue ;; # diagrams only
		docs/adding-a-rule.md | docs/adding-a-setting.md | docs/hacking.md | docs/launch.md) continue ;;
		docs/decisions/*) ! grep -q '^```\(console\|sh\)' "$ROOT/$file" && continue ;;
		esac
		echo "$file"
		grep -qxF "	shown $file" "$BATS_TEST_FILENAME"
	done <counts
}

# plant: the current folder has a program of that name, which must not run.
plant()
{
	on_path
	mkdir hostile
	printf '#!/bin/sh\ntouch "%s/ran"; echo evil\n' "$PWD/hostile" >hostile/agentbox
	chmod +x hostile/agentbox
	cd hostile
}

@test "completions: no file of the current folder is run" {
	local path word

	plant
	for path in "$PATH" ".:$PATH" ":$PATH" "$PWD:$PATH"; do
		for word in ./agentbox agentbox "$PWD/agentbox"; do
			PATH=$path bash --norc -c '
				. "$0/completions/agentbox.bash"
				for line in "run --profile" "config get" "approvals revoke" "why" "quarantine show" \
					"secrets check"; do
					COMP_WORDS=("$1" $line "") COMPREPLY=()
					COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
					_agentbox
					echo "$COMP_CWORD ${COMPREPLY[@]}"
				done' "$ROOT" "$word" >offered
			[ ! -e ran ]
			[ "$(wc -l <offered)" -ge 6 ]
			! grep -q evil offered || false
		done
	done
	# The twin: the installed one is asked, also here.
	[ "$(bash_for run --profile read-o)" = read-only ]
}

@test "completions: fish runs no file of the current folder either" {
	need program:fish
	local path

	plant
	for path in "$PATH" ".:$PATH" ":$PATH" "$PWD:$PATH"; do
		PATH=$path fish --no-config -c '
			source $argv[1]/completions/agentbox.fish
			for line in "run --profile " "config get " "approvals revoke " "why " "secrets check "
				complete -C "agentbox $line"; complete -C "./agentbox $line"
			end' "$ROOT" >offered
		[ ! -e ran ]
		! grep -q evil offered || false
	done
	# The twin: what the installed one knows.
	fish --no-config -c 'source $argv[1]/completions/agentbox.fish; complete -C "agentbox run --profile read-o"' "$ROOT" >offered
	grep -q '^read-only' offered
}

@test "completions: zsh runs no file of the current folder either" {
	need program:zsh
	need program:tmux
	plant
	tty_start env PATH=".:$PATH" zsh -f
	tty_type "PS1='> '; fpath=('$ROOT/completions' \$fpath); autoload -Uz compinit; compinit -u -D; echo rea''dy"
	tty_key Enter
	tty_wait '^ready'
	for line in 'agentbox run --profile evi' './agentbox config get netw' 'agentbox approvals revoke '; do
		tty_key C-u C-l
		tty_type "$line"
		tty_key Tab
		tty_type "x"
		tty_wait "^> $line.*x *$"
	done
	[ ! -e ran ]
	# The twin: the installed one.
	tty_key C-u
	tty_type "PATH=\${PATH#.:}"
	tty_key Enter C-l
	tty_type 'agentbox run --profile read'
	tty_key Tab
	tty_wait '^> agentbox run --profile read-only *$'
	tty_key C-u C-d
	tty_end
	[ ! -e ran ]
}
