#include "policy/model/list_element.h"

#include "base/text/guess.h"
#include "base/text/units.h"
#include "policy/model/commands.h"
#include "policy/model/policy.h"
#include "policy/model/ports.h"
#include "policy/model/secrets_config.h"
#include "policy/values/cidr.h"
#include "policy/values/complaint.h"
#include "policy/values/host.h"
#include "policy/values/image.h"
#include "policy/toolchains/host_groups.h"
#include "policy/toolchains/registries.h"
#include "policy/toolchains/toolchains.h"
#include "policy/values/proxy_url.h"

/* Folders that most programs need. The plan checks which of them exist. */
static const char *const system_trees[] = {
	"/usr",	   "/bin", "/sbin", "/lib",	  "/lib32", "/lib64",
	"/libx32", "/etc", "/opt",  "/nix/store", "/snap",
};

/* Add a constant text, or one in the arena. */
static int add_text(const struct ab_put *p, const char *text)
{
	ab_value_add(p->ctx->arena, p->v, (struct ab_item){ .text = text, .from = p->from });
	return 0;
}

int ab_put_copy(const struct ab_put *p, const char *text)
{
	return add_text(p, ab_arena_dup(p->ctx->arena, text));
}

int ab_list_add(struct ab_arena *a, struct ab_strv *list, const char *text)
{
	char **v = ab_arena_alloc(a, (list->len + 2) * sizeof(*v));

	if (list->len)
		memcpy(v, list->v, list->len * sizeof(*v));
	v[list->len] = ab_arena_dup(a, text);
	list->v = v;
	list->len++;
	return 0;
}

int ab_list_add_once(struct ab_arena *a, struct ab_strv *list, const char *text)
{
	return ab_strv_has(list, text) ? 0 : ab_list_add(a, list, text);
}

const char *ab_list_element_path(const struct ab_context *ctx, const char *text,
				 struct ab_complaint *why)
{
	ab_autofree char *path = NULL;

	if (strlen(text) >= PATH_MAX) {
		ab_complaint_value(why, text, "is too long", "a path has at most %d bytes",
				   PATH_MAX - 1);
		return NULL;
	}
	path = ab_path_resolve(text, ctx->base, ctx->home);
	if (path)
		return ab_arena_dup(ctx->arena, path);
	if (text[0] == '\0')
		ab_complaint_value(why, text, "is not a path", "use \".\" for the workspace");
	else if (text[1] != '\0' && text[1] != '/')
		ab_complaint_value(why, text, "names another user's home", "use its full path");
	else
		ab_complaint_value(why, text, "needs a home folder",
				   "set HOME, or write the full path");
	return NULL;
}

/* Add the clean absolute path of `text`, with `mark` in front. "~" is `home`. */
static int add_path(const struct ab_put *p, const char *text, const char *mark, const char *home)
{
	struct ab_context ctx = *p->ctx;
	struct ab_item item = {
		.from = p->from,
		.here = ctx.follows && text[0] != '/' && text[0] != '~',
	};

	ctx.home = home;
	if (ctx.builtin && text[0] == '~') {
		if (!home)
			return 0;
		item.text = ab_arena_cat(ctx.arena, home[1] ? home : "", text + 1);
	} else if (ctx.builtin) {
		item.text = item.here ? ctx.base : text;
	} else {
		item.text = ab_list_element_path(&ctx, text, p->why);
		if (!item.text)
			return -1;
	}
	if (mark[0])
		item.text = ab_arena_cat(ctx.arena, mark, item.text);
	ab_value_add(ctx.arena, p->v, item);
	return 0;
}

/* A user who sets HOME moves what "~" means. In a managed list that allows, it is the home of the
 * account instead; in one that forbids, both count. */
static const char *find_home(const struct ab_put *p)
{
	bool managed = p->from->layer == AB_LAYER_MANAGED && p->ctx->account;

	return managed ? p->ctx->account : p->ctx->home;
}

