#include "policy/model/policy.h"

#include "policy/model/commands.h"
#include "policy/model/http_config.h"
#include "policy/model/ports.h"
#include "policy/model/secrets_config.h"

const char *const ab_property_names[AB_PROP_COUNT] = {
	[AB_PROP_USER_NS] = "user-ns",	   [AB_PROP_PID_FENCE] = "pid-fence",
	[AB_PROP_PID_VIEW] = "pid-view",   [AB_PROP_NET_FENCE] = "net-fence",
	[AB_PROP_DNS_FENCE] = "dns-fence", [AB_PROP_WRITE_FENCE] = "write-fence",
	[AB_PROP_READ_DENY] = "read-deny", [AB_PROP_PROTECTED_NAMES] = "protected-names",
	[AB_PROP_IPC_FENCE] = "ipc-fence", [AB_PROP_IPC_FENCE_LATE] = "ipc-fence-late",
	[AB_PROP_SYSCALLS] = "syscalls",   [AB_PROP_NO_NEW_PRIVS] = "no-new-privs",
	[AB_PROP_LIMITS] = "limits",	   [AB_PROP_TRANSPARENT] = "transparent",
};

void ab_property_list(uint32_t bits, struct ab_strv *ret)
{
	for (size_t i = 0; i < AB_PROP_COUNT; i++)
		if (bits & AB_PROP_BIT(i))
			ab_strv_add(ret, ab_property_names[i]);
}

void ab_policy_free(struct ab_policy *policy)
{
	if (!policy)
		return;
	ab_commands_release(policy->commands.ruling);
	if (policy->store)
		ab_arena_fini(&policy->store->arena);
	ab_free_all(policy->store, policy);
}

/* A profile from a file has a line. */
static bool is_builtin(const struct ab_origin *from)
{
	return from->layer == AB_LAYER_PROFILE && !from->line;
}

struct ab_origin *ab_origin_new(struct ab_arena *a, enum ab_layer layer, const char *name)
{
	struct ab_origin *from = ab_arena_alloc(a, sizeof(*from));

	from->layer = layer;
	from->name = name;
	return from;
}

char *ab_origin_text(const struct ab_origin *from)
{
	struct ab_buf b = { 0 };

	if (is_builtin(from))
		ab_buf_puts(&b, "profile ");
	if (from->layer == AB_LAYER_ALWAYS)
		ab_buf_puts(&b, "always");
	else
		ab_buf_escape(&b, from->name);
	if (from->line)
		ab_buf_printf(&b, ":%u", from->line);
	if (from->layer == AB_LAYER_MANAGED)
		ab_buf_puts(&b, " (managed)");
	return ab_buf_take(&b);
}

bool ab_origin_is_undoable(const char *text)
{
	static const char project[] = ".agentbox.json:";

	return strncmp(text, project, strlen(project)) == 0 ||
	       (text[0] == '~' && strstr(text, "/config.json:") && !strstr(text, " (managed)"));
}

char *ab_origin_place(const struct ab_origin *from)
{
	ab_autofree char *text = ab_origin_text(from);

	return from->line ? ab_printf("%s:%u", text, from->column) : ab_take(text);
}

/* The elements of both. */
static struct ab_strv join_lists(struct ab_arena *a, const struct ab_value *v,
				 const struct ab_value *more)
{
	struct ab_strv list = {
		.v = ab_arena_alloc(a, (v->len + more->len + 1) * sizeof(char *)),
	};

	for (size_t i = 0; i < v->len; i++)
		list.v[list.len++] = (char *)(uintptr_t)v->items[i].text;
	for (size_t i = 0; i < more->len; i++)
		list.v[list.len++] = (char *)(uintptr_t)more->items[i].text;
	return list;
}

static struct ab_strv make_text_list(struct ab_arena *a, const struct ab_value *v)
{
	return join_lists(a, v, &(const struct ab_value){ 0 });
}

/* Entries that some layer above the built-in profiles has. */
static struct ab_strv make_own_list(struct ab_arena *a, const struct ab_value *v)
{
	struct ab_strv list = { .v = ab_arena_alloc(a, (v->len + 1) * sizeof(char *)) };

