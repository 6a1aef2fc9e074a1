#include "session/host/facts.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/path.h"
#include "policy/model/policy.h"
#include "policy/values/paths.h"
#include "session/host/unix_sockets.h"
#include "workspace/tree/glob.h"

/* Private in every box. */
static const char *const private_folders[] = { "/tmp", "/var/tmp", "/run" };

/* Programs that people keep in their home folder: they stay usable when the
 * home itself is an empty one. */
static const char *const home_tools[] = {
	".gitconfig", ".config/git", ".local/bin", ".local/share/mise", ".cargo/bin", ".rustup",
	".nvm",	      ".pyenv",	     ".rbenv",	   ".sdkman",		".volta",     ".bun/bin",
	".deno/bin",  "go/bin",	     ".asdf",	   ".nix-profile",
};

/* Whoever talks to one of these is root on this machine. */
static const char *const root_sockets[] = {
	"docker.sock", "podman.sock", "containerd.sock", "crio.sock", "lxd.socket", "unix.socket",
};

static void add_private(struct ab_host_facts *site, const char *path)
{
	struct stat st;
	char *real = path && path[0] == '/' ? realpath(path, NULL) : NULL;

	if (real && stat(real, &st) == 0 && S_ISDIR(st.st_mode) &&
	    !ab_strv_has(&site->facts.privates, real))
		ab_strv_give(&site->facts.privates, real);
	else
		free(real);
}

/*
 * Show a path in an empty root: every link on the way is made anew, and the
 * object at the end is shown at its real place. What does not exist is left
 * out. The list comes from the user, the depth bound is for link loops.
 */
static void show(struct ab_objects *list, const char *path, int depth)
{
	ab_autofree char *at = ab_strdup("/");
	const char *rest = path;
	struct stat st;

	if (depth > 40 || lstat("/", &st) < 0)
		return;
	while (*rest) {
		char target[PATH_MAX];
		size_t n = strcspn(++rest, "/");
		ab_autofree char *name = ab_strndup(rest, n);
		char *next = ab_path_join(at, name);
		ssize_t len;

		free(at);
		at = next;
		rest += n;
		if (lstat(at, &st) < 0)
			return;
		if (!S_ISLNK(st.st_mode))
			continue;
		len = readlink(at, target, sizeof(target) - 1);
		if (len < 0)
			return;
		target[len] = '\0';
		ab_objects_add(list, at, AB_AS_LINK);
		ab_autofree char *base = ab_path_parent(at);
		ab_autofree char *whole = ab_printf("%s%s", target, rest);
		ab_autofree char *to = ab_path_resolve(whole, base, NULL);

		if (to)
			show(list, to, depth + 1);
		return;
	}
	ab_objects_add(list, at, S_ISDIR(st.st_mode) ? AB_AS_DIR : AB_AS_FILE);
}

static enum ab_as as_of(enum ab_node kind)
{
	switch (kind) {
	case AB_NODE_DIR:
		return AB_AS_DIR;
	case AB_NODE_LINK:
		return AB_AS_LINK;
	case AB_NODE_FILE:
	case AB_NODE_OTHER:
		return AB_AS_FILE;
	}
	return AB_AS_FILE;
}

static void take_survey(struct ab_host_facts *site)
{
	const struct ab_survey *s = &site->survey;

	for (size_t i = 0; i < s->write.len; i++) {
		struct stat st;

		if (stat(s->write.v[i], &st) == 0)
			ab_objects_add(&site->facts.write, s->write.v[i],
				       S_ISDIR(st.st_mode) ? AB_AS_DIR : AB_AS_FILE);
	}
	/* A read-only mount does not close a FIFO, a socket or a device. */
	for (size_t i = 0; i < s->nclosed; i++)
		ab_objects_add(s->closed[i].kind == AB_NODE_OTHER ? &site->facts.masked
								  : &site->facts.closed,
			       s->closed[i].path, as_of(s->closed[i].kind));
	/* A watched folder that can be renamed is watched no more. */
	for (size_t i = 0; i < s->nwatch; i++)
		ab_objects_add(&site->facts.pinned, s->watch[i].dir, AB_AS_DIR);
}

static int look_at_masks(const struct ab_policy *policy, const char *state,
			 struct ab_host_facts *site, struct ab_error *err)
{
	struct ab_guard *deny = NULL;
	size_t n = 0;

