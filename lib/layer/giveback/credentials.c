#include "layer/giveback/credentials.h"

#include "agents/agents.h"
#include "base/text/json_scan.h"
#include "base/text/words.h"
#include "layer/store/meta.h"

/* The text of a file with its nodes. */
struct file {
	const char *text;
	struct ab_json_scan scan;
};

struct merge {
	const struct ab_agent_login *rule;
	const struct file *host, *box;
	const struct ab_strv *placeholders; /* NULL: none */
	bool login;			    /* the host has no file */
	uint32_t done;			    /* bytes of the host's text that are copied */
	struct ab_buf *out;
};

static const struct ab_agent_login *find_rule(const char *path)
{
	for (size_t i = 0; ab_agents[i]; i++) {
		const struct ab_agent_login *rule = &ab_agents[i]->login;
		/* Without the "~". */
		const char *below = rule->path ? rule->path + 1 : NULL;

		if (below && (ab_ends_with(path, below) || strcmp(path, below + 1) == 0))
			return rule;
	}
	return NULL;
}

bool ab_credentials_known(const char *path)
{
	return find_rule(path) != NULL;
}

/* The type of the value `name` in the list, or NULL; with *ret_inside, whether others are inside it. */
static const char *find_type_in(const char *list, const char *name, size_t *ret_len,
				bool *ret_inside)
{
	size_t want = strlen(name), n;
	const char *word;

	while ((word = ab_word_next(&list, &n))) {
		if (n <= want || memcmp(word, name, want) != 0)
			continue;
		*ret_inside |= word[want] == '.';
		if (word[want] != '=')
			continue;
		*ret_len = n - want - 1;
		return word + want + 1;
	}
	return NULL;
}

/* What may come from the box at this place of the file, or of an account. */
struct leaf {
	const char *type; /* NULL: no value */
	size_t len;
	bool inside; /* of an object, some members */
};

static char *join_path(const char *prefix, const char *key)
{
	return ab_printf("%s%s%s", prefix, *prefix ? "." : "", key);
}

static struct leaf find_leaf(const struct merge *m, const char *prefix, const char *key)
{
	ab_autofree char *path = join_path(prefix, key);
	struct leaf l = { 0 };

	/* A key with one of these in it would be taken for another one. */
	if (!key[0] || strpbrk(key, ". ="))
		return l;
	l.type = find_type_in(m->rule->renewed, path, &l.len, &l.inside);
	if (!l.type && m->login)
		l.type = find_type_in(m->rule->login, path, &l.len, &l.inside);
	return l;
}

/* Tokens of known services: base64, hex, and pairs such as "tid=a;exp=1:sig". */
static bool is_token(const struct ab_json_scan_node *n)
{
	enum { TOKEN_MAX = 16384 };

	return n->kind == '"' && n->text[0] && strlen(n->text) <= TOKEN_MAX &&
	       ab_has_only(n->text, strlen(n->text), "-._~+/=:;,|#");
}

/* "2026-01-31T12:00:00.123456Z", "...+01:00" */
static bool is_time(const struct ab_json_scan_node *n)
{
	static const char form[] = "dddd-dd-ddTdd:dd:dd";
	size_t i = 0;

	for (; n->kind == '"' && form[i]; i++)
		if (form[i] == 'd' ? !ab_is_digit(n->text[i]) : n->text[i] != form[i])
			return false;
	return n->kind == '"' && strspn(n->text + i, ".0123456789:+-Z") == strlen(n->text + i) &&
	       strlen(n->text) <= 40;
}

static bool is_scope_text(const struct ab_json_scan_node *n, const char *more)
{
	return n->kind == '"' && strlen(n->text) <= 1024 &&
	       ab_has_only(n->text, strlen(n->text), more);
}

static bool is_scopes(const struct ab_json_scan_node *n)
{
	if (n->kind != '[')
		return is_scope_text(n, "-._~+/=: ");
	ab_json_scan_each(child, n) if (!is_scope_text(child, "-._~+/=:")) return false;
	return true;
}

static bool is_number(const struct ab_json_scan_node *n)
{
	return n->kind == '0';
}

static bool is_token_or_null(const struct ab_json_scan_node *n)
{
	return n->kind == 'n' || is_token(n);
}

static const struct {
	const char *name;
	bool (*is)(const struct ab_json_scan_node *n);
} types[] = {
	{ "token", is_token },	 { "number", is_number },      { "time", is_time },
	{ "scopes", is_scopes }, { "word", is_token_or_null },
};

