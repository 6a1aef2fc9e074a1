#include "workspace/survey/survey.h"

#include <sys/xattr.h>

#include "policy/model/policy.h"
#include "workspace/git/gitlink.h"
#include "workspace/survey/project_files.h"
#include "workspace/survey/survey_state.h"
#include "workspace/tree/dir.h"
#include "workspace/tree/host_path.h"
#include "workspace/tree/tree_walk.h"

#define TOP_ENTRIES 10000
#define TOPS_MAX 1000 /* folders with a repository */
#define SHOWN 20      /* paths in a note */

/* About 5 us for each folder: seconds for the largest trees, and 6 ms more for
 * node_modules. */
static const struct ab_survey_limits usual_limits = { AB_SURVEY_USUAL };

/* The other roots, by which one of them is judged: it must not vouch for itself. */
static void list_others(const struct ab_policy *policy, const char *path, struct ab_strv *ret)
{
	const struct ab_strv *touched = &policy->fs.touched;

	for (size_t i = 0; i < touched->len; i++)
		if (strcmp(touched->v[i], path) != 0)
			ab_strv_add(ret, touched->v[i]);
}

/*
 * `path` leads to `real` through a link. Refuse it if a box could have created the link, or changed
 * it since: the user named the folder, not what a box makes of it.
 */
static int check_links(const struct ab_policy *policy, const char *path, const char *real,
		       struct ab_error *err)
{
	ab_autofree char *stray = NULL, *target = NULL, *shown = NULL, *link = NULL, *to = NULL;
	ab_autostrv struct ab_strv others = { 0 };

	list_others(policy, path, &others);
	target = ab_host_path_resolve(&others, path, &stray);
	if (!stray && target && strcmp(target, real) == 0)
		return 0;
	shown = ab_escape(path);
	if (!stray) {
		ab_fail(err, AB_EUSAGE, 0,
			"cannot make %s writable: it changes while we look at it", shown);
		return ab_step(err, "writable paths");
	}
	link = ab_escape(stray);
	to = ab_escape(target ? target : real);
	ab_fail(err, AB_EUSAGE, 0,
		"cannot make %s writable: the symbolic link %s, which a box could have created, "
		"leads out of its folder to %s",
		shown, link, to);
	ab_hint(err, "remove the link, or name its target instead: %s", to);
	return ab_step(err, "writable paths");
}

bool ab_survey_reviews(const struct ab_policy *policy)
{
	return policy->fs.review != AB_REVIEW_NONE && policy->workspace[0] &&
	       ab_path_within_any(policy->workspace, &policy->fs.write);
}

/* The workspace, if this run may write to it and its changes are to be reviewed. */
static int find_reviewed(struct ab_surveyor *s, const struct ab_policy *policy,
			 struct ab_error *err)
{
	ab_autoclose int fd = -1;
	ab_autofree char *real = NULL;
	struct stat st;

	if (policy->fs.review == AB_REVIEW_NONE)
		return 0;
	if (!ab_survey_reviews(policy)) {
		ab_strv_add(&s->out->findings, "there is nothing to review: this run may not write "
					       "to a workspace");
		return 0;
	}
	fd = open(policy->workspace, O_PATH | O_CLOEXEC);
	real = fd < 0 ? NULL : ab_real_path(fd);
	if (!real || fstat(fd, &st) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "open the workspace %s", policy->workspace);
	if (!S_ISDIR(st.st_mode))
		return 0;
	if (strcmp(real, policy->workspace) != 0 &&
	    check_links(policy, policy->workspace, real, err) < 0)
		return -1;
	s->out->reviewed = ab_take(real);
	return 0;
}

/* Is this writable path one of filesystem.share? They are the last ones. */
static bool is_share(const struct ab_policy *policy, size_t i)
{
	return i + policy->fs.share.len >= policy->fs.write.len;
}

