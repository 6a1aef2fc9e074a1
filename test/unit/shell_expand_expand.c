#include "shell/expand/expand.h"

#include <stdlib.h>

#include "base/data/arena.h"
#include "base/data/buf.h"
#include "base/data/mem.h"
#include "shell/syntax/parse.h"
#include "tap.h"

static struct ab_arena arena;

static struct ab_text text(const char *s)
{
	return (struct ab_text){ s, (uint32_t)strlen(s) };
}

static void show(struct ab_buf *b, const struct ab_field *f)
{
	ab_buf_puts(b, "<");
	for (uint32_t i = 0; i < f->text.len; i++)
		if (f->text.s[i] == AB_UNKNOWN)
			ab_buf_puts(b, "?");
		else
			ab_buf_add(b, &f->text.s[i], 1);
	ab_buf_puts(b, ">");
	if (f->splits)
		ab_buf_puts(b, "s");
	if (f->pattern)
		ab_buf_puts(b, "p");
	if (f->taint & AB_TAINT_GLUED)
		ab_buf_puts(b, "g");
	if (f->taint & AB_TAINT_NETWORK)
		ab_buf_puts(b, "n");
	/* the bytes are there, or they are not marked */
	if (f->unknown != (memchr(f->text.s, AB_UNKNOWN, f->text.len) != NULL))
		ab_buf_puts(b, "!unknown");
}

static const char output_text[] = "one  two\n\n";
static const struct ab_data output = {
	.text = { output_text, sizeof(output_text) - 1 },
	.taint = AB_TAINT_NETWORK,
};

/* Every $(out) prints `output`. */
static void put_output(struct ab_part *part)
{
	for (; part; part = part->next) {
		if (part->kind == AB_PART_COMMAND && part->command.script->first)
			part->command.output = &output;
		if (part->kind == AB_PART_PARAM && part->param.word)
			put_output(part->param.word->parts);
	}
}

static void assign(const struct ab_eval *e, struct ab_vars *vars, const struct ab_assign *a)
{
	struct ab_var v = { .text = { "", 0 } };

	if (a->array) {
		struct ab_fields *items = ab_arena_alloc(&arena, sizeof(*items));

		for (const struct ab_shell_word *w = a->value; w; w = w->next)
			ab_eval_word(e, w, items);
		v.items = items;
		v.text = items->v[0].text;
	} else if (a->value) {
		struct ab_field f;

		put_output(a->value->parts);
		ab_eval_single(e, a->value, &f);
		v.text = f.text;
		v.unknown = f.unknown;
		v.taint = f.taint;
	}
	ab_vars_set(vars, a->name, &v);
}

static void evaluate(const struct ab_eval *e, const struct ab_shell_node *n, struct ab_buf *b)
{
	*e->choices = (struct ab_choices){ 0 };
	do {
		struct ab_fields fields = { 0 };

		for (const struct ab_shell_word *w = n->simple.words; w; w = w->next) {
			put_output(w->parts);
			ab_eval_word(e, w, &fields);
		}
		if (b->len)
			ab_buf_puts(b, " | ");
		for (size_t i = 0; i < fields.len; i++)
			show(b, &fields.v[i]);
	} while (ab_choices_next(e->choices));
}

/* Simple commands one after the other; the fields of those with words. */
static char *run(const char *script, struct ab_vars *vars, size_t verbatim)
{
	const struct ab_nesting source = { .verbatim = (uint32_t)verbatim };
	struct ab_choices choices = { 0 };
	const struct ab_eval e = { &arena, vars, &source, &choices };
	ab_autobuf struct ab_buf b = { 0 };
	struct ab_script tree;

	ab_parse(&arena, text(script), &tree);
	for (const struct ab_shell_node *n = tree.list->first; n; n = n->next) {
		if (n->simple.words) {
			evaluate(&e, n, &b);
			continue;
		}
		for (const struct ab_assign *a = n->simple.assigns; a; a = a->next)
			assign(&e, vars, a);
	}
	return ab_buf_take(&b);
}

