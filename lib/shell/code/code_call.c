/* The commands that a call of a one-liner runs. */
#include "shell/code/code_read.h"
#include "shell/syntax/name_table.h"

/* Levels of nested code that are read. */
enum { DEPTH_MAX = 3 };

/* Is the program of a command a shell? */
static bool names_shell(struct ab_text t)
{
	uint32_t len = 0;

	while (len < t.len && (unsigned char)t.s[len] > ' ')
		len++;
	return ab_listed("ash bash dash fish ksh sh zsh",
			 ab_text_base((struct ab_text){ t.s, len }));
}

static struct ab_inner *add_inner(struct ab_code_reader *r, enum ab_inner_kind kind)
{
	struct ab_inner *inner = ab_arena_alloc(r->arena, sizeof(*inner));

	inner->kind = kind;
	inner->in.none = true;
	*r->tail = inner;
	r->tail = &inner->next;
	return inner;
}

struct ab_inner *ab_code_script(struct ab_code_reader *r, const struct ab_field *script)
{
	struct ab_inner *inner;

	if (script->text.len == 0)
		return NULL;
	inner = add_inner(r, AB_INNER_SCRIPT);
	inner->script = *script;
	if (names_shell(script->text))
		r->ret->traits |= AB_CODE_SHELL;
	if (ab_text_contains(script->text, "<&"))
		r->ret->traits |= AB_CODE_DUP;
	return inner;
}

void ab_code_sink(struct ab_code_reader *r, const struct ab_field *script,
		  const struct ab_field *text)
{
	struct ab_inner *inner = ab_code_script(r, script);

	if (!inner)
		return;
	inner->in = ab_data_unknown(script->range, 0);
	if (!text)
		return;
	inner->in.text = text->text;
	inner->in.unknown = text->unknown;
	inner->in.verbatim = text->verbatim;
}

static void add_argv(struct ab_code_reader *r, const struct ab_field *v, size_t n)
{
	struct ab_inner *inner;

	if (n == 0)
		return;
	inner = add_inner(r, AB_INNER_ARGV);
	inner->argv = v;
	inner->argc = n;
	if (names_shell(v[0].text))
		r->ret->traits |= AB_CODE_SHELL;
}

/* A program without arguments; copies the caller's field. */
static void add_word(struct ab_code_reader *r, const struct ab_field *word)
{
	struct ab_field *argv = ab_arena_alloc(r->arena, sizeof(*argv));

	*argv = *word;
	add_argv(r, argv, 1);
}

static struct ab_field make_literal(const struct ab_code_reader *r, const char *s, size_t len)
{
	return (struct ab_field){ .text = { s, (uint32_t)len },
				  .range = r->code->range,
				  .verbatim = AB_NOT_VERBATIM };
}

void ab_code_deed(struct ab_code_reader *r, const char *words, const struct ab_field *to)
{
	struct ab_field *argv = ab_arena_alloc(r->arena, 4 * sizeof(*argv));
	size_t n = 0;

	struct ab_text word;

	while (n < 3 && (word = ab_list_next(&words)).len > 0)
		argv[n++] = make_literal(r, word.s, word.len);
	argv[n++] = *to;
	add_argv(r, argv, n);
}

/* All positional arguments from `from` on, with lists flattened. */
static void add_all(struct ab_code_reader *r, const struct ab_code_args *a, size_t from)
{
	size_t n = 0, at = 0;
	struct ab_field *argv;

	for (size_t i = from; i < a->len; i++)
		n += a->v[i].list ? a->v[i].items.len : 1;
	argv = ab_arena_alloc(r->arena, (n + 1) * sizeof(*argv));
	for (size_t i = from; i < a->len; i++) {
		const struct ab_code_arg *arg = &a->v[i];

		if (arg->keyword)
			continue;
		if (!arg->list)
			argv[at++] = arg->text;
		else if (arg->items.len)
			memcpy(argv + at, arg->items.v, arg->items.len * sizeof(*argv));
		at += arg->list ? arg->items.len : 0;
	}
	add_argv(r, argv, at);
}

static bool is_write_mode(const struct ab_field *mode)
{
	for (uint32_t i = 0; i < mode->text.len; i++)
		if (mode->text.s[i] && strchr("wax+>", mode->text.s[i]))
			return true;
	return false;
}

