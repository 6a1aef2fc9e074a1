#include "workspace/git/gitconfig_clean.h"

#include "workspace/git/gitconfig.h"
#include "workspace/git/gitkeys.h"

#define KEYS_MAX 20

struct clean {
	struct ab_buf *out, *keys;
	struct ab_buf section; /* of the last setting: the key up to its last dot */
	size_t nkeys;
	const struct ab_gitkeys_terms *terms;
	struct ab_strv remotes; /* those with an address that stays; sorted */
};

static void add_key(struct clean *c, const char *key)
{
	if (c->nkeys++ < KEYS_MAX) {
		ab_buf_puts(c->keys, c->keys->len ? ", " : "");
		ab_buf_escape(c->keys, key);
	} else if (c->nkeys == KEYS_MAX + 1) {
		ab_buf_puts(c->keys, ", ...");
	}
}

static void write_quoted(struct ab_buf *b, const char *text, size_t len, bool value)
{
	ab_buf_puts(b, "\"");
	for (size_t i = 0; i < len; i++) {
		if (value && text[i] == '\n') {
			ab_buf_puts(b, "\\n");
			continue;
		}
		if (text[i] == '"' || text[i] == '\\')
			ab_buf_puts(b, "\\");
		ab_buf_add(b, text + i, 1);
	}
	ab_buf_puts(b, "\"");
}

/* "section." or "section.subsection."; the subsection may contain dots. */
static void write_section(struct clean *c, const char *key, size_t len)
{
	size_t name = strcspn(key, ".");

	if (c->section.len == len && memcmp(c->section.data, key, len) == 0)
		return;
	c->section.len = 0;
	ab_buf_add(&c->section, key, len);
	ab_buf_puts(c->out, "[");
	ab_buf_add(c->out, key, name);
	if (len > name + 1) {
		ab_buf_puts(c->out, " ");
		write_quoted(c->out, key + name + 1, len - name - 2, false);
	}
	ab_buf_puts(c->out, "]\n");
}

static void find_remote(void *arg, const char *key, const char *value)
{
	struct clean *c = arg;
	char *name = ab_gitkeys_remote(key, value);

	if (name && ab_gitkeys_allow(key, value, c->terms))
		ab_strv_give(&c->remotes, name);
	else
		free(name);
}

static bool may_stay(const struct clean *c, const char *key, const char *value)
{
	const struct ab_gitkeys_terms *terms = c->terms;

	if (!ab_gitkeys_allow(key, value, terms))
		return false;
	if (!ab_gitkeys_names_remote(key, value))
		return true;
	return (terms->unsettled || ab_strv_has_sorted(&c->remotes, value)) &&
	       !(terms->is_path && terms->is_path(terms->arg, value));
}

static void take_setting(void *arg, const char *key, const char *value)
{
	struct clean *c = arg;
	const char *name = strrchr(key, '.') + 1;

	if (!may_stay(c, key, value)) {
		add_key(c, key);
		return;
	}
	write_section(c, key, (size_t)(name - key));
	ab_buf_printf(c->out, "\t%s", name);
	if (value) {
		ab_buf_puts(c->out, " = ");
		/* Most values need no quotes, and people read these files. */
		if (value[0] && ab_has_only(value, strlen(value), "./:@_+-*~"))
			ab_buf_puts(c->out, value);
		else
			write_quoted(c->out, value, strlen(value), true);
	}
	ab_buf_puts(c->out, "\n");
}

bool ab_gitconfig_clean(const char *data, size_t len, const struct ab_gitkeys_terms *terms,
			struct ab_buf *ret, struct ab_buf *ret_keys)
{
	struct clean c = { .out = ret, .keys = ret_keys, .terms = terms };
	unsigned bad;

	ab_buf_puts(ret, "");
	(void)ab_gitconfig_parse(data, len, find_remote, &c);
	ab_strv_sort(&c.remotes);
	bad = ab_gitconfig_parse(data, len, take_setting, &c);
	if (bad) {
		ab_buf_puts(ret_keys, ret_keys->len ? ", " : "");
		ab_buf_printf(ret_keys, "line %u is not valid", bad);
	}
	ab_buf_fini(&c.section);
	ab_strv_fini(&c.remotes);
	return c.nkeys > 0 || bad;
}
