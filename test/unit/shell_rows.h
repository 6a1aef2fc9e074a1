#ifndef AB_TEST_SHELL_ROWS_H
#define AB_TEST_SHELL_ROWS_H
/*
 * Rows of a matcher's test: a command as words with blanks between them ('..'
 * keeps blanks together, $ is an unknown stretch, X=1 in front is a variable),
 * and the rules that must be hit, in order of their names; "": none.
 */
#include "base/data/mem.h"
#include "shell/command/name_index.h"
#include "shell/command/rules.h"
#include "tap.h"

struct row {
	const char *command, *rules;
};

enum { ROW_WORDS = 32 };

struct row_command {
	char text[512];
	struct ab_field argv[ROW_WORDS];
	struct ab_binding bindings[4];
	struct ab_simple simple;
};

static inline bool row_is_binding(const struct row_command *c, const char *word)
{
	size_t name = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");

	return c->simple.argc == 0 && name > 0 && word[name] == '=';
}

static inline void row_add(struct row_command *c, char *word, size_t len)
{
	struct ab_field f = { .text = { word, (uint32_t)len }, .verbatim = AB_NOT_VERBATIM };

	for (size_t i = 0; i < len; i++) {
		f.unknown |= word[i] == AB_UNKNOWN;
		f.pattern |= word[i] == '*';
	}
	if (row_is_binding(c, word)) {
		uint32_t name = (uint32_t)strcspn(word, "=");

		c->bindings[c->simple.nbindings].name = (struct ab_text){ word, name };
		f.text = (struct ab_text){ word + name + 1, (uint32_t)len - name - 1 };
		c->bindings[c->simple.nbindings++].value = f;
		return;
	}
	c->argv[c->simple.argc++] = f;
}

static inline void row_read(struct row_command *c, const char *command)
{
	char *out = c->text, *word = out;
	bool quoted = false;

	memset(c, 0, sizeof(*c));
	c->simple.argv = c->argv;
	c->simple.bindings = c->bindings;
	c->simple.cwd = (struct ab_text){ "/w", 2 };
	for (const char *p = command;; p++) {
		if (*p == '\'') {
			quoted = !quoted;
		} else if (*p == '\0' || (*p == ' ' && !quoted)) {
			size_t len = (size_t)(out - word);

			*out++ = '\0';
			row_add(c, word, len);
			word = out;
			if (*p == '\0')
				break;
		} else {
			*out++ = *p == '$' && !quoted ? AB_UNKNOWN : *p;
		}
	}
	if (c->simple.argc > 0) {
		struct ab_text t = c->argv[0].text;
		const char *slash = memrchr(t.s, '/', t.len);

		if (slash) {
			t.len -= (uint32_t)(slash + 1 - t.s);
			t.s = slash + 1;
		}
		c->simple.name = t;
	}
	ab_command_look_up(&c->simple);
}

static inline void row_names(const struct ab_hits *hits, char *out, size_t size)
{
	bool hit[AB_RULE_COUNT] = { false };
	size_t len = 0;

	for (size_t i = 0; i < hits->len; i++)
		hit[hits->v[i].rule] = true;
	out[0] = '\0';
	for (size_t i = 0; i < AB_RULE_COUNT && len < size; i++)
		if (hit[i])
			len += (size_t)snprintf(out + len, size - len, "%s%s", len ? " " : "",
						ab_rules[i].name);
}

static inline void rows_check(ab_matcher *match, const struct row *rows, size_t n)
{
	static const struct ab_scene scene = { "/home/me", "/w", "/w", NULL };

	for (size_t i = 0; i < n; i++) {
		struct row_command c;
		struct ab_hits hits = { 0 };
		char names[256];

		row_read(&c, rows[i].command);
		c.simple.scene = &scene;
		match(&c.simple, &hits);
		row_names(&hits, names, sizeof(names));
		is_str(names, rows[i].rules, rows[i].command);
	}
}

#endif
