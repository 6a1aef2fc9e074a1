/* The calls of a one-liner, and the commands that they come to. */
#include "base/arena.h"
#include "shell/code_read.h"

/* More is not a one-liner; and how deep code in code is followed. */
enum { CODE_MAX = 1 << 18, DEPTH_MAX = 3 };

/* Where the reading stands in a statement. */
struct statement {
	struct ab_token name; /* the last name, if it came just now */
	struct ab_token of; /* what stood before its dot */
	bool dotted; /* a dot stood before it */
	bool has_name;
	bool print; /* awk: a print that may go to a file */
	unsigned parens;
};

static struct ab_text text_of(const struct ab_code_scan *s,
			      const struct ab_token *t)
{
	return (struct ab_text){ s->text.s + t->from, t->to - t->from };
}

static bool is_mark(const struct ab_token *t, char mark)
{
	return t->kind == AB_TOKEN_MARK && t->mark == mark;
}

/* The program of a command is a shell. */
static bool names_shell(struct ab_text t)
{
	static const char *const shells[] = { "sh",  "bash", "dash", "zsh",
					      "ksh", "ash",  "fish" };
	const char *slash;
	uint32_t len = 0;

	while (len < t.len && (unsigned char)t.s[len] > ' ')
		len++;
	t.len = len;
	slash = len ? memrchr(t.s, '/', len) : NULL;
	if (slash) {
		t.len -= (uint32_t)(slash + 1 - t.s);
		t.s = slash + 1;
	}
	for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++)
		if (ab_text_is(t, shells[i]))
			return true;
	return false;
}

static struct ab_inner *add(struct ab_code_reader *r, enum ab_inner_kind kind)
{
	struct ab_inner *inner = ab_arena_alloc(r->arena, sizeof(*inner));

	inner->kind = kind;
	inner->in.none = true;
	*r->tail = inner;
	r->tail = &inner->next;
	return inner;
}

static void add_script(struct ab_code_reader *r, const struct ab_field *script)
{
	if (script->text.len == 0)
		return;
	add(r, AB_INNER_SCRIPT)->script = *script;
	if (names_shell(script->text))
		r->ret->traits |= AB_CODE_SHELL;
	if (memmem(script->text.s, script->text.len, "<&", 2))
		r->ret->traits |= AB_CODE_DUP;
}

static void add_argv(struct ab_code_reader *r, const struct ab_field *v,
		     size_t n)
{
	struct ab_inner *inner;

	if (n == 0)
		return;
	inner = add(r, AB_INNER_ARGV);
	inner->argv = v;
	inner->argc = n;
	if (names_shell(v[0].text))
		r->ret->traits |= AB_CODE_SHELL;
}

static struct ab_field literal(const struct ab_code_reader *r, const char *s,
			       size_t len)
{
	return (struct ab_field){ .text = { s, (uint32_t)len },
				  .range = r->code->range,
				  .verbatim = AB_NOT_VERBATIM };
}

/* The words, then what it is done to. */
static void add_deed(struct ab_code_reader *r, const char *words,
		     const struct ab_field *to)
{
	struct ab_field *argv = ab_arena_alloc(r->arena, 4 * sizeof(*argv));
	size_t n = 0;

	while (*words && n < 3) {
		size_t len = strcspn(words, " ");

		argv[n++] = literal(r, words, len);
		words += len;
		words += strspn(words, " ");
	}
	argv[n++] = *to;
	add_argv(r, argv, n);
}

/* All positional arguments from `from` on, lists opened. */
static void add_all(struct ab_code_reader *r, const struct ab_code_args *a,
		    size_t from)
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
			memcpy(argv + at, arg->items.v,
			       arg->items.len * sizeof(*argv));
		at += arg->list ? arg->items.len : 0;
	}
	add_argv(r, argv, at);
}

