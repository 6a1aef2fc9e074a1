# whole-tree: it reads the sources
# unsanitized: it reads the sources
load helpers

# A small tree in which all is as it should be; each test spoils one thing.
good_tree()
{
	mkdir -p lib/{base,audit,shell,policy,landlock,netns,workspace,proxy,session} \
		lib/sandbox/seccomp cmd
	touch lib/base/fd.h lib/audit/event.h lib/shell/lexer.h lib/policy/policy.h \
		lib/landlock/landlock.h lib/netns/netns.h lib/workspace/git.h \
		lib/proxy/conn.h lib/sandbox/plan.h lib/session/session.h \
		lib/program.h cmd/options.h
	printf '#include "base/fd.h"\n\n#include <stdio.h>\n' >lib/base/fd.c
	printf '#include "base/fd.h"\n#include "shell/lexer.h"\n' >lib/policy/layers.c
	printf '#include <linux/seccomp.h>\n#include "netns/netns.h"\n' >lib/sandbox/apply.c
	printf '#include <seccomp.h>\n' >lib/sandbox/seccomp/compile.c
	printf '#include <netlink/netlink.h>\n' >lib/netns/routes.c
	printf '#include "proxy/conn.h"\n#include <jansson.h>\n' >lib/session/run.c
	printf '#include "program.h"\n#include "session/session.h"\n' >lib/agentbox.c
	printf '#include "program.h"\n#include "options.h"\n' >cmd/run.c
}

check()
{
	run "$ROOT/scripts/check-includes" "$@"
	echo "$output"
}

# refused FILE LINE TEXT: with LINE added to FILE the tree is refused there.
refused()
{
	rm -rf lib cmd
	good_tree
	printf '%s\n' "$2" >>"$1"
	check .
	[ "$status" -eq 1 ] || return 1
	[ "${#lines[@]}" -eq 1 ] || return 1
	[[ "${lines[0]}" == "$1:"*"$3"* ]]
}