static const struct {
	const char *in, *out;
} cases[] = {
	{ "a b", "<a><b>" },
	{ "r\"m\" r\\m 'a b'\"c\" \"\" ''", "<rm><rm><a bc><><>" },

	/* braces */
	{ "{a,b} x{a,b}y {a,b}{c,d}", "<a><b><xay><xby><ac><ad><bc><bd>" },
	{ "{a,{b,c}} {{a,b},c} {a} {} {a,} {,a} a{,}b",
	  "<a><b><c><a><b><c><{a}><{}><a><a><ab><ab>" },
	{ "{rm,-rf,/}", "<rm><-rf></>" },
	{ "{a{b,c}} {a,b}} {{a,b} {a,b{c {a},b} {a}{b,c}",
	  "<{ab}><{ac}><a}><b}><{a><{b><{a,b{c><a}><b><{a}b><{a}c>" },
	{ "{1..3} {3..1} {a..c} {01..10..4} {-1..1} {a..e..2} {1..a} {1..}",
	  "<1><2><3><3><2><1><a><b><c><01><05><09><-1><0><1><a><c><e>"
	  "<{1..a}><{1..}>" },
	{ "{09..11} {-01..1} {1..3..0} {1..1}{2..2} {1,2..4}",
	  "<09><10><11><-01><000><001><1><2><3><12><1><2..4>" },
	{ "\"{a,b}\" \\{a,b} {a,b\\} {a\\,b,c} {\"a b\",c}",
	  "<{a,b}><{a,b}><{a,b}><a,b><c><a b><c>" },
	{ "{$HOME,x} ${HOME}{a,b}", "</home/me><x></home/mea></home/meb>" },
	/* Braces go first, so these are other names. */
	{ "$HOME{a,b}", "<?>s<?>s" },
	{ "v=1; vx=2; v2=3; p {$v,b}x $v{1..2} {\"$v\",$v}'x' {$v,b}-",
	  "<p><2><bx><?>s<3><1x><1x><1-><b->" },
	{ "x='{a,b}'; p $x", "<p><{a,b}>" },
	{ "{},a} {}{a,b} {{}} {a,{}}", "<{},a}><{}a><{}b><{{}}><a><{}>" },
	{ "{1..100000}", "<?>s" },
	{ "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", "<?>s" },

	/* tilde */
	{ "~ ~/x ~root ~root/x ~+ ~other/x", "</home/me></home/me/x></root>"
					     "</root/x></work><?/x>" },
	{ "a~ '~' \\~ ~\"x\" ~/\"x\" ~\\/x", "<a~><~><~><~x></home/me/x><~/x>" },
	{ "p of=~/x --p=~/x x=~:~/y :~ a=b=~ =~",
	  "<p><of=/home/me/x><--p=~/x><x=/home/me:/home/me/y><:~><a=b=~><=~>" },
	{ "x=~/a:~/b:'~'; p $x", "<p></home/me/a:/home/me/b:~>" },

	/* splitting */
	{ "x='a b  c'; p $x \"$x\" y${x}z $x$x",
	  "<p><a><b><c><a b  c><ya><b><cz><a><b><ca><b><c>" },
	{ "x=' a '; p -$x- \"-$x-\"", "<p><-><a><-><- a ->" },
	{ "x=; p $x \"$x\" a$x ''$x", "<p><><a><>" },
	{ "IFS=,; x=a,b,,c; p $x \"$x\"", "<p><a><b><><c><a,b,,c>" },
	{ "IFS=,; x=,a,; p $x", "<p><><a>" },
	{ "IFS=' ,'; x='a , b,c  d,'; p $x", "<p><a><b><c><d>" },
	{ "IFS=_; x=rm_-rf_/; $x", "<rm><-rf></>" },
	{ "IFS=; x='a b'; p $x", "<p><a b>" },
	{ "IFS=$y; x='a b'; p $x \"$x\"", "<p><?>s<a b>" },
	{ "rm$IFS-rf${IFS}/", "<rm>g<-rf>g</>g" },
	{ "rm${IFS%?}/ \"a$IFS\"", "<rm>g</>g<a \t\n>" },
	{ "p $IFS x", "<p><x>" },

	/* patterns */
	{ "*.c '*.c' a\\* [ab] [ ] a? \"$HOME\"/*",
	  "<*.c>p<*.c><a*><[ab]>p<[><]><a?>p</home/me/*>p" },
	{ "x='*'; p $x \"$x\"", "<p><*>p<*>" },

	/* unknown */
	{ "$x \"$x\" a$x \"a$x\"b $1 \"$@\" \"$*\" $? $#", "<?>s<?><a?>s<a?b><?>s<?>s<?><?><?>" },
	{ "$(true) \"$()\"", "<one>n<two>n<?>" },
	{ "p $(out) \"$(out)\" a$(out)b", "<p><one>n<two>n<one  two>n"
					  "<aone>n<twob>n" },
	{ "x=$(out); p \"$x\"", "<p><one  two>n" },
	{ "diff <(true) x", "<diff></dev/fd/?><x>" },

	/* operators */
	{ "${x:-rm} -rf", "<?>s<-rf> | <rm><-rf>" },
	{ "\"${x:-a b}\"", "<?> | <a b>" },
	{ "p ${x:+-f} y", "<p><-f><y> | <p><y>" },
	{ "x=; p ${x:-d} ${x-d} [${x:+y}] [${x+y}] ${x:=a b}", "<p><d><[]>p<[y]>p<a><b>" },
	{ "x=1; p ${x:-d} ${x:+a b} \"${x:+a b}\" ${x:?}", "<p><1><a><b><a b><1>" },
	{ "p ${HOME:-$(out)} ${y:-~/q}", "<p></home/me><?>s | <p></home/me></home/me/q>" },
	{ "x=hello; p ${x#he} ${x%lo} ${x##*l} ${x#*l} ${x%l*} ${x%%l*} ${x#z}",
	  "<p><llo><hel><o><lo><hel><he><hello>" },
	{ "x=hello; p ${x:1} ${x:1:2} ${x: -3} ${x: -3:2} ${x:0:-1} \"${x:9}\"",
	  "<p><ello><el><llo><ll><hell><>" },
	{ "x=hello; p ${x/l/L} ${x//l/L} ${x//l} ${x/#he/HE} ${x/%lo/LO}",
	  "<p><heLlo><heLLo><heo><HEllo><helLO>" },
	{ "x=hello; p ${x^^} ${x^} ${#x}; y=ABC; p ${y,,} ${y,}",
	  "<p><HELLO><Hello><5> | <p><abc><aBC>" },
	{ "x=/a/b/c.txt; p ${x##*/} ${x%/*} ${x%.*} ${x//\\//_} ${x#\"/a\"}",
	  "<p><c.txt></a/b></a/b/c><_a_b_c.txt></b/c.txt>" },
	{ "x=ab; p ${x#[a]} ${x/$y/} ${!x} ${x@Q}", "<p><?>s<?>s<?>s<?>s" },
	{ "a=(x 'y z' w); p ${a[@]} \"${a[@]}\" \"${a[*]}\" ${#a[@]} "
	  "\"${a[1]}\" $a",
	  "<p><x><y><z><w><x><y z><w><x y z w><3><y z><x>" },

	/* arithmetic */
	{ "p $((1+2*3)) $(( (1+2)*3 )) $((7/2)) $((-7%3)) $((0x10)) $((010))",
	  "<p><7><9><3><-1><16><8>" },
	{ "x=5; p $((x+1)) $(($x*2)) $((x - -1)) $((1/0)) $((y+1)) $((x++))",
	  "<p><6><10><6><?><?><?>" },
};