	for (size_t i = 0; i < v->len; i++)
		if (!is_builtin(v->items[i].from))
			list.v[list.len++] = (char *)(uintptr_t)v->items[i].text;
	return list;
}

/* The names of the groups that the entries come from. */
static struct ab_strv make_group_list(struct ab_arena *a, const struct ab_value *v)
{
	struct ab_strv list = { 0 };

	for (size_t i = 0; i < v->len; i++) {
		const char *via = v->items[i].via;

		if (via && via[0] == '@')
			ab_list_add_once(a, &list, via + 1);
	}
	return list;
}

static struct ab_strv make_origins(struct ab_arena *a, const struct ab_value *v)
{
	struct ab_strv list = {
		.v = ab_arena_alloc(a, (v->len + 1) * sizeof(char *)),
		.len = v->len,
	};

	for (size_t i = 0; i < v->len; i++) {
		/* Entries of one option or variable share it. */
		if (i > 0 && v->items[i].from == v->items[i - 1].from) {
			list.v[i] = list.v[i - 1];
		} else {
			ab_autofree char *text = ab_origin_text(v->items[i].from);

			list.v[i] = ab_arena_dup(a, text);
		}
	}
	return list;
}

static const struct ab_publish *make_pairs(struct ab_arena *a, const struct ab_value *v)
{
	struct ab_publish *pair = ab_arena_alloc(a, (v->len + 1) * sizeof(*pair));

	for (size_t i = 0; i < v->len; i++)
		ab_publish_parse(v->items[i].text, &pair[i]);
	return pair;
}

static void fill_ports(struct ab_policy *p, struct ab_arena *a)
{
	const struct ab_value *ports = &p->store->config.v[AB_KEY_HOST_PORTS];
	const struct ab_value *pairs = &p->store->config.v[AB_KEY_PUBLISH];
	uint16_t *port = ab_arena_alloc(a, (ports->len + 1) * sizeof(*port));
	const struct ab_value *most = &p->store->most_published;

	for (size_t i = 0; i < ports->len; i++)
		ab_port_parse(ports->items[i].text, strlen(ports->items[i].text), &port[i]);
	p->net.host_ports.v = port;
	p->net.host_ports.len = ports->len;
	p->net.publish.v = make_pairs(a, pairs);
	p->net.publish.len = pairs->len;
	p->net.most_published.bounded = most->from != NULL;
	p->net.most_published.v = make_pairs(a, most);
	p->net.most_published.len = most->len;
}

static unsigned get_word(const struct ab_config *c, enum ab_key_id id)
{
	return ab_keys[id].words[c->v[id].number].number;
}

/* `own`: only those that a layer names, not only the built-in profile. */
static uint32_t make_property_bits(const struct ab_value *v, bool own)
{
	uint32_t bits = 0;

	for (size_t i = 0; i < v->len; i++)
		for (int p = 0; p < AB_PROP_COUNT; p++)
			if (!(own && is_builtin(v->items[i].from)) &&
			    strcmp(ab_property_names[p], v->items[i].text) == 0)
				bits |= AB_PROP_BIT(p);
	return bits;
}

static uint32_t make_notice_bits(const struct ab_value *v)
{
	const struct ab_key *key = &ab_keys[AB_KEY_NOTIFY];
	uint32_t bits = 0;

	for (size_t i = 0; i < v->len; i++)
		for (size_t w = 0; w < key->nwords; w++)
			if (strcmp(key->words[w].name, v->items[i].text) == 0)
				bits |= AB_NOTICE_BIT(key->words[w].number);
	return bits;
}

/* Guarantees that a setting gives up on purpose. They stay required if a layer names them. */
static const struct {
	enum ab_property property;
	enum ab_key_id key;
	int word;
} given_up[] = {
	{ AB_PROP_USER_NS, AB_KEY_USERNS, true },
	{ AB_PROP_NET_FENCE, AB_KEY_NET_MODE, AB_NET_ALLOWED },
	{ AB_PROP_DNS_FENCE, AB_KEY_NET_MODE, AB_NET_ALLOWED },
};

static uint32_t find_given_up(const struct ab_config *c)
{
	uint32_t bits = 0;

	for (size_t i = 0; i < AB_COUNT(given_up); i++)
		if ((int)get_word(c, given_up[i].key) == given_up[i].word)
			bits |= AB_PROP_BIT(given_up[i].property);
	return bits & ~make_property_bits(&c->v[AB_KEY_REQUIRE], true);
}

