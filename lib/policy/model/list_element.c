#include "policy/model/list_element.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/ascii.h"
#include "base/data/buf.h"
#include "base/data/mem.h"
#include "base/system/path.h"
#include "base/text/guess.h"
#include "base/text/units.h"
#include "policy/model/commands.h"
#include "policy/model/config.h"
#include "policy/model/policy.h"
#include "policy/model/ports.h"
#include "policy/model/secrets_config.h"
#include "policy/values/cidr.h"
#include "policy/values/complaint.h"
#include "policy/values/host.h"
#include "policy/values/image.h"
#include "policy/toolchains/host_groups.h"
#include "policy/toolchains/toolchains.h"
#include "policy/values/proxy_url.h"

/* Folders that most programs need. The plan checks which of them exist. */
static const char *const system_trees[] = {
	"/usr",	   "/bin", "/sbin", "/lib",	  "/lib32", "/lib64",
	"/libx32", "/etc", "/opt",  "/nix/store", "/snap",
};

static void add_text(const struct ab_context *ctx, struct ab_value *v, const char *text,
		     const struct ab_origin *from, const char *via)
{
	ab_value_add(ctx->arena, v,
		     (struct ab_item){
			     .text = ab_arena_dup(ctx->arena, text),
			     .from = from,
			     .via = via,
		     });
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

/* Add the clean absolute path of `text`, with `mark` in front. */
static int put_path(const struct ab_context *ctx, struct ab_value *v, const char *text,
		    const char *mark, const struct ab_origin *from, struct ab_complaint *why)
{
	struct ab_item item = {
		.from = from,
		.here = ctx->follows && text[0] != '/' && text[0] != '~',
	};
	const char *home = ctx->home && ctx->home[1] ? ctx->home : "";

	if (ctx->builtin && text[0] == '~') {
		if (!ctx->home)
			return 0;
		item.text = ab_arena_cat(ctx->arena, home, text + 1);
	} else if (ctx->builtin) {
		item.text = item.here ? ctx->base : text;
	} else {
		item.text = ab_list_element_path(ctx, text, why);
		if (!item.text)
			return -1;
	}
	if (mark[0])
		item.text = ab_arena_cat(ctx->arena, mark, item.text);
	ab_value_add(ctx->arena, v, item);
	return 0;
}

/* A user who sets HOME moves what "~" means. In a managed list that allows, it is the home of the
 * account instead; in one that forbids, both count. */
static struct ab_context bind_home(const struct ab_context *ctx, const struct ab_origin *from)
{
	struct ab_context bound = *ctx;

	if (from->layer == AB_LAYER_MANAGED && ctx->account)
		bound.home = ctx->account;
	return bound;
}

static int put_denied(const struct ab_context *ctx, struct ab_value *v, const char *text,
		      const char *mark, const struct ab_origin *from, struct ab_complaint *why)
{
	struct ab_context bound = bind_home(ctx, from);

	if (put_path(&bound, v, text, mark, from, why) < 0)
		return -1;
	if (text[0] != '~' || !ctx->home || strcmp(bound.home, ctx->home) == 0)
		return 0;
	return put_path(ctx, v, text, mark, from, why);
}

static int put_root(const struct ab_context *ctx, struct ab_value *v, const char *text,
		    const struct ab_origin *from, struct ab_complaint *why)
{
	struct ab_context bound = bind_home(ctx, from);

	if (strpbrk(text, "*?"))
		return ab_complaint_value(why, text, "is a pattern", "name the folder");
	return put_path(&bound, v, text, "", from, why);
}

static int put_read(const struct ab_context *ctx, struct ab_value *v, const char *text,
		    const struct ab_origin *from, struct ab_complaint *why)
{
	if (strcmp(text, "all") == 0) {
		v->all = true;
		return 0;
	}
	if (text[0] != '@')
		return put_root(ctx, v, text, from, why);
	if (strcmp(text, "@system") != 0)
		return ab_complaint_value(why, text, "is not a folder group", "use @system");
	for (size_t i = 0; i < AB_COUNT(system_trees); i++)
		ab_value_add(ctx->arena, v,
			     (struct ab_item){
				     .text = system_trees[i],
				     .from = from,
				     .via = "@system",
			     });
	return 0;
}

static int put_pattern(const struct ab_context *ctx, struct ab_value *v, const char *text,
		       const struct ab_origin *from, struct ab_complaint *why)
{
	bool back = text[0] == '!';

	return put_denied(ctx, v, text + back, back ? "!" : "", from, why);
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

static int put_name(const struct ab_context *ctx, struct ab_value *v, const char *text,
		    const struct ab_origin *from, struct ab_complaint *why)
{
	bool back = text[0] == '!';
	const char *name = text + back;
	ab_autofree char *path = NULL;

	if (ab_is_path_not_name(name))
		return put_denied(ctx, v, name, back ? "!" : "", from, why);
	if (ctx->builtin) {
		ab_value_add(ctx->arena, v, (struct ab_item){ .text = text, .from = from });
		return 0;
	}
	if (name[0] == '\0' || strlen(name) >= PATH_MAX || has_dotdot(name))
		return ab_complaint_value(
			why, text, "is not a name",
			"use one like \".git/hooks\", or a path like \"./build\"");
	path = ab_path_resolve(name, "/", NULL);
	ab_value_add(ctx->arena, v,
		     (struct ab_item){
			     .text = ab_arena_cat(ctx->arena, back ? "!" : "", path + 1),
			     .from = from,
		     });
	return 0;
}

static int put_group(const struct ab_context *ctx, struct ab_value *v, const char *text,
		     const struct ab_origin *from, struct ab_complaint *why)
{
	ab_autostrv struct ab_strv entries = { 0 };
	ab_autofree char *all = NULL;
	const char *via, *guess;
	/* The user's registries must not widen a list that binds the user. */
	bool bound = from->layer == AB_LAYER_MANAGED;

	if (!ab_group_expand(text + 1, bound ? NULL : ctx->home, bound ? NULL : ctx->environ,
			     &entries)) {
		guess = ab_guess(text + 1, ab_group_names, ab_group_count);
		if (guess)
			return ab_complaint_value(why, text, "is not a host group",
						  "did you mean \"@%s\"?", guess);
		all = ab_group_list();
		return ab_complaint_value(why, text, "is not a host group", "groups: %s", all);
	}
	via = ab_arena_dup(ctx->arena, text);
	for (size_t i = 0; i < entries.len; i++)
		add_text(ctx, v, entries.v[i], from, via);
	return 0;
}

static int put_host(const struct ab_context *ctx, struct ab_value *v, const char *text,
		    const struct ab_origin *from, struct ab_complaint *why)
{
	char buf[AB_HOST_ENTRY_TEXT];
	struct ab_host_entry e;

	if (text[0] == '@')
		return put_group(ctx, v, text, from, why);
	if (ab_host_entry_parse(text, strlen(text), &e, why) < 0)
		return -1;
	ab_host_entry_format(&e, buf);
	add_text(ctx, v, buf, from, NULL);
	return 0;
}

static int put_cidr(const struct ab_context *ctx, struct ab_value *v, const char *text,
		    const struct ab_origin *from, struct ab_complaint *why)
{
	char buf[AB_CIDR_TEXT];
	struct ab_cidr c;

	if (ab_cidr_parse(text, strlen(text), &c, why) < 0)
		return -1;
	ab_cidr_format(&c, buf);
	add_text(ctx, v, buf, from, NULL);
	return 0;
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

static int put_variable(const struct ab_context *ctx, struct ab_value *v, const char *text,
			const struct ab_origin *from, struct ab_complaint *why)
{
	if (!ctx->builtin && !ab_is_variable(text, strlen(text), "*?"))
		return ab_complaint_value(why, text, "is not a valid variable name",
					  "use one like LANG or *_TOKEN");
	if (ctx->builtin)
		ab_value_add(ctx->arena, v, (struct ab_item){ .text = text, .from = from });
	else
		add_text(ctx, v, text, from, NULL);
	return 0;
}

static int put_assignment(const struct ab_context *ctx, struct ab_value *v, const char *text,
			  const struct ab_origin *from, struct ab_complaint *why)
{
	enum { VALUE_MAX = 128 * 1024 - 512 }; /* the kernel's limit for one string in execve */
	size_t n = strcspn(text, "=");
	ab_autofree char *name = ab_strndup(text, n);

	if (text[n] != '=')
		return ab_complaint_value(why, text, "has no value", "use NAME=VALUE");
	if (ab_variable_check(text, n, false, why) < 0)
		return -1;
	if (strlen(text) > VALUE_MAX)
		return ab_complaint_value(why, name, "has a value that is too long",
					  "at most 127 KiB");
	for (size_t i = 0; i < v->len; i++)
		if (strncmp(v->items[i].text, text, n + 1) == 0) {
			v->items[i].text = ab_arena_dup(ctx->arena, text);
			v->items[i].from = from;
			return 0;
		}
	add_text(ctx, v, text, from, NULL);
	return 0;
}

static int put_property(const struct ab_context *ctx, struct ab_value *v, const char *text,
			const struct ab_origin *from, struct ab_complaint *why)
{
	bool several = from->layer == AB_LAYER_ENVIRONMENT || from->layer == AB_LAYER_FLAG;
	size_t n = strcspn(text, several ? "," : "");
	ab_autofree char *word = ab_strndup(text, n);
	const char *guess;

	for (int i = 0; i < AB_PROP_COUNT; i++) {
		if (strcmp(ab_property_names[i], word) != 0)
			continue;
		ab_value_add(ctx->arena, v,
			     (struct ab_item){
				     .text = ab_property_names[i],
				     .from = from,
			     });
		return text[n] ? put_property(ctx, v, text + n + 1, from, why) : 0;
	}
	guess = ab_guess(word, ab_property_names, AB_PROP_COUNT);
	if (guess)
		return ab_complaint_value(why, word, "is not a guarantee", "did you mean \"%s\"?",
					  guess);
	return ab_complaint_value(why, word, "is not a guarantee",
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
static int put_presets(const struct ab_context *ctx, struct ab_value *v, const char *text,
		       const struct ab_origin *from, struct ab_complaint *why)
{
	bool several = from->layer >= AB_LAYER_ENVIRONMENT;

	for (;;) {
		size_t n = strcspn(text, several ? "," : "");
		ab_autofree char *word = ab_strndup(text, n);

		if (strcmp(word, AB_TOOLCHAIN_AUTO) != 0 && !ab_toolchain_find(word))
			return refuse_preset(word, why);
		if (!ab_value_find(v, word))
			add_text(ctx, v, word, from, NULL);
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

static int put_notice(const struct ab_context *ctx, const struct ab_key *key, struct ab_value *v,
		      const char *text, const struct ab_origin *from, struct ab_complaint *why)
{
	int i = find_word(key, text, why);

	if (i < 0)
		return -1;
	ab_value_add(ctx->arena, v, (struct ab_item){ .text = key->words[i].name, .from = from });
	return 0;
}

/* One host: a pattern or a range has no entry in known_hosts. */
static int put_ssh_host(const struct ab_context *ctx, struct ab_value *v, const char *text,
			const struct ab_origin *from, struct ab_complaint *why)
{
	char buf[AB_HOST_ENTRY_TEXT];
	struct ab_host_entry e;

	if (text[0] == '@' || strchr(text, '@'))
		return ab_complaint_value(why, text, "is not a host",
					  "use one like github.com; ssh.users lists user names");
	if (ab_host_entry_parse(text, strlen(text), &e, why) < 0)
		return -1;
	if (e.below ||
	    (e.host.kind != AB_HOST_NAME && e.bits != (e.host.kind == AB_HOST_IPV4 ? 32 : 128)))
		return ab_complaint_value(why, text, "is not one host",
					  "name each host: known_hosts must have its key");
	ab_host_entry_format(&e, buf);
	add_text(ctx, v, buf, from, NULL);
	return 0;
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

	if (strncmp(text, mark, n) != 0 || strlen(text + n) != 43)
		return false;
	for (text += n; *text; text++)
		if (!ab_is_alnum(*text) && *text != '+' && *text != '/')
			return false;
	return true;
}

static bool is_user_name(const char *text)
{
	size_t n = 0;

	while (text[n] > ' ' && text[n] < 0x7f)
		n++;
	return n > 0 && n <= 64 && !text[n];
}

static int put_ssh_word(const struct ab_context *ctx, bool key, struct ab_value *v,
			const char *text, const struct ab_origin *from, struct ab_complaint *why)
{
	if (strcmp(text, "all") == 0) {
		v->all = true;
		return 0;
	}
	if (key && !is_fingerprint(text))
		return ab_complaint_value(why, text, "is not the fingerprint of a key",
					  "use one like SHA256:..., which ssh-add -l shows");
	if (!key && !is_user_name(text))
		return ab_complaint_value(why, text, "is not a user name", "use one like git");
	add_text(ctx, v, text, from, NULL);
	return 0;
}

static int put_image(const struct ab_context *ctx, struct ab_value *v, const char *text,
		     const struct ab_origin *from, struct ab_complaint *why)
{
	ab_autofree char *name = ab_image_short(text, true);

	if (!name)
		return ab_complaint_value(why, text, "is not the name of an image",
					  "use one like \"postgres:16\" or \"redis:*\"");
	ab_value_add(ctx->arena, v,
		     (struct ab_item){ .text = ab_arena_dup(ctx->arena, name), .from = from });
	return 0;
}

static int put_element(const struct ab_context *ctx, const struct ab_key *key, struct ab_value *v,
		       const char *text, const struct ab_origin *from, struct ab_complaint *why)
{
	switch (key->type) {
	case AB_TYPE_PATHS:
		return put_root(ctx, v, text, from, why);
	case AB_TYPE_READ:
		return put_read(ctx, v, text, from, why);
	case AB_TYPE_PATTERNS:
		return put_pattern(ctx, v, text, from, why);
	case AB_TYPE_NAMES:
		return put_name(ctx, v, text, from, why);
	case AB_TYPE_HOSTS:
		return put_host(ctx, v, text, from, why);
	case AB_TYPE_CIDRS:
		return put_cidr(ctx, v, text, from, why);
	case AB_TYPE_PORTS:
		return ab_host_port_put(ctx, v, text, from, why);
	case AB_TYPE_PUBLISH:
		return ab_publish_put(ctx, v, text, from, why);
	case AB_TYPE_IMAGES:
		return put_image(ctx, v, text, from, why);
	case AB_TYPE_VARIABLES:
		return put_variable(ctx, v, text, from, why);
	case AB_TYPE_ASSIGNMENTS:
		return put_assignment(ctx, v, text, from, why);
	case AB_TYPE_PROPERTIES:
		return put_property(ctx, v, text, from, why);
	case AB_TYPE_NOTICES:
	case AB_TYPE_SSH_SIGN:
		return put_notice(ctx, key, v, text, from, why);
	case AB_TYPE_SSH_HOSTS:
		return put_ssh_host(ctx, v, text, from, why);
	case AB_TYPE_SSH_KEYS:
	case AB_TYPE_SSH_USERS:
		return put_ssh_word(ctx, key->type == AB_TYPE_SSH_KEYS, v, text, from, why);
	case AB_TYPE_PRESETS:
		return put_presets(ctx, v, text, from, why);
	case AB_TYPE_OVERRIDES:
		return ab_override_put(ctx, v, text, from, why);
	case AB_TYPE_TOOLS:
		return ab_tool_put(ctx, v, text, from, why);
	case AB_TYPE_SECRETS:
		return ab_secret_put(ctx, v, text, from, why);
	case AB_TYPE_HOST_TOOLS:
		return ab_complaint_say(why, "set it in a settings file",
					"a tool cannot be written as one string");
	case AB_TYPE_RULES:
	case AB_TYPE_HTTP:
		return ab_complaint_say(why, "set it in a settings file",
					"a rule cannot be written as one string");
	case AB_TYPE_PROFILE:
	case AB_TYPE_WORD:
	case AB_TYPE_SIZE:
	case AB_TYPE_DURATION:
	case AB_TYPE_INTEGER:
	case AB_TYPE_UPSTREAM:
	case AB_TYPE_SOCKET:
		break;
	}
	return -1;
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
	for (size_t i = 0; i < v->len; i++)
		if (strcmp(v->items[i].text, text) == 0)
			return &v->items[i];
	return NULL;
}

void ab_value_add(struct ab_arena *a, struct ab_value *v, struct ab_item item)
{
	if (v->len == v->room)
		ab_value_reserve(a, v, v->room ? 2 * v->room : 8);
	v->items[v->len++] = item;
}

static int put_word(const struct ab_key *key, struct ab_value *v, const char *text,
		    struct ab_complaint *why)
{
	int i = find_word(key, text, why);

	if (i < 0)
		return -1;
	v->number = (uint64_t)i;
	return 0;
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

static int put_number(const struct ab_key *key, struct ab_value *v, const char *text,
		      struct ab_complaint *why)
{
	char lo[48], hi[48];
	uint64_t n = 0;

	if (key->none && strcmp(text, "none") == 0) {
		v->number = AB_NONE;
		return 0;
	}
	switch (key->type) {
	case AB_TYPE_SIZE:
		if (ab_parse_size(text, &n) != 0)
			return ab_complaint_value(why, text, "is not a size",
						  "use one like \"512M\" or \"4G\"");
		break;
	case AB_TYPE_DURATION:
		if (ab_parse_duration(text, &n) != 0)
			return ab_complaint_value(why, text, "is not a duration",
						  "use one like \"90s\" or \"1h30m\"");
		break;
	default:
		/* A size without a unit is digits only: the same grammar. */
		if (strspn(text, "0123456789") != strlen(text) || ab_parse_size(text, &n) != 0)
			return ab_complaint_value(why, text, "is not a number",
						  "use one from %s to %s",
						  format_number(key, key->min, lo),
						  format_number(key, key->max, hi));
		break;
	}
	if (n < key->min || n > key->max)
		return ab_complaint_value(why, text, "is out of range", "use %s to %s%s",
					  format_number(key, key->min, lo),
					  format_number(key, key->max, hi),
					  key->none ? ", or \"none\"" : "");
	v->number = n || !key->none ? n : AB_NONE;
	return 0;
}

static int put_profile(const struct ab_context *ctx, struct ab_value *v, const char *text,
		       struct ab_complaint *why)
{
	if (!ab_is_variable(text, strlen(text), "-."))
		return ab_complaint_value(why, text, "is not a valid profile name",
					  "use letters, digits, - and _");
	v->text = ab_arena_dup(ctx->arena, text);
	return 0;
}

static int put_upstream(const struct ab_context *ctx, struct ab_value *v, const char *text,
			struct ab_complaint *why)
{
	ab_autofree char *canonical = NULL;
	struct ab_proxy_url url;

	if (strcmp(text, "none") != 0 && strcmp(text, "env") != 0) {
		if (ab_proxy_url_parse(text, strlen(text), &url, why) < 0)
			return -1;
		canonical = ab_proxy_url_format(&url);
	}
	v->text = ab_arena_dup(ctx->arena, canonical ? canonical : text);
	return 0;
}

static int put_socket(const struct ab_context *ctx, struct ab_value *v, const char *text,
		      struct ab_complaint *why)
{
	v->text = strcmp(text, "auto") == 0 ? "auto" : ab_list_element_path(ctx, text, why);
	return v->text ? 0 : -1;
}

static int put_scalar(const struct ab_context *ctx, enum ab_key_id id, struct ab_value *v,
		      const char *text, const struct ab_origin *from, struct ab_complaint *why)
{
	const struct ab_key *key = &ab_keys[id];

	switch (key->type) {
	case AB_TYPE_PROFILE:
		return put_profile(ctx, v, text, why);
	case AB_TYPE_WORD:
		return put_word(key, v, text, why);
	case AB_TYPE_SIZE:
	case AB_TYPE_DURATION:
	case AB_TYPE_INTEGER:
		return put_number(key, v, text, why);
	case AB_TYPE_UPSTREAM:
		return put_upstream(ctx, v, text, why);
	case AB_TYPE_SOCKET:
		return put_socket(ctx, v, text, why);
	case AB_TYPE_PATHS:
	case AB_TYPE_READ:
	case AB_TYPE_PATTERNS:
	case AB_TYPE_NAMES:
	case AB_TYPE_HOSTS:
	case AB_TYPE_CIDRS:
	case AB_TYPE_PORTS:
	case AB_TYPE_PUBLISH:
	case AB_TYPE_IMAGES:
	case AB_TYPE_VARIABLES:
	case AB_TYPE_ASSIGNMENTS:
	case AB_TYPE_PROPERTIES:
	case AB_TYPE_NOTICES:
	case AB_TYPE_SSH_HOSTS:
	case AB_TYPE_SSH_KEYS:
	case AB_TYPE_SSH_USERS:
	case AB_TYPE_SSH_SIGN:
	case AB_TYPE_PRESETS:
	case AB_TYPE_RULES:
	case AB_TYPE_OVERRIDES:
	case AB_TYPE_TOOLS:
	case AB_TYPE_SECRETS:
	case AB_TYPE_HOST_TOOLS:
	case AB_TYPE_HTTP:
		return put_element(ctx, key, v, text, from, why);
	}
	return -1;
}

int ab_value_put(const struct ab_context *ctx, enum ab_key_id id, struct ab_value *v,
		 const char *text, const struct ab_origin *from, struct ab_complaint *why)
{
	if (v->len >= AB_LIST_MAX)
		return ab_complaint_say(why, "name a folder or use a pattern",
					"more than %d entries", AB_LIST_MAX);
	if (put_scalar(ctx, id, v, text, from, why) < 0)
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
