# whole-tree: its programs are built beside the sources
# libagentbox as other programs use it: an installed copy (scripts/suite), its header and pkg-config.
load helpers

setup()
{
	box_setup
	INSTALLED=$ROOT/build/root
	[ -d "$INSTALLED" ] || { ! sanitized || skip "this build has no shared library"; lacks "no shared library to install"; }
	PC=$(dirname "$(find "$INSTALLED" -name agentbox.pc)")
	LIB=$(dirname "$PC")
	export PKG_CONFIG_PATH=$PC PKG_CONFIG_SYSROOT_DIR=$INSTALLED
	export LD_LIBRARY_PATH=$LIB PATH=$INSTALLED/usr/local/bin:$PATH
}

# compile SOURCE [FLAG...]: to ../$(basename SOURCE .c), against the installed copy only.
compile()
{
	local source=$1

	shift
	# shellcheck disable=SC2046
	cc -std=c11 -Wall -Wextra -Werror -g -o "../$(basename "$source" .c)" "$source" "$@" \
		$(pkg-config --cflags --libs agentbox)
}

@test "library: the examples are compiled with pkg-config alone, and do what they say" {
	local example

	for example in run several check; do
		compile "$ROOT/examples/c/$example.c"
	done
	run ../run "echo hello; curl -s http://files.example.com/ >/dev/null"
	echo "$output"
	[ "${lines[0]}" = "files.example.com? no" ]
	[[ "$output" == *"exit 0: hello"*"denied: "*'"domain":"files.example.com"'* ]]
	run ../run "git push; echo went on" once
	[[ "$output" == *"exit 0: went on"* ]]
	run ../several
	echo "$output"
	[[ "$output" == *"exit 0 after output: one"* && "$output" == *"exit 2 after output: two"* ]]
	[[ "$output" == *"exit 124 after output: "* ]]
	run ../check "rm -rf build"
	[[ "$output" == *"boxes: yes"*"rm -rf build: "*$'\nrun\n-c\nrm -rf build' ]]
}

@test "library: the program of docs/library.md and agentbox(3) is examples/c/run.c" {
	local code

	code=$(sed 1d "$ROOT/examples/c/run.c")
	[ "$(sed -n '/^```c$/,/^```$/{/^```/d;p}' "$ROOT/docs/library.md")" = "$code" ]
	[ "$(sed -n '/^#include <agentbox/,/^\.Ed/{/^\.Ed/d;p}' "$ROOT/man/library/agentbox.3" | sed 's/\\e/\\/g')" = \
		"$(expand -t4 <<<"$code")" ]
	[ "$(wc -l <<<"$code")" -le 35 ]
	[ "$(wc -l <"$ROOT/bindings/c/agentbox.h")" -le 400 ]
	# Nothing of ours is behind the header.
	run ! grep -q '#include "' "$INSTALLED/usr/local/include/agentbox.h"
	[ "$(find "$INSTALLED/usr/local/include" -type f | wc -l)" -eq 1 ]
}

@test "library: results, streams, questions, steering, threads, and the caller left alone" {
	compile "$ROOT/test/library/behaviour.c" -pthread
	timeout 120 ../behaviour noop results streams questions steering pool caller threads \
		refused descriptor closed
}

no_servant()
{
	! pgrep -u "$(id -u)" -f 'agentbox serve --fd 3' || false
}

@test "library: runs leave no descriptor, process, thread or memory behind" {
	compile "$ROOT/test/library/behaviour.c" -pthread
	timeout 200 ../behaviour "loop=${AB_LIBRARY_LOOP:-120}" "pooled=${AB_LIBRARY_LOOP:-120}"
	wait_for 90 no_servant
}

@test "library: every fault at its border is reported, and leaves nothing behind" {
	local wrap=-Wl

	for name in malloc calloc realloc strdup socketpair pipe2 sendmsg recv; do
		wrap+=,--wrap=$name
	done
	# shellcheck disable=SC2046
	cc -std=c11 -Wall -Wextra -Werror -g -o ../faults "$ROOT/test/library/faults.c" \
		$(pkg-config --cflags agentbox) "$wrap" "$LIB/libagentbox.a" -ljansson -pthread
	timeout 200 ../faults
}

@test "library: its symbols and the layout of its structs are those of the record" {
	compile "$ROOT/test/library/abi.c"
	{
		../abi
		nm -D --defined-only "$LIB/libagentbox.so.0" | sed -n 's/^[0-9a-f]* T //p' | sort
	} >../abi.now
	diff "$ROOT/test/library/abi.txt" ../abi.now
	# And every function has its place in the manual.
	for name in $(sed -n 's/@@AGENTBOX_0//p' ../abi.now); do
		grep -qw "$name" "$ROOT"/man/library/*.3
	done
}

@test "library: valgrind has nothing to say against it" {
	need program:valgrind
	compile "$ROOT/test/library/behaviour.c" -pthread
	timeout 200 valgrind -q --error-exitcode=7 --leak-check=full --child-silent-after-fork=yes \
		../behaviour noop results streams questions steering threads
}

@test "library: the thread sanitizer has nothing to say against it" {
	echo 'int main(void) { return 0; }' >../tsan.c
	cc -fsanitize=thread -o ../tsan ../tsan.c 2>/dev/null && setarch -R ../tsan || lacks "no thread sanitizer"
	cc -std=gnu17 -g -O1 -fsanitize=thread -D_GNU_SOURCE -DAB_VERSION='"test"' -DAB_PROGRAM='"/none"' \
		-I"$ROOT/bindings/c" -o ../threads "$ROOT/test/library/behaviour.c" \
		"$ROOT"/bindings/c/*.c -ljansson -pthread
	timeout 200 setarch -R ../threads results questions steering threads
}
