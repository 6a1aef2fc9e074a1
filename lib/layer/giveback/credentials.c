#include "layer/giveback/credentials.h"

#include <string.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "base/text/json_scan.h"

#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

/*
 * Which members may come from a box. `login` adds to `renewed` if the host has no such file yet: a
 * login in the box. With `types` the outer members are accounts: each is an object with a member
 * "type" that has one of these values, and `renewed` and `login` are members of an account. An
 * account that the host's file does not have is not added to it.
 *
 * Left out on purpose: "resource_url" of Qwen Code and "enterpriseUrl" of OpenCode say which server
 * gets every later conversation; accounts of type "wellknown" make OpenCode load settings, with
 * programs in them, from a server and set a variable of any name.
 */
static const struct rule {
	const char *path;
	const char *const *renewed, *const *login, *const *types;
} rules[] = {
	{ ".claude/.credentials.json", LIST("claudeAiOauth"), NULL, NULL },
	{ ".codex/auth.json", LIST("tokens", "last_refresh"), LIST("auth_mode", "OPENAI_API_KEY"),
	  NULL },
	{ ".gemini/oauth_creds.json",
	  LIST("access_token", "refresh_token", "id_token", "expiry_date"),
	  LIST("scope", "token_type"), NULL },
	{ ".qwen/oauth_creds.json", LIST("access_token", "refresh_token", "expiry_date"),
	  LIST("token_type"), NULL },
	{ ".local/share/opencode/auth.json", LIST("access", "refresh", "expires", "key"),
	  LIST("type", "accountId"), LIST("oauth", "api") },
};

/* The text of a file with its nodes. */
struct file {
	const char *text;
	struct ab_json_scan scan;
};

struct merge {
	const struct rule *rule;
	const struct file *host, *box;
	bool login;    /* the host has no file */
	uint32_t done; /* bytes of the host's text that are copied */
	struct ab_buf *out;
};

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

static const struct rule *find_rule(const char *path)
{
	for (size_t i = 0; i < AB_COUNT(rules); i++) {
		size_t n = strlen(path), m = strlen(rules[i].path);

		if (ends_with(path, rules[i].path) && (n == m || path[n - m - 1] == '/'))
			return &rules[i];
	}
	return NULL;
}

bool ab_credentials_known(const char *path)
{
	return find_rule(path) != NULL;
}

static bool lists(const char *const *list, const char *name)
{
	for (; list && *list; list++)
		if (strcmp(*list, name) == 0)
			return true;
	return false;
}

static bool is_taken(const struct merge *m, const char *key)
{
	return lists(m->rule->renewed, key) || (m->login && lists(m->rule->login, key));
}

static const struct ab_json_scan_node *find_member(const struct ab_json_scan_node *object,
						   const char *key)
{
	ab_json_scan_each(child, object) if (strcmp(child->key, key) == 0) return child;
	return NULL;
}

/* The type of an account, or NULL if it is not one that may come from a box. */
static const char *find_type(const struct merge *m, const struct ab_json_scan_node *account)
{
	const struct ab_json_scan_node *type =
		account->kind == '{' ? find_member(account, "type") : NULL;

	return type && type->text && lists(m->rule->types, type->text) ? type->text : NULL;
}

static bool same_text(const struct merge *m, const struct ab_json_scan_node *h,
		      const struct ab_json_scan_node *b)
{
	return h->end - h->begin == b->end - b->begin &&
	       memcmp(m->host->text + h->begin, m->box->text + b->begin, h->end - h->begin) == 0;
}

/* Replace a value of the host's text; in the order of the text. */
static void replace_value(struct merge *m, const struct ab_json_scan_node *h,
			  const struct ab_json_scan_node *b)
{
	ab_buf_add(m->out, m->host->text + m->done, h->begin - m->done);
	ab_buf_add(m->out, m->box->text + b->begin, b->end - b->begin);
	m->done = h->end;
}

/* Add a member at the end of an object of the host's text, which has `before` members by then. */
static void append_member(struct merge *m, const struct ab_json_scan_node *h,
			  const struct ab_json_scan_node *b, size_t before)
{
	uint32_t brace = h->end - 1;

	if (m->done < brace) {
		ab_buf_add(m->out, m->host->text + m->done, brace - m->done);
		m->done = brace;
	}
	ab_buf_puts(m->out, before ? "," : "");
	ab_buf_json(m->out, b->key);
	ab_buf_puts(m->out, ":");
	ab_buf_add(m->out, m->box->text + b->begin, b->end - b->begin);
}