/* A profile or a setting that says "strict" means every guarantee; the default profile means those
 * that the engine can give. */
static uint32_t find_firm(const struct ab_config *c)
{
	const struct ab_origin *strict = c->v[AB_KEY_FALLBACK].from;

	if (!strict || !is_builtin(strict) || strcmp(strict->name, "default") != 0)
		return ~0u;
	return make_property_bits(&c->v[AB_KEY_REQUIRE], true);
}

bool ab_policy_lends_keys(const struct ab_policy *p)
{
	return (p->ssh.hosts.len || p->ssh.git) && (p->ssh.all_keys || p->ssh.keys.len);
}

char *ab_policy_given_up(const struct ab_policy *p)
{
	struct ab_buf b = { 0 };

	for (size_t i = 0; i < AB_COUNT(given_up); i++) {
		const struct ab_origin *from = p->store->config.v[given_up[i].key].from;
		ab_autofree char *origin = from ? ab_origin_text(from) : NULL;

		if (p->assurance.given_up & AB_PROP_BIT(given_up[i].property))
			ab_buf_printf(&b, "%s%s (%s)", b.len ? ", " : "",
				      ab_property_names[given_up[i].property],
				      origin ? origin : ab_keys[given_up[i].key].path);
	}
	return ab_buf_take(&b);
}

static struct ab_strv make_touched(struct ab_arena *a, const struct ab_policy *p)
{
	const struct ab_strv *write = &p->fs.write;
	struct ab_strv list = { .v = ab_arena_alloc(a, (write->len + 2) * sizeof(list.v[0])) };

	for (size_t i = 0; i < write->len; i++)
		list.v[list.len++] = write->v[i];
	if (p->workspace && p->workspace[0])
		list.v[list.len++] = ab_arena_dup(a, p->workspace);
	return list;
}

bool ab_policy_reads(const struct ab_policy *p, const char *path, bool above)
{
	for (size_t i = 0; i < p->fs.deny_read.len; i++) {
		const char *entry = p->fs.deny_read.v[i];
		ab_autofree char *named =
			entry[0] == '!' ? ab_path_resolve(entry + 1, "/", p->home) : NULL;

		if (named && (above ? ab_path_within(path, named) : strcmp(path, named) == 0))
			return true;
	}
	return false;
}

bool ab_policy_held_back(const struct ab_policy *p, const char *key, const char *element)
{
	/* As policy/layers/managed.c writes them. */
	ab_autofree char *left_out = ab_printf("%s leaves out %s (", key, element);
	ab_autofree char *overridden = ab_printf("%s: %s stays ", key, element);

	for (size_t i = 0; i < p->attempts.len; i++)
		if (strncmp(p->attempts.v[i], left_out, strlen(left_out)) == 0 ||
		    strncmp(p->attempts.v[i], overridden, strlen(overridden)) == 0)
			return true;
	return false;
}

void ab_policy_review_commands(struct ab_policy *p)
{
	/* The workspace is reviewed, and nothing else writable. */
	if (p->fs.review != AB_REVIEW_NONE && p->fs.write.len == 1 &&
	    strcmp(p->fs.write.v[0], p->workspace) == 0)
		p->commands.ruling = ab_commands_layered(&p->store->arena, p->commands.ruling);
}

/* Each with the port of ssh, if it has none. */
static struct ab_strv make_ssh_hosts(struct ab_arena *a, const struct ab_value *v)
{
	struct ab_strv list = { .v = ab_arena_alloc(a, (v->len + 1) * sizeof(char *)) };

	for (size_t i = 0; i < v->len; i++) {
		char text[AB_HOST_ENTRY_TEXT];

		ab_ssh_host_format(v->items[i].text, text);
		list.v[list.len++] = (char *)(uintptr_t)ab_arena_dup(a, text);
	}
	return list;
}

void ab_policy_fill_deny_write(struct ab_policy *p)
{
	p->fs.deny_write = make_text_list(&p->store->arena, &p->store->config.v[AB_KEY_DENY_WRITE]);
}

