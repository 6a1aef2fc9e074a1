/* Finds the calls of a one-liner. */
#include "shell/code/code_read.h"

#include "shell/syntax/name_table.h"

/* A longer text is not a one-liner. The arguments of nested calls are read once
 * per level, so that is bounded too. */
enum { CODE_MAX = 1 << 18, AHEAD_MAX = 1 << 17 };

/* State within a statement. */
struct statement {
	struct ab_token name; /* the previous token, if has_name */
	struct ab_token of;   /* the token before its dot */
	bool dotted;	      /* a dot precedes it */
	bool has_name;
	bool print; /* awk: a print, which may write a file */
	unsigned parens;
};

/* import subprocess as sp, from os import system as s */
static struct ab_text get_real_name(const struct ab_code_reader *r, struct ab_text name)
{
	for (size_t i = 0; i < r->naliases; i++)
		if (ab_text_same(r->aliases[i].name, name))
			return r->aliases[i].real;
	return name;
}

/* Does the token before the dot match? It is nothing, the module, or the result
 * of a call (`require("child_process").exec`). */
static bool matches_call(const struct ab_code_reader *r, const struct ab_call *call,
			 const struct statement *st)
{
	if (!call->of[0])
		return true;
	if (!st->dotted)
		return ab_listed(call->of, (struct ab_text){ "-", 1 }) || call->kind == AB_CALL_RUN;
	if (st->of.kind != AB_TOKEN_NAME)
		return ab_token_is(&st->of, ')');
	return ab_listed(call->of, get_real_name(r, ab_token_text(&r->scan, &st->of)));
}

static const struct ab_call *find_call(const struct ab_code_reader *r, const struct statement *st)
{
	struct ab_text name = get_real_name(r, ab_token_text(&r->scan, &st->name));

	for (size_t i = 0; i < ab_ncalls; i++)
		if (1u << r->scan.language & ab_calls[i].languages &&
		    ab_listed(ab_calls[i].names, name))
			return matches_call(r, &ab_calls[i], st) ? &ab_calls[i] : NULL;
	return NULL;
}

/* Names that open a connection, redirect a descriptor or open a terminal. Sorted. */
static const struct {
	char name[24];
	unsigned languages;
	unsigned trait;
} names[] = {
	{ "INET", 1 << AB_LANG_PERL, AB_CODE_SOCKET },
	{ "Socket", 1 << AB_LANG_NODE, AB_CODE_SOCKET },
	{ "TCPSocket", ~0u, AB_CODE_SOCKET },
	{ "connect", ~0u, AB_CODE_SOCKET },
	{ "connect_ex", ~0u, AB_CODE_SOCKET },
	{ "createConnection", ~0u, AB_CODE_SOCKET },
	{ "create_connection", ~0u, AB_CODE_SOCKET },
	{ "dup2", ~0u, AB_CODE_DUP },
	{ "fdopen", 1 << AB_LANG_PERL, AB_CODE_DUP },
	{ "fsockopen", ~0u, AB_CODE_SOCKET },
	{ "pfsockopen", ~0u, AB_CODE_SOCKET },
	{ "pipe", 1 << AB_LANG_NODE, AB_CODE_DUP },
	{ "pty", 1 << AB_LANG_PYTHON | 1 << AB_LANG_RUBY, AB_CODE_PTY },
	{ "reopen", 1 << AB_LANG_RUBY, AB_CODE_DUP },
	{ "tcp", 1 << AB_LANG_LUA, AB_CODE_SOCKET },
};

static void note_name(struct ab_code_reader *r, struct ab_text name)
{
	const __typeof__(names[0]) *row = AB_LOOKUP(names, name);

	if (row && 1u << r->scan.language & row->languages)
		r->ret->traits |= row->trait;
}

/* x = "text", after the "=". */
static void read_assignment(struct ab_code_reader *r, const struct statement *st)
{
	struct ab_code_scan s = r->scan;
	size_t at = r->nvars % (sizeof(r->vars) / sizeof(*r->vars));
	struct ab_token value, end;

	ab_code_next(&s, &value);
	if (value.kind != AB_TOKEN_STRING || st->dotted)
		return;
	ab_code_next(&s, &end);
	if (end.kind != AB_TOKEN_LINE && end.kind != AB_TOKEN_END && !ab_token_is(&end, ';'))
		return;
	r->vars[at].name = ab_token_text(&r->scan, &st->name);
	r->vars[at].value = value;
	if (r->nvars < sizeof(r->vars) / sizeof(*r->vars))
		r->nvars++;
}

static struct ab_field make_field(struct ab_code_reader *r, const struct ab_token *t)
{
	struct ab_code_string b = { .arena = r->arena };

	ab_code_value(&r->scan, t, &b);
	return ab_code_field(r, &b, t->from, t->to);
}

static void add_token(struct ab_code_reader *r, const struct ab_token *t, const char *deed)
{
	const struct ab_field f = make_field(r, t);

	if (deed)
		ab_code_deed(r, deed, &f);
	else
		ab_code_script(r, &f);
}

