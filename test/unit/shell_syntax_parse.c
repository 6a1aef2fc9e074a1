#include "shell/syntax/parse.h"

#include "base/data/arena.h"
#include "base/data/mem.h"
#include "guard.h"
#include "shell/syntax/lex.h"
#include "shell_dump.h"
#include "shell_walk.h"
#include "tap.h"

/* The reader as bash; `error` NULL: nothing is wrong with it. */
static const struct {
	const char *text, *tree, *error;
} cases[] = {

	/* everyday words */
	{ "ls", "(ls)", NULL },
	{ "ls -l \"a b\" 'c d' e\\ f", "(ls -l 'a b' 'c d' e' 'f)", NULL },
	{ "echo {a,b}c ~/x *.c a#b #c", "(echo {a,b}c ~/x *.c a#b)", NULL },
	{ "\"\" ''", "('' '')", NULL },
	{ "echo a\\\nb", "(echo ab)", NULL },
	{ "echo \"a\\\"b\\$c\\d\\\ne\"", "(echo 'a''\"b''$c\\d''e')", NULL },
	{ "echo $1$@$$ $10 \"$*\" $ \"$\"", "(echo ${1}${@}${$} ${1}0 '${*} $ '$')", NULL },
	{ "echo $'a\\tb\\x41\\u00e9\\'\\101\\cA\\z' $\"loc\" $'a\\0b'c",
	  "(echo 'a\tbA\303\251'A\001\\z' 'loc' 'a'c)", NULL },
	{ "a\rb\r", "(a\rb\r)", NULL },

	/* lists */
	{ "a;b&c", "(a); (b)&; (c)", NULL },
	{ "a &\nb", "(a)&; (b)", NULL },
	{ "\n\na\n\n # c\nb\n", "(a); (b)", NULL },
	{ "a && b || c", "[(a) && (b) || (c)]", NULL },
	{ "a &&\n\nb |\nc", "[(a) && [(b) | (c)]]", NULL },
	{ "a | b |& c", "[(a) | (b) |& (c)]", NULL },
	{ "! a | b", "! [(a) | (b)]", NULL },
	{ "! ! a", "(a)", NULL },
	{ "! !\n! time; a", "(); ! time (); (a)", NULL },
	{ "time -p a | b", "time [(a) | (b)]", NULL },
	{ "time", "time ()", NULL },
	{ "(a; b) 2>f", "[sub (a); (b) 2>f]", NULL },
	{ "((a); b)", "[sub [sub (a)]; (b)]", NULL },
	{ "( (a) )", "[sub [sub (a)]]", NULL },
	{ "{ a; b; } >f 2>&1", "[group (a); (b) >f 2>&1]", NULL },
	{ ":(){ :|:& };:", "[function : [group [(:) | (:)]&]]; (:)", NULL },

	/* compound commands */
	{ "if a; then b; elif c; then d; else e; fi",
	  "[if (a) then (b) else [if (c) then (d) else (e)]]", NULL },
	{ "if a\nthen b\nfi >f", "[if (a) then (b) >f]", NULL },
	{ "for x in a b; do c $x; done", "[for x in a b do (c ${x})]", NULL },
	{ "for x; do c; done", "[for x do (c)]", NULL },
	{ "for x\nin a\ndo b\ndone", "[for x in a do (b)]", NULL },
	{ "for x in a; { b; }", "[for x in a do (b)]", NULL },
	{ "for ((i=0;i<$n;i++)); do c; done", "[for (('i=0;i<''${n}';i++')) (c)]", NULL },
	{ "select x in a; do b; done", "[for x in a do (b)]", NULL },
	{ "while a; do b; done <f", "[while (a) do (b) <f]", NULL },
	{ "until a; do b; done", "[while (a) do (b)]", NULL },
	{ "case $x in a|b) c;; (d) e;& *) f;;& esac", "[case ${x} a b) (c) d) (e) *) (f)]", NULL },
	{ "case x in\na)\n;;\nesac", "[case x a) ]", NULL },
	{ "case \"$x\" in [yY]*) a ;; esac", "[case '${x} [yY]*) (a)]", NULL },
	{ "f() { a; }", "[function f [group (a)]]", NULL },
	{ "f ( ) (a)", "[function f [sub (a)]]", NULL },
	{ "function f { a; } >g", "[function f [group (a) >g]]", NULL },
	{ "function f() (a)", "[function f [sub (a)]]", NULL },
	{ "coproc N { a; }", "[coproc [group (a)]]", NULL },
	{ "coproc a b", "[coproc (a b)]", NULL },
	{ "[[ -f $x && ( $a == b* || ! $b =~ ^(x|y z)+$ ) ]]",
	  "[test -f ${x} ${a} b* ${b} ^(x|y z)+$]", NULL },
	{ "[[ a < b ]] || c", "[[test a b] || (c)]", NULL },
	{ "[[ -z \"$x\" ]]", "[test -z '${x}]", NULL },
	{ "[[ $x == @(a|b) ]]", "[test ${x} @(a|b)]", NULL },
	{ "((x+1)) && a", "[[arith 'x+1'] && (a)]", NULL },
	{ "echo if then", "(echo if then)", NULL },

	/* assignments */
	{ "x=1 y=$(ls) z[1]=2 w=(a b) v+=c a", "(x=1 y=$((ls)) z[1]=2 w=(a b) v+=c a)", NULL },
	{ "x= y", "(x= y)", NULL },
	{ "a x=1", "(a x=1)", NULL },
	{ "x=(\na # b\n[k]=c\n)", "(x=(a [k]=c))", NULL },
	{ "x[$(y)]=z", "(x[$((y))]=z)", NULL },
	{ "a[1]b c", "(a[1]b c)", NULL },
	{ "declare -a x=(a \"b c\") y", "(declare -a x='('a' ''b c'')' y)", NULL },

	/* redirections */
	{ "a >f >>g >|h <>i 2>&1 &>j &>>k >&l <&3 3<&- {fd}>m <<<n",
	  "(a >f >>g >|h <>i 2>&1 &>j &>>k &>l <&3 3<&- {}>m <<<n)", NULL },
	{ "a2>f 1>&2 >&-", "(a2 >f 1>&2 >&-)", NULL },
	{ ">f", "(>f)", NULL },
	{ "a 2>&$x >&\"$y\"", "(a 2>&${x} &>'${y})", NULL },

	/* here-documents */
	{ "cat <<E | b\nbody $x \"q\" \\$y\nE\nc",
	  "[(cat <<'body ''${x}' \"q\" ''$y\\n') | (b)]; (c)", NULL },
	{ "cat <<'E'\nbody $x\nE", "(cat <<'body $x\\n')", NULL },
	{ "cat <<\"E\" && b\n$x\nE", "[(cat <<'$x\\n') && (b)]", NULL },
	{ "cat <<-E\n\tbody\n\t\t$x\n\tE\nc", "(cat <<'body\\n''${x}'\\n'); (c)", NULL },
	{ "cat <<A <<B\na\nA\nb\nB", "(cat <<'a\\n' <<'b\\n')", NULL },
	{ "cat <<E\na", "(cat <<'a')", NULL },
	{ "cat <<E", "(cat <<)", NULL },
	{ "a $(cat <<E\nb\nE\n) c", "(a $((cat <<'b\\n')) c)", NULL },
	{ "a $(cat <<E) c\nb\nE\nd", "(a $((cat <<'b\\n')) c); (d)", NULL },
	{ "a $(cat <<E\nb\nE)\nd", "(a $((cat <<'b\\n'))); (d)", NULL },
	{ "(cat <<E)\nb\nE", "[sub (cat <<'b\\n')]", NULL },
	{ "cat <<E\n$(\nE\na", "(cat <<'$()); (a)", "`)` is missing" },

	/* expansions */
	{ "echo ${x} ${x:-a b} ${x-} ${x:=y} ${x?} ${#x} ${#} ${!x} ${!x@} ${x[@]} ${x[$i]}",
	  "(echo ${x} ${x :-a b} ${x -} ${x :=y} ${x ?} ${x #} ${#} ${x ~} ${x ~@} ${x[@]} ${x['${i}]})",
	  NULL },
	{ "echo ${x##*/} ${x/a/b} ${x:1:2} ${x^^} ${x@Q} ${x%'}'}",
	  "(echo ${x ~##*/} ${x ~/a/b} ${x ~:1:2} ${x ~^^} ${x ~@Q} ${x ~%'}'})", NULL },
	{ "echo \"${x:+'y'}\" \"${x:-\"a}b\"}\" ${x:-${y:-$(z)}} \"${x:-a\\}b}\"",
	  "(echo '${x :+''y''} '${x :-'a}b'} ${x :-${y :-$((z))}} '${x :-'a''}b'})", NULL },
	{ "echo $((1+(2*3))) $[1+2] $((a) ) $(((1))) $(( $(a) + $((1)) ))",
	  "(echo $(('1+(2*3)')) $(('1+2')) $([sub (a)]) $(('(1)')) $((' ''$((a))' + ''$(('1'))' ')))",
	  NULL },
	{ "echo `ls \\`pwd\\`` \"`echo \\\"x\\\"`\" `a; b`",
	  "(echo $((ls $((pwd)))) '$((echo 'x')) $((a); (b)))", NULL },
	{ "echo $(case x in a) b;; esac) \"$(a \"b\" 'c)')\" $(a # )\n)",
	  "(echo $([case x a) (b)]) '$((a 'b' 'c)')) $((a)))", NULL },
	{ "echo \"$\\\n(x)\" $HO\\\nME", "(echo '$((x)) ${HOME})", NULL },
	{ "echo ${$} ${$(a)} ${${b}} \"${$(a)}\"",
	  "(echo ${$} ${ ~$((a))} ${ ~${b}} '${ ~'$((a))})", NULL },
	{ "a<(b) >(c)", "(a<((b)) >((c)))", NULL },
	{ "echo ${ ls; } ${| ls; }", "(echo $((ls)) $((ls)))", NULL },
	{ "echo !(x) @(a|b c)*.c +([0-9])", "(echo !(x) @(a|b c)*.c +([0-9]))", NULL },
	{ "!(a)", "! [sub (a)]", NULL },

	/* errors */
	{ "ls\n\"unterminated", "(ls); ('unterminated')", "a quote is not closed" },
	{ "ls\n'", "(ls); ()", "a quote is not closed" },
	{ "if true; then rm -rf /", "[if (true) then (rm -rf /)]", "`fi` is missing" },
	{ "if a; then b; )", "[if (a) then (b)]", "unexpected `)`" },
	{ "a )", "(a)", "unexpected `)`" },
	{ ")", "", "unexpected `)`" },
	{ "a &&", "[(a) && ()]", "a command is missing at the end" },
	{ "a | | b", "[(a) | ()]", "unexpected `|`" },
	{ "a | ! b", "[(a) | ()]", "unexpected `!`" },
	{ "a;;", "(a)", "unexpected `;;`" },
	{ ";", "()", "unexpected `;`" },
	{ "echo $(a", "(echo $((a)))", "`)` is missing" },
	{ "echo ${x", "(echo ${x ~})", "`}` is missing" },
	{ "echo $((1", "(echo $([sub (1)]))", "`)` is missing" },
	{ "echo `a", "(echo $())", "a backquote is not closed" },
	{ "echo `a \"b`; c", "(echo $((a 'b'))); (c)", "a quote is not closed" },
	{ "f() a", "[function f ]", "`{` is missing" },
	{ "for x in a; b", "[for x in a do ]", "`do` is missing" },
	{ "case x in a) b", "[case x a) (b)]", "`esac` is missing" },
	{ "{ a", "[group (a)]", "`}` is missing" },
	{ "( )", "[sub ]", "unexpected `)`" },
	{ "{ }", "[group ]", "unexpected `}`" },
	{ "if ; then a; fi", "[if () then ]", "unexpected `;`" },
	{ "[[ a", "[test a]", "`]]` is missing" },
	{ "[[ a b ]]", "[test a]", "an operator is missing in `[[`" },
	{ "x=(a", "(x=(a))", "`)` is missing" },
	{ "a (b)", "(a)", "unexpected `(`" },
	{ "a >", "(a >)", "a redirection has no file name" },
	{ "a > | b", "(a >)", "unexpected `|`" },
	{ "fi", "", "unexpected `fi`" },
};