static void test_cases(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		struct ab_vars *vars = ab_vars_new(&arena, "/home/me", "/work");
		ab_autofree char *got = run(cases[i].in, vars, 0);

		is_str(got, cases[i].out, cases[i].in);
	}
}

static void test_choices(void)
{
	struct ab_vars *vars = ab_vars_new(&arena, NULL, "/");
	struct ab_var b = { .text = text("b") };
	struct ab_var a = { .text = text("a"), .next = &b };
	ab_autofree char *one = NULL, *two = NULL, *many = NULL;
	size_t rounds = 1;

	ab_vars_set(vars, text("x"), &a);
	one = run("p $x$x", vars, 0);
	is_str(one, "<p><aa> | <p><bb>", "one variable is one choice");
	ab_vars_set(vars, text("y"), &a);
	two = run("p $x $y", vars, 0);
	is_str(two, "<p><a><a> | <p><a><b> | <p><b><a> | <p><b><b>", "two are all combinations");
	many = run("p ${a:-1}${b:-1}${c:-1}${d:-1}${e:-1}${f:-1}${g:-1}${h:-1}", vars, 0);
	for (const char *p = many; (p = strstr(p, " | ")); p++)
		rounds++;
	ok(rounds == 64, "a bounded number is tried: %zu", rounds);
}