static bool writes(const struct ab_field *mode)
{
	for (uint32_t i = 0; i < mode->text.len; i++)
		if (mode->text.s[i] && strchr("wax+>", mode->text.s[i]))
			return true;
	return false;
}

/* perl: open(F, ">", "x"), open(F, ">x"), open(F, "cmd|"), open(F, "|-", ..) */
static void read_perl_open(struct ab_code_reader *r,
			   const struct ab_code_args *a)
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
	else if (a->len > 2 && (ab_text_is(t, "|-") || ab_text_is(t, "-|")))
		add_script(r, &a->v[2].text);
	else if (a->len > 2 && writes(&mode))
		add_deed(r, "tee", &a->v[2].text);
	else if (a->len == 2 && t.len > 1 && t.s[t.len - 1] == '|') {
		mode.text.len--;
		add_script(r, &mode);
	} else if (a->len == 2 && t.len > 1 &&
		   (t.s[0] == '|' || t.s[0] == '>')) {
		uint32_t skip = 1;

		while (skip < t.len && (t.s[skip] == ' ' || t.s[skip] == '>'))
			skip++;
		file = mode;
		file.text.s += skip;
		file.text.len -= skip;
		file.verbatim = AB_NOT_VERBATIM;
		if (t.s[0] == '|')
			add_script(r, &file);
		else
			add_deed(r, "tee", &file);
	}
}

static void read_code(struct ab_code_reader *r);

static int base64_digit(char c)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz"
				     "0123456789+/";
	const char *p = c ? strchr(digits, c) : NULL;

	return p ? (int)(p - digits) : -1;
}

/* The string that b64decode() was given, somewhere in the arguments. */
static bool decode(struct ab_code_reader *r, struct ab_code_scan scan,
		   struct ab_field *ret)
{
	struct ab_code_string b = { .arena = r->arena };
	struct ab_token t;
	unsigned bits = 0, n = 0;

	for (unsigned i = 0; i < 40; i++) {
		ab_code_next(&scan, &t);
		if (t.kind == AB_TOKEN_STRING && t.to - t.from >= 4)
			break;
	}
	if (t.kind != AB_TOKEN_STRING)
		return false;
	for (uint32_t i = t.from; i < t.to; i++) {
		int d = base64_digit(scan.text.s[i]);

		if (d < 0)
			continue;
		bits = bits << 6 | (unsigned)d;
		n += 6;
		if (n < 8)
			continue;
		n -= 8;
		ab_code_add(&b, (char)(bits >> n & 0xff));
	}
	*ret = literal(r, b.s ? b.s : "", b.len);
	return b.len > 0;
}

/* Code in code. */
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
		if (!decode(r, scan, &code))
			return;
	} else if (a->v[0].literal) {
		code = a->v[0].text;
	} else {
		return;
	}
	inner.depth++;
	inner.code = &code;
	inner.nvars = 0;
	inner.scan = (struct ab_code_scan){ .language = r->scan.language,
					    .text = code.text };
	read_code(&inner);
	r->tail = inner.tail;
}

static void read_run(struct ab_code_reader *r, const struct ab_code_args *a)
{
	const struct ab_code_arg *first = &a->v[0];

	if (first->list && a->shell && first->items.len)
		add_script(r, &first->items.v[0]);
	else if (first->list)
		add_argv(r, first->items.v, first->items.len);
	else if (a->shell || a->split)
		add_script(r, &first->text);
	else if (first->literal)
		add_argv(r, &first->text, 1);
}

static void read_spawn(struct ab_code_reader *r, const struct ab_code_args *a)
{
	if (a->len > 1 && a->v[1].list && !a->shell) {
		struct ab_code_args two = *a;

		two.len = 2;
		add_all(r, &two, 0);
	} else if (a->shell) {
		add_script(r, &a->v[0].text);
	} else {
		add_argv(r, &a->v[0].text, 1);
	}
}

