#include "policy/layers/layers.h"

#include <linux/openat2.h>

#include "agents/agents.h"
#include "base/system/folder.h"
#include "base/text/guess.h"
#include "base/text/json_scan.h"
#include "base/text/words.h"
#include "policy/layers/load.h"
#include "policy/layers/profiles.h"
#include "policy/layers/trust.h"
#include "policy/model/list_element.h"
#include "policy/read/settings_file.h"
#include "policy/toolchains/registries.h"
#include "policy/toolchains/tool_places.h"
#include "policy/values/complaint.h"
#include "policy/values/paths.h"

enum { DEPTH = 8, CLOSED_NAMES = 192 };

struct ab_context ab_load_context(const struct ab_load *l)
{
	return (struct ab_context){
		.arena = l->arena,
		.base = l->workspace,
		.home = l->in->home,
		.follows = true,
		.registries = l->policy->store->registries,
		.environ = l->in->environ,
		.places = l->policy->store->places,
	};
}

/* An entry that hides also hides what a variable has moved, by its name: a star in it is no pattern. */
static void put_text(const struct ab_context *ctx, struct ab_config *c, enum ab_key_id id,
		     const char *text, const struct ab_origin *from)
{
	ab_value_put(ctx, id, &c->v[id], text, from, NULL);
	for (const struct ab_tool_place *p = ctx->places; p && id == AB_KEY_DENY_READ;
	     p = p->next) {
		ab_autofree char *to = p->from[1] ? ab_tool_place_path(p, text) : NULL;

		for (size_t i = 0; to && i < strlen(p->to) + (*text == '!'); i++)
			if (strchr("*?[\\", to[i]))
				to[i] = '?';
		if (to)
			ab_value_put(ctx, id, &c->v[id], ab_arena_dup(ctx->arena, to), from, NULL);
	}
}

static void put_all(const struct ab_context *ctx, struct ab_config *c, enum ab_key_id id,
		    const char *const *texts, const struct ab_origin *from)
{
	size_t n = 0;

	while (texts[n])
		n++;
	/* Room also for what the last step adds. */
	ab_value_reserve(ctx->arena, &c->v[id], n + 8);
	for (; *texts; texts++)
		put_text(ctx, c, id, *texts, from);
	c->v[id].from = from;
}

/* The words of a list, each with `before` in front of it. */
static void put_words(const struct ab_context *ctx, struct ab_config *c, enum ab_key_id id,
		      const char *before, const char *list, const struct ab_origin *from)
{
	size_t room = strlen(before), len;
	const char *word;

	while ((word = ab_word_next(&list, &len))) {
		if (room || word[len]) {
			char *text = ab_arena_alloc(ctx->arena, room + len + 1);

			memcpy(text, before, room);
			memcpy(text + room, word, len);
			word = text;
		}
		put_text(ctx, c, id, word, from);
		c->v[id].from = from;
	}
}

static void put_agent(const struct ab_context *ctx, const struct ab_agent *a, struct ab_config *c,
		      const struct ab_origin *from)
{
	const struct {
		enum ab_key_id id;
		const char *before, *list;
	} lists[] = {
		{ AB_KEY_SHARE, "", a->share },	      { AB_KEY_DENY_WRITE, "", a->closed },
		{ AB_KEY_RETURN, "", a->login.path }, { AB_KEY_DENY_READ, "!", a->credentials },
		{ AB_KEY_NET_ALLOW, "", a->hosts },   { AB_KEY_NET_QUIET, "", a->quiet },
		{ AB_KEY_ENV_PASS, "", a->keys },     { AB_KEY_ENV_SET, "", a->set },
	};

	ab_value_put(ctx, AB_KEY_ENV_SET, &c->v[AB_KEY_ENV_SET], ab_sandbox_note, from, NULL);
	for (size_t i = 0; i < AB_COUNT(lists); i++) {
		put_words(ctx, c, lists[i].id, lists[i].before, lists[i].list, from);
		if (lists[i].list)
			c->v[lists[i].id].only = from;
	}
}