/* perl: open(F, ">", "x"), open(F, ">x"), open(F, "cmd|"), open(F, "|-", ..) */
static void read_perl_open(struct ab_code_reader *r, const struct ab_code_args *a)
{
	struct ab_field mode, file;
	struct ab_text t;

	if (a->len < 2)
		return;
	mode = a->v[1].text;
	t = mode.text;
	if (t.len > 1 && (ab_text_starts(t, ">&") || ab_text_starts(t, "<&")))
		r->ret->traits |= AB_CODE_DUP;
	else if (a->len > 3 && (ab_text_is(t, "|-") || ab_text_is(t, "-|")))
		add_all(r, a, 2);
	else if (a->len > 2 && ab_text_is(t, "|-"))
		ab_code_sink(r, &a->v[2].text, NULL);
	else if (a->len > 2 && ab_text_is(t, "-|"))
		ab_code_script(r, &a->v[2].text);
	else if (a->len > 2 && is_write_mode(&mode))
		ab_code_deed(r, "tee", &a->v[2].text);
	else if (a->len == 2 && t.len > 1 && ab_text_ends(t, "|")) {
		mode.text.len--;
		ab_code_script(r, &mode);
	} else if (a->len == 2 && t.len > 1 && (t.s[0] == '|' || t.s[0] == '>')) {
		uint32_t skip = 1;

		while (skip < t.len && (t.s[skip] == ' ' || t.s[skip] == '>'))
			skip++;
		file = mode;
		file.text = ab_text_rest(t, skip);
		file.verbatim = AB_NOT_VERBATIM;
		if (t.s[0] == '|')
			ab_code_sink(r, &file, NULL);
		else
			ab_code_deed(r, "tee", &file);
	}
}

static int find_base64_digit(char c)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz"
				     "0123456789+/";
	const char *p = c ? strchr(digits, c) : NULL;

	return p ? (int)(p - digits) : -1;
}

/* The longest string in the arguments is the text, others name modules. */
static bool find_longest(struct ab_code_scan scan, struct ab_token *ret)
{
	struct ab_token t;

	*ret = (struct ab_token){ 0 };
	for (unsigned i = 0; i < 40; i++) {
		ab_code_next(&scan, &t);
		if (t.kind == AB_TOKEN_END || t.kind == AB_TOKEN_LINE)
			break;
		if (t.kind == AB_TOKEN_STRING && t.to - t.from > ret->to - ret->from)
			*ret = t;
	}
	return ret->to - ret->from >= 4;
}

/* Decodes the operand of b64decode() or fromhex(). */
static bool decode_text(struct ab_code_reader *r, struct ab_code_scan scan, bool hex,
			struct ab_field *ret)
{
	struct ab_code_string b = { .arena = r->arena };
	const unsigned width = hex ? 4 : 6;
	struct ab_token t;
	unsigned bits = 0, n = 0;
	char c;

	if (!find_longest(scan, &t))
		return false;
	for (uint32_t i = t.from; i < t.to; i++) {
		int d = hex ? (int)ab_digit(scan.text.s[i]) : find_base64_digit(scan.text.s[i]);

		if (d < 0 || d >= 1 << width)
			continue;
		bits = bits << width | (unsigned)d;
		n += width;
		if (n < 8)
			continue;
		n -= 8;
		c = (char)(bits >> n & 0xff);
		ab_code_add(&b, c == AB_UNKNOWN ? '?' : c);
	}
	*ret = make_literal(r, b.s ? b.s : "", b.len);
	return b.len > 0;
}

/* Nested code. */
static void read_eval(struct ab_code_reader *r, const struct ab_code_args *a,
		      struct ab_code_scan scan)
{
	struct ab_code_reader inner = *r;
	struct ab_field code = { 0 };

	if (a->network)
		r->ret->traits |= AB_CODE_NETWORK_EXEC;
	if (a->len == 0 || r->depth >= DEPTH_MAX)
		return;
	if (a->decodes) {
		if (a->other || !decode_text(r, scan, a->hex, &code)) {
			r->ret->traits |= AB_CODE_DECODED_EXEC;
			return;
		}
	} else if (a->v[0].literal) {
		code = a->v[0].text;
	} else {
		return;
	}
	inner.depth++;
	inner.code = &code;
	inner.nvars = 0;
	inner.scan = (struct ab_code_scan){ .language = r->scan.language, .text = code.text };
	ab_code_walk(&inner);
	r->tail = inner.tail;
}

