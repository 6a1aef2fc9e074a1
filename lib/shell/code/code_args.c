/*
 * The arguments of a call: literal strings are joined, computed values become
 * AB_UNKNOWN. Bounded lookahead, so that nested calls cost no more than their
 * length.
 */
#include "shell/code/code_read.h"
#include "shell/expand/expand.h"
#include "shell/syntax/name_table.h"

enum { TOKENS_MAX = 160, TOKENS_LEAST = 8 };

struct args_walk {
	const struct ab_code_reader *r;
	struct ab_code_scan scan;
	struct ab_code_args *args;
	struct ab_token token, before;
	unsigned budget;
	bool bare;
	/* the value being built */
	struct ab_code_string text;
	bool any, literal, format;
	uint32_t from, to;
};

static bool read_token(struct args_walk *w)
{
	if (w->budget == 0)
		return false;
	w->budget--;
	*w->r->ahead -= *w->r->ahead > 0;
	w->before = w->token;
	ab_code_next(&w->scan, &w->token);
	return w->token.kind != AB_TOKEN_END;
}

static bool opens_group(const struct ab_token *t)
{
	return ab_token_is(t, '(') || ab_token_is(t, '[') || ab_token_is(t, '{');
}

static bool closes_group(const struct ab_token *t)
{
	return ab_token_is(t, ')') || ab_token_is(t, ']') || ab_token_is(t, '}');
}

/* Functions that decode a text: from base64, from hexadecimal digits, in another way. */
static const char base64_decoders[] =
	"Buffer a2b_base64 atob b64decode base64_decode decode64 decode_base64 decodebytes "
	"strict_decode64 urlsafe_b64decode urlsafe_decode64";
static const char hex_decoders[] = "a2b_hex fromhex hex2bin pack unhexlify";
static const char other_decoders[] =
	"a85decode b32decode b85decode codecs decompress fromCharCode gzinflate gzuncompress "
	"inflateSync marshal str_rot13 unescape unpack";

static void note_decoder(struct ab_code_args *args, struct ab_text name)
{
	bool hex = ab_listed(hex_decoders, name), other = ab_listed(other_decoders, name);

	args->decodes |= hex || other || ab_listed(base64_decoders, name);
	args->hex |= hex;
	args->other |= other;
}

/* Names anywhere in the arguments that describe the call. */
static void note_name(struct args_walk *w, struct ab_text name)
{
	static const char networks[] = "urlopen urllib urllib2 requests httpx fetch axios LWP HTTP "
				       "URI curl_exec urlretrieve wget";

	w->args->shell |= ab_text_is(name, "shell");
	w->args->recursive |= ab_text_is(name, "recursive");
	w->args->split |= ab_text_is(name, "split");
	note_decoder(w->args, name);
	w->args->network |= ab_listed(networks, name);
}

static void note_string(struct args_walk *w)
{
	struct ab_text t = ab_token_text(&w->scan, &w->token);

	w->args->network |= w->scan.language == AB_LANG_PHP &&
			    (ab_text_starts(t, "http://") || ab_text_starts(t, "https://"));
}

/* Skips past the bracket that closes the one just read. */
static void skip_group(struct args_walk *w)
{
	unsigned depth = 1;

	while (depth > 0 && read_token(w)) {
		depth += opens_group(&w->token);
		depth -= closes_group(&w->token);
		if (w->token.kind == AB_TOKEN_NAME)
			note_name(w, ab_token_text(&w->scan, &w->token));
		else if (w->token.kind == AB_TOKEN_STRING)
			note_string(w);
	}
}

static void begin_value(struct args_walk *w)
{
	w->text = (struct ab_code_string){ .arena = w->r->arena };
	w->any = w->literal = w->format = false;
}

/* %s and {} become unknown. */
static void clear_placeholders(struct ab_code_string *b)
{
	uint32_t to = 0;

	for (uint32_t i = 0; i < b->len; i++) {
		char c = b->s[i];

		if (c == '%' && i + 1 < b->len &&
		    strchr("sdrif", b->s[i + 1] ? b->s[i + 1] : '%')) {
			c = AB_UNKNOWN;
			i++;
		} else if (c == '{') {
			while (i < b->len && b->s[i] != '}')
				i++;
			c = AB_UNKNOWN;
		}
		b->s[to++] = c;
	}
	b->len = to;
}