/* Give a value to its member. A scalar is an enum, a bool or a number; "none" is 0. */
static void fill_key(struct ab_policy *p, const struct ab_key *key, const struct ab_value *v)
{
	void *to = (char *)p + key->at;
	struct ab_strv list;
	uint32_t word;
	uint64_t n;

	if (ab_key_is_list(key)) {
		list = make_text_list(&p->store->arena, v);
		memcpy(to, &list, sizeof(list));
	} else if (key->type == AB_TYPE_WORD) {
		word = key->words[v->number].number;
		if (key->size == sizeof(bool))
			*(bool *)to = word;
		else
			memcpy(to, &word, sizeof(word));
	} else if (key->type == AB_TYPE_UPSTREAM || key->type == AB_TYPE_SOCKET) {
		memcpy(to, &v->text, sizeof(v->text));
	} else {
		n = v->number == AB_NONE ? 0 : v->number;
		memcpy(to, &n, sizeof(n));
	}
}

/* What depends on more than the value of one key. */
static void fill_rest(struct ab_policy *p, const struct ab_value *v, struct ab_arena *a)
{
	p->fs.returns_builtin = v[AB_KEY_RETURN].from && is_builtin(v[AB_KEY_RETURN].from);
	/* A shared folder is a writable root like any other. */
	p->fs.write = join_lists(a, &v[AB_KEY_WRITE], &v[AB_KEY_SHARE]);
	p->fs.touched = make_touched(a, p);
	p->fs.read_all = v[AB_KEY_READ].all;
	p->fs.deny_read_own = make_own_list(a, &v[AB_KEY_DENY_READ]);
	if (p->fs.home == AB_HOME_KEPT && is_builtin(v[AB_KEY_HOME].from))
		p->fs.home_profile = v[AB_KEY_HOME].from->name;
	p->net.groups = make_group_list(a, &v[AB_KEY_NET_ALLOW]);
	p->net.deny_from = make_origins(a, &v[AB_KEY_NET_DENY]);
	p->net.bounded = p->store->most_hosts.from != NULL;
	p->net.most = make_text_list(a, &p->store->most_hosts);
	p->net.fixed = p->store->unknown_fixed;
	p->net.notify = make_notice_bits(&v[AB_KEY_NOTIFY]);
	fill_ports(p, a);
	p->net.http = ab_http_fill(a, &v[AB_KEY_HTTP]);
	p->net.ask_anywhere =
		p->net.unknown == AB_UNKNOWN_ASK && !is_builtin(v[AB_KEY_NET_UNKNOWN].from);
	p->env.never = make_text_list(a, &p->store->never_passed);
	p->commands.ruling = ab_commands_ruling(a, &v[AB_KEY_RULES], &v[AB_KEY_OVERRIDE]);
	ab_tools_fill(a, &v[AB_KEY_TOOLS], p);
	p->ssh.hosts = make_ssh_hosts(a, &v[AB_KEY_SSH_HOSTS]);
	p->ssh.all_keys = v[AB_KEY_SSH_KEYS].all;
	p->ssh.all_users = v[AB_KEY_SSH_USERS].all;
	p->ssh.git = ab_value_find(&v[AB_KEY_SSH_SIGN], "git") != NULL;
	p->secrets = ab_secrets_fill(a, &v[AB_KEY_SECRETS], &p->fs.touched);
	p->secrets.scope =
		p->fs.home_profile ? ab_arena_cat(a, "@", p->fs.home_profile) : p->workspace;
}

void ab_policy_fill(struct ab_policy *p)
{
	const struct ab_config *c = &p->store->config;

	for (size_t i = 0; i < AB_KEY_COUNT; i++)
		if (ab_keys[i].size)
			fill_key(p, &ab_keys[i], &c->v[i]);
	fill_rest(p, c->v, &p->store->arena);
	p->assurance.given_up = find_given_up(c);
	p->assurance.require =
		make_property_bits(&c->v[AB_KEY_REQUIRE], false) & ~p->assurance.given_up;
	p->assurance.firm = p->assurance.require & find_firm(c);
	if (get_word(c, AB_KEY_HOST_TOOLS_MODE))
		p->host_tools = ab_host_tools_fill(&p->store->arena, &c->v[AB_KEY_HOST_TOOLS]);
}