static size_t check_tree(struct ab_arena *arena, const void *text, size_t len)
{
	struct shell_walk walk = { .len = len };
	struct ab_script script;

	ab_parse(arena, (struct ab_text){ guarded(text, len), len }, &script);
	walk_node(&walk, script.list);
	if (script.error && script.error_at > len)
		walk.wrong++;
	ab_arena_reset(arena);
	return walk.wrong;
}

static void test_cases(struct ab_arena *arena)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		size_t len = strlen(cases[i].text);
		struct ab_text text = { guarded(cases[i].text, len), len };
		ab_autobuf struct ab_buf tree = { 0 };
		struct ab_script script;

		ab_parse(arena, text, &script);
		ab_buf_puts(&tree, "");
		dump_node(&tree, script.list);
		is_str(tree.data, cases[i].tree, cases[i].tree);
		if (script.error || cases[i].error)
			is_str(script.error, cases[i].error, cases[i].tree);
		ab_arena_reset(arena);
	}
}

static void test_cuts(struct ab_arena *arena)
{
	size_t wrong = 0;

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		size_t len = strlen(cases[i].text);

		for (size_t n = 0; n <= len; n++) {
			wrong += check_tree(arena, cases[i].text, n);
			wrong += check_tree(arena, cases[i].text + n, len - n);
		}
	}
	ok(wrong == 0, "each case cut at every byte");
}

