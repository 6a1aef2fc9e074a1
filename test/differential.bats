# unsanitized: the unit tests and the fuzz targets read the same lines
load helpers

# What we read, beside what bash executes. The lines run in a box, with nothing
# to find but stubs: some of them would be no joke outside.

# compare SEED LINES [FILE...]: so many made-up lines, and the cases of these files
compare()
{
	local seed=$1 lines=$2
	shift 2

	need program:python3
	need program:gcc
	echo "seed: $seed"
	python3 "$ROOT/test/differential/lines.py" "$seed" "$lines" "$@" >lines
	"$AGENTBOX" check --batch --null <lines >verdicts || [ $? -le 4 ]
	cp "$ROOT/test/differential/compare.py" .
	gcc -O2 -Wall -Wextra -Werror -fno-stack-protector -nostdlib -static -o record "$ROOT/test/differential/record.c"
	AB_TIMEOUT=300 agentbox run --net blocked -- python3 compare.py lines verdicts record
	[ "$status" -eq 0 ]
	[[ "$output" =~ ([0-9]+)" of "([0-9]+)" lines compared" ]]
	# Most of them: a reader that knew nothing would differ in nothing.
	[ "${BASH_REMATCH[1]}" -ge $((BASH_REMATCH[2] * 8 / 10)) ]
}

@test "check: the argv lists of command lines are those that bash executes" {
	compare "${AB_SEED:-1}" "${AB_LINES:-500}" "$ROOT"/test/data/commands/*.txt
}

# bats test_tags=slow
@test "check: the same for many more lines" {
	compare 2 2000
}