static bool has_placeholder(const struct merge *m, const struct ab_json_scan_node *n)
{
	for (size_t i = 0; n->text && m->placeholders && i < m->placeholders->len; i++)
		if (strstr(n->text, m->placeholders->v[i]))
			return true;
	if (n->kind == '[')
		ab_json_scan_each(child, n) if (has_placeholder(m, child)) return true;
	return false;
}

static bool may_leave(const struct merge *m, struct leaf l, const struct ab_json_scan_node *n)
{
	for (size_t i = 0; l.type && i < AB_COUNT(types); i++)
		if (strlen(types[i].name) == l.len && memcmp(types[i].name, l.type, l.len) == 0)
			return types[i].is(n) && !has_placeholder(m, n);
	return false;
}

/* A value that may leave, written anew. */
static void put_value(struct ab_buf *b, const struct ab_json_scan_node *n)
{
	const char *comma = "";

	if (n->kind == 'n') {
		ab_buf_puts(b, "null");
	} else if (n->kind == '0') {
		ab_buf_printf(b, "%jd", (intmax_t)n->integer);
	} else if (n->kind == '"') {
		ab_buf_json(b, n->text);
	} else {
		ab_buf_puts(b, "[");
		ab_json_scan_each(child, n)
		{
			ab_buf_puts(b, comma);
			put_value(b, child);
			comma = ",";
		}
		ab_buf_puts(b, "]");
	}
}

/* The type of an account, or NULL if it is not one that may come from a box. Accounts have the names of
 * services. */
static const char *find_type(const struct merge *m, const struct ab_json_scan_node *account)
{
	const struct ab_json_scan_node *type =
		account->kind == '{' && ab_has_only(account->key, strlen(account->key), "-._")
			? ab_json_scan_find(account, "type")
			: NULL;

	return type && type->text && ab_word_listed(m->rule->types, type->text, strlen(type->text))
		       ? type->text
		       : NULL;
}

/* Compare values that may leave: the host's may be of any kind. */
static bool same_value(const struct ab_json_scan_node *h, const struct ab_json_scan_node *b)
{
	const struct ab_json_scan_node *hc = h + 1, *bc = b + 1;

	if (h->kind != b->kind || h->count != b->count || h->integer != b->integer ||
	    (h->text && strcmp(h->text, b->text) != 0))
		return false;
	for (uint32_t i = 0; h->kind == '[' && i < h->count; i++, hc += hc->span, bc += bc->span)
		if (!same_value(hc, bc))
			return false;
	return true;
}

/* Copy the host's text up to here. */
static void copy_until(struct merge *m, uint32_t end)
{
	if (m->done < end) {
		ab_buf_add(m->out, m->host->text + m->done, end - m->done);
		m->done = end;
	}
}

static size_t add_members(struct merge *m, const struct ab_json_scan_node *b, const char *prefix);

/* Add a member of the box that may leave it; false: it may not. `before`: members that are there. */
static bool add_member(struct merge *m, const struct ab_json_scan_node *b, const char *prefix,
		       size_t before)
{
	ab_autofree char *path = join_path(prefix, b->key);
	struct leaf l = find_leaf(m, prefix, b->key);
	size_t start = m->out->len;

	ab_buf_puts(m->out, before ? "," : "");
	ab_buf_json(m->out, b->key);
	ab_buf_puts(m->out, ":");
	if (may_leave(m, l, b)) {
		put_value(m->out, b);
		return true;
	}
	if (l.inside && b->kind == '{' && add_members(m, b, path))
		return true;
	m->out->len = start;
	m->out->data[start] = '\0';
	return false;
}

static size_t add_members(struct merge *m, const struct ab_json_scan_node *b, const char *prefix)
{
	size_t n = 0;

	ab_buf_puts(m->out, "{");
	ab_json_scan_each(child, b) n += add_member(m, child, prefix, n);
	ab_buf_puts(m->out, "}");
	return n;
}