/* A path without its "!", which is `mark`. */
static int put_denied(const struct ab_put *p, const char *text, const char *mark)
{
	const char *home = find_home(p), *own = p->ctx->home;

	if (add_path(p, text, mark, home) < 0)
		return -1;
	return text[0] != '~' || !own || strcmp(home, own) == 0 ? 0 : add_path(p, text, mark, own);
}

static int put_root(const struct ab_put *p, const char *text)
{
	if (strpbrk(text, "*?"))
		return ab_complaint_value(p->why, text, "is a pattern", "name the folder");
	return add_path(p, text, "", find_home(p));
}

static int put_read(const struct ab_put *p, const char *text)
{
	if (text[0] != '@')
		return put_root(p, text);
	if (strcmp(text, "@system") != 0)
		return ab_complaint_value(p->why, text, "is not a folder group", "use @system");
	for (size_t i = 0; i < AB_COUNT(system_trees); i++) {
		add_text(p, system_trees[i]);
		p->v->items[p->v->len - 1].via = "@system";
	}
	return 0;
}

static int put_pattern(const struct ab_put *p, const char *text)
{
	bool back = text[0] == '!';

	return put_denied(p, text + back, back ? "!" : "");
}

static bool has_dotdot(const char *s)
{
	for (;; s++) {
		size_t n = strcspn(s, "/");

		if (n == 2 && s[0] == '.' && s[1] == '.')
			return true;
		s += n;
		if (!*s)
			return false;
	}
}

static int put_name(const struct ab_put *p, const char *text)
{
	bool back = text[0] == '!';
	const char *name = text + back;
	ab_autofree char *path = NULL;

	if (ab_is_path_not_name(name))
		return put_denied(p, name, back ? "!" : "");
	if (p->ctx->builtin)
		return add_text(p, text);
	if (name[0] == '\0' || strlen(name) >= PATH_MAX || has_dotdot(name))
		return ab_complaint_value(
			p->why, text, "is not a name",
			"use one like \".git/hooks\", or a path like \"./build\"");
	path = ab_path_resolve(name, "/", NULL);
	return add_text(p, ab_arena_cat(p->ctx->arena, back ? "!" : "", path + 1));
}

static int put_group(const struct ab_put *p, const char *text)
{
	ab_autostrv struct ab_strv entries = { 0 };
	ab_autofree char *all = NULL;
	const char *via, *guess;
	/* The user's registries must not widen a list that binds the user. */
	bool bound = p->from->layer == AB_LAYER_MANAGED;

	if (!ab_group_expand(text + 1,
			     bound ? ab_registries_find(p->ctx->arena, NULL) : p->ctx->registries,
			     bound ? NULL : p->ctx->environ, &entries)) {
		guess = ab_guess(text + 1, ab_group_names, ab_group_count);
		if (guess)
			return ab_complaint_value(p->why, text, "is not a host group",
						  "did you mean \"@%s\"?", guess);
		all = ab_group_list();
		return ab_complaint_value(p->why, text, "is not a host group", "groups: %s", all);
	}
	via = ab_arena_dup(p->ctx->arena, text);
	for (size_t i = 0; i < entries.len; i++) {
		ab_put_copy(p, entries.v[i]);
		p->v->items[p->v->len - 1].via = via;
	}
	return 0;
}

static int add_host(const struct ab_put *p, const struct ab_host_entry *e)
{
	char buf[AB_HOST_ENTRY_TEXT];

	ab_host_entry_format(e, buf);
	return ab_put_copy(p, buf);
}

static int put_host(const struct ab_put *p, const char *text)
{
	struct ab_host_entry e;

	if (text[0] == '@')
		return put_group(p, text);
	if (ab_host_entry_parse(text, strlen(text), &e, p->why) < 0)
		return -1;
	if (p->key == &ab_keys[AB_KEY_NET_ALLOW] && ab_host_entry_may_allow(&e, p->why) < 0)
		return -1;
	return add_host(p, &e);
}

static int put_cidr(const struct ab_put *p, const char *text)
{
	char buf[AB_CIDR_TEXT];
	struct ab_cidr c;

	if (ab_cidr_parse(text, strlen(text), &c, p->why) < 0)
		return -1;
	ab_cidr_format(&c, buf);
	return ab_put_copy(p, buf);
}

