#ifndef AB_TEST_SHELL_SIMPLE_H
#define AB_TEST_SHELL_SIMPLE_H
/*
 * Commands for the matchers, without a parser: words with blanks between
 * them; "~" in front is the home, "$" an unknown stretch, "_" within a word
 * that begins with "%" a blank. A word "{NET}x" carries a taint. Redirections
 * are written as one word: ">f" ">>f" "<f" "<>f" ">&f" "0>&1".
 */
#include <stdlib.h>

#include "base/data/arena.h"
#include "base/data/mem.h"
#include "shell/command/name_index.h"
#include "shell/command/rules.h"
#include "tap.h"

enum { TEST_WORDS = 32 };

static const struct ab_scene test_scene = {
	.home = "/home/me",
	.cwd = "/home/me/proj",
	.workspace = "/home/me/proj",
};

struct test_command {
	struct ab_simple simple;
	struct ab_field argv[TEST_WORDS];
	struct ab_redirect redirects[TEST_WORDS];
	struct ab_arena arena;
};

static const struct {
	const char *mark;
	unsigned taint;
} test_taints[] = {
	{ "{NET}", AB_TAINT_NETWORK }, { "{DEC}", AB_TAINT_DECODED },
	{ "{SEC}", AB_TAINT_SECRET },  { "{FILE}", AB_TAINT_FILE },
	{ "{IFS}", AB_TAINT_GLUED },   { "{HIST}", AB_TAINT_HISTORY },
};

static inline unsigned test_take_taint(const char **word, size_t *len)
{
	for (size_t i = 0; i < AB_COUNT(test_taints); i++) {
		size_t n = strlen(test_taints[i].mark);

		if (*len < n || strncmp(*word, test_taints[i].mark, n) != 0)
			continue;
		*word += n;
		*len -= n;
		return test_taints[i].taint;
	}
	return 0;
}

static inline struct ab_field test_field(struct ab_arena *arena, const char *word, size_t len)
{
	struct ab_field f = { .verbatim = AB_NOT_VERBATIM };
	bool blanks;
	char *s;

	f.taint = test_take_taint(&word, &len);
	blanks = len > 1 && word[0] == '%';
	word += blanks;
	len -= blanks;
	s = ab_arena_alloc(arena, len + 16);
	if (len > 0 && word[0] == '~') {
		memcpy(s, test_scene.home, strlen(test_scene.home));
		f.text.len = (uint32_t)strlen(test_scene.home);
		word++;
		len--;
	}
	for (size_t i = 0; i < len; i++) {
		char c = word[i];

		if (c == '$') {
			c = AB_UNKNOWN;
			f.unknown = true;
		} else if (c == '_' && blanks) {
			c = ' ';
		}
		f.pattern = f.pattern || c == '*' || c == '?' || c == '[';
		s[f.text.len++] = c;
	}
	f.text.s = s;
	return f;
}

static inline bool test_redirect(struct test_command *c, const char *word, size_t len)
{
	static const struct {
		const char *mark;
		enum ab_redir_op op;
		int fd;
	} marks[] = {
		{ "0>&", AB_REDIR_DUP_OUT, 0 }, { "2>&", AB_REDIR_DUP_OUT, 2 },
		{ "2>", AB_REDIR_OUT, 2 },	{ "<>", AB_REDIR_READ_WRITE, 5 },
		{ "<&", AB_REDIR_DUP_IN, 0 },	{ "<", AB_REDIR_IN, 0 },
		{ ">&", AB_REDIR_BOTH, 1 },	{ ">>", AB_REDIR_APPEND, 1 },
		{ ">", AB_REDIR_OUT, 1 },
	};

	for (size_t i = 0; i < AB_COUNT(marks); i++) {
		size_t n = strlen(marks[i].mark);

		if (len <= n || strncmp(word, marks[i].mark, n) != 0)
			continue;
		c->redirects[c->simple.nredirects++] =
			(struct ab_redirect){ marks[i].op, marks[i].fd,
					      test_field(&c->arena, word + n, len - n) };
		return true;
	}
	return false;
}

static inline void test_name(struct ab_simple *simple)
{
	struct ab_text t;

	if (simple->argc == 0)
		return;
	t = simple->argv[0].text;
	simple->name = t;
	for (uint32_t i = t.len; i > 0; i--) {
		if (t.s[i - 1] == AB_UNKNOWN) {
			simple->name.len = 0;
			return;
		}
		if (t.s[i - 1] == '/') {
			simple->name = (struct ab_text){ t.s + i, t.len - i };
			return;
		}
	}
}

static inline void test_parse(struct test_command *c, const char *text)
{
	*c = (struct test_command){ 0 };
	c->simple.scene = &test_scene;
	c->simple.argv = c->argv;
	c->simple.redirects = c->redirects;
	c->simple.in.none = true;
	c->simple.cwd = (struct ab_text){ test_scene.cwd, (uint32_t)strlen(test_scene.cwd) };
	while (*text) {
		size_t len = strcspn(text, " ");

		if (!test_redirect(c, text, len))
			c->argv[c->simple.argc++] = test_field(&c->arena, text, len);
		text += len;
		text += strspn(text, " ");
	}
	test_name(&c->simple);
	ab_command_look_up(&c->simple);
}

/* A table's entries begin with their names, sorted, each once. */
#define test_sorted(table)                                                 \
	do {                                                               \
		size_t wrong_ = 0;                                         \
		for (size_t i_ = 1; i_ < AB_COUNT(table); i_++)            \
			wrong_ += strcmp((const char *)&(table)[i_ - 1],   \
					 (const char *)&(table)[i_]) >= 0; \
		ok(wrong_ == 0, "sorted, no name twice: " #table);         \
	} while (0)

/* The strictest of what was found, or -1; ties: the first. */
static inline int test_strictest(const struct ab_hits *hits, bool *ret_mild)
{
	int rule = -1, best = -1;

	for (size_t i = 0; i < hits->len; i++) {
		const struct ab_hit *h = &hits->v[i];
		int d = (int)(h->mild ? ab_rules[h->rule].elsewhere : ab_rules[h->rule].decision);

		if (d > best) {
			best = d;
			rule = (int)h->rule;
			*ret_mild = h->mild;
		}
	}
	return rule;
}

#endif
