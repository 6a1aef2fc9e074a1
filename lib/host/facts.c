#include "host/facts.h"

#include "base/process/mount_table.h"
#include "base/process/own_program.h"
#include "base/system/linkwalk.h"
#include "host/unix_sockets.h"
#include "policy/model/policy.h"
#include "policy/toolchains/registries.h"
#include "policy/values/paths.h"
#include "workspace/survey/hidden_links.h"
#include "workspace/tree/glob.h"
#include "workspace/tree/host_path.h"

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

static enum ab_as mode_as(mode_t mode)
{
	return S_ISDIR(mode) ? AB_AS_DIR : S_ISLNK(mode) ? AB_AS_LINK : AB_AS_FILE;
}

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
 * place. Missing paths are left out.
 */
static void show_path(struct ab_objects *list, const char *path)
{
	ab_autolinkwalk struct ab_linkwalk w;
	enum ab_linkwalk_step step;
	struct stat st;

	ab_linkwalk_init(&w, "/", path);
	while ((step = ab_linkwalk_step(&w)) <= AB_LINKWALK_LINK)
		if (step == AB_LINKWALK_LINK)
			ab_objects_add(list, w.path, AB_AS_LINK);
	if (step == AB_LINKWALK_END && lstat(w.at, &st) == 0)
		ab_objects_add(list, w.at, mode_as(st.st_mode));
}

/* Show `path`, which leads to `real`. A link that a box can change is not looked at again: it may
 * lead elsewhere by now. */
static void show_resolved(const struct ab_strv *touched, struct ab_objects *list, const char *path,
			  const char *real)
{
	struct stat st;

	if (!ab_host_path_is_open(touched, path) || strcmp(real, path) == 0)
		show_path(list, path);
	else if (lstat(real, &st) == 0 && !S_ISLNK(st.st_mode))
		ab_objects_add(list, real, mode_as(st.st_mode));
}

static enum ab_as kind_as(enum ab_node kind)
{
	return kind == AB_NODE_DIR ? AB_AS_DIR : kind == AB_NODE_LINK ? AB_AS_LINK : AB_AS_FILE;
}

static void add_survey(struct ab_host_facts *host)
{
	const struct ab_survey *s = &host->survey;

	for (size_t i = 0; i < s->write.len; i++) {
		struct stat st;

		if (stat(s->write.v[i], &st) == 0)
			ab_objects_add(&host->facts.write, s->write.v[i], mode_as(st.st_mode));
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

static bool has_view(const struct ab_host_look *look, const char *path)
{
	for (size_t i = 0; i < look->viewed->len; i++)
		if (strcmp(look->viewed->v[i].real, path) == 0)
			return true;
	return false;
}

static bool are_same(const char *a, const char *b)
{
	struct stat x, y;

	return lstat(a, &x) == 0 && lstat(b, &y) == 0 && ab_stat_same(&x, &y);
}

/* To open both, the file must be named by the name that the policy knows. */
static void note_other_name(const struct ab_guard *files, size_t n, const char *path,
			    struct ab_strv *notes)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(files[i].path, path) == 0)
			return;
	for (size_t i = 0; i < n; i++)
		if (are_same(files[i].path, path)) {
			ab_strv_add_safe(notes,
					 "%s is hidden: it is the same file as %s; to show both: "
					 "--read %s",
					 path, files[i].path, files[i].path);
			return;
		}
}

/* A mask covers a name, and so does the view of a file. Its other names are hidden: a program that writes
 * the file anew there would lose what a view leaves out. */
static void hide_other_names(const struct ab_host_look *look, const struct ab_hidden_names *denied,
			     struct ab_host_facts *host)
{
	struct ab_guard *files = NULL;
	struct ab_hidden_links links;
	size_t n = 0;