@test "includes: the source tree points down only" {
	check "$ROOT"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "includes: a good tree passes the checker" {
	good_tree
	check .
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "includes: a tree without sources is not a good one" {
	mkdir lib cmd
	check .
	[ "$status" -eq 2 ]
}

@test "includes: a lower folder that includes a higher one is refused" {
	refused lib/base/fd.c '#include "policy/policy.h"' "base may not include policy"
	refused lib/audit/event.h '#include "policy/policy.h"' "audit may not include policy"
	refused lib/shell/lexer.h '#include "audit/event.h"' "shell may not include audit"
	refused lib/policy/policy.h '#include "sandbox/plan.h"' "policy may not include sandbox"
	refused lib/landlock/landlock.h '#include "netns/netns.h"' "landlock may not include netns"
	refused lib/netns/netns.h '#include "sandbox/plan.h"' "netns may not include sandbox"
	refused lib/workspace/git.h '#include "landlock/landlock.h"' "workspace may not include landlock"
	refused lib/sandbox/plan.h '#include "session/session.h"' "sandbox may not include session"
	refused lib/proxy/conn.h '#include "sandbox/plan.h"' "proxy may not include sandbox"
	refused lib/sandbox/plan.h '#include "program.h"' "sandbox is below program.h"
	refused lib/session/run.c '#include "program.h"' "session is below program.h"
}

@test "includes: inside a folder a lower room that includes a higher one is refused" {
	good_tree
	mkdir lib/proxy/{wire,filter,conn}
	touch lib/proxy/wire/http.h lib/proxy/filter/filter.h
	printf '#include "proxy/wire/http.h"\n#include "proxy/filter/filter.h"\n' >lib/proxy/conn/conn.c
	check .
	[ "$status" -eq 0 ]
	printf '#include "proxy/filter/filter.h"\n' >lib/proxy/wire/http.h
	check .
	[ "$status" -eq 1 ]
	[[ "$output" == "lib/proxy/wire/http.h:1: proxy/wire may not include proxy/filter" ]]
}

@test "includes: every spelling of an include is seen" {
	refused lib/base/fd.c '  #  include   "policy/policy.h"' "base may not include policy"
	refused lib/base/fd.c '#include"policy/policy.h"' "base may not include policy"
	refused lib/base/fd.c '#include <policy/policy.h>' "write it in quotes"
	refused lib/base/fd.c '#include "../policy/policy.h"' "write it from lib/"
	refused lib/base/fd.c '#include "base/../policy/policy.h"' "write it from lib/"
	refused lib/base/fd.c '#include HEADER' "cannot be read"
	refused lib/base/fd.c '#include "fd.h"' "no lib/fd.h"
}

@test "includes: the commands see the public header only" {
	refused cmd/run.c '#include "base/fd.h"' "cmd includes program.h"
	refused cmd/run.c '#include "session/session.h"' "cmd includes program.h"
	refused cmd/options.h '#include "policy/policy.h"' "cmd includes program.h"
	refused cmd/run.c '#include <jansson.h>' "belongs in"
}

@test "includes: foreign headers stay in their corner" {
	refused lib/sandbox/apply.c '#include <seccomp.h>' "lib/sandbox/seccomp/"
	refused lib/sandbox/apply.c '#include <netlink/netlink.h>' "lib/netns/"
	refused lib/base/fd.c '#include <jansson.h>' "lib/workspace/"
	refused lib/policy/layers.c '#include <jansson.h>' "lib/workspace/"
	refused lib/session/run.c '#include <openssl/ssl.h>' "lib/proxy/io/tls"
}

@test "includes: a source file includes its own header first" {
	good_tree
	printf '#include <stdio.h>\n#include "base/fd.h"\n' >lib/base/fd.c
	check .
	[ "$status" -eq 1 ]
	[[ "$output" == *"lib/base/fd.c:1:"*"comes first"* ]]
}

@test "includes: a new folder needs its place in the order" {
	good_tree
	mkdir lib/misc
	printf '#include "base/fd.h"\n' >lib/misc/misc.c
	check .
	[ "$status" -eq 1 ]
	[[ "$output" == "lib/misc/misc.c: "*"no place"* ]]
}

# A tree of two folders, described and in one direction.
layered_tree()
{
	rm -rf lib
	mkdir -p lib/low lib/high
	echo "Start reading: low.c." >lib/low/README.md
	echo "Start reading: high.c." >lib/high/README.md
	printf 'int ab_low(void);\n' >lib/low/low.h
	printf '#include "low/low.h"\n\nint ab_low(void)\n{\n\treturn 1;\n}\n' >lib/low/low.c
	printf '#include "low/low.h"\n\nint ab_high(void)\n{\n\treturn ab_low();\n}\n' >lib/high/high.c
}

layout()
{
	run "$ROOT/scripts/check-layout" "$@"
	echo "$output"
}

@test "layout: every folder of lib is small, described, and in one direction" {
	layout "$ROOT"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "layout: a circle of calls between folders is refused, one direction passes" {
	layered_tree
	layout .
	[ "$status" -eq 0 ]
	printf 'int ab_high(void);\nint ab_other(void)\n{\n\treturn ab_high();\n}\n' >>lib/low/low.c
	layout .
	[ "$status" -eq 1 ]
	[[ "${lines[0]}" == "a circle: lib/high -> lib/low -> lib/high" ]]
	[[ "$output" == *"lib/low/low.c names ab_high"* ]]
}

@test "layout: a folder that is too large, or has no or a wrong README.md, is refused" {
	layered_tree
	for i in {1..20}; do touch "lib/low/f$i.h"; done
	layout .
	[ "$status" -eq 1 ]
	[ "$output" = "lib/low: 22 files, more than 20" ]
	layered_tree
	rm lib/high/README.md
	layout .
	[ "$status" -eq 1 ]
	[ "$output" = "lib/high: no README.md" ]
	layered_tree
	echo "Start reading: gone.c." >lib/high/README.md
	layout .
	[ "$status" -eq 1 ]
	[ "$output" = "lib/high/README.md: no gone.c" ]
}

@test "layout: a source file of 800 lines is refused, one of 799 passes" {
	layered_tree
	yes '/* one more line */' | head -n $((799 - $(wc -l <lib/low/low.c))) >>lib/low/low.c
	layout .
	[ "$status" -eq 0 ]
	echo '/* and one */' >>lib/low/low.c
	layout .
	[ "$status" -eq 1 ]
	[ "$output" = "lib/low/low.c: 800 lines, 800 or more" ]
}