/* Find the real paths; a root that is a symbolic link is resolved here, once. */
static int find_roots(struct ab_surveyor *s, const struct ab_policy *policy, struct ab_error *err)
{
	const struct ab_strv *write = &policy->fs.write;

	for (size_t i = 0; i < write->len; i++) {
		ab_autoclose int fd = open(write->v[i], O_PATH | O_CLOEXEC);
		ab_autofree char *real = NULL;
		struct stat st;

		/* A run creates the shared folders before. */
		if (fd < 0 && errno == ENOENT && s->limits->look_only && is_share(policy, i))
			continue;
		if (fd < 0) {
			ab_strv_add_safe(&s->out->findings, "cannot make %s writable: %s",
					 write->v[i],
					 errno == ENOENT ? "it does not exist" : strerror(errno));
			continue;
		}
		real = ab_real_path(fd);
		if (!real || fstat(fd, &st) < 0)
			return ab_fail(err, AB_ESYSTEM, errno, "resolve the writable path %s",
				       write->v[i]);
		if (strcmp(real, write->v[i]) != 0 &&
		    ab_strv_has(&policy->fs.write_itself, write->v[i])) {
			ab_strv_add_safe(&s->out->findings,
					 "cannot make %s writable: it now leads elsewhere",
					 write->v[i]);
			continue;
		}
		if (strcmp(real, write->v[i]) != 0 &&
		    check_links(policy, write->v[i], real, err) < 0)
			return -1;
		if (s->out->reviewed && strcmp(real, s->out->reviewed) == 0)
			continue;
		ab_strv_add_once(&s->out->write, real);
		if (S_ISDIR(st.st_mode))
			ab_strv_add_once(is_share(policy, i) ? &s->out->shared : &s->out->unshared,
					 real);
		if (S_ISDIR(st.st_mode) && !ab_strv_has(&s->roots, real))
			ab_strv_add(&s->roots, real);
	}
	return 0;
}

/* Only writable folders in shared ones matter, and one that is both is not shared. */
static void settle_shared(struct ab_survey *o)
{
	for (size_t i = o->unshared.len; i-- > 0;) {
		bool inside = false;

		for (size_t k = o->shared.len; k-- > 0;)
			if (strcmp(o->unshared.v[i], o->shared.v[k]) == 0)
				ab_strv_remove(&o->shared, k);
			else
				inside |= ab_path_within(o->unshared.v[i], o->shared.v[k]);
		if (!inside)
			ab_strv_remove(&o->unshared, i);
	}
}

void ab_folder_mode_read(const char *path, struct ab_folder_mode *ret)
{
	struct stat st = { 0 };

	(void)lstat(path, &st);
	ret->dev = st.st_dev;
	ret->ino = st.st_ino;
	ret->mode = st.st_mode & 07777;
	ret->changed = st.st_ctim;
	ret->acl = getxattr(path, "system.posix_acl_default", NULL, 0) > 0;
}

static void note_modes(struct ab_survey *o)
{
	o->mask = umask(077);
	umask(o->mask);
	for (size_t i = 0; i < o->shared.len; i++) {
		struct ab_folder_mode *m = ab_append(o->modes, o->nmodes);

		*m = (struct ab_folder_mode){ .path = ab_strdup(o->shared.v[i]) };
		ab_folder_mode_read(m->path, m);
	}
}

/* Does the reviewed folder lie between the two, so that the outer one says nothing about the inner? */
static bool is_between(const char *reviewed, const char *inner, const char *outer)
{
	return reviewed && ab_path_within(inner, reviewed) && !ab_path_within(outer, reviewed);
}

/* Is it inside another one of the list? The paths are different. */
static bool is_nested(const struct ab_strv *paths, size_t i, const char *reviewed)
{
	for (size_t k = 0; k < paths->len; k++)
		if (k != i && ab_path_within(paths->v[i], paths->v[k]) &&
		    !is_between(reviewed, paths->v[i], paths->v[k]))
			return true;
	return false;
}

/* A root inside another one makes nothing else writable. */
static void drop_nested(struct ab_strv *paths, const char *reviewed)
{
	for (size_t i = paths->len; i-- > 0;)
		if (is_nested(paths, i, reviewed))
			ab_strv_remove(paths, i);
}

