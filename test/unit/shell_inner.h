#ifndef AB_TEST_SHELL_INNER_H
#define AB_TEST_SHELL_INNER_H
/*
 * Commands from a line, and what is in them as a line: words between blanks
 * or in '' and "" (no escapes); "^" is a stretch that is not known.
 */
#include <stdint.h>

#include "base/data/arena.h"
#include "base/data/buf.h"
#include "shell/command/name_index.h"
#include "shell/wrap/wrap.h"

static inline struct ab_text known(struct ab_arena *arena, const char *s, size_t len)
{
	char *text = ab_arena_ndup(arena, s, len);

	for (size_t i = 0; i < len; i++)
		if (text[i] == '^')
			text[i] = AB_UNKNOWN;
	return (struct ab_text){ text, (uint32_t)len };
}

static inline void split(struct ab_arena *arena, const char *line, struct ab_simple *ret)
{
	struct ab_field *v = ab_arena_alloc(arena, 64 * sizeof(*v));
	const char *slash;
	size_t n = 0;

	for (const char *p = line; *p && n < 64;) {
		char quote = *p == '\'' || *p == '"' ? *p++ : ' ';
		const char *end = strchrnul(p, quote);

		v[n].text = known(arena, p, (size_t)(end - p));
		v[n].unknown = memchr(v[n].text.s, AB_UNKNOWN, v[n].text.len);
		v[n].splits = v[n].unknown && v[n].text.len == 1;
		v[n].range = (struct ab_span){ (uint32_t)(p - line), (uint32_t)(end - line) };
		v[n].verbatim = (uint32_t)(p - line);
		n++;
		p = *end ? end + 1 : end;
		p += strspn(p, " ");
	}
	*ret = (struct ab_simple){ .argv = v, .argc = n, .cwd = { "/w", 2 } };
	ret->in.none = true;
	ret->in.verbatim = AB_NOT_VERBATIM;
	if (n == 0)
		return;
	ret->name = v[0].text;
	slash = ret->name.len ? memrchr(ret->name.s, '/', ret->name.len) : NULL;
	if (slash) {
		ret->name.len -= (uint32_t)(slash + 1 - ret->name.s);
		ret->name.s = slash + 1;
	}
	ab_command_look_up(ret);
}

static inline void feed(struct ab_arena *arena, const char *text, struct ab_simple *command)
{
	if (!text)
		return;
	command->in.none = false;
	command->in.text = known(arena, text, strlen(text));
	command->in.unknown = strchr(text, '^') != NULL;
	ab_command_look_up(command);
}

static inline void show(struct ab_buf *b, struct ab_text t)
{
	for (uint32_t i = 0; i < t.len; i++)
		ab_buf_printf(b, "%c", t.s[i] ? t.s[i] : '^');
}

/* "rm -rf / ; {script} ROOT": words, or a text for a shell. */
static inline char *inners(const struct ab_inner *list)
{
	struct ab_buf b = { 0 };

	for (const struct ab_inner *i = list; i; i = i->next) {
		if (i != list)
			ab_buf_puts(&b, " ; ");
		if (i->cwd)
			ab_buf_printf(&b, "@%s ", i->cwd);
		for (size_t k = 0; k < i->nbindings; k++) {
			show(&b, i->bindings[k].name);
			ab_buf_puts(&b, "=");
			show(&b, i->bindings[k].value.text);
			ab_buf_puts(&b, " ");
		}
		if (i->kind == AB_INNER_SCRIPT) {
			ab_buf_puts(&b, "{");
			show(&b, i->script.text);
			ab_buf_puts(&b, "}");
		}
		for (size_t k = 0; i->positional && k < i->positional->len; k++) {
			ab_buf_puts(&b, " ");
			show(&b, i->positional->v[k].text);
		}
		for (size_t k = 0; i->kind == AB_INNER_ARGV && k < i->argc; k++) {
			ab_buf_puts(&b, k ? " " : "");
			show(&b, i->argv[k].text);
		}
		if (i->flags & AB_SIMPLE_ROOT)
			ab_buf_puts(&b, " ROOT");
		if (i->flags & AB_SIMPLE_REMOTE)
			ab_buf_puts(&b, " REMOTE");
	}
	return ab_buf_take(&b);
}

#endif
