#include "policy/layers/load.h"

#include "base/system/linkwalk.h"
#include "policy/model/ports.h"
#include "policy/model/secrets_config.h"
#include "policy/toolchains/registries.h"
#include "policy/values/complaint.h"
#include "policy/values/host.h"
#include "policy/values/paths.h"

/* "!name" in denyWrite removes earlier entries. Resolve that here, so that the
 * code that protects names need not know about "!". */
static void drop_taken_back(struct ab_arena *a, struct ab_value *v)
{
	struct ab_value left = { .from = v->from, .only = v->only };
	bool any = false;

	for (size_t i = 0; i < v->len; i++)
		any |= v->items[i].text[0] == '!';
	if (!any)
		return;
	for (size_t i = 0; i < v->len; i++) {
		const char *text = v->items[i].text;

		if (text[0] != '!') {
			ab_value_add(a, &left, v->items[i]);
			continue;
		}
		for (size_t k = left.len; k-- > 0;)
			if (strcmp(left.items[k].text, text + 1) == 0) {
				memmove(left.items + k, left.items + k + 1,
					(left.len - k - 1) * sizeof(left.items[0]));
				left.len--;
			}
	}
	*v = left;
}

static void protect_path(struct ab_load *l, enum ab_key_id id, char *path)
{
	static const struct ab_origin always = { .layer = AB_LAYER_ALWAYS };
	struct ab_value *v = &l->policy->store->config.v[id];

	if (path)
		ab_value_add(l->arena, v,
			     (struct ab_item){
				     .text = ab_arena_dup(l->arena, path),
				     .from = &always,
			     });
	free(path);
}

/* The real paths of what this run can write. */
static void find_writable(const struct ab_config *c, struct ab_strv *ret_roots)
{
	static const enum ab_key_id keys[] = { AB_KEY_WRITE, AB_KEY_SHARE };

	for (size_t k = 0; k < AB_COUNT(keys); k++)
		for (size_t i = 0; i < c->v[keys[k]].len; i++) {
			const char *root = c->v[keys[k]].items[i].text;
			char *real = realpath(root, NULL);

			ab_strv_give(ret_roots, real ? real : ab_strdup(root));
		}
}

static void protect_writable(struct ab_load *l, const struct ab_strv *roots, const char *path)
{
	const struct ab_value *v = &l->policy->store->config.v[AB_KEY_DENY_WRITE];

	for (size_t i = 0; i < roots->len; i++)
		if (ab_path_within(path, roots->v[i]) && !ab_value_find(v, path))
			protect_path(l, AB_KEY_DENY_WRITE, ab_strdup(path));
}

/* As far as it exists there is no link on the way, so no other path leads to it. */
static bool is_plain(const char *path, bool *ret_exists)
{
	ab_autoclose int fd = -1;

	*ret_exists = true;
	if (path[0] != '/' || strstr(path, "//") || strstr(path, "/./") || strstr(path, "/.."))
		return false;
	fd = ab_open_real(AT_FDCWD, path, O_PATH, 0);
	*ret_exists = fd >= 0 || errno != ENOENT;
	return fd >= 0 || errno == ENOENT;
}

/* Host groups allow the hosts that these files name, so a box that writes one chooses the hosts of the
 * next run. That includes links on the way, and a file that does not exist yet. */
static void protect_registries(struct ab_load *l)
{
	ab_autostrv struct ab_strv roots = { 0 };

	find_writable(&l->policy->store->config, &roots);
	for (struct ab_registry_file *f = l->policy->store->registries; f; f = f->next) {
		ab_autolinkwalk struct ab_linkwalk w = { 0 };
		ab_autofree char *missing = NULL;
		enum ab_linkwalk_step step;
		bool plain, exists = true;

		/* Most are elsewhere, and one call says so. */
		plain = !ab_path_within_any(f->path, &roots) && is_plain(f->path, &exists);
		f->missing = !exists;
		if (plain)
			continue;
		ab_linkwalk_init(&w, "/", f->path);
		while ((step = ab_linkwalk_step(&w)) <= AB_LINKWALK_LINK)
			if (step == AB_LINKWALK_LINK)
				protect_writable(l, &roots, w.path);
		if (step == AB_LINKWALK_FAILED && w.path && w.left && *w.left)
			missing = ab_path_join(w.path, w.left);
		if (step == AB_LINKWALK_END)
			protect_writable(l, &roots, w.at);
		else if (w.path)
			protect_writable(l, &roots, missing ? missing : w.path);
	}
}

