/* echo, printf, seq. */
#include <inttypes.h>

#include "shell/expand/fields.h"
#include "shell/output/output.h"

enum escapes {
	ESCAPES_ECHO,	  /* \0NNN is octal, \c ends the output */
	ESCAPES_FORMAT,	  /* \NNN is octal, \c is not special */
	ESCAPES_ARGUMENT, /* %b: both are octal, \c ends the output */
};

/* A character code in digits; false: there are none. */
static bool add_code(struct ab_output *out, struct ab_text *t, char c, enum escapes how)
{
	struct ab_text rest = ab_text_rest(*t, 1);
	char utf8[4];
	unsigned n;
	uint32_t code;

	if (c == 'x' || c == 'u' || c == 'U') {
		code = ab_read_digits(&rest, 16, c == 'x' ? 2 : c == 'u' ? 4 : 8, &n);
		if (!n)
			return false;
		if (c == 'x')
			ab_output_byte(out, (char)code);
		else
			for (size_t i = 0, len = ab_utf8_put(code, utf8); i < len; i++)
				ab_output_byte(out, utf8[i]);
	} else {
		if (how == ESCAPES_ECHO && c != '0')
			return false;
		if (how == ESCAPES_FORMAT || c != '0')
			rest = *t;
		code = ab_read_digits(&rest, 8, 3, &n);
		if (!n && c != '0')
			return false;
		ab_output_byte(out, (char)code);
	}
	*t = rest;
	return true;
}

/* The escape after a backslash. False: \c. */
static bool add_escape(struct ab_output *out, struct ab_text *t, enum escapes how)
{
	static const char letters[] = "abefnrtv\\E";
	static const char codes[] = "\a\b\033\f\n\r\t\v\\\033";
	char c = t->len ? *t->s : 0;
	const char *p = c ? strchr(letters, c) : NULL;

	if (c == 'c' && how != ESCAPES_FORMAT)
		return false;
	if (p) {
		ab_output_byte(out, codes[p - letters]);
	} else if (c && strchr("xuU01234567", c) && add_code(out, t, c, how)) {
		return true;
	} else if (c && strchr("\"'?", c) && how != ESCAPES_ECHO) {
		ab_output_byte(out, c);
	} else {
		ab_output_byte(out, '\\');
		ab_output_byte(out, c);
	}
	*t = ab_text_rest(*t, t->len > 0);
	return true;
}

/* False: it contains \c. */
static bool add_escaped(struct ab_output *out, const struct ab_field *f, enum escapes how)
{
	struct ab_text t = f->text;

	out->taint |= f->taint;
	out->unknown |= f->unknown;
	while (t.len) {
		char c = *t.s++;

		t.len--;
		if (c == AB_UNKNOWN)
			ab_output_unknown(out);
		else if (c != '\\')
			ab_output_byte(out, c);
		else if (!add_escape(out, &t, how))
			return false;
	}
	return true;
}

static bool is_echo_option(struct ab_text t)
{
	if (t.len < 2 || t.s[0] != '-')
		return false;
	for (uint32_t i = 1; i < t.len; i++)
		if (!t.s[i] || !strchr("neE", t.s[i]))
			return false;
	return true;
}

bool ab_print_echo(struct ab_output *out, const struct ab_simple *command)
{
	bool newline = true, escapes = false;
	size_t first = 1;

	for (; first < command->argc && is_echo_option(command->argv[first].text); first++) {
		struct ab_text t = command->argv[first].text;

		for (uint32_t i = 1; i < t.len; i++) {
			if (t.s[i] == 'n')
				newline = false;
			else
				escapes = t.s[i] == 'e';
		}
	}
	for (size_t i = first; i < command->argc; i++) {
		if (i > first)
			ab_output_byte(out, ' ');
		if (!escapes)
			ab_output_field(out, &command->argv[i]);
		else if (!add_escaped(out, &command->argv[i], ESCAPES_ECHO))
			return true;
	}
	if (newline)
		ab_output_byte(out, '\n');
	return true;
}

struct directive {
	bool left, zero;
	uint32_t width, precision;
	bool precise;
	char kind;
};

enum { WIDTH_MAX = 1000, ROUNDS_MAX = 10000 };

/* The directive after a "%". False: not supported here. */
static bool read_directive(struct ab_text *t, struct directive *ret)
{
	unsigned n;

	*ret = (struct directive){ 0 };
	for (; t->len && (*t->s == '-' || *t->s == '0'); t->s++, t->len--) {
		ret->left |= *t->s == '-';
		ret->zero |= *t->s == '0';
	}
	ret->width = ab_read_digits(t, 10, 4, &n);
	ret->precise = ab_text_skip(t, ".");
	if (ret->precise)
		ret->precision = ab_read_digits(t, 10, 4, &n);
	if (!t->len || ret->width > WIDTH_MAX || !*t->s || !strchr("sbcdiuxXoq%", *t->s))
		return false;
	ret->kind = *t->s;
	*t = ab_text_rest(*t, 1);
	return true;
}

static void add_padded(struct ab_output *out, const struct directive *d, struct ab_text t)
{
	uint32_t pad = d->width > t.len ? d->width - t.len : 0;
	bool number = !strchr("sbcq", d->kind);

	if (!d->left && d->zero && number && ab_text_skip(&t, "-"))
		ab_output_byte(out, '-');
	for (uint32_t i = 0; i < pad && !d->left; i++)
		ab_output_byte(out, d->zero && number ? '0' : ' ');
	ab_output_add(out, t.s, t.len);
	for (uint32_t i = 0; i < pad && d->left; i++)
		ab_output_byte(out, ' ');
}