/* Is the path in the reviewed folder, and not in a writable root inside that? */
static bool is_left_out(const struct ab_survey *o, const char *path)
{
	for (size_t i = 0; i < o->write.len; i++)
		if (ab_path_within(path, o->write.v[i]) &&
		    ab_path_within(o->write.v[i], o->reviewed))
			return false;
	return ab_path_within(path, o->reviewed);
}

static void free_watch(struct ab_watch *w)
{
	free(w->dir);
	ab_strv_fini(&w->names);
}

/* A root around the reviewed folder was searched with everything in it. */
static void leave_out_reviewed(struct ab_survey *o)
{
	size_t kept = 0;

	for (size_t i = 0; i < o->nclosed; i++)
		if (is_left_out(o, o->closed[i].path))
			free(o->closed[i].path);
		else
			o->closed[kept++] = o->closed[i];
	o->nclosed = kept;
	kept = 0;
	for (size_t i = 0; i < o->nwatch; i++)
		if (is_left_out(o, o->watch[i].dir))
			free_watch(&o->watch[i]);
		else
			o->watch[kept++] = o->watch[i];
	o->nwatch = kept;
	kept = 0;
	for (size_t i = 0; i < o->nproject; i++)
		if (is_left_out(o, o->project[i].path))
			free(o->project[i].path);
		else
			o->project[kept++] = o->project[i];
	o->nproject = kept;
	for (size_t i = o->repos.len; i-- > 0;)
		if (is_left_out(o, o->repos.v[i]))
			ab_strv_remove(&o->repos, i);
}

static void guard_names(struct ab_surveyor *s, const char *top, const struct ab_listing *l)
{
	const struct ab_strv *names = &s->names.top;
	ab_autofree bool *seen = ab_alloc(names->len * sizeof(*seen));
	struct ab_watch *w;
	char folded[NAME_MAX + 1];
	const char *rest;

	for (size_t i = 0; i < l->len; i++) {
		if (!ab_names_touch(&s->names, l->v[i].name))
			continue;
		ab_name_fold(l->v[i].name, folded);
		for (size_t k = 0; k < names->len; k++)
			seen[k] |= ab_name_starts_folded(names->v[k], folded, &rest);
	}
	/* No duplicates: the names are a set, and this folder had no watch. */
	w = ab_survey_watched(s, top);
	if (w)
		w->top = true;
	for (size_t k = 0; k < names->len && w; k++)
		if (!seen[k] && !l->cut)
			ab_strv_add(&w->names, names->v[k]);
	for (size_t k = 0; k < names->len; k++)
		if (seen[k] || l->cut)
			ab_survey_guard(s, top, names->v[k]);
}

/* What a listing says about git, found in one pass. */
struct marks {
	bool git;  /* a checkout: it contains .git */
	bool bare; /* HEAD, objects and refs: git treats it as a repository */
};

static struct marks find_marks(const struct ab_listing *l)
{
	static const char *const parts[] = { "HEAD", "objects", "refs" };
	struct marks m = { 0 };
	unsigned seen = 0;

	for (size_t i = 0; i < l->len; i++) {
		const char *name = l->v[i].name;

		m.git |= ab_name_may_be(name, ".git");
		for (size_t k = 0; k < AB_COUNT(parts); k++)
			if (ab_name_may_be(name, parts[k]))
				seen |= 1u << k;
	}
	m.bare = seen == 7;
	return m;
}

static void guard_top(struct ab_surveyor *s, const char *top, const struct ab_listing *l,
		      struct marks marks)
{
	if (ab_strv_has(&s->tops, top))
		return;
	if (s->tops.len >= TOPS_MAX) {
		s->unguarded++;
		return;
	}
	ab_strv_add(&s->tops, top);
	guard_names(s, top, l);
	ab_project_files_note(s->out, top, l);
	if (l->cut || marks.git)
		ab_survey_checkout(s, top);
	if ((l->cut || marks.bare) && ab_is_gitdir(top))
		ab_survey_gitdir(s, top, NULL);
}