/* The first profile sets every key. */
static void put_defaults(const struct ab_context *ctx, struct ab_config *c,
			 const struct ab_origin *from)
{
	const struct ab_obeyed *row;

	put_all(ctx, c, AB_KEY_DENY_READ, ab_default_deny_read, from);
	for (size_t i = 0; ab_agents[i]; i++) {
		put_words(ctx, c, AB_KEY_DENY_READ, "", ab_agents[i]->credentials, from);
		put_words(ctx, c, AB_KEY_DENY_READ, "", ab_agents[i]->more_credentials, from);
	}
	ab_value_reserve(ctx->arena, &c->v[AB_KEY_DENY_WRITE], CLOSED_NAMES);
	for (size_t i = 0; (row = ab_obeyed_row(i)); i++)
		put_words(ctx, c, AB_KEY_DENY_WRITE, "", row->closed, from);
	put_all(ctx, c, AB_KEY_ENV_STRIP, ab_default_strip, from);
	for (int id = AB_KEY_EXTENDS + 1; id < AB_KEY_COUNT; id++) {
		if (c->v[id].from)
			continue;
		put_words(ctx, c, id, "", ab_keys[id].usual, from);
		c->v[id].from = c->v[id].only = from;
	}
}

static void put_builtin(struct ab_load *l, const struct ab_profile *p, struct ab_config *c)
{
	struct ab_context ctx = ab_load_context(l);
	struct ab_origin *from = ab_origin_new(l->arena, AB_LAYER_PROFILE, p->name);

	ctx.builtin = true;
	for (size_t i = 0; i < p->npresets; i++) {
		const struct ab_preset *s = &p->presets[i];

		put_words(&ctx, c, s->key, "", s->value, from);
		c->v[s->key].from = from;
		c->v[s->key].only = from;
	}
	if (p->agent)
		put_agent(&ctx, p->agent, c, from);
	if (!p->parent)
		put_defaults(&ctx, c, from);
}

static void load_builtin(struct ab_load *l, const struct ab_profile *p, struct ab_config *base)
{
	struct ab_config layer;
	struct ab_profile parent;

	if (!p->parent || !ab_profile_find(p->parent, &parent)) {
		put_builtin(l, p, base);
		return;
	}
	load_builtin(l, &parent, base);
	memset(&layer, 0, sizeof(layer));
	put_builtin(l, p, &layer);
	ab_config_merge(l->arena, base, &layer);
}

static int refuse_profile(struct ab_load *l, const char *name, const struct ab_origin *from)
{
	ab_autostrv struct ab_strv names = { 0 };
	ab_autofree char *where = from ? ab_origin_place(from) : NULL;
	const char *guess;

	ab_policy_profiles(l->in, &names, NULL);
	guess = ab_guess(name, (const char *const *)names.v, names.len);
	ab_fail(l->err, from && from->line ? AB_ECONFIG : AB_EUSAGE, 0,
		"%s%sunknown profile \"%s\"", where ? where : "", where ? ": " : "", name);
	if (guess)
		return ab_hint(l->err, "did you mean \"%s\"?", guess);
	return ab_hint(l->err, "list them with: agentbox profile list");
}

static char *profile_path(const struct ab_policy_input *in, const char *name)
{
	ab_autofree char *dir = ab_config_dir(in->environ, in->home);

	if (!dir || name[0] == '.' || strchr(name, '/'))
		return NULL;
	return ab_printf("%s/profiles/%s.json", dir, name);
}

int ab_load_profile(struct ab_load *l, const char *name, const struct ab_origin *from, int depth,
		    struct ab_config *base)
{
	const struct ab_value *parent;
	ab_autofree char *path = NULL;
	struct ab_profile built_in;
	struct ab_config layer;
	bool exists = false;

	if (ab_profile_find(name, &built_in)) {
		load_builtin(l, &built_in, base);
		return 0;
	}
	if (depth >= DEPTH)
		return ab_fail(
			l->err, AB_ECONFIG, 0,
			"%s:%u:%u: extends: profiles extend each other in a circle, or more than %d levels deep",
			from->name, from->line, from->column, DEPTH);
	path = profile_path(l->in, name);
	memset(&layer, 0, sizeof(layer));
	if (path && ab_load_file(l, AB_LAYER_PROFILE, path, &layer, NULL, &exists) < 0)
		return -1;
	if (!exists)
		return refuse_profile(l, name, from);
	parent = &layer.v[AB_KEY_EXTENDS];
	if (ab_load_profile(l, parent->from ? parent->text : "default", parent->from, depth + 1,
			    base) < 0)
		return -1;
	ab_config_merge(l->arena, base, &layer);
	return 0;
}