bool ab_is_variable(const char *s, size_t len, const char *more)
{
	for (size_t i = 0; i < len; i++)
		if (!ab_is_alnum(s[i]) && s[i] != '_' && !strchr(more, s[i]))
			return false;
	return len > 0 && len <= 255;
}

int ab_variable_check(const char *s, size_t len, bool shell, struct ab_complaint *why)
{
	ab_autofree char *name = ab_strndup(s, len);

	if (!ab_is_variable(s, len, shell ? "" : "-.") || (shell && ab_is_digit(s[0])))
		return ab_complaint_value(why, name, "is not a valid variable name",
					  "use letters, digits and _");
	if (strcmp(name, "AGENTBOX") == 0 || strncmp(name, "AGENTBOX_", 9) == 0 ||
	    strcmp(name, "SANDBOX_RUNTIME") == 0)
		return ab_complaint_value(why, name, "is reserved for agentbox",
					  "choose another name");
	return 0;
}

static int put_variable(const struct ab_put *p, const char *text)
{
	if (p->ctx->builtin)
		return add_text(p, text);
	if (!ab_is_variable(text, strlen(text), "*?"))
		return ab_complaint_value(p->why, text, "is not a valid variable name",
					  "use one like LANG or *_TOKEN");
	return ab_put_copy(p, text);
}

static int put_assignment(const struct ab_put *p, const char *text)
{
	enum { VALUE_MAX = 128 * 1024 - 512 }; /* the kernel's limit for one string in execve */
	size_t n = strcspn(text, "=");
	ab_autofree char *name = ab_strndup(text, n);
	struct ab_item *same;

	if (text[n] != '=')
		return ab_complaint_value(p->why, text, "has no value", "use NAME=VALUE");
	if (ab_variable_check(text, n, false, p->why) < 0)
		return -1;
	if (strlen(text) > VALUE_MAX)
		return ab_complaint_value(p->why, name, "has a value that is too long",
					  "at most 127 KiB");
	same = ab_value_find_named(p->v, text);
	if (!same)
		return ab_put_copy(p, text);
	same->text = ab_arena_dup(p->ctx->arena, text);
	same->from = p->from;
	return 0;
}

static int put_property(const struct ab_put *p, const char *text)
{
	bool several = p->from->layer == AB_LAYER_ENVIRONMENT || p->from->layer == AB_LAYER_FLAG;
	size_t n = strcspn(text, several ? "," : "");
	ab_autofree char *word = ab_strndup(text, n);
	size_t i = ab_word_at(ab_property_names, AB_PROP_COUNT, word);
	const char *guess;

	if (i < AB_PROP_COUNT) {
		add_text(p, ab_property_names[i]);
		return text[n] ? put_property(p, text + n + 1) : 0;
	}
	guess = ab_guess(word, ab_property_names, AB_PROP_COUNT);
	if (guess)
		return ab_complaint_value(p->why, word, "is not a guarantee",
					  "did you mean \"%s\"?", guess);
	return ab_complaint_value(p->why, word, "is not a guarantee",
				  "use one like \"net-fence\" or \"write-fence\"");
}

static int refuse_preset(const char *word, struct ab_complaint *why)
{
	const char *guess = ab_toolchain_guess(word);
	ab_autobuf struct ab_buf list = { 0 };

	ab_buf_puts(&list, AB_TOOLCHAIN_AUTO);
	for (size_t i = 0; i < ab_toolchain_count; i++)
		ab_buf_printf(&list, "%s %s", i + 1 < ab_toolchain_count ? "," : " or",
			      ab_toolchains[i].name);
	if (guess)
		return ab_complaint_value(why, word, "is not a preset",
					  "did you mean \"%s\"? There are %s", guess, list.data);
	return ab_complaint_value(why, word, "is not a preset", "use %s", list.data);
}