static void test_unknown(struct ab_arena *arena)
{
	size_t wrong = 0;

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		size_t len = strlen(cases[i].text);
		ab_autofree char *text = ab_alloc(len + 1);

		for (size_t n = 0; n <= len; n++) {
			memcpy(text, cases[i].text, n);
			text[n] = AB_UNKNOWN;
			memcpy(text + n + 1, cases[i].text + n, len - n);
			wrong += check_tree(arena, text, len + 1);
		}
	}
	ok(wrong == 0, "each case with an unknown stretch anywhere");
}

static char *dump_of(struct ab_arena *arena, const char *s, size_t len)
{
	struct ab_script script;
	struct ab_buf tree = { 0 };

	ab_parse(arena, (struct ab_text){ s, len }, &script);
	dump_node(&tree, script.list);
	return ab_buf_take(&tree);
}

static void test_unknown_parts(struct ab_arena *arena)
{
	static const char text[] = "a\0b \"c\0\" '\0' \\\0 $'\0' <<'E'\n\0\nE";
	ab_autofree char *tree = dump_of(arena, text, sizeof(text) - 1);

	is_str(tree, "(a${}b 'c''${} '${} '${} '${} <<'${}'\\n')",
	       "an unknown stretch is an expansion and ends no word");
}

static void test_declaring(struct ab_arena *arena)
{
	static const char *const names[] = {
		"alias",  "builtin", "command", "declare",  "eval",
		"export", "let",     "local",	"readonly", "typeset",
	};

	for (size_t i = 0; i < AB_COUNT(names); i++) {
		ab_autofree char *text = ab_printf("%s x=(a)", names[i]);
		ab_autofree char *tree = dump_of(arena, text, strlen(text));
		ab_autofree char *want = ab_printf("(%s x='('a')')", names[i]);

		is_str(tree, want, names[i]);
	}
}