/* What the file says about itself; else its path. A file with a mistake has no description. */
static char *describe_profile(const char *path)
{
	ab_autoscan struct ab_json_scan scan = { 0 };
	ab_autofree char *text = NULL;
	struct ab_error none = { 0 };
	size_t len;

	if (ab_settings_file_read_own(path, path, false, &text, &len, &none) < 0 || !text ||
	    ab_jsonc_scan_parse(&scan, text, len) < 0 || scan.nodes->kind != '{')
		return ab_strdup(path);
	ab_json_scan_each(k, scan.nodes) if (strcmp(k->key, "description") == 0 && k->text &&
					     *k->text) return ab_strdup(k->text);
	return ab_strdup(path);
}

void ab_policy_profiles(const struct ab_policy_input *in, struct ab_strv *ret_names,
			struct ab_strv *ret_docs)
{
	ab_autofree char *dir = ab_config_dir(in->environ, in->home);
	ab_autofree char *path = dir ? ab_printf("%s/profiles", dir) : NULL;
	ab_autostrv struct ab_strv own = { 0 };
	ab_autodir DIR *d = path ? opendir(path) : NULL;
	struct ab_profile built_in;
	struct dirent *e;

	for (size_t i = 0; ab_profile_at(i, &built_in); i++) {
		ab_strv_add(ret_names, built_in.name);
		if (ret_docs)
			ab_strv_add(ret_docs, built_in.doc);
	}
	while (d && (e = readdir(d))) {
		size_t n = strlen(e->d_name);
		ab_autofree char *name = NULL;

		if (n <= 5 || strcmp(e->d_name + n - 5, ".json") != 0 || e->d_name[0] == '.')
			continue;
		name = ab_strndup(e->d_name, n - 5);
		/* A built-in name always means the built-in profile. */
		if (!ab_profile_find(name, &built_in))
			ab_strv_add(&own, name);
	}
	ab_strv_sort(&own);
	for (size_t i = 0; i < own.len; i++) {
		ab_strv_add(ret_names, own.v[i]);
		if (ret_docs) {
			ab_autofree char *file = ab_printf("%s/%s.json", path, own.v[i]);

			ab_strv_give(ret_docs, describe_profile(file));
		}
	}
}

char *ab_policy_file_name(const struct ab_policy_input *in, const char *path)
{
	size_t n = strlen(in->cwd);

	if (n > 1 && ab_path_within(path, in->cwd) && path[n])
		return ab_strdup(path + n + 1);
	n = in->home ? strlen(in->home) : 0;
	if (n > 1 && ab_path_within(path, in->home) && path[n])
		return ab_printf("~%s", path + n);
	return ab_strdup(path);
}

const char *ab_load_user_text(const struct ab_policy_input *in)
{
	return in->config && in->config[0] == '{' ? in->config : NULL;
}

char *ab_load_user_path(const struct ab_policy_input *in, bool *ret_must)
{
	const char *named = in->config;
	ab_autofree char *dir = NULL;

	if (!named)
		named = ab_environ_get(in->environ, "AGENTBOX_CONFIG");
	*ret_must = named && named[0];
	if (ab_load_user_text(in)) {
		*ret_must = false;
		return NULL;
	}
	if (*ret_must)
		return ab_path_resolve(named, in->cwd, in->home);
	dir = ab_config_dir(in->environ, in->home);
	return dir ? ab_path_join(dir, "config.json") : NULL;
}

static void set_workspace(struct ab_load *l, const char *path)
{
	struct ab_policy_store *store = l->policy->store;

	l->workspace = ab_arena_dup(l->arena, path);
	store->places = ab_tool_places_find(l->arena, l->in->environ, l->in->home, l->in->cwd,
					    l->workspace);
	store->registries = ab_registries_find(l->arena, store->places);
}

int ab_load_init(struct ab_load *l, const struct ab_policy_input *in, struct ab_strv *notes,
		 struct ab_error *err)
{
	struct ab_policy *p = ab_alloc(sizeof(*p));
	ab_autofree char *path = NULL;
	struct stat st;