static void note_deep(struct ab_surveyor *s, const char *path, const struct ab_listing *l)
{
	const char *rest;

	for (size_t i = 0; i < l->len; i++) {
		if (!ab_names_touch(&s->names, l->v[i].name))
			continue;
		for (size_t k = 0; k < s->names.top.len; k++) {
			if (!ab_name_starts(s->names.top.v[k], l->v[i].name, &rest) || rest[0])
				continue;
			if (s->ndeep++ < SHOWN)
				ab_strv_give(&s->deep, ab_path_join(path, l->v[i].name));
			break;
		}
	}
}

static void note_broad(struct ab_survey *o, int fd, const char *path)
{
	enum { BROAD_MAX = 4096 };
	struct stat st;

	if (o->shared.len && o->nmodes < o->shared.len + BROAD_MAX &&
	    ab_path_within_any(path, &o->shared) && fstat(fd, &st) == 0 && (st.st_mode & 07022))
		*ab_append(o->modes, o->nmodes) =
			(struct ab_folder_mode){ .path = ab_strdup(path),
						 .dev = st.st_dev,
						 .ino = st.st_ino,
						 .mode = st.st_mode & 07777,
						 .changed = st.st_ctim };
}

static bool scan_folder(void *arg, int fd, const char *path, unsigned depth,
			const struct ab_listing *l)
{
	struct ab_surveyor *s = arg;
	struct marks marks = find_marks(l);

	note_broad(s->out, fd, path);
	if (depth == 0 || marks.bare || marks.git)
		guard_top(s, path, l, marks);
	else
		note_deep(s, path, l);
	/* A folder that only looks like a repository must not hide what is below it;
	 * the objects of a true one are many, and no place for a checkout. */
	if (marks.bare)
		s->walk->skip = "objects";
	return true;
}

/*
 * A folder that we may not read, or whose paths are too long. The box has our uid and
 * could open it, so it becomes read-only: what it contains stays as it is.
 */
static void close_unreadable(void *arg, const char *path)
{
	struct ab_surveyor *s = arg;

	ab_survey_close_folder(s, path);
	s->shut++;
}

/* A top outside the scan, or one that the scan could not read completely. */
static void read_top(struct ab_surveyor *s, const char *top)
{
	ab_autolisting struct ab_listing l = { 0 };
	ab_autoclose int fd = -1;

	if (ab_strv_has(&s->tops, top))
		return;
	/* Unreadable or too long: look up each name. */
	fd = ab_open_beneath(AT_FDCWD, top, O_RDONLY | O_DIRECTORY);
	if (fd < 0 || ab_listing_read(&l, fd, TOP_ENTRIES) < 0)
		l.cut = true;
	guard_top(s, top, &l, find_marks(&l));
}

/* Say what is not protected because it was not searched. */
static void note_unsearched(struct ab_surveyor *s, const struct ab_walk *w)
{
	struct ab_survey *o = s->out;
	size_t entries = s->limits->entries - w->entries;

	if (w->left > 0)
		ab_strv_addf(
			&o->findings,
			"the writable folders are too large to search: at least %zu folder%s not "
			"searched for repositories after the first %zu entries; "
			"name a smaller --workspace",
			w->left, w->left == 1 ? " was" : "s were", entries);
	else if (w->cut)
		ab_strv_add(
			&o->findings,
			"the writable folders could not be searched completely for repositories");
	if (s->unguarded > 0)
		ab_strv_addf(&o->findings,
			     "the writable folders contain more than %d repositories; %zu are not "
			     "protected; name a smaller --workspace",
			     TOPS_MAX, s->unguarded);
	if (w->late_left > 0)
		ab_strv_addf(
			&o->notes,
			"at least %zu folder%s of generated files (node_modules and the like) %s "
			"not searched for repositories",
			w->late_left, w->late_left == 1 ? "" : "s",
			w->late_left == 1 ? "was" : "were");
	if (s->shut > 0)
		ab_strv_addf(&o->notes,
			     "%zu folder%s could not be searched for repositories and %s read-only",
			     s->shut, s->shut == 1 ? "" : "s", s->shut == 1 ? "is" : "are");
	if (w->cut || s->unguarded > 0)
		o->complete = false;
}