/* The text between the quotes where nothing was changed in it. */
static void test_verbatim(struct ab_arena *arena)
{
	static const char text[] = "a `b \\`c \"d\\\\\\\\e\" 'f'\\``";
	struct ab_script script;
	const struct ab_shell_word *word;

	ab_parse(arena, (struct ab_text){ text, strlen(text) }, &script);
	word = script.list->first->simple.words->next;
	ok(word->range.from == 2 && word->range.to == strlen(text), "a word with its quotes");
	word = word->parts->command.script->first->simple.words->next;
	word = word->parts->command.script->first->simple.words;
	ok(text[word->range.from] == 'c' && word->range.to == word->range.from + 1,
	   "a word in two backquotes is found in the text");
	word = word->next->next;
	ok(text[word->range.from] == '\'' && text[word->range.to - 1] == '\'' &&
		   text[word->parts->range.from] == 'f',
	   "and one behind escapes as well");
}

static void test_ranges(struct ab_arena *arena)
{
	static const char text[] = "  a  &&  b | c # d\n e ;";
	const struct ab_shell_node *n;
	struct ab_script script;

	ab_parse(arena, (struct ab_text){ text, strlen(text) }, &script);
	n = script.list->first;
	ok(n->range.from == 2 && n->range.to == 14, "a list of two");
	ok(n->first->range.from == 2 && n->first->range.to == 3,
	   "a command without the blanks around it");
	ok(n->next->range.from == 20 && n->next->range.to == 21, "a command on the next line");
}

/* What somebody might send to make the reader slow: `unit` again and again,
 * `head` before it. */