static bool read_integer(struct ab_text t, int64_t *ret)
{
	bool minus = t.len && t.s[0] == '-';
	unsigned base, n;

	/* The code of a character: '"A'. */
	if (t.len == 2 && (t.s[0] == '"' || t.s[0] == '\'') && t.s[1] > 0) {
		*ret = t.s[1];
		return true;
	}
	t = ab_text_rest(t, minus);
	base = ab_read_base(&t);
	*ret = ab_read_digits(&t, base, base == 16 ? 7 : 9, &n);
	*ret = minus ? -*ret : *ret;
	return n && !t.len;
}

static void add_integer(struct ab_output *out, const struct directive *d,
			const struct ab_field *arg)
{
	const char *form = d->kind == 'x'   ? "%" PRIx64
			   : d->kind == 'X' ? "%" PRIX64
			   : d->kind == 'o' ? "%" PRIo64
			   : d->kind == 'u' ? "%" PRIu64
					    : "%" PRId64;
	char text[32];
	int64_t n = 0;

	if (d->precise || (arg && arg->text.len && !read_integer(arg->text, &n))) {
		ab_output_unknown(out);
		return;
	}
	snprintf(text, sizeof(text), form, n);
	add_padded(out, d, ab_text_of(text));
}

static bool needs_no_quotes(struct ab_text t)
{
	for (uint32_t i = 0; i < t.len; i++)
		if (!ab_is_name_byte(t.s[i]) && !(t.s[i] && strchr("./:-%@=+", t.s[i])))
			return false;
	return t.len > 0;
}

/* False: \c ended the output. `arg` NULL: no argument is left. */
static bool add_directive(struct ab_output *out, const struct directive *d,
			  const struct ab_field *arg)
{
	struct ab_text t = arg ? arg->text : (struct ab_text){ "", 0 };

	if (arg) {
		out->taint |= arg->taint;
		out->unknown |= arg->unknown;
	}
	switch (d->kind) {
	case 's':
		if (d->precise && d->precision < t.len)
			t.len = d->precision;
		add_padded(out, d, t);
		return true;
	case 'c':
		t.len = t.len > 0;
		add_padded(out, d, t);
		return true;
	case 'b':
		if (arg && !d->width && !d->precise)
			return add_escaped(out, arg, ESCAPES_ARGUMENT);
		if (arg)
			ab_output_unknown(out);
		return true;
	case 'q':
		if (needs_no_quotes(t))
			add_padded(out, d, t);
		else
			ab_output_unknown(out);
		return true;
	default:
		add_integer(out, d, arg);
		return true;
	}
}

/* The format once. False: \c, an unsupported directive or the bound ended it. */
static bool add_format(struct ab_output *out, const struct ab_simple *command, struct ab_text t,
		       size_t *next)
{
	while (t.len && !out->full) {
		struct directive d;
		char c = *t.s++;

		t.len--;
		if (c == AB_UNKNOWN) {
			ab_output_unknown(out);
		} else if (c == '\\') {
			add_escape(out, &t, ESCAPES_FORMAT);
		} else if (c != '%') {
			ab_output_byte(out, c);
		} else if (!read_directive(&t, &d)) {
			ab_output_unknown(out);
			return false;
		} else if (d.kind == '%') {
			ab_output_byte(out, '%');
		} else if (!add_directive(out, &d,
					  *next < command->argc ? &command->argv[*next] : NULL)) {
			return false;
		} else {
			(*next)++;
		}
	}
	return !out->full;
}

bool ab_print_printf(struct ab_output *out, const struct ab_simple *command)
{
	size_t next = 1, before, rounds = 0;
	struct ab_text format;

	if (next < command->argc && ab_text_starts(command->argv[next].text, "-v"))
		return false;
	next += next < command->argc && ab_field_is(&command->argv[next], "--");
	if (next >= command->argc)
		return false;
	format = command->argv[next].text;
	out->taint |= command->argv[next].taint;
	out->unknown |= command->argv[next].unknown;
	next++;
	do {
		before = next;
		if (!add_format(out, command, format, &next))
			return true;
	} while (next < command->argc && next > before && ++rounds < ROUNDS_MAX);
	if (rounds == ROUNDS_MAX)
		ab_output_unknown(out);
	return true;
}

bool ab_print_seq(struct ab_output *out, const struct ab_simple *command)
{
	int64_t from = 1, to = 0;
	bool ok = command->argc == 2 || command->argc == 3;

	for (size_t i = 1; ok && i < command->argc; i++) {
		from = command->argc == 3 ? to : from;
		ok = read_integer(command->argv[i].text, &to) &&
		     command->argv[i].text.s[0] != '0' && command->argv[i].text.s[0] != '-';
	}
	if (!ok || to - from > WIDTH_MAX) {
		ab_output_unknown(out);
		return true;
	}
	for (; from <= to; from++) {
		char room[AB_NUMBER_SIZE + 1];
		struct ab_text text = ab_number_text(from, room);

		room[AB_NUMBER_SIZE] = '\n';
		ab_output_add(out, text.s, text.len + 1);
	}
	return true;
}