static void scan_roots(struct ab_surveyor *s)
{
	struct ab_walk w = { .dirs = SIZE_MAX,
			     .entries = s->limits->entries,
			     .depth = UINT_MAX,
			     .thorough = true,
			     .late = s->limits->generated,
			     .unreadable = close_unreadable };

	s->walk = &w;
	for (size_t i = 0; i < s->roots.len; i++)
		if (!is_nested(&s->roots, i, NULL) &&
		    ab_walk(&w, s->roots.v[i], scan_folder, s) < 0)
			w.cut = true;
	for (size_t i = 0; i < s->roots.len; i++)
		read_top(s, s->roots.v[i]);
	/* Grows meanwhile: submodules of submodules. */
	for (size_t i = 0; i < s->later.len; i++)
		read_top(s, s->later.v[i]);
	note_unsearched(s, &w);
	s->walk = NULL;
}

/* Closed folders need no watch inside. */
static void drop_closed_watches(struct ab_survey *o)
{
	size_t kept = 0;

	ab_guards_settle(o->closed, &o->nclosed);
	for (size_t i = 0; i < o->nwatch; i++)
		if (o->watch[i].names.len == 0 ||
		    ab_guards_cover(o->closed, o->nclosed, o->watch[i].dir))
			free_watch(&o->watch[i]);
		else
			o->watch[kept++] = o->watch[i];
	o->nwatch = kept;
	ab_strv_sort(&o->repos);
}

int ab_survey_make(const struct ab_policy *policy, char *const *env,
		   const struct ab_survey_limits *limits, struct ab_survey *ret,
		   struct ab_error *err)
{
	struct ab_survey out = { .complete = true };
	struct ab_surveyor s = { .out = &out,
				 .home = policy->home,
				 .limits = limits ? limits : &usual_limits };
	int rc;

	/* The clock of file times. */
	clock_gettime(CLOCK_REALTIME_COARSE, &out.started);
	ab_names_init(&s.names, &policy->fs.deny_write);
	rc = find_reviewed(&s, policy, err);
	if (rc == 0)
		rc = find_roots(&s, policy, err);
	if (rc == 0) {
		settle_shared(&out);
		note_modes(&out);
		drop_nested(&out.write, out.reviewed);
		ab_survey_extend(&s);
		drop_nested(&out.write, out.reviewed);
		if (s.names.git.len > 0)
			ab_survey_shared_config(&s, env);
		scan_roots(&s);
		ab_survey_guard_absolute(&s);
		ab_survey_hardlinks(&s);
		ab_names_tell(&out.notes, "deeper folders already contained", s.ndeep, "file",
			      "that tools may run or obey", &s.deep);
		drop_closed_watches(&out);
		if (out.reviewed)
			leave_out_reviewed(&out);
		ab_strv_fini_all(&s.names.git, &s.names.absolute);
		out.names = s.names;
		s.names = (struct ab_names){ 0 };
	}
	ab_names_fini(&s.names);
	ab_strv_fini_all(&s.roots, &s.extra, &s.tops, &s.later, &s.shared, &s.deep);
	ab_hardlinks_fini(&s.links);
	if (rc < 0)
		ab_survey_fini(&out);
	else
		*ret = out;
	return rc;
}

void ab_survey_fini(struct ab_survey *survey)
{
	ab_free_rows(survey->modes, survey->nmodes, path);
	ab_strv_fini_all(&survey->write, &survey->shared, &survey->unshared);
	free(survey->reviewed);
	ab_guards_free(survey->closed, survey->nclosed);
	for (size_t i = 0; i < survey->nwatch; i++)
		free_watch(&survey->watch[i]);
	free(survey->watch);
	ab_free_rows(survey->project, survey->nproject, path);
	ab_strv_fini(&survey->repos);
	ab_names_fini(&survey->names);
	ab_strv_fini_all(&survey->findings, &survey->notes);
	*survey = (struct ab_survey){ 0 };
}