	if (ab_expand_deny(&policy->fs.deny_read, &deny, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		ab_objects_add(&site->facts.masked, deny[i].path, as_of(deny[i].kind));
	ab_guards_free(deny, n);
	if (state)
		ab_objects_add(&site->facts.masked, state, AB_AS_DIR);
	return 0;
}

/*
 * The answers of sessions (session/state/approvals.h). Usually a private folder
 * covers them. Where the box can write beside them it could make them itself,
 * so they must be there to be hidden.
 */
static void look_at_answers(const char *runtime, struct ab_host_facts *site)
{
	ab_autofree char *real = runtime && runtime[0] == '/' ? realpath(runtime, NULL) : NULL;
	ab_autofree char *path = NULL;
	struct stat st;

	/* One that is not ours holds none, and nothing is put there. */
	if (!real || stat(real, &st) < 0 || st.st_uid != geteuid())
		return;
	path = ab_path_join(real, "agentbox");
	for (size_t i = 0; i < site->facts.write.len; i++)
		if (ab_path_within(path, site->facts.write.v[i].path))
			mkdir(path, 0700);
	if (lstat(path, &st) == 0)
		ab_objects_add(&site->facts.masked, path,
			       S_ISDIR(st.st_mode)   ? AB_AS_DIR
			       : S_ISLNK(st.st_mode) ? AB_AS_LINK
						     : AB_AS_FILE);
}

static void warn_of_root(struct ab_host_facts *site, const char *path)
{
	for (size_t i = 0; i < AB_COUNT(root_sockets); i++)
		if (strcmp(ab_path_name(path), root_sockets[i]) == 0)
			ab_strv_addf(&site->notes,
				     "%s: whoever can talk to this socket is "
				     "root on this machine; the box can",
				     path);
}

static void look_at_sockets(const struct ab_policy *policy, struct ab_host_facts *site)
{
	ab_autostrv struct ab_strv all = { 0 };

	for (size_t i = 0; i < policy->fs.unix_allow.len; i++) {
		char *real = realpath(policy->fs.unix_allow.v[i], NULL);

		if (!real) {
			ab_strv_addf(&site->notes, "%s: no such socket; it cannot be allowed",
				     policy->fs.unix_allow.v[i]);
			continue;
		}
		warn_of_root(site, real);
		show(&site->facts.show, policy->fs.unix_allow.v[i], 0);
		ab_strv_give(&site->open_sockets, real);
	}
	ab_unix_sockets_list(&all);
	for (size_t i = 0; i < all.len; i++) {
		if (ab_strv_has(&site->open_sockets, all.v[i]))
			continue;
		ab_objects_add(&site->facts.masked, all.v[i], AB_AS_FILE);
		ab_strv_add(&site->sockets, all.v[i]);
	}
}

static void look_at_home(const struct ab_policy *policy, struct ab_host_facts *site)
{
	if (policy->fs.home != AB_HOME_PRIVATE || !policy->home)
		return;
	add_private(site, policy->home);
	for (size_t i = 0; i < AB_COUNT(home_tools); i++) {
		ab_autofree char *path = ab_path_join(policy->home, home_tools[i]);

		show(&site->facts.show, path, 0);
	}
}

/*
 * A command that is named by its path is meant to be run, also when a private
 * folder covers it: the file itself is shown, and nothing beside it.
 */
static void look_at_program(struct ab_host_facts *site, const char *program)
{
	ab_autofree char *real = strchr(program, '/') ? realpath(program, NULL) : NULL;
	bool covered = false;

	if (!real || site->hidden_root)
		return;
	for (size_t i = 0; i < site->facts.write.len; i++)
		if (ab_path_within(real, site->facts.write.v[i].path))
			return;
	for (size_t i = 0; i < site->facts.privates.len; i++)
		covered |= ab_path_within(real, site->facts.privates.v[i]);
	if (covered)
		ab_objects_add(&site->facts.show, real, AB_AS_FILE);
}

int ab_host_facts_look(const struct ab_policy *policy, char *const *env, const char *state,
		       const char *program, struct ab_host_facts *ret, struct ab_error *err)
{
	struct ab_host_facts site = { 0 };

	if (ab_survey_make(policy, &site.survey, err) < 0)
		return -1;
	site.hidden_root = !policy->fs.read_all;
	if (site.hidden_root) {
		ab_strv_add(&site.facts.privates, "/");
		for (size_t i = 0; i < policy->fs.read.len; i++)
			show(&site.facts.show, policy->fs.read.v[i], 0);
	}
	for (size_t i = 0; i < AB_COUNT(private_folders); i++)
		add_private(&site, private_folders[i]);
	add_private(&site, ab_environ_get(env, "XDG_RUNTIME_DIR"));
	look_at_home(policy, &site);
	take_survey(&site);
	look_at_program(&site, program);
	look_at_sockets(policy, &site);
	look_at_answers(ab_environ_get(env, "XDG_RUNTIME_DIR"), &site);
	if (look_at_masks(policy, state, &site, err) < 0) {
		ab_host_facts_fini(&site);
		return -1;
	}
	*ret = site;
	return 0;
}

void ab_host_facts_fini(struct ab_host_facts *site)
{
	ab_survey_fini(&site->survey);
	ab_strv_fini(&site->facts.privates);
	ab_objects_fini(&site->facts.write);
	ab_objects_fini(&site->facts.show);
	ab_objects_fini(&site->facts.closed);
	ab_objects_fini(&site->facts.pinned);
	ab_objects_fini(&site->facts.masked);
	ab_strv_fini(&site->sockets);
	ab_strv_fini(&site->open_sockets);
	ab_strv_fini(&site->notes);
	*site = (struct ab_host_facts){ 0 };
}