/* One thing per argument for rm; a folder only where it says so. */
static void read_deed(struct ab_code_reader *r, const struct ab_call *call,
		      const struct ab_code_args *a)
{
	bool rm = strncmp(call->words, "rm", 2) == 0;
	const char *words = rm && a->recursive ? "rm -rf" : call->words;

	for (size_t i = 0; i < a->len && (i == 0 || rm); i++) {
		const struct ab_code_arg *arg = &a->v[i];

		if (arg->list)
			for (size_t k = 0; k < arg->items.len; k++)
				add_deed(r, words, &arg->items.v[k]);
		else if (!arg->keyword && arg->text.text.len > 0 &&
			 (arg->literal || i == 0))
			add_deed(r, words, &arg->text);
	}
}

static void read_open(struct ab_code_reader *r, const struct ab_code_args *a)
{
	const struct ab_field *file = &a->v[0].text;
	struct ab_field script;

	if (r->scan.language == AB_LANG_RUBY && file->text.len > 1 &&
	    file->text.s[0] == '|') {
		script = *file;
		script.text.s++;
		script.text.len--;
		script.verbatim = AB_NOT_VERBATIM;
		add_script(r, &script);
	} else if (a->len > 1 && a->v[1].literal && writes(&a->v[1].text)) {
		add_deed(r, "tee", file);
	}
}