struct ab_field ab_code_field(const struct ab_code_reader *r, const struct ab_code_string *text,
			      uint32_t from, uint32_t to)
{
	const struct ab_field *code = r->code;
	struct ab_field f = { .text = { text->s ? text->s : "", text->len },
			      .taint = code->taint,
			      .range = code->range,
			      .verbatim = AB_NOT_VERBATIM };

	f.unknown = ab_text_has(f.text, AB_UNKNOWN);
	if (code->verbatim != AB_NOT_VERBATIM && to > from) {
		f.range.from = code->verbatim + from;
		f.range.to = code->verbatim + to;
		/* One string, unchanged. */
		if (f.text.len == to - from &&
		    memcmp(f.text.s, r->scan.text.s + from, f.text.len) == 0)
			f.verbatim = f.range.from;
	}
	return f;
}

static struct ab_field end_value(struct args_walk *w)
{
	if (w->format)
		clear_placeholders(&w->text);
	return ab_code_field(w->r, &w->text, w->from, w->to);
}

static const struct ab_token *find_var(const struct ab_code_reader *r, struct ab_text name)
{
	for (size_t i = 0; i < r->nvars; i++)
		if (ab_text_same(r->vars[i].name, name))
			return &r->vars[i].value;
	return NULL;
}

static void add_string(struct args_walk *w, const struct ab_token *t)
{
	if (!w->literal)
		w->from = t->from;
	w->to = t->to;
	w->literal = w->any = true;
	ab_code_value(&w->scan, t, &w->text);
}

static bool is_dotted(const struct args_walk *w)
{
	return ab_token_is(&w->before, '.') && w->scan.language != AB_LANG_PERL &&
	       w->scan.language != AB_LANG_PHP && w->scan.language != AB_LANG_LUA;
}

static void add_name(struct args_walk *w)
{
	struct ab_text name = ab_token_text(&w->scan, &w->token);
	const struct ab_token *var = find_var(w->r, name);

	note_name(w, name);
	if (is_dotted(w) && w->literal) {
		/* A method of the string: most change it little. */
		w->format |= ab_text_is(name, "format");
	} else if (var && !is_dotted(w)) {
		add_string(w, var);
	} else if (!ab_text_is(name, "sprintf")) {
		w->any = true;
		ab_code_add_unknown(&w->text);
	} else {
		w->format = true;
	}
}

static void add_mark(struct args_walk *w)
{
	char c = w->token.mark;

	if (c == '%' && w->literal) {
		w->format = true;
	} else if (!strchr("+.", c ? c : 'x') || c == AB_UNKNOWN) {
		w->any = true;
		ab_code_add_unknown(&w->text);
	}
}

static bool ends_bare(const struct args_walk *w)
{
	struct ab_text t = ab_token_text(&w->scan, &w->token);

	if (!w->bare)
		return false;
	return w->token.kind == AB_TOKEN_LINE || ab_token_is(&w->token, ';') ||
	       closes_group(&w->token) ||
	       (w->token.kind == AB_TOKEN_NAME && ab_listed("and do if or unless while", t));
}

/* One value; the token that ends it becomes the current one. */
static void read_value(struct args_walk *w)
{
	bool format_args = false;

	do {
		struct ab_text t = ab_token_text(&w->scan, &w->token);

		if (ends_bare(w) || closes_group(&w->token) || ab_token_is(&w->token, ','))
			return;
		switch (w->token.kind) {
		case AB_TOKEN_STRING:
		case AB_TOKEN_COMMAND:
			note_string(w);
			if (!format_args)
				add_string(w, &w->token);
			break;
		case AB_TOKEN_NAME:
			add_name(w);
			break;
		case AB_TOKEN_MARK:
			if (ab_token_is(&w->token, '(') && (!w->any || w->format) && !w->literal) {
				/* ("a" "b") and sprintf("a", x) */
				if (!read_token(w))
					return;
				read_value(w);
				if (!closes_group(&w->token))
					skip_group(w);
				break;
			}
			if (opens_group(&w->token))
				skip_group(w);
			else
				add_mark(w);
			break;
		case AB_TOKEN_NUMBER:
			w->any = true;
			for (uint32_t i = 0; i < t.len; i++)
				ab_code_add(&w->text, t.s[i]);
			break;
		case AB_TOKEN_PATTERN:
		case AB_TOKEN_WORDS:
			w->any = true;
			ab_code_add_unknown(&w->text);
			break;
		case AB_TOKEN_LINE:
		case AB_TOKEN_END:
			break;
		}
	} while (read_token(w));
}