static void test_positional(void)
{
	struct ab_vars *vars = ab_vars_new(&arena, NULL, "/");
	struct ab_field v[] = {
		{ .text = text("sh") },
		{ .text = text("a b") },
		{ .text = text("c") },
	};
	struct ab_fields args = { v, 3, 3 };
	ab_autofree char *got = NULL, *none = NULL;

	ok(!ab_vars_positional(vars, &args), "none were known before");
	got = run("p $1 \"$1\" \"$@\" \"$*\" $# ${2} \"$3\" -\"$@\"- $0", vars, 0);
	is_str(got, "<p><a><b><a b><a b><c><a b c><2><c><><-a b><c-><sh>",
	       "what a function was given");
	args.len = 1;
	none = run("p \"$@\" $@ $1 $#", vars, 0);
	is_str(none, "<p><0>", "nothing");
	ok(ab_vars_positional(vars, NULL) == &args, "and back");
}

static void test_places(void)
{
	static const char script[] = "rm 'a b' x\"y\" \"q\"";
	const struct ab_nesting at10 = { .verbatim = 10 };
	const struct ab_nesting lost = { .where = { 3, 9 }, .verbatim = AB_NOT_VERBATIM };
	struct ab_vars *vars = ab_vars_new(&arena, NULL, "/");
	struct ab_eval e = { &arena, vars, &at10, NULL };
	struct ab_fields f = { 0 }, g = { 0 };
	struct ab_script tree;

	ab_parse(&arena, text(script), &tree);
	for (const struct ab_shell_word *w = tree.list->first->simple.words; w; w = w->next) {
		e.source = &at10;
		ab_eval_word(&e, w, &f);
		e.source = &lost;
		ab_eval_word(&e, w, &g);
	}
	ok(f.v[0].verbatim == 10 && f.v[0].range.from == 10 && f.v[0].range.to == 12,
	   "a plain word stands where it is");
	ok(f.v[1].verbatim == 14 && f.v[1].range.from == 13 && f.v[1].range.to == 18,
	   "a quoted one behind its quote");
	ok(f.v[2].verbatim == AB_NOT_VERBATIM, "a joined one nowhere");
	ok(f.v[0].text.s == script, "it is a view");
	ok(g.v[1].verbatim == AB_NOT_VERBATIM && g.v[1].range.from == 3 && g.v[1].range.to == 9,
	   "in a text that stands nowhere: the word that it was");
}

/* What would grow without end, or take the square of its time. */
static void test_hostile(void)
{
	struct ab_vars *vars = ab_vars_new(&arena, NULL, "/");
	ab_autobuf struct ab_buf b = { 0 };
	ab_autofree char *got = NULL;
	const struct ab_var *x;

	ab_buf_puts(&b, "x=0123456789abcdef;");
	for (int i = 0; i < 20000; i++)
		ab_buf_puts(&b, "x=$x$x;");
	got = run(b.data, vars, 0);
	x = ab_vars_get(vars, text("x"));
	ok(x->unknown && x->text.len <= 64 << 10, "doubling ends: %u", x->text.len);

	b.len = 0;
	ab_buf_puts(&b, "p ");
	for (int i = 0; i < 60000; i++)
		ab_buf_puts(&b, "{,");
	ab_buf_puts(&b, "}");
	free(ab_take(got));
	got = run(b.data, vars, 0);
	is_str(got, "<p><?>s", "a row of open braces");

	b.len = 0;
	ab_buf_puts(&b, "p");
	for (int i = 0; i < 20000; i++)
		ab_buf_puts(&b, " {1..999}");
	free(ab_take(got));
	vars = ab_vars_new(&arena, NULL, "/");
	got = run(b.data, vars, 0);
	ok(strstr(got, "<999>") && strlen(got) < 4 << 20,
	   "many sequences: the first ones are known: %zu", strlen(got));
}

int main(void)
{
	test_cases();
	test_choices();
	test_positional();
	test_places();
	test_hostile();
	ab_arena_fini(&arena);
	return done();
}