/* An option takes several, separated by commas. */
static int put_presets(const struct ab_put *p, const char *text)
{
	bool several = p->from->layer >= AB_LAYER_ENVIRONMENT;

	for (;;) {
		size_t n = strcspn(text, several ? "," : "");
		ab_autofree char *word = ab_strndup(text, n);

		if (strcmp(word, AB_TOOLCHAIN_AUTO) != 0 && !ab_toolchain_find(word))
			return refuse_preset(word, p->why);
		if (!ab_value_find(p->v, word))
			ab_put_copy(p, word);
		if (!text[n])
			return 0;
		text += n + 1;
	}
}

/* The index of the word, or -1. */
static int find_word(const struct ab_key *key, const char *text, struct ab_complaint *why)
{
	ab_autobuf struct ab_buf right = { 0 };

	for (size_t i = 0; i < key->nwords; i++)
		if (strcmp(key->words[i].name, text) == 0)
			return (int)i;
	for (size_t i = 0; i < key->nwords; i++)
		ab_buf_printf(&right, "%s%s",
			      i == 0		    ? "use "
			      : i + 1 < key->nwords ? ", "
						    : " or ",
			      key->words[i].name);
	return ab_why_invalid(why, text, right.data);
}

static int put_word(const struct ab_put *p, const char *text)
{
	int i = find_word(p->key, text, p->why);

	if (i < 0)
		return -1;
	if (ab_key_is_list(p->key))
		return add_text(p, p->key->words[i].name);
	p->v->number = (uint64_t)i;
	return 0;
}

/* One host: a pattern or a range has no entry in known_hosts. */
static int put_ssh_host(const struct ab_put *p, const char *text)
{
	struct ab_host_entry e;

	if (text[0] == '@' || strchr(text, '@'))
		return ab_complaint_value(p->why, text, "is not a host",
					  "use one like github.com; ssh.users lists user names");
	if (ab_host_entry_parse(text, strlen(text), &e, p->why) < 0)
		return -1;
	if (e.below || (e.host.kind != AB_HOST_NAME && e.bits != ab_host_bits(&e.host)))
		return ab_complaint_value(p->why, text, "is not one host",
					  "name each host: known_hosts must have its key");
	return add_host(p, &e);
}

void ab_ssh_host_format(const char *entry, char *ret)
{
	enum { SSH_PORT = 22 };
	struct ab_host_entry e;

	*ret = '\0';
	if (ab_host_entry_parse(entry, strlen(entry), &e, NULL) < 0)
		return;
	e.port = e.port ? e.port : SSH_PORT;
	ab_host_entry_format(&e, ret);
}

/* "SHA256:" and 43 digits, as ssh-add -l shows it. */
static bool is_fingerprint(const char *text)
{
	static const char mark[] = "SHA256:";
	size_t n = strlen(mark);

	return strncmp(text, mark, n) == 0 && strlen(text + n) == 43 &&
	       ab_has_only(text + n, 43, "+/");
}

static int put_ssh_key(const struct ab_put *p, const char *text)
{
	if (!is_fingerprint(text))
		return ab_complaint_value(p->why, text, "is not the fingerprint of a key",
					  "use one like SHA256:..., which ssh-add -l shows");
	return ab_put_copy(p, text);
}

static int put_ssh_user(const struct ab_put *p, const char *text)
{
	size_t n = 0;

	while (text[n] > ' ' && text[n] < 0x7f)
		n++;
	if (n == 0 || n > 64 || text[n])
		return ab_complaint_value(p->why, text, "is not a user name", "use one like git");
	return ab_put_copy(p, text);
}

static int put_image(const struct ab_put *p, const char *text)
{
	ab_autofree char *name = ab_image_short(text, true);

	if (!name)
		return ab_complaint_value(p->why, text, "is not the name of an image",
					  "use one like \"postgres:16\" or \"redis:*\"");
	return ab_put_copy(p, name);
}

/* An object: only a file can have it. */
static int put_object(const struct ab_put *p, const char *text)
{
	(void)text;
	return ab_complaint_say(p->why, "set it in a settings file",
				"a %s cannot be written as one string",
				p->key->type == AB_TYPE_HOST_TOOLS ? "tool" : "rule");
}