static void read_call(struct ab_code_reader *r, const struct ab_call *call,
		      bool bare)
{
	struct ab_code_args a;

	ab_code_args(r, r->scan, bare, &a);
	if (call->kind == AB_CALL_ON_PATH && r->path.text.len > 0)
		add_deed(r, call->words, &r->path);
	if (a.len == 0)
		return;
	r->ret->traits |= call->traits;
	switch (call->kind) {
	case AB_CALL_PROGRAM:
		if (a.len > 1 || a.v[0].list) {
			add_all(r, &a, 0);
			break;
		}
		/* fall through */
	case AB_CALL_SHELL:
		if (a.network)
			r->ret->traits |= AB_CODE_NETWORK_EXEC;
		add_script(r, &a.v[0].text);
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
			add_argv(r, &a.v[0].text, 1);
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

static bool listed(const char *words, struct ab_text word)
{
	while (words && *words) {
		size_t len = strcspn(words, " ");

		if (len == word.len && memcmp(words, word.s, len) == 0)
			return true;
		words += len;
		words += strspn(words, " ");
	}
	return false;
}

/* What stands before the dot fits: nothing, the module, or a value that some
 * call gave (`require("child_process").exec`). */
static bool fits(const struct ab_code_reader *r, const struct ab_call *call,
		 const struct statement *st)
{
	if (!(1u << r->scan.language & call->languages))
		return false;
	if (!call->of)
		return true;
	if (!st->dotted)
		return listed(call->of, (struct ab_text){ "-", 1 }) ||
		       call->kind == AB_CALL_RUN;
	if (st->of.kind != AB_TOKEN_NAME)
		return is_mark(&st->of, ')');
	return listed(call->of, text_of(&r->scan, &st->of));
}

static const struct ab_call *find_call(const struct ab_code_reader *r,
				       const struct statement *st)
{
	struct ab_text name = text_of(&r->scan, &st->name);
	size_t low = 0, high = ab_ncalls;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const char *s = ab_calls[middle].name;
		int c = strncmp(s, name.s, name.len);

		if (c < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < ab_ncalls && ab_text_starts(name, ""); low++) {
		if (!ab_text_is(name, ab_calls[low].name)) {
			if (strncmp(ab_calls[low].name, name.s, name.len) != 0)
				break;
			continue;
		}
		if (fits(r, &ab_calls[low], st))
			return &ab_calls[low];
	}
	return NULL;
}

/* Names that open a connection, or put one in the place of a terminal. */
static const struct {
	const char *name;
	unsigned languages;
	unsigned trait;
} names[] = {
	{ "connect", ~0u, AB_CODE_SOCKET },
	{ "connect_ex", ~0u, AB_CODE_SOCKET },
	{ "create_connection", ~0u, AB_CODE_SOCKET },
	{ "createConnection", ~0u, AB_CODE_SOCKET },
	{ "TCPSocket", ~0u, AB_CODE_SOCKET },
	{ "fsockopen", ~0u, AB_CODE_SOCKET },
	{ "pfsockopen", ~0u, AB_CODE_SOCKET },
	{ "INET", 1 << AB_LANG_PERL, AB_CODE_SOCKET },
	{ "Socket", 1 << AB_LANG_NODE, AB_CODE_SOCKET },
	{ "tcp", 1 << AB_LANG_LUA, AB_CODE_SOCKET },
	{ "dup2", ~0u, AB_CODE_DUP },
	{ "fdopen", 1 << AB_LANG_PERL, AB_CODE_DUP },
	{ "reopen", 1 << AB_LANG_RUBY, AB_CODE_DUP },
	{ "pipe", 1 << AB_LANG_NODE, AB_CODE_DUP },
	{ "pty", 1 << AB_LANG_PYTHON | 1 << AB_LANG_RUBY, AB_CODE_PTY },
};

static void note_name(struct ab_code_reader *r, struct ab_text name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (ab_text_is(name, names[i].name) &&
		    1u << r->scan.language & names[i].languages)
			r->ret->traits |= names[i].trait;
}

/* x = "text": the first token behind the name was the "=". */
static void read_assignment(struct ab_code_reader *r,
			    const struct statement *st)
{
	struct ab_code_scan s = r->scan;
	size_t at = r->nvars % (sizeof(r->vars) / sizeof(*r->vars));
	struct ab_token value, end;

	ab_code_next(&s, &value);
	if (value.kind != AB_TOKEN_STRING || st->dotted)
		return;
	ab_code_next(&s, &end);
	if (end.kind != AB_TOKEN_LINE && end.kind != AB_TOKEN_END &&
	    !is_mark(&end, ';'))
		return;
	r->vars[at].name = text_of(&r->scan, &st->name);
	r->vars[at].value = value;
	if (r->nvars < sizeof(r->vars) / sizeof(*r->vars))
		r->nvars++;
}

static void add_token(struct ab_code_reader *r, const struct ab_token *t,
		      const char *deed)
{
	struct ab_code_string b = { .arena = r->arena };
	struct ab_field f = literal(r, "", 0);

	ab_code_value(&r->scan, t, &b);
	f.text = (struct ab_text){ b.s ? b.s : "", b.len };
	f.unknown = b.len && memchr(b.s, AB_UNKNOWN, b.len);
	f.taint = r->code->taint;
	if (r->code->verbatim != AB_NOT_VERBATIM) {
		f.range.from = r->code->verbatim + t->from;
		f.range.to = r->code->verbatim + t->to;
		if (f.text.len == t->to - t->from)
			f.verbatim = f.range.from;
	}
	if (deed)
		add_deed(r, deed, &f);
	else
		add_script(r, &f);
}

/* awk: print | "cmd", "cmd" | getline, print > "file". */
static void read_awk_mark(struct ab_code_reader *r, const struct statement *st,
			  const struct ab_token *before, char mark)
{
	struct ab_code_scan s = r->scan;
	struct ab_token t;

	ab_code_next(&s, &t);
	if (mark == '|' && (is_mark(&t, '|') || is_mark(before, '|')))
		return;
	if (mark == '|') {
		if (is_mark(&t, '&'))
			ab_code_next(&s, &t);
		r->ret->traits |= AB_CODE_WRITES;
		if (t.kind == AB_TOKEN_STRING)
			add_token(r, &t, NULL);
		else if (ab_text_is(text_of(&s, &t), "getline") &&
			 before->kind == AB_TOKEN_STRING)
			add_token(r, before, NULL);
	} else if (st->print && st->parens == 0) {
		if (is_mark(&t, '>'))
			ab_code_next(&s, &t);
		r->ret->traits |= AB_CODE_WRITES;
		if (t.kind == AB_TOKEN_STRING && !is_mark(before, '>'))
			add_token(r, &t, "tee");
	}
}

static bool takes_bare(const struct ab_code_reader *r, const struct ab_token *t)
{
	if (t->kind == AB_TOKEN_COMMAND || t->kind == AB_TOKEN_LINE)
		return false;
	return (r->scan.language == AB_LANG_PERL ||
		r->scan.language == AB_LANG_RUBY ||
		r->scan.language == AB_LANG_LUA) &&
	       (t->kind == AB_TOKEN_STRING || t->kind == AB_TOKEN_WORDS ||
		t->kind == AB_TOKEN_NAME);
}

/* The token behind a name: is it a call? */
static void after_name(struct ab_code_reader *r, struct statement *st,
		       const struct ab_token *t, struct ab_code_scan at)
{
	const struct ab_call *call;
	struct ab_code_reader from;

	if (is_mark(t, '=')) {
		read_assignment(r, st);
		return;
	}
	if (!is_mark(t, '(') && !takes_bare(r, t))
		return;
	call = find_call(r, st);
	if (!call)
		return;
	if (is_mark(t, '(')) {
		read_call(r, call, false);
		return;
	}
	from = *r;
	from.scan = at;
	read_call(&from, call, true);
	r->tail = from.tail;
}

static void see_name(struct ab_code_reader *r, struct statement *st,
		     const struct ab_token *t)
{
	struct ab_text name = text_of(&r->scan, t);

	note_name(r, name);
	if (ab_text_is(name, "print") || ab_text_is(name, "printf"))
		st->print = true;
	st->name = *t;
	st->has_name = true;
}

static void read_code(struct ab_code_reader *r)
{
	struct ab_token t = { 0 }, before = { 0 }, before2 = { 0 };
	struct statement st = { 0 };

	for (;;) {
		struct ab_code_scan at = r->scan;

		before2 = before;
		before = t;
		ab_code_next(&r->scan, &t);
		if (st.has_name)
			after_name(r, &st, &t, at);
		st.has_name = false;
		switch (t.kind) {
		case AB_TOKEN_END:
			return;
		case AB_TOKEN_NAME:
			st.dotted = is_mark(&before, '.') ||
				    is_mark(&before, ':') ||
				    is_mark(&before, '>');
			st.of = before2;
			see_name(r, &st, &t);
			break;
		case AB_TOKEN_COMMAND:
			add_token(r, &t, NULL);
			break;
		case AB_TOKEN_LINE:
			st.print = false;
			break;
		case AB_TOKEN_MARK:
			st.parens += t.mark == '(';
			st.parens -= t.mark == ')' && st.parens > 0;
			if (t.mark == ';' || t.mark == '{' || t.mark == '}')
				st.print = false;
			if (r->scan.language == AB_LANG_AWK &&
			    (t.mark == '|' || t.mark == '>'))
				read_awk_mark(r, &st, &before, t.mark);
			break;
		case AB_TOKEN_NUMBER:
		case AB_TOKEN_STRING:
		case AB_TOKEN_PATTERN:
		case AB_TOKEN_WORDS:
			break;
		}
	}
}

void ab_code_read(struct ab_arena *arena, enum ab_language language,
		  const struct ab_field *code, struct ab_oneliner *ret)
{
	struct ab_code_reader r = { .arena = arena,
				    .code = code,
				    .scan = { .language = language,
					      .text = code->text },
				    .ret = ret };

	*ret = (struct ab_oneliner){ 0 };
	r.tail = &ret->inners;
	if (r.scan.text.len > CODE_MAX)
		r.scan.text.len = CODE_MAX;
	read_code(&r);
}