	p->store = ab_alloc(sizeof(*p->store));
	*l = (struct ab_load){
		.in = in,
		.policy = p,
		.arena = &p->store->arena,
		.chosen = in->workspace != NULL,
		.notes = notes,
		.err = err,
	};
	if (!l->chosen) {
		set_workspace(l, in->cwd);
		return 0;
	}
	path = ab_path_resolve(in->workspace, in->cwd, in->home);
	if (!path)
		return ab_fail(err, AB_EUSAGE, 0, "--workspace: \"%s\" is not a folder",
			       in->workspace);
	if (strcmp(path, "/") == 0) {
		ab_fail(err, AB_EUSAGE, 0,
			"--workspace: the whole file system cannot be the workspace");
		return ab_hint(err, "name a project folder");
	}
	if (stat(path, &st) < 0)
		return ab_fail(err, AB_EUSAGE, errno, "--workspace: %s", path);
	if (!S_ISDIR(st.st_mode))
		return ab_fail(err, AB_EUSAGE, 0, "--workspace: %s is not a folder", path);
	set_workspace(l, path);
	return 0;
}

/* The home of the account, in the arena; NULL: it is not known. */
static const char *find_account_home(struct ab_load *l)
{
	ab_autofree char *home =
		l->in->account_home ? ab_strdup(l->in->account_home) : ab_account_home(getuid());
	ab_autofree char *clean = home ? ab_path_resolve(home, "/", NULL) : NULL;

	return clean ? ab_arena_dup(l->arena, clean) : NULL;
}

static int parse_text(struct ab_load *l, enum ab_layer layer, bool trusted, const char *path,
		      const char *text, size_t len, struct ab_config *ret,
		      struct ab_config *ret_managed)
{
	ab_autoproblems struct ab_problems problems = { 0 };
	ab_autofree char *name = ab_policy_file_name(l->in, path);
	struct ab_context ctx = ab_load_context(l);

	ctx.untrusted = !trusted;
	if (ret_managed && memchr(text, '~', len))
		ctx.account = find_account_home(l);
	ab_settings_file_parse(&ctx, layer, ab_arena_dup(l->arena, name), text, len, ret,
			       ret_managed, &problems);
	return problems.wrong.len ? ab_settings_file_fail(&problems, l->err) : 0;
}

/* The project's file is judged by trust, all others by their owner. Tests name another system file, which
 * is theirs. */
static int read_layer(const struct ab_load *l, enum ab_layer layer, const char *path,
		      char **ret_text, size_t *ret_len)
{
	const struct ab_strv *absent = layer == AB_LAYER_SYSTEM ? NULL : l->in->absent;
	ab_autofree char *name = ab_policy_file_name(l->in, path);

	if (absent && ab_path_within_any(path, absent)) {
		*ret_text = NULL;
		*ret_len = 0;
		return 0;
	}
	if (layer == AB_LAYER_PROJECT)
		return ab_settings_file_read(path, name, true, ret_text, ret_len, l->err);
	return ab_settings_file_read_own(path, name,
					 layer == AB_LAYER_SYSTEM && !l->in->system_config,
					 ret_text, ret_len, l->err);
}

/* The layers that are files, apart from the profile. */
struct files {
	struct ab_config system, managed, user, project;
	bool trusted; /* the project's */
};

int ab_load_file(struct ab_load *l, enum ab_layer layer, const char *path, struct ab_config *ret,
		 struct ab_config *ret_managed, bool *ret_exists)
{
	ab_autofree char *text = NULL;
	size_t len;

	if (read_layer(l, layer, path, &text, &len) < 0)
		return -1;
	*ret_exists = text != NULL;
	return text ? parse_text(l, layer, true, path, text, len, ret, ret_managed) : 0;
}

static int load_system(struct ab_load *l, struct files *f)
{
	const char *path = l->in->system_config ? l->in->system_config : AB_SYSTEM_CONFIG;
	bool exists;

	return ab_load_file(l, AB_LAYER_SYSTEM, path, &f->system, &f->managed, &exists);
}

static int load_user(struct ab_load *l, struct files *f)
{
	const char *by = l->in->config ? "--config" : "AGENTBOX_CONFIG";
	const char *tool = l->in->config_text;
	const char *text = tool ? tool : ab_load_user_text(l->in);
	ab_autofree char *path = NULL;
	bool must, exists = false;

	if (text)
		return parse_text(l, AB_LAYER_USER, true,
				  tool ? "the settings of the tool" : "--config", text,
				  strlen(text), &f->user, NULL);
	path = ab_load_user_path(l->in, &must);
	if (!path && must)
		return ab_fail(l->err, AB_EUSAGE, 0, "%s: \"%s\" is not a file", by,
			       l->in->config ? l->in->config : "");
	if (path && ab_load_file(l, AB_LAYER_USER, path, &f->user, NULL, &exists) < 0)
		return -1;
	if (must && !exists)
		return ab_fail(l->err, AB_EUSAGE, 0, "%s: %s does not exist", by, path);
	return 0;
}