/* awk: print "text" | "cmd" */
static void add_sink(struct ab_code_reader *r, const struct statement *st,
		     const struct ab_token *before, const struct ab_token *t)
{
	const struct ab_field script = make_field(r, t);
	const struct ab_field text = make_field(r, before);

	if (!st->print)
		ab_code_script(r, &script);
	else
		ab_code_sink(r, &script, before->kind == AB_TOKEN_STRING ? &text : NULL);
}

/* awk: print | "cmd", "cmd" | getline, print > "file". */
static void read_awk_mark(struct ab_code_reader *r, const struct statement *st,
			  const struct ab_token *before, char mark)
{
	struct ab_code_scan s = r->scan;
	struct ab_token t;

	ab_code_next(&s, &t);
	if (mark == '|' && (ab_token_is(&t, '|') || ab_token_is(before, '|')))
		return;
	if (mark == '|') {
		if (ab_token_is(&t, '&'))
			ab_code_next(&s, &t);
		r->ret->traits |= AB_CODE_WRITES;
		if (t.kind == AB_TOKEN_STRING)
			add_sink(r, st, before, &t);
		else if (ab_text_is(ab_token_text(&s, &t), "getline") &&
			 before->kind == AB_TOKEN_STRING)
			add_token(r, before, NULL);
	} else if (st->print && st->parens == 0) {
		if (ab_token_is(&t, '>'))
			ab_code_next(&s, &t);
		r->ret->traits |= AB_CODE_WRITES;
		if (t.kind == AB_TOKEN_STRING && !ab_token_is(before, '>'))
			add_token(r, &t, "tee");
	}
}

static bool takes_bare(const struct ab_code_reader *r, const struct ab_token *t)
{
	if (t->kind == AB_TOKEN_COMMAND || t->kind == AB_TOKEN_LINE)
		return false;
	return (r->scan.language == AB_LANG_PERL || r->scan.language == AB_LANG_RUBY ||
		r->scan.language == AB_LANG_LUA) &&
	       (t->kind == AB_TOKEN_STRING || t->kind == AB_TOKEN_WORDS ||
		t->kind == AB_TOKEN_NAME);
}

/* Reads the token after a name: an assignment or a call? */
static void read_after_name(struct ab_code_reader *r, struct statement *st,
			    const struct ab_token *t, struct ab_code_scan at)
{
	const struct ab_call *call;
	struct ab_code_reader from;

	if (ab_token_is(t, '=')) {
		read_assignment(r, st);
		return;
	}
	if (!ab_token_is(t, '(') && !takes_bare(r, t))
		return;
	call = find_call(r, st);
	if (!call)
		return;
	if (ab_token_is(t, '(')) {
		ab_code_call(r, call, false);
		return;
	}
	from = *r;
	from.scan = at;
	ab_code_call(&from, call, true);
	r->tail = from.tail;
}

static void read_name(struct ab_code_reader *r, struct statement *st, const struct ab_token *t)
{
	struct ab_text name = ab_token_text(&r->scan, t);

	note_name(r, name);
	if (ab_text_is(name, "print") || ab_text_is(name, "printf"))
		st->print = true;
	st->name = *t;
	st->has_name = true;
}

static void add_alias(struct ab_code_reader *r, const struct ab_token *real,
		      const struct ab_token *name)
{
	if (r->naliases == sizeof(r->aliases) / sizeof(r->aliases[0]))
		return;
	r->aliases[r->naliases].real = ab_token_text(&r->scan, real);
	r->aliases[r->naliases++].name = ab_token_text(&r->scan, name);
}

void ab_code_walk(struct ab_code_reader *r)
{
	struct ab_token t = { 0 }, before = { 0 }, before2 = { 0 };
	struct statement st = { 0 };

	for (;;) {
		struct ab_code_scan at = r->scan;

		before2 = before;
		before = t;
		ab_code_next(&r->scan, &t);
		if (st.has_name)
			read_after_name(r, &st, &t, at);
		st.has_name = false;
		switch (t.kind) {
		case AB_TOKEN_END:
			return;
		case AB_TOKEN_NAME:
			st.dotted = ab_token_is(&before, '.') || ab_token_is(&before, ':') ||
				    ab_token_is(&before, '>');
			st.of = before2;
			if (before.kind == AB_TOKEN_NAME && before2.kind == AB_TOKEN_NAME &&
			    ab_text_is(ab_token_text(&r->scan, &before), "as"))
				add_alias(r, &before2, &t);
			read_name(r, &st, &t);
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
			if (r->scan.language == AB_LANG_AWK && (t.mark == '|' || t.mark == '>'))
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

void ab_code_read(struct ab_arena *arena, enum ab_language language, const struct ab_field *code,
		  struct ab_oneliner *ret)
{
	unsigned ahead = AHEAD_MAX;
	struct ab_code_reader r = { .arena = arena,
				    .ahead = &ahead,
				    .code = code,
				    .scan = { .language = language, .text = code->text },
				    .ret = ret };

	*ret = (struct ab_oneliner){ 0 };
	r.tail = &ret->inners;
	if (r.scan.text.len > CODE_MAX) {
		r.scan.text.len = CODE_MAX;
		ret->traits = AB_CODE_UNREAD;
	}
	ab_code_walk(&r);
}