void ab_value_reserve(struct ab_arena *a, struct ab_value *v, size_t room)
{
	struct ab_item *items = ab_arena_alloc(a, room * sizeof(*items));

	if (v->len)
		memcpy(items, v->items, v->len * sizeof(*items));
	v->items = items;
	v->room = room;
}

struct ab_item *ab_value_find(const struct ab_value *v, const char *text)
{
	return ab_find_row(v->items, v->len, text, text);
}

struct ab_item *ab_value_find_named(const struct ab_value *v, const char *text)
{
	size_t n = strcspn(text, "=") + 1;

	for (size_t i = 0; i < v->len; i++)
		if (strncmp(v->items[i].text, text, n) == 0)
			return &v->items[i];
	return NULL;
}

void ab_value_add(struct ab_arena *a, struct ab_value *v, struct ab_item item)
{
	if (v->len == v->room)
		ab_value_reserve(a, v, v->room ? 2 * v->room : 8);
	v->items[v->len++] = item;
}

void ab_value_set(struct ab_arena *a, struct ab_value *v, const struct ab_item *there,
		  struct ab_item item)
{
	if (there)
		v->items[there - v->items] = item;
	else
		ab_value_add(a, v, item);
}

void ab_value_add_once(struct ab_arena *a, struct ab_value *v, const char *text,
		       const struct ab_origin *from, const char *via)
{
	if (!ab_value_find(v, text))
		ab_value_add(a, v,
			     (struct ab_item){ ab_arena_dup(a, text), .from = from, .via = via });
}

bool ab_value_same_scalar(const struct ab_value *a, const struct ab_value *b)
{
	return a->number == b->number &&
	       strcmp(a->text ? a->text : "", b->text ? b->text : "") == 0;
}

/* A value of this key, as a person writes it. */
static const char *format_number(const struct ab_key *key, uint64_t n, char buf[48])
{
	if (key->type == AB_TYPE_SIZE)
		return ab_format_size(n, buf);
	if (key->type == AB_TYPE_DURATION)
		return ab_format_duration(n, buf);
	snprintf(buf, 48, "%llu", (unsigned long long)n);
	return buf;
}

/* A size without a unit is digits only: the grammar of numbers, too. */
static int parse_number(const struct ab_put *p, const char *text, uint64_t *ret)
{
	char lo[48], hi[48];

	if (p->key->type == AB_TYPE_SIZE && ab_parse_size(text, ret) != 0)
		return ab_complaint_value(p->why, text, "is not a size",
					  "use one like \"512M\" or \"4G\"");
	if (p->key->type == AB_TYPE_DURATION && ab_parse_duration(text, ret) != 0)
		return ab_complaint_value(p->why, text, "is not a duration",
					  "use one like \"90s\" or \"1h30m\"");
	if (p->key->type == AB_TYPE_INTEGER &&
	    (strspn(text, "0123456789") != strlen(text) || ab_parse_size(text, ret) != 0))
		return ab_complaint_value(p->why, text, "is not a number", "use one from %s to %s",
					  format_number(p->key, p->key->min, lo),
					  format_number(p->key, p->key->max, hi));
	return 0;
}

static int put_number(const struct ab_put *p, const char *text)
{
	const struct ab_key *key = p->key;
	char lo[48], hi[48];
	uint64_t n = 0;

	if (key->none && strcmp(text, "none") == 0) {
		p->v->number = AB_NONE;
		return 0;
	}
	if (parse_number(p, text, &n) < 0)
		return -1;
	if (n < key->min || n > key->max)
		return ab_complaint_value(p->why, text, "is out of range", "use %s to %s%s",
					  format_number(key, key->min, lo),
					  format_number(key, key->max, hi),
					  key->none ? ", or \"none\"" : "");
	p->v->number = n || !key->none ? n : AB_NONE;
	return 0;
}

static int put_profile(const struct ab_put *p, const char *text)
{
	if (!ab_is_variable(text, strlen(text), "-."))
		return ab_complaint_value(p->why, text, "is not a valid profile name",
					  "use letters, digits, - and _");
	p->v->text = ab_arena_dup(p->ctx->arena, text);
	return 0;
}