/* The project's file, or, unless `real`, what is given instead. */
static int load_project(struct ab_load *l, bool real, const struct ab_project *given,
			struct files *f)
{
	ab_autofree char *path = ab_path_join(l->workspace, AB_PROJECT_CONFIG);
	ab_autofree char *text = NULL, *state = NULL;
	struct ab_project project = { 0 };

	if (real && !l->in->no_project &&
	    read_layer(l, AB_LAYER_PROJECT, path, &text, &project.len) < 0)
		return -1;
	project.text = text;
	if (given)
		project = *given;
	if (!project.text)
		return 0;
	if (text)
		state = ab_state_dir(l->in->environ, l->in->home, l->in->cwd);
	/* The bytes that are checked are the bytes that are parsed. */
	f->trusted = given || (state && ab_trust_check(state, path, project.text, project.len) ==
						AB_TRUST_HOLDS);
	return parse_text(l, AB_LAYER_PROJECT, f->trusted, path, project.text, project.len,
			  &f->project, NULL);
}

/* Is the program in the workspace, also through links? */
static bool is_of_workspace(const struct ab_load *l, const char *program)
{
	ab_autofree char *real = realpath(program, NULL), *root = realpath(l->workspace, NULL);

	return ab_path_within(program, l->workspace) || !real || !root ||
	       ab_path_within(real, root) || ab_path_within(program, root);
}

/* The profile that has the name of the program, or NULL. */
static const char *find_own_profile(const struct ab_load *l)
{
	const char *program = l->in->program;
	const char *name = program ? ab_path_name(program) : "";
	struct ab_profile built_in;
	ab_autofree char *path = NULL;

	if (!*name || is_of_workspace(l, program))
		return NULL;
	if (ab_profile_find(name, &built_in))
		return built_in.agent ? name : NULL;
	path = profile_path(l->in, name);
	return path && access(path, F_OK) == 0 ? name : NULL;
}

/* Load the profile that the last layer names. */
static int load_base_profile(struct ab_load *l, const struct files *f)
{
	const struct ab_config *by[] = {
		f->trusted ? &f->project : NULL,
		&f->user,
		&f->system,
	};
	const char *variable = ab_environ_get(l->in->environ, "AGENTBOX_PROFILE");
	const char *name = "default";
	struct ab_origin *from = ab_origin_new(l->arena, AB_LAYER_PROFILE, name);
	const struct ab_origin *why = from;

	if (l->in->profile) {
		name = l->in->profile;
		from->layer = AB_LAYER_FLAG;
		from->name = "--profile";
	} else if (variable && variable[0]) {
		name = variable;
		from->layer = AB_LAYER_ENVIRONMENT;
		from->name = "AGENTBOX_PROFILE";
	} else {
		for (size_t i = 0; i < AB_COUNT(by); i++) {
			const struct ab_value *v = by[i] ? &by[i]->v[AB_KEY_EXTENDS] : NULL;

			if (v && v->from) {
				name = v->text;
				why = v->from;
				break;
			}
		}
	}
	if (why == from && from->layer == AB_LAYER_PROFILE && find_own_profile(l)) {
		name = from->name = find_own_profile(l);
		if (l->notes)
			ab_strv_addf(l->notes,
				     "using profile %s, which has the name of the program "
				     "(--profile default: without it)",
				     name);
	}
	l->policy->profile = ab_arena_dup(l->arena, name);
	if (ab_load_profile(l, name, why, 0, &l->policy->store->config) < 0)
		return -1;
	l->policy->store->config.v[AB_KEY_EXTENDS].text = l->policy->profile;
	l->policy->store->config.v[AB_KEY_EXTENDS].from = why;
	return 0;
}

/* Is it reached without following a link? No if it does not exist: the project
 * could create a link there a moment later. */
static bool is_plain(const char *top, const char *path)
{
	ab_autoclose int dir = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);
	ab_autoclose int fd = -1;
	size_t n = strlen(top);

	if (dir < 0 || !ab_path_within(path, top) || !path[n])
		return false;
	path += n + (n > 1);
	fd = ab_open_real(dir, path, O_PATH, RESOLVE_BENEATH);
	return fd >= 0;
}