	for (size_t i = 0; i < denied->n; i++)
		ab_guards_add(&files, &n, denied->v[i].path, denied->v[i].kind);
	for (size_t i = 0; i < look->viewed->len; i++)
		ab_guards_add(&files, &n, look->viewed->v[i].real, AB_NODE_FILE);
	ab_hidden_links_find(look->policy->home, &host->survey, files, n, AB_HIDDEN_LINKS_ENTRIES,
			     &links);
	for (size_t i = 0; i < links.n; i++) {
		if (ab_policy_reads(look->policy, links.v[i].path, false))
			continue;
		note_other_name(files, n, links.v[i].path, &host->survey.notes);
		if (!has_view(look, links.v[i].path))
			ab_objects_add(&host->facts.masked, links.v[i].path, AB_AS_FILE);
	}
	ab_guards_free(files, n);
	if (links.unmet.len)
		host->readable = ab_strdup(links.unmet.v[0]);
	for (size_t i = 0; i < links.unmet.len; i++)
		ab_strv_add_safe(&host->notes,
				 "%s can be read under another name, which was not found; to find "
				 "it: find / -xdev -samefile %s; to hide it: --deny-read NAME",
				 links.unmet.v[i], links.unmet.v[i]);
	ab_hidden_links_fini(&links);
}

/* Is the workspace, or a folder that is writable by name, in `path`? */
static bool is_meant(const struct ab_host_facts *host, const char *path)
{
	const char *reviewed = host->survey.reviewed;

	return ab_path_contains_any(path, &host->survey.write) ||
	       (reviewed && ab_path_within(reviewed, path));
}

/* One that is writable by name was meant. */
static void hide_mounted(const struct ab_host_look *look, const struct ab_mount_table *table,
			 const char *path, enum ab_as as, struct ab_host_facts *host)
{
	ab_autostrv struct ab_strv own = { 0 }, other = { 0 };

	ab_mount_table_others(table, path, as == AB_AS_DIR, &own, &other);
	for (size_t i = 0; i < other.len; i++)
		if (are_same(own.v[i], other.v[i]) && !is_meant(host, other.v[i]) &&
		    !has_view(look, other.v[i]))
			ab_objects_add(&host->facts.masked, other.v[i], as);
}

/* Where a file system is mounted twice, what is hidden, or seen in part, has another path. */
static int hide_other_paths(const struct ab_host_look *look, struct ab_host_facts *host,
			    struct ab_error *err)
{
	const struct ab_mount_table *table = &host->mounts;
	size_t n = host->facts.masked.len;

	if (ab_mount_table_read(&host->mounts) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "read /proc/self/mountinfo");
	for (size_t i = 0; i < n; i++) {
		const struct ab_object o = host->facts.masked.v[i]; /* the list moves */

		hide_mounted(look, table, o.path, o.as, host);
	}
	for (size_t i = 0; i < look->viewed->len; i++)
		hide_mounted(look, table, look->viewed->v[i].real, AB_AS_FILE, host);
	return 0;
}

static int add_masks(const struct ab_host_look *look, struct ab_host_facts *host,
		     struct ab_error *err)
{
	struct ab_hidden_names found = { 0 };
	const struct ab_hidden_names *denied = look->denied ? look->denied : &found;

	if (!look->denied && ab_expand_deny_missing(&look->policy->fs.deny_read, &found.v, &found.n,
						    &found.missing, err) < 0)
		return -1;
	for (size_t i = 0; i < denied->n; i++)
		ab_objects_add(&host->facts.masked, denied->v[i].path, kind_as(denied->v[i].kind));
	hide_other_names(look, denied, host);
	if (look->denied) {
		ab_strv_extend(&host->missing, &denied->missing);
	} else {
		host->missing = found.missing;
		found.missing = (struct ab_strv){ 0 };
	}
	ab_hidden_names_fini(&found);
	if (look->state)
		ab_objects_add(&host->facts.masked, look->state, AB_AS_DIR);
	return hide_other_paths(look, host, err);
}

/*
 * The remembered answers of sessions (state/approvals.h). Usually a private folder covers
 * them. If the box can write next to them it could create them itself, so they must exist to be
 * hidden.
 */