/* The box can never write agentbox's own files, whatever any layer says, and it
 * cannot even see the state folder (control sockets, records). */
static int protect_ours(struct ab_load *l)
{
	const struct ab_policy_input *in = l->in;
	char *state = ab_state_dir(in->environ, in->home, in->cwd);
	bool must;

	if (state && ab_path_within(l->workspace, state)) {
		ab_fail(l->err, AB_EUSAGE, 0,
			"the workspace %s is inside the state folder %s, which is hidden from the box",
			l->workspace, state);
		free(state);
		return ab_hint(l->err, "set AGENTBOX_STATE to another folder");
	}
	protect_path(l, AB_KEY_DENY_READ, state);
	protect_path(l, AB_KEY_DENY_WRITE, ab_strdup("/etc/agentbox"));
	protect_path(l, AB_KEY_DENY_WRITE, ab_config_dir(in->environ, in->home));
	protect_path(l, AB_KEY_DENY_WRITE, ab_path_join(l->workspace, AB_PROJECT_CONFIG));
	if (!in->registries_later)
		protect_registries(l);
	if (in->config || ab_environ_get(in->environ, "AGENTBOX_CONFIG"))
		protect_path(l, AB_KEY_DENY_WRITE, ab_load_user_path(in, &must));
	return 0;
}

/* Is it the home folder, or a folder that contains it? */
static bool holds_home(const char *path, const char *home)
{
	char real[PATH_MAX];

	if (!home)
		return strcmp(path, "/") == 0;
	return ab_path_within(home, path) || (realpath(home, real) && ab_path_within(real, path));
}

static int refuse_workspace(struct ab_load *l, const char *path)
{
	const char *what = strcmp(path, "/") == 0 ? "the whole file system" : "your home folder";

	if (l->in->home && strcmp(path, "/") != 0 && strcmp(path, l->in->home) != 0 &&
	    ab_path_within(l->in->home, path))
		ab_fail(l->err, AB_EUSAGE, 0,
			"%s, which contains your home folder, would be the writable workspace",
			path);
	else
		ab_fail(l->err, AB_EUSAGE, 0, "%s would be the writable workspace", what);
	return ab_hint(l->err, "cd into a project, or pass --workspace DIR");
}

/* Starting in the wrong folder must not make everything writable. */
static int check_workspace(struct ab_load *l)
{
	const struct ab_value *v = &l->policy->store->config.v[AB_KEY_WRITE];

	for (size_t i = 0; i < v->len; i++) {
		const struct ab_item *item = &v->items[i];

		if (l->in->judging && item->here)
			continue;
		if (!l->chosen && item->here && holds_home(item->text, l->in->home))
			return refuse_workspace(l, item->text);
		if (strcmp(item->text, "/") == 0) {
			ab_autofree char *from = ab_origin_place(item->from);

			ab_fail(l->err, item->from->line ? AB_ECONFIG : AB_EUSAGE, 0,
				"%s: the whole file system cannot be writable", from);
			return ab_hint(l->err, "list only the folders you need");
		}
	}
	l->policy->workspace = l->workspace;
	if (!l->chosen && holds_home(l->workspace, l->in->home))
		l->policy->workspace = "";
	return 0;
}

static int refuse_key(struct ab_load *l, enum ab_key_id key, const struct ab_origin *from,
		      const struct ab_complaint *why)
{
	/* An option has no line, and its name tells the key. */
	ab_autofree char *where = ab_origin_place(from);

	ab_fail(l->err, from->line ? AB_ECONFIG : AB_EUSAGE, 0, "%s: %s%s%s", where,
		from->line ? ab_keys[key].path : "", from->line ? ": " : "", why->wrong);
	return ab_hint(l->err, "%s", why->right);
}