/* Records and layers belong to the runs of all folders, so one project must
 * not decide about them. */
static void drop_shared_keys(struct ab_load *l, struct files *f, const char *name)
{
	static const enum ab_key_id keys[] = { AB_KEY_KEEP_FOR, AB_KEY_KEEP_RUNS, AB_KEY_LAYERS_AGE,
					       AB_KEY_LAYERS_SIZE };

	for (size_t i = 0; i < AB_COUNT(keys); i++) {
		struct ab_value *value = &f->project.v[keys[i]];
		const char *key = ab_keys[keys[i]].path;

		if (value->from && l->notes)
			ab_strv_addf(l->notes,
				     "%s: %s is ignored: a project cannot decide "
				     "how long your %.*s are kept",
				     name, key, (int)strcspn(key, "."), key);
		*value = (struct ab_value){ 0 };
	}
}

static void note_ignored(struct ab_load *l, const char *name, const struct ab_strv *ignored)
{
	ab_strv_addf(l->notes, "%s is not trusted and asks for more (%zu key%s): agentbox trust",
		     name, ignored->len, ignored->len == 1 ? "" : "s");
	if (l->in->details)
		ab_strv_extend(l->notes, ignored);
}

static void merge_files(struct ab_load *l, struct files *f)
{
	struct ab_config *base = &l->policy->store->config;
	ab_autofree char *path = ab_path_join(l->workspace, AB_PROJECT_CONFIG);
	ab_autofree char *name = ab_policy_file_name(l->in, path);
	ab_autostrv struct ab_strv ignored = { 0 };

	/* `extends` has done its work; as a value it would look like a layer. */
	struct ab_value profile = base->v[AB_KEY_EXTENDS];

	/* A file that does not exist sets nothing. */
	drop_shared_keys(l, f, name);
	ab_config_merge(l->arena, base, &f->system);
	ab_config_merge(l->arena, base, &f->user);
	if (f->trusted)
		ab_config_merge(l->arena, base, &f->project);
	else
		ab_config_tighten(l->arena, base, &f->project, name, is_plain, &ignored);
	if (ignored.len && l->notes)
		note_ignored(l, name, &ignored);
	base->v[AB_KEY_EXTENDS] = profile;
}

/* "NAME=VARIABLE" of --pass-env: NAME with the value of the caller's VARIABLE; *ret NULL: it has none. */
static int find_renamed(const struct ab_load *l, const char *text, char **ret,
			struct ab_complaint *why)
{
	size_t n = strcspn(text, "=");
	const char *variable = text + n + 1, *value = ab_environ_get(l->in->environ, variable);

	if (!*variable || strchr(variable, '='))
		return ab_complaint_value(why, text,
					  "does not name the variable that has the value",
					  "use NAME, or NAME=VARIABLE");
	*ret = value ? ab_printf("%.*s=%s", (int)n, text, value) : NULL;
	return ab_variable_check(text, n, false, why);
}

static int put_setting(struct ab_load *l, struct ab_config *layer, enum ab_layer kind,
		       const struct ab_setting *s)
{
	const struct ab_key *key = ab_key_find(s->key, strlen(s->key));
	struct ab_context ctx = ab_load_context(l);
	struct ab_complaint why = { .right = "" };
	ab_autofree char *renamed = NULL;
	const struct ab_origin *from;
	const char *value = s->value;
	enum ab_key_id id;
	bool good = true;

	if (!key || key->type == AB_TYPE_PROFILE)
		return ab_fail(l->err, AB_EUSAGE, 0, "%s: unknown key %s", s->origin, s->key);
	id = (enum ab_key_id)(key - ab_keys);
	if (id == AB_KEY_ENV_PASS && strchr(value, '=')) {
		good = find_renamed(l, value, &renamed, &why) == 0;
		if (good && !renamed)
			return 0;
		value = renamed;
		id = AB_KEY_ENV_SET;
	}
	ctx.base = l->in->cwd;
	ctx.follows = false;
	from = ab_origin_new(l->arena, kind, ab_arena_dup(l->arena, s->origin));
	if (good && ab_value_put(&ctx, id, &layer->v[id], value, from, &why) == 0)
		return 0;
	ab_fail(l->err, AB_EUSAGE, 0, "%s: %s", s->origin, why.wrong);
	return ab_hint(l->err, "%s", why.right);
}