/* Take the members of `h` that `b` has renewed. The file keeps its order and layout. */
static void renew_members(struct merge *m, const struct ab_json_scan_node *h,
			  const struct ab_json_scan_node *b)
{
	size_t members = h->count;

	ab_json_scan_each(child, h)
	{
		const struct ab_json_scan_node *new = find_member(b, child->key);

		if (new &&is_taken(m, child->key) && new->kind == child->kind &&
		    !same_text(m, child, new))
			replace_value(m, child, new);
	}
	ab_json_scan_each(child, b) if (is_taken(m, child->key) && !find_member(h, child->key))
		append_member(m, h, child, members++);
}

static void renew_accounts(struct merge *m, const struct ab_json_scan_node *h,
			   const struct ab_json_scan_node *b)
{
	ab_json_scan_each(child, h)
	{
		const struct ab_json_scan_node *new = find_member(b, child->key);
		const char *type = find_type(m, child), *now = new ? find_type(m, new) : NULL;

		if (type && now && strcmp(type, now) == 0)
			renew_members(m, child, new);
	}
}

static size_t add_members(struct merge *m, const struct ab_json_scan_node *b)
{
	size_t n = 0;

	ab_json_scan_each(child, b)
	{
		if (!is_taken(m, child->key))
			continue;
		ab_buf_puts(m->out, n++ ? "," : "{");
		ab_buf_json(m->out, child->key);
		ab_buf_puts(m->out, ":");
		ab_buf_add(m->out, m->box->text + child->begin, child->end - child->begin);
	}
	if (n)
		ab_buf_puts(m->out, "}");
	return n;
}

static size_t add_accounts(struct merge *m, const struct ab_json_scan_node *b)
{
	size_t n = 0;

	ab_json_scan_each(child, b)
	{
		if (!find_type(m, child))
			continue;
		ab_buf_puts(m->out, n++ ? "," : "{");
		ab_buf_json(m->out, child->key);
		ab_buf_puts(m->out, ":");
		add_members(m, child);
	}
	if (n)
		ab_buf_puts(m->out, "}");
	return n;
}

static int merge_known(struct merge *m, size_t host_len, const char **ret_why)
{
	const struct ab_json_scan_node *b = m->box->scan.nodes;
	size_t n;

	if (!m->login) {
		(m->rule->types ? renew_accounts : renew_members)(m, m->host->scan.nodes, b);
		ab_buf_add(m->out, m->host->text + m->done, host_len - m->done);
		return 0;
	}
	n = (m->rule->types ? add_accounts : add_members)(m, b);
	if (n == 0) {
		*ret_why = "the box's copy has no credential that may leave it";
		return -1;
	}
	ab_buf_puts(m->out, "\n");
	return 0;
}

/* False: it is not a JSON object. */
static bool read_object(struct file *f, const char *text, size_t len)
{
	f->text = text;
	return ab_json_scan_parse(&f->scan, text, len) == 0 && f->scan.nodes[0].kind == '{';
}

static int merge_json(const char *path, const char *host, size_t host_len, const char *box,
		      size_t box_len, struct ab_buf *ret, const char **ret_why)
{
	struct file h = { 0 }, b = { 0 };
	struct merge m = {
		.rule = find_rule(path), .host = &h, .box = &b, .login = !host, .out = ret
	};
	int result = -1;

	if (!read_object(&b, box, box_len))
		*ret_why = "the box's copy is not a JSON object";
	else if (host && !read_object(&h, host, host_len))
		*ret_why = "the host's is not a JSON object";
	else if (m.rule)
		result = merge_known(&m, host_len, ret_why);
	else
		result = 0;
	if (result == 0 && !m.rule)
		ab_buf_add(ret, box, box_len);
	ab_json_scan_fini(&h.scan);
	ab_json_scan_fini(&b.scan);
	return result;
}

int ab_credentials_merge(const char *path, const char *host, size_t host_len, const char *box,
			 size_t box_len, struct ab_buf *ret, const char **ret_why)
{
	if (box_len > AB_GIVEBACK_MAX) {
		*ret_why = "the box's copy is too large";
		return -1;
	}
	if (ends_with(path, ".json"))
		return merge_json(path, host, host_len, box, box_len, ret, ret_why);
	ab_buf_add(ret, box, box_len);
	return 0;
}