static void read_run(struct ab_code_reader *r, const struct ab_code_args *a)
{
	const struct ab_code_arg *first = &a->v[0];

	if (first->list && a->shell && first->items.len)
		ab_code_script(r, &first->items.v[0]);
	else if (first->list)
		add_argv(r, first->items.v, first->items.len);
	else if (a->shell || a->split)
		ab_code_script(r, &first->text);
	else if (first->literal)
		add_word(r, &first->text);
}

static void read_spawn(struct ab_code_reader *r, const struct ab_code_args *a)
{
	if (a->len > 1 && a->v[1].list && !a->shell) {
		struct ab_code_args two = *a;

		two.len = 2;
		add_all(r, &two, 0);
	} else if (a->shell) {
		ab_code_script(r, &a->v[0].text);
	} else {
		add_word(r, &a->v[0].text);
	}
}

/* rm: one command per argument; recursive only if an argument says so. */
static void read_deed(struct ab_code_reader *r, const struct ab_call *call,
		      const struct ab_code_args *a)
{
	bool rm = strncmp(call->words, "rm", 2) == 0;
	const char *words = rm && a->recursive ? "rm -rf" : call->words;

	for (size_t i = 0; i < a->len && (i == 0 || rm); i++) {
		const struct ab_code_arg *arg = &a->v[i];

		if (arg->list)
			for (size_t k = 0; k < arg->items.len; k++)
				ab_code_deed(r, words, &arg->items.v[k]);
		else if (!arg->keyword && arg->text.text.len > 0 && (arg->literal || i == 0))
			ab_code_deed(r, words, &arg->text);
	}
}

static void read_open(struct ab_code_reader *r, const struct ab_code_args *a)
{
	const struct ab_field *file = &a->v[0].text;
	struct ab_field script;

	if (r->scan.language == AB_LANG_RUBY && file->text.len > 1 && file->text.s[0] == '|') {
		script = *file;
		script.text = ab_text_rest(file->text, 1);
		script.verbatim = AB_NOT_VERBATIM;
		ab_code_script(r, &script);
	} else if (a->len > 1 && a->v[1].literal && is_write_mode(&a->v[1].text)) {
		ab_code_deed(r, "tee", file);
	}
}

void ab_code_call(struct ab_code_reader *r, const struct ab_call *call, bool bare)
{
	struct ab_code_args a;

	ab_code_args(r, r->scan, bare, &a);
	if (call->kind == AB_CALL_ON_PATH && r->path.text.len > 0)
		ab_code_deed(r, call->words, &r->path);
	if (a.len == 0)
		return;
	r->ret->traits |= call->traits;
	switch (call->kind) {
	case AB_CALL_PROGRAM:
		if (a.len > 1 || a.v[0].list) {
			add_all(r, &a, 0);
			break;
		}
		__attribute__((fallthrough));
	case AB_CALL_SHELL:
		if (a.network)
			r->ret->traits |= AB_CODE_NETWORK_EXEC;
		ab_code_script(r, &a.v[0].text);
		break;
	case AB_CALL_RUN:
		read_run(r, &a);
		break;
	case AB_CALL_SPAWN:
		read_spawn(r, &a);
		break;
	case AB_CALL_LIST:
		if (a.len > 1 && a.v[1].list)
			add_argv(r, a.v[1].items.v, a.v[1].items.len);
		else
			add_word(r, &a.v[0].text);
		break;
	case AB_CALL_REST:
		add_all(r, &a, a.len > 1);
		break;
	case AB_CALL_ALL:
		add_all(r, &a, 0);
		break;
	case AB_CALL_DEED:
		read_deed(r, call, &a);
		break;
	case AB_CALL_OPEN:
		read_open(r, &a);
		break;
	case AB_CALL_PIPE:
		read_perl_open(r, &a);
		break;
	case AB_CALL_PATH:
		r->path = a.v[0].text;
		break;
	case AB_CALL_EVAL:
		read_eval(r, &a, r->scan);
		break;
	case AB_CALL_ON_PATH:
		break;
	}
}