static int put_upstream(const struct ab_put *p, const char *text)
{
	ab_autofree char *canonical = NULL;
	struct ab_proxy_url url;

	if (strcmp(text, "none") != 0 && strcmp(text, "env") != 0) {
		if (ab_proxy_url_parse(text, strlen(text), &url, p->why) < 0)
			return -1;
		canonical = ab_proxy_url_format(&url);
	}
	p->v->text = ab_arena_dup(p->ctx->arena, canonical ? canonical : text);
	return 0;
}

static int put_socket(const struct ab_put *p, const char *text)
{
	bool found = strcmp(text, "auto") == 0;

	p->v->text = found ? "auto" : ab_list_element_path(p->ctx, text, p->why);
	return p->v->text ? 0 : -1;
}

static ab_put_fn *const put_types[] = {
	[AB_TYPE_PROFILE] = put_profile,
	[AB_TYPE_WORD] = put_word,
	[AB_TYPE_SIZE] = put_number,
	[AB_TYPE_DURATION] = put_number,
	[AB_TYPE_INTEGER] = put_number,
	[AB_TYPE_UPSTREAM] = put_upstream,
	[AB_TYPE_SOCKET] = put_socket,
	[AB_TYPE_PATHS] = put_root,
	[AB_TYPE_READ] = put_read,
	[AB_TYPE_PATTERNS] = put_pattern,
	[AB_TYPE_NAMES] = put_name,
	[AB_TYPE_HOSTS] = put_host,
	[AB_TYPE_CIDRS] = put_cidr,
	[AB_TYPE_PORTS] = ab_host_port_put,
	[AB_TYPE_PUBLISH] = ab_publish_put,
	[AB_TYPE_IMAGES] = put_image,
	[AB_TYPE_VARIABLES] = put_variable,
	[AB_TYPE_ASSIGNMENTS] = put_assignment,
	[AB_TYPE_PROPERTIES] = put_property,
	[AB_TYPE_NOTICES] = put_word,
	[AB_TYPE_SSH_HOSTS] = put_ssh_host,
	[AB_TYPE_SSH_KEYS] = put_ssh_key,
	[AB_TYPE_SSH_USERS] = put_ssh_user,
	[AB_TYPE_SSH_SIGN] = put_word,
	[AB_TYPE_PRESETS] = put_presets,
	[AB_TYPE_RULES] = put_object,
	[AB_TYPE_OVERRIDES] = ab_override_put,
	[AB_TYPE_TOOLS] = ab_tool_put,
	[AB_TYPE_SECRETS] = ab_secret_put,
	[AB_TYPE_HOST_TOOLS] = put_object,
	[AB_TYPE_HTTP] = put_object,
};

int ab_value_put(const struct ab_context *ctx, enum ab_key_id id, struct ab_value *v,
		 const char *text, const struct ab_origin *from, struct ab_complaint *why)
{
	const struct ab_key *key = &ab_keys[id];
	const struct ab_put put = { ctx, key, v, from, why };

	if (v->len >= AB_LIST_MAX)
		return ab_complaint_say(why, "name a folder or use a pattern",
					"more than %d entries", AB_LIST_MAX);
	if (key->all && strcmp(text, "all") == 0)
		v->all = true;
	else if (put_types[key->type](&put, text) < 0)
		return -1;
	v->from = from;
	return 0;
}

const char *ab_value_text(struct ab_arena *a, enum ab_key_id id, const struct ab_value *v)
{
	const struct ab_key *key = &ab_keys[id];
	char buf[48];

	if (key->type == AB_TYPE_PROFILE || key->type == AB_TYPE_SOCKET)
		return v->text;
	if (key->type == AB_TYPE_UPSTREAM) {
		ab_autofree char *shown = ab_proxy_url_redact(v->text);

		return ab_arena_dup(a, shown);
	}
	if (key->type == AB_TYPE_WORD)
		return key->words[v->number].name;
	if (v->number == AB_NONE)
		return "none";
	return ab_arena_dup(a, format_number(key, v->number, buf));
}