static int check_ports(struct ab_load *l)
{
	struct ab_config *c = &l->policy->store->config;
	ab_autostrv struct ab_strv unread = { 0 };
	const struct ab_origin *from = NULL;
	struct ab_complaint why = { .right = "" };
	enum ab_key_id key;

	if (ab_ports_check(c, c->v[AB_KEY_EXTENDS].from, &key, &from, &why) == 0) {
		ab_listening_ports_drop(c, l->notes ? l->notes : &unread);
		return 0;
	}
	return refuse_key(l, key, from, &why);
}

/* Only the proxy can inject secrets. */
static int check_injection(struct ab_load *l)
{
	struct ab_config *c = &l->policy->store->config;
	const struct ab_value *v = &c->v[AB_KEY_SECRETS];
	const struct ab_value *mode = &c->v[AB_KEY_NET_MODE];
	ab_autofree char *where = mode->from ? ab_origin_text(mode->from) : NULL;
	struct ab_complaint why = { .right = "" };

	if (ab_keys[AB_KEY_NET_MODE].words[mode->number].number != AB_NET_ALLOWED || v->len == 0)
		return 0;
	for (size_t i = 0; i < v->len; i++) {
		if (!v->items[i].secret->wanted)
			continue;
		ab_complaint_say(&why, "pass --net filtered",
				 "needs network.mode filtered, but %s sets it to allowed", where);
		return refuse_key(l, AB_KEY_SECRETS, v->items[i].from, &why);
	}
	if (l->notes)
		ab_strv_addf(
			l->notes,
			"secrets are hidden, but none is injected: the network is allowed (%s)",
			where);
	return 0;
}

static int check_secrets(struct ab_load *l)
{
	struct ab_config *c = &l->policy->store->config;
	const struct ab_origin *from = NULL;
	struct ab_complaint why = { .right = "" };

	if (ab_secrets_finish(l->arena, c, &from, &why) < 0)
		return refuse_key(l, AB_KEY_SECRETS, from, &why);
	return check_injection(l);
}

/* A host of ssh.hosts must be reachable, too. */
static void allow_ssh_hosts(struct ab_load *l)
{
	struct ab_config *c = &l->policy->store->config;
	const struct ab_value *v = &c->v[AB_KEY_SSH_HOSTS];
	struct ab_value *allow = &c->v[AB_KEY_NET_ALLOW];

	for (size_t i = 0; i < v->len; i++) {
		char text[AB_HOST_ENTRY_TEXT];

		ab_ssh_host_format(v->items[i].text, text);
		ab_value_add_once(l->arena, allow, text, v->items[i].from, "ssh.hosts");
	}
}

int ab_load_finish(struct ab_load *l)
{
	struct ab_config *c = &l->policy->store->config;

	drop_taken_back(l->arena, &c->v[AB_KEY_DENY_WRITE]);
	if (check_workspace(l) < 0 || protect_ours(l) < 0 || check_ports(l) < 0 ||
	    check_secrets(l) < 0)
		return -1;
	allow_ssh_hosts(l);
	l->policy->home = l->in->home ? ab_arena_dup(l->arena, l->in->home) : NULL;
	ab_policy_fill(l->policy);
	l->policy->store->registries_protected = !l->in->registries_later;
	for (size_t i = 0; l->notes && i < l->policy->net.groups.len; i++)
		ab_registries_faults(l->policy->net.groups.v[i], l->policy->store->registries,
				     l->notes);
	return 0;
}

void ab_policy_protect_registries(struct ab_policy *policy, const struct ab_policy_input *in)
{
	struct ab_load l = { .in = in, .policy = policy, .arena = &policy->store->arena };
	size_t before = policy->store->config.v[AB_KEY_DENY_WRITE].len;

	if (policy->store->registries_protected)
		return;
	policy->store->registries_protected = true;
	protect_registries(&l);
	if (policy->store->config.v[AB_KEY_DENY_WRITE].len > before)
		ab_policy_fill_deny_write(policy);
}

void ab_policy_forget_registries(struct ab_policy *policy)
{
	policy->store->registries_protected = false;
}