static void add_answers(const char *runtime, bool look_only, struct ab_host_facts *host)
{
	ab_autofree char *real = runtime && runtime[0] == '/' ? realpath(runtime, NULL) : NULL;
	ab_autofree char *path = NULL;
	struct stat st;

	/* Another user's folder never contains our answers. */
	if (!real || stat(real, &st) < 0 || st.st_uid != geteuid())
		return;
	path = ab_path_join(real, "agentbox");
	if (!look_only && ab_objects_around(&host->facts.write, path))
		mkdir(path, 0700);
	if (lstat(path, &st) == 0)
		ab_objects_add(&host->facts.masked, path, mode_as(st.st_mode));
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

/* A box could have created the link `stray` on the way to `path`: it must not choose the target. */
static int refuse_stray(const char *what, const char *path, const char *stray, struct ab_error *err)
{
	ab_autofree char *shown = ab_escape(path), *link = ab_escape(stray);

	ab_fail(err, AB_EUSAGE, 0,
		"cannot %s %s: the symbolic link %s, which a box could have created, leads out of "
		"its folder",
		what, shown, link);
	ab_hint(err, "remove the link, or name its target instead");
	return ab_step(err, "paths");
}

static int add_open_socket(const struct ab_policy *policy, const char *path,
			   struct ab_host_facts *host, struct ab_error *err)
{
	ab_autofree char *stray = NULL;
	ab_autofree char *real = ab_host_path_resolve(&policy->fs.touched, path, &stray);
	struct stat st;

	if (stray)
		return refuse_stray("allow the socket", path, stray, err);
	if (!real || lstat(real, &st) < 0) {
		ab_strv_addf(&host->notes, "cannot allow the socket %s: it does not exist", path);
		return 0;
	}
	if (!S_ISSOCK(st.st_mode)) {
		ab_fail(err, AB_EUSAGE, 0, "cannot allow the socket %s: it is not a socket", path);
		ab_hint(err, "files and folders need no --allow-unix; to write to one: --write %s",
			path);
		return ab_step(err, "paths");
	}
	warn_about_root(host, real);
	show_resolved(&policy->fs.touched, &host->facts.show, path, real);
	ab_strv_give(&host->open_sockets, ab_take(real));
	return 0;
}

/*
 * Is this the control socket of another run, STATE/live/ID/control? Its state folder is not ours
 * (AGENTBOX_STATE), so hide the folder of active runs with everything in it. In a writable place the
 * box decides what a folder is called: mask only the socket there.
 */
static char *find_live_folder(const struct ab_host_facts *host, const char *socket)
{
	ab_autofree char *run = ab_path_parent(socket);
	ab_autofree char *live = ab_path_parent(run);

	if (strcmp(ab_path_name(socket), "control") != 0 ||
	    strcmp(ab_path_name(live), "live") != 0 || ab_objects_around(&host->facts.write, live))
		return NULL;
	return ab_take(live);
}

static int mask_sockets(struct ab_host_facts *host, struct ab_error *err)
{
	ab_autostrv struct ab_strv all = { 0 }, folders = { 0 };

	if (ab_unix_sockets_list(&all, &folders, err) < 0)
		return -1;
	for (size_t i = 0; i < folders.len; i++)
		ab_objects_add(&host->facts.masked, folders.v[i], AB_AS_DIR);
	for (size_t i = 0; i < all.len; i++) {
		ab_autofree char *live = NULL;

		if (ab_strv_has(&host->open_sockets, all.v[i]))
			continue;
		live = find_live_folder(host, all.v[i]);
		ab_objects_add(&host->facts.masked, live ? live : all.v[i],
			       live ? AB_AS_DIR : AB_AS_FILE);
		ab_strv_add(&host->sockets, all.v[i]);
	}
	return 0;
}

static int add_sockets(const struct ab_policy *policy, struct ab_host_facts *host,
		       struct ab_error *err)
{
	for (size_t i = 0; i < policy->fs.unix_allow.len; i++)
		if (add_open_socket(policy, policy->fs.unix_allow.v[i], host, err) < 0)
			return -1;
	return mask_sockets(host, err);
}

static void add_home(const struct ab_policy *policy, struct ab_host_facts *host)
{
	if (policy->fs.home != AB_HOME_PRIVATE || !policy->home)
		return;
	add_private(host, policy->home);
	for (size_t i = 0; i < AB_COUNT(home_tools); i++) {
		ab_autofree char *path = ab_path_join(policy->home, home_tools[i]);

		show_path(&host->facts.show, path);
	}
}

/* The file of a command that is given by its path, if a private folder covers it; else NULL. */
static char *find_covered(const struct ab_host_facts *host, const char *program)
{
	ab_autofree char *real = strchr(program, '/') ? realpath(program, NULL) : NULL;

	if (!real || host->hidden_root || ab_objects_around(&host->facts.write, real))
		return NULL;
	return ab_path_within_any(real, &host->facts.privates) ? ab_take(real) : NULL;
}

/*
 * In a layer a box could put another program under our name, and hooks and nested runs of later boxes
 * would be that one. In a writable folder it is the project's own.
 */
static void add_own_program(struct ab_host_facts *host)
{
	ab_autofree char *own = ab_own_program();
	const char *reviewed = host->survey.reviewed;
	struct stat st;

	if (!own || host->hidden_root || lstat(own, &st) < 0 || !S_ISREG(st.st_mode) ||
	    ab_path_within_any(own, &host->facts.privates) ||
	    ab_objects_around(&host->facts.write, own) ||
	    (reviewed && ab_path_within(own, reviewed)))
		return;
	ab_objects_add(&host->facts.show, own, AB_AS_FILE);
}

bool ab_host_facts_show(const struct ab_host_facts *host, const char *program)
{
	ab_autofree char *covered = find_covered(host, program);

	return covered == NULL;
}

/* Nothing else of the host is visible, so a link must not add to it. */
static int show_read_list(const struct ab_policy *policy, struct ab_host_facts *host,
			  struct ab_error *err)
{
	const struct ab_strv *read = &policy->fs.read;

	ab_strv_add(&host->facts.privates, "/");
	for (size_t i = 0; i < read->len; i++) {
		ab_autofree char *stray = NULL, *real = NULL;

		real = ab_host_path_resolve(&policy->fs.touched, read->v[i], &stray);
		if (stray)
			return refuse_stray("show", read->v[i], stray, err);
		if (real)
			show_resolved(&policy->fs.touched, &host->facts.show, read->v[i], real);
	}
	return 0;
}

int ab_host_facts_look(const struct ab_host_look *look, struct ab_host_facts *ret,
		       struct ab_error *err)
{
	const struct ab_survey_limits limits = { AB_SURVEY_USUAL, .look_only = look->look_only };
	const struct ab_policy *policy = look->policy;
	const char *runtime = ab_environ_get(look->env, "XDG_RUNTIME_DIR");
	struct ab_host_facts host = { 0 };

	if (ab_survey_make(policy, look->env, &limits, &host.survey, err) < 0)
		return -1;
	host.hidden_root = !policy->fs.read_all;
	if (host.hidden_root && show_read_list(policy, &host, err) < 0)
		goto fail;
	for (size_t i = 0; i < AB_COUNT(private_folders); i++)
		add_private(&host, private_folders[i]);
	add_private(&host, runtime);
	add_home(policy, &host);
	add_survey(&host);
	if (look->program) {
		/* It must be runnable: show the file itself, and nothing next to it. */
		ab_autofree char *covered = find_covered(&host, look->program);

		if (covered)
			ab_objects_add(&host.facts.show, covered, AB_AS_FILE);
	}
	add_own_program(&host);
	add_answers(runtime, look->look_only, &host);
	if (add_sockets(policy, &host, err) < 0 || add_masks(look, &host, err) < 0)
		goto fail;
	*ret = host;
	return 0;
fail:
	ab_host_facts_fini(&host);
	return -1;
}

void ab_host_facts_fini(struct ab_host_facts *host)
{
	ab_survey_fini(&host->survey);
	ab_mount_table_fini(&host->mounts);
	ab_strv_fini(&host->facts.privates);
	ab_each(struct ab_objects *, ab_objects_fini, &host->facts.write, &host->facts.show,
		&host->facts.closed, &host->facts.pinned, &host->facts.masked);
	ab_layer_mounts_fini(&host->facts.layers);
	ab_strv_fini_all(&host->sockets, &host->open_sockets, &host->missing, &host->copied,
			 &host->variables);
	ab_free_all(host->readable, host->home);
	ab_strv_fini(&host->notes);
	*host = (struct ab_host_facts){ 0 };
}