static void add_item(struct args_walk *w, struct ab_code_arg *arg)
{
	if (!w->any)
		return;
	*ab_fields_next(w->r->arena, &arg->items) = end_value(w);
	arg->literal |= w->literal;
}

/* ["a", "b"], ("a", "b"): the current token opens it. */
static void read_list(struct args_walk *w, struct ab_code_arg *arg)
{
	arg->list = true;
	while (read_token(w)) {
		begin_value(w);
		read_value(w);
		add_item(w, arg);
		if (!ab_token_is(&w->token, ','))
			break;
	}
	/* Ignore operations on the list. */
	while (read_token(w) && !ab_token_is(&w->token, ',') && !closes_group(&w->token) &&
	       !ends_bare(w)) {
		if (w->token.kind == AB_TOKEN_NAME)
			note_name(w, ab_token_text(&w->scan, &w->token));
		else if (opens_group(&w->token))
			skip_group(w);
	}
}

/* qw(a b c) */
static void read_words(struct args_walk *w, struct ab_code_arg *arg)
{
	struct ab_token words = w->token, word = words;

	arg->list = true;
	for (uint32_t i = words.from; i < words.to;) {
		while (i < words.to && (unsigned char)w->scan.text.s[i] <= ' ')
			i++;
		word.from = i;
		while (i < words.to && (unsigned char)w->scan.text.s[i] > ' ')
			i++;
		word.to = i;
		if (word.to == word.from)
			break;
		begin_value(w);
		add_string(w, &word);
		add_item(w, arg);
	}
	read_token(w);
}

static bool is_keyword(struct args_walk *w)
{
	struct ab_code_scan s = w->scan;
	struct ab_token a, b;

	if (w->token.kind != AB_TOKEN_NAME ||
	    (s.language != AB_LANG_PYTHON && s.language != AB_LANG_RUBY))
		return false;
	ab_code_next(&s, &a);
	if (s.language == AB_LANG_RUBY)
		return ab_token_is(&a, ':');
	ab_code_next(&s, &b);
	return ab_token_is(&a, '=') && !ab_token_is(&b, '=');
}

/* shell=False is off; any other value may be on. */
static void read_keyword(struct args_walk *w, struct ab_code_arg *arg)
{
	struct ab_text name = ab_token_text(&w->scan, &w->token);

	arg->keyword = true;
	if (!read_token(w) || !read_token(w))
		return;
	if (!ab_text_is(ab_token_text(&w->scan, &w->token), "False"))
		note_name(w, name);
	begin_value(w);
	read_value(w);
}

static void read_arg(struct args_walk *w, struct ab_code_arg *arg)
{
	*arg = (struct ab_code_arg){ 0 };
	if (ab_token_is(&w->token, '[') ||
	    (ab_token_is(&w->token, '(') && w->scan.language == AB_LANG_PYTHON)) {
		read_list(w, arg);
		if (arg->items.len == 1)
			arg->text = arg->items.v[0];
	} else if (w->token.kind == AB_TOKEN_WORDS) {
		read_words(w, arg);
	} else if (is_keyword(w)) {
		read_keyword(w, arg);
	} else {
		begin_value(w);
		read_value(w);
		arg->literal = w->literal;
		arg->text = end_value(w);
	}
}

void ab_code_args(const struct ab_code_reader *r, struct ab_code_scan scan, bool bare,
		  struct ab_code_args *ret)
{
	struct args_walk w = { .r = r,
			       .scan = scan,
			       .args = ret,
			       .budget = *r->ahead ? TOKENS_MAX : TOKENS_LEAST,
			       .bare = bare };

	memset(ret, 0, sizeof(*ret));
	while (read_token(&w) && w.token.kind == AB_TOKEN_LINE && !bare)
		;
	while (w.token.kind != AB_TOKEN_END && w.budget > 0 && !closes_group(&w.token) &&
	       !ends_bare(&w)) {
		struct ab_code_arg arg;

		read_arg(&w, &arg);
		if (ret->len < sizeof(ret->v) / sizeof(*ret->v))
			ret->v[ret->len++] = arg;
		if (!ab_token_is(&w.token, ','))
			break;
		while (read_token(&w) && w.token.kind == AB_TOKEN_LINE)
			;
	}
}