static const struct {
	const char *head, *unit;
} hostile[] = {
	{ "", "\"" },
	{ "", "'" },
	{ "", "\"'" },
	{ "", "(" },
	{ "", "a|" },
	{ "", "|" },
	{ "", "$((" },
	{ "", "$((1) " },
	{ "", "((1)" },
	{ "", "`" },
	{ "", "\\`" },
	{ "`", "\\`" },
	{ "`", "\\\\\\`" },
	{ "", "<<a " },
	{ "", "<<a\n" },
	{ "", "<<a\na\n" },
	{ "", "${" },
	{ "", "${x:-" },
	{ "", "\"${x:-" },
	{ "", "\"$(" },
	{ "", "a[ " },
	{ "", "a[" },
	{ "", "x=(" },
	{ "", "\\\n" },
	{ "", "$\\\n" },
	{ "", "{ " },
	{ "", "if a; then " },
	{ "", "case x in a) " },
	{ "", "[[ ( " },
	{ "[[ ", "! " },
	{ "", "! " },
	{ "", "time " },
	{ "", "coproc " },
	{ "", "f() " },
	{ "", "x" },
	{ "", "\n" },
	{ "", "#" },
	{ "", "$'" },
	{ "$'", "\\n" },
	{ "echo ", "@(" },
	{ "", "<(" },
	{ "", "$[" },
	{ "", "$(cat <<a\n" },
	{ "cat <<a\n", "$(cat <<b\n" },
	{ "cat <<a\n", "a \n" },
	{ "", "a;" },
	{ "", "elif " },
	{ "if a; then b; ", "elif c; then d; " },
	{ "", "1" },
	{ "declare ", "x=(" },
	{ "", "{a}" },
	{ "", "$x\\\n" },
};

static uint64_t measure(struct ab_arena *arena, size_t i, size_t len)
{
	size_t head = strlen(hostile[i].head), unit = strlen(hostile[i].unit);
	ab_autofree char *text = ab_alloc(len);
	struct ab_script script;
	uint64_t work;

	for (size_t at = 0; at < len; at++)
		text[at] = at < head ? hostile[i].head[at] : hostile[i].unit[(at - head) % unit];
	work = ab_parse(arena, (struct ab_text){ text, len }, &script);
	ab_arena_reset(arena);
	return work;
}

static void test_hostile(struct ab_arena *arena)
{
	for (size_t i = 0; i < AB_COUNT(hostile); i++) {
		size_t len = AB_SHELL_TEXT_MAX / (SANITIZED ? 8 : 1);
		uint64_t once = measure(arena, i, len / 2);
		uint64_t twice = measure(arena, i, len);

		ok(once <= 40 * (len / 2) && twice <= 40 * len && twice <= 2 * once + 4096,
		   "work is linear for case %zu of the hostile ones", i);
	}
}

/* 16 is the number of texts in texts that the reader takes. */
static void test_nested_documents(struct ab_arena *arena)
{
	ab_autobuf struct ab_buf text = { 0 };
	struct ab_script script;
	uint64_t work;

	for (int i = 0; i < 190; i++)
		ab_buf_printf(&text, "$(cat <<E%d\n", i);
	while (text.len < AB_SHELL_TEXT_MAX - 2000)
		ab_buf_puts(&text, "x\n");
	for (int i = 189; i >= 0; i--)
		ab_buf_printf(&text, "E%d\n)\n", i);
	work = ab_parse(arena, (struct ab_text){ text.data, text.len }, &script);
	ok(script.error && work < 64 * AB_SHELL_TEXT_MAX,
	   "here-documents in here-documents are bounded");
	ab_arena_reset(arena);
}

static void test_limits(struct ab_arena *arena)
{
	ab_autofree char *text = ab_alloc(AB_SHELL_TEXT_MAX + 1);
	struct ab_script script;

	memset(text, 'a', AB_SHELL_TEXT_MAX + 1);
	ab_parse(arena, (struct ab_text){ text, AB_SHELL_TEXT_MAX }, &script);
	ok(!script.error, "the longest text is read");
	ab_parse(arena, (struct ab_text){ text, AB_SHELL_TEXT_MAX + 1 }, &script);
	is_str(script.error, "it is too long", "a longer one is not");
	memset(text, '(', 1000);
	ab_parse(arena, (struct ab_text){ text, 1000 }, &script);
	is_str(script.error, "it is nested too deeply", "a thousand levels");
	for (int i = 0; i < 300000; i++)
		memcpy(text + 2 * (size_t)i, "a;", 2);
	ab_parse(arena, (struct ab_text){ text, 600000 }, &script);
	is_str(script.error, "it is too complex", "too many commands");
	ok(script.list->first && script.list->first->next, "what was read before a limit is there");
}

int main(void)
{
	struct ab_arena arena = { 0 };

	test_cases(&arena);
	test_cuts(&arena);
	test_unknown(&arena);
	test_unknown_parts(&arena);
	test_declaring(&arena);
	test_verbatim(&arena);
	test_ranges(&arena);
	test_hostile(&arena);
	test_nested_documents(&arena);
	test_limits(&arena);
	ab_arena_fini(&arena);
	return done();
}
