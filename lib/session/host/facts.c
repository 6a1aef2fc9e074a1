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

/* Programs that people keep in their home folder: they stay usable when the home is an empty
 * one. */
static const char *const home_tools[] = {
	".gitconfig", ".config/git", ".local/bin", ".local/share/mise", ".cargo/bin", ".rustup",
	".nvm",	      ".pyenv",	     ".rbenv",	   ".sdkman",		".volta",     ".bun/bin",
	".deno/bin",  "go/bin",	     ".asdf",	   ".nix-profile",
};

/* Access to one of these is root access to this machine. */
static const char *const root_sockets[] = {
	"docker.sock", "podman.sock", "containerd.sock", "crio.sock", "lxd.socket", "unix.socket",
};

static void add_private(struct ab_host_facts *host, const char *path)
{
	struct stat st;
	char *real = path && path[0] == '/' ? realpath(path, NULL) : NULL;

	if (real && stat(real, &st) == 0 && S_ISDIR(st.st_mode) &&
	    !ab_strv_has(&host->facts.privates, real))
		ab_strv_give(&host->facts.privates, real);
	else
		free(real);
}

/*
 * Show a path in an empty root: re-create every link on the way, and show the object at its real
 * place. Missing paths are left out. The list comes from the user; the depth limit is for link
 * loops.
 */
static void show_path(struct ab_objects *list, const char *path, int depth)
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
			show_path(list, to, depth + 1);
		return;
	}
	ab_objects_add(list, at, S_ISDIR(st.st_mode) ? AB_AS_DIR : AB_AS_FILE);
}

static enum ab_as kind_as(enum ab_node kind)
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

static void add_survey(struct ab_host_facts *host)
{
	const struct ab_survey *s = &host->survey;

	for (size_t i = 0; i < s->write.len; i++) {
		struct stat st;

		if (stat(s->write.v[i], &st) == 0)
			ab_objects_add(&host->facts.write, s->write.v[i],
				       S_ISDIR(st.st_mode) ? AB_AS_DIR : AB_AS_FILE);
	}
	/* A read-only mount does not stop access to a FIFO, a socket or a device. */
	for (size_t i = 0; i < s->nclosed; i++)
		ab_objects_add(s->closed[i].kind == AB_NODE_OTHER ? &host->facts.masked
								  : &host->facts.closed,
			       s->closed[i].path, kind_as(s->closed[i].kind));
	/* A watched folder must not be renamed: it would not be watched any more. */
	for (size_t i = 0; i < s->nwatch; i++)
		ab_objects_add(&host->facts.pinned, s->watch[i].dir, AB_AS_DIR);
}

static int add_masks(const struct ab_policy *policy, const char *state, struct ab_host_facts *host,
		     struct ab_error *err)
{
	struct ab_guard *deny = NULL;
	size_t n = 0;