/* Take the values of `h` that `b` has renewed. The file keeps its order and layout. */
static void renew_members(struct merge *m, const struct ab_json_scan_node *h,
			  const struct ab_json_scan_node *b, const char *prefix)
{
	size_t members = h->count;

	ab_json_scan_each(child, h)
	{
		const struct ab_json_scan_node *fresh = ab_json_scan_find(b, child->key);
		ab_autofree char *path = join_path(prefix, child->key);
		struct leaf l = find_leaf(m, prefix, child->key);

		if (!fresh)
			continue;
		if (l.inside && child->kind == '{' && fresh->kind == '{') {
			renew_members(m, child, fresh, path);
		} else if (child->kind != '{' && may_leave(m, l, fresh) &&
			   !same_value(child, fresh)) {
			copy_until(m, child->begin);
			put_value(m->out, fresh);
			m->done = child->end;
		}
	}
	ab_json_scan_each(child, b)
	{
		if (ab_json_scan_find(h, child->key))
			continue;
		copy_until(m, h->end - 1); /* the end of the object */
		members += add_member(m, child, prefix, members);
	}
}

/* Those that the host has; all of them with a new login. */
static void renew_accounts(struct merge *m, const struct ab_json_scan_node *h,
			   const struct ab_json_scan_node *b)
{
	size_t added = 0;

	ab_json_scan_each(child, h)
	{
		const struct ab_json_scan_node *fresh = ab_json_scan_find(b, child->key);
		const char *type = find_type(m, child), *now = fresh ? find_type(m, fresh) : NULL;

		if (type && now && strcmp(type, now) == 0)
			renew_members(m, child, fresh, "");
	}
	ab_json_scan_each(child, b)
	{
		if (!m->login || !find_type(m, child))
			continue;
		copy_until(m, h->end - 1);
		ab_buf_puts(m->out, added++ ? "," : "");
		ab_buf_json(m->out, child->key);
		ab_buf_puts(m->out, ":");
		add_members(m, child, "");
	}
}

static int merge_known(struct merge *m, size_t host_len, const char **ret_why)
{
	const struct ab_json_scan_node *h = m->host->scan.nodes, *b = m->box->scan.nodes;

	if (m->rule->types)
		renew_accounts(m, h, b);
	else
		renew_members(m, h, b, "");
	ab_buf_add(m->out, m->host->text + m->done, host_len - m->done);
	if (!m->login || m->out->len > host_len)
		return 0;
	*ret_why = "the box's copy has no credential that may leave it";
	return -1;
}

/* False: it is not a JSON object. */
static bool read_object(struct file *f, const char *text, size_t len)
{
	f->text = text;
	return ab_json_scan_parse(&f->scan, text, len) == 0 && f->scan.nodes[0].kind == '{';
}

static int merge_json(const char *path, const char *host, size_t host_len, const char *box,
		      size_t box_len, const struct ab_strv *placeholders, struct ab_buf *ret,
		      const char **ret_why)
{
	struct file h = { 0 }, b = { 0 };
	struct merge m = { .rule = find_rule(path),
			   .host = &h,
			   .box = &b,
			   .placeholders = placeholders,
			   .login = !host,
			   .out = ret };
	int result = -1;

	if (!host) {
		host = "{}\n";
		host_len = strlen(host);
	}
	if (!read_object(&b, box, box_len))
		*ret_why = "the box's copy is not a JSON object";
	else if (!read_object(&h, host, host_len))
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

/* A file without a rule is returned whole. */
static const char *find_in(const struct ab_strv *placeholders, const char *box, size_t len)
{
	for (size_t i = 0; placeholders && i < placeholders->len; i++)
		if (memmem(box, len, placeholders->v[i], strlen(placeholders->v[i])))
			return placeholders->v[i];
	return NULL;
}

int ab_credentials_merge(const char *path, const char *host, size_t host_len, const char *box,
			 size_t box_len, const struct ab_strv *placeholders, struct ab_buf *ret,
			 const char **ret_why)
{
	if (box_len > AB_GIVEBACK_MAX) {
		*ret_why = "the box's copy is too large";
		return -1;
	}
	if (placeholders && placeholders->len >= AB_LAYER_PLACEHOLDERS_MAX) {
		*ret_why = "its layer has had more placeholders of secrets than can be known; "
			   "agentbox layers rm begins a new one";
		return -1;
	}
	if (!ab_credentials_known(path) && find_in(placeholders, box, box_len)) {
		*ret_why = "the box's copy has the placeholder of a secret in it";
		return -1;
	}
	if (ab_ends_with(path, ".json"))
		return merge_json(path, host, host_len, box, box_len, placeholders, ret, ret_why);
	ab_buf_add(ret, box, box_len);
	return 0;
}