static int add_settings(struct ab_load *l, enum ab_layer kind, const struct ab_setting *v, size_t n)
{
	struct ab_config *base = &l->policy->store->config;
	struct ab_config layer;

	if (n == 0)
		return 0;
	memset(&layer, 0, sizeof(layer));
	for (size_t i = 0; i < n; i++) {
		const struct ab_setting *s = &v[i];
		const struct ab_key *key = ab_key_find(s->key, strlen(s->key));

		if (!s->value && key && ab_key_is_list(key)) {
			const struct ab_origin *from =
				ab_origin_new(l->arena, kind, ab_arena_dup(l->arena, s->origin));

			base->v[key - ab_keys] = (struct ab_value){ .from = from, .only = from };
		} else if (!s->value) {
			return ab_fail(l->err, AB_EUSAGE, 0, "%s needs a value", s->origin);
		} else if (put_setting(l, &layer, kind, s) < 0) {
			return -1;
		}
	}
	ab_config_merge(l->arena, base, &layer);
	return 0;
}

static void note_attempts(struct ab_load *l, const struct ab_strv *attempts)
{
	enum { SHOWN = 4 };
	ab_autobuf struct ab_buf line = { 0 };

	ab_buf_puts(&line, "managed settings (" AB_SYSTEM_CONFIG ") decide: ");
	for (size_t i = 0; i < attempts->len && i < SHOWN; i++)
		ab_buf_printf(&line, "%s%s", i ? "; " : "", attempts->v[i]);
	if (attempts->len > SHOWN)
		ab_buf_printf(&line, "; and %zu more", attempts->len - SHOWN);
	ab_strv_add(l->notes, line.data);
}

/* After all other layers. Presets are restricted before they add anything to other lists, and what
 * they add is restricted with the rest. */
static void apply_managed(struct ab_load *l, struct files *f)
{
	struct ab_policy_store *store = l->policy->store;
	struct ab_strv *kept = &l->policy->attempts;
	ab_autostrv struct ab_strv attempts = { 0 };

	ab_load_resolve_auto(l, &store->config.v[AB_KEY_WITH]);
	ab_load_resolve_auto(l, &f->managed.v[AB_KEY_WITH]);
	ab_config_restrict_key(l->arena, &store->config, &f->managed, AB_KEY_WITH, is_plain,
			       &attempts);
	ab_load_presets(l);
	ab_config_restrict(l->arena, &store->config, &f->managed, is_plain, &attempts);
	store->most_hosts = f->managed.v[AB_KEY_NET_ALLOW];
	store->most_published = f->managed.v[AB_KEY_PUBLISH];
	store->never_passed = f->managed.v[AB_KEY_ENV_STRIP];
	store->unknown_fixed = ab_config_fixes_unknown(&f->managed);
	if (!attempts.len)
		return;
	kept->v = ab_arena_alloc(l->arena, attempts.len * sizeof(char *));
	for (size_t i = 0; i < attempts.len; i++)
		kept->v[kept->len++] = ab_arena_dup(l->arena, attempts.v[i]);
	if (l->notes)
		note_attempts(l, &attempts);
}

static int load_layers(struct ab_load *l, bool real, const struct ab_project *project,
		       struct files *f)
{
	const struct ab_setting mode = {
		"network.mode",
		ab_environ_get(l->in->environ, "AGENTBOX_NET"),
		"AGENTBOX_NET",
	};

	if (load_system(l, f) < 0 || load_user(l, f) < 0 || load_project(l, real, project, f) < 0 ||
	    load_base_profile(l, f) < 0)
		return -1;
	merge_files(l, f);
	if (add_settings(l, AB_LAYER_ENVIRONMENT, &mode, mode.value && mode.value[0]) < 0 ||
	    add_settings(l, AB_LAYER_FLAG, l->in->settings, l->in->nsettings) < 0)
		return -1;
	apply_managed(l, f);
	return ab_load_finish(l);
}

int ab_load_policy(const struct ab_policy_input *in, bool real, const struct ab_project *project,
		   struct ab_policy **ret_policy, struct ab_strv *ret_notes, struct ab_error *err)
{
	struct files *f;
	struct ab_load l;
	int r = ab_load_init(&l, in, ret_notes, err);

	if (r == 0) {
		f = ab_arena_alloc(l.arena, sizeof(*f));
		r = load_layers(&l, real, project, f);
	}
	if (r < 0)
		ab_policy_free(l.policy);
	else
		*ret_policy = l.policy;
	return r;
}