	if (ab_expand_deny(&policy->fs.deny_read, &deny, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		ab_objects_add(&host->facts.masked, deny[i].path, kind_as(deny[i].kind));
	ab_guards_free(deny, n);
	if (state)
		ab_objects_add(&host->facts.masked, state, AB_AS_DIR);
	return 0;
}

/*
 * The remembered answers of sessions (session/state/approvals.h). Usually a private folder covers
 * them. If the box can write next to them it could create them itself, so they must exist to be
 * hidden.
 */
static void add_answers(const char *runtime, struct ab_host_facts *host)
{
	ab_autofree char *real = runtime && runtime[0] == '/' ? realpath(runtime, NULL) : NULL;
	ab_autofree char *path = NULL;
	struct stat st;

	/* Another user's folder never contains our answers. */
	if (!real || stat(real, &st) < 0 || st.st_uid != geteuid())
		return;
	path = ab_path_join(real, "agentbox");
	for (size_t i = 0; i < host->facts.write.len; i++)
		if (ab_path_within(path, host->facts.write.v[i].path))
			mkdir(path, 0700);
	if (lstat(path, &st) == 0)
		ab_objects_add(&host->facts.masked, path,
			       S_ISDIR(st.st_mode)   ? AB_AS_DIR
			       : S_ISLNK(st.st_mode) ? AB_AS_LINK
						     : AB_AS_FILE);
}

static void warn_about_root(struct ab_host_facts *host, const char *path)
{
	for (size_t i = 0; i < AB_COUNT(root_sockets); i++)
		if (strcmp(ab_path_name(path), root_sockets[i]) == 0)
			ab_strv_addf(&host->notes,
				     "%s: the box can use this socket, which amounts to root "
				     "access to this machine",
				     path);
}

static void add_sockets(const struct ab_policy *policy, struct ab_host_facts *host)
{
	ab_autostrv struct ab_strv all = { 0 };

	for (size_t i = 0; i < policy->fs.unix_allow.len; i++) {
		char *real = realpath(policy->fs.unix_allow.v[i], NULL);

		if (!real) {
			ab_strv_addf(&host->notes, "cannot allow the socket %s: it does not exist",
				     policy->fs.unix_allow.v[i]);
			continue;
		}
		warn_about_root(host, real);
		show_path(&host->facts.show, policy->fs.unix_allow.v[i], 0);
		ab_strv_give(&host->open_sockets, real);
	}
	ab_unix_sockets_list(&all);
	for (size_t i = 0; i < all.len; i++) {
		if (ab_strv_has(&host->open_sockets, all.v[i]))
			continue;
		ab_objects_add(&host->facts.masked, all.v[i], AB_AS_FILE);
		ab_strv_add(&host->sockets, all.v[i]);
	}
}

static void add_home(const struct ab_policy *policy, struct ab_host_facts *host)
{
	if (policy->fs.home != AB_HOME_PRIVATE || !policy->home)
		return;
	add_private(host, policy->home);
	for (size_t i = 0; i < AB_COUNT(home_tools); i++) {
		ab_autofree char *path = ab_path_join(policy->home, home_tools[i]);

		show_path(&host->facts.show, path, 0);
	}
}

/* A command that is given by its path must be runnable even if a private folder covers it: show the
 * file itself, and nothing next to it. */
static void add_program(struct ab_host_facts *host, const char *program)
{
	ab_autofree char *real = strchr(program, '/') ? realpath(program, NULL) : NULL;
	bool covered = false;

	if (!real || host->hidden_root)
		return;
	for (size_t i = 0; i < host->facts.write.len; i++)
		if (ab_path_within(real, host->facts.write.v[i].path))
			return;
	for (size_t i = 0; i < host->facts.privates.len; i++)
		covered |= ab_path_within(real, host->facts.privates.v[i]);
	if (covered)
		ab_objects_add(&host->facts.show, real, AB_AS_FILE);
}

int ab_host_facts_look(const struct ab_policy *policy, char *const *env, const char *state,
		       const char *program, struct ab_host_facts *ret, struct ab_error *err)
{
	struct ab_host_facts host = { 0 };

	if (ab_survey_make(policy, &host.survey, err) < 0)
		return -1;
	host.hidden_root = !policy->fs.read_all;
	if (host.hidden_root) {
		ab_strv_add(&host.facts.privates, "/");
		for (size_t i = 0; i < policy->fs.read.len; i++)
			show_path(&host.facts.show, policy->fs.read.v[i], 0);
	}
	for (size_t i = 0; i < AB_COUNT(private_folders); i++)
		add_private(&host, private_folders[i]);
	add_private(&host, ab_environ_get(env, "XDG_RUNTIME_DIR"));
	add_home(policy, &host);
	add_survey(&host);
	add_program(&host, program);
	add_sockets(policy, &host);
	add_answers(ab_environ_get(env, "XDG_RUNTIME_DIR"), &host);
	if (add_masks(policy, state, &host, err) < 0) {
		ab_host_facts_fini(&host);
		return -1;
	}
	*ret = host;
	return 0;
}

void ab_host_facts_fini(struct ab_host_facts *host)
{
	ab_survey_fini(&host->survey);
	ab_strv_fini(&host->facts.privates);
	ab_objects_fini(&host->facts.write);
	ab_objects_fini(&host->facts.show);
	ab_objects_fini(&host->facts.closed);
	ab_objects_fini(&host->facts.pinned);
	ab_objects_fini(&host->facts.masked);
	ab_strv_fini(&host->sockets);
	ab_strv_fini(&host->open_sockets);
	ab_strv_fini(&host->notes);
	*host = (struct ab_host_facts){ 0 };
}
