#include "guard/walls/git_files.h"

#include "guard/walls/inside.h"
#include "sandbox/plan/plan.h"
#include "workspace/git/gitconfig.h"
#include "workspace/tree/dir.h"

enum {
	AB_STAGED_NAME = 40,
	LOCK_LOOKS = 25,
	LOCK_PAUSE_NS = 200 * 1000,
};

struct ab_git_repo {
	int dir, hooks;	    /* on the host */
	int top;	    /* the folder that contains ".git", or -1 */
	int stage;	    /* hooks in the box, below its mount */
	int top_stage;	    /* ".git" in the box, below its mount; or -1 */
	const char *staged; /* the name of a file that is being prepared in hooks */
	struct ab_gitkeys_terms terms;
};

struct ab_git_files {
	struct ab_git_repo **repos;
	size_t nrepos;
	struct ab_git_file *v;
	size_t len;
	char staged[AB_STAGED_NAME];
	struct ab_strv closed; /* folders of the repositories */
};

static bool is_closed_file(const struct ab_plan *plan, const char *path)
{
	const struct ab_mount *m = ab_plan_at(plan, path);

	return m && m->op == AB_MOUNT_CLOSE && m->as == AB_AS_FILE;
}

/* Its content, at most AB_GITCONFIG_MAX bytes of a regular file, and what it is. While *ret_fd is
 * open, no other file gets its inode number; may be NULL. */
static int read_file(int dir, const char *name, struct ab_buf *ret, struct stat *ret_st,
		     int *ret_fd)
{
	ab_autoclose int fd =
		openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	ab_autofree char *data = NULL;
	size_t len;

	if (fd < 0 || fstat(fd, ret_st) < 0)
		return errno;
	if (!S_ISREG(ret_st->st_mode))
		return EINVAL;
	if (ab_read_all(fd, AB_GITCONFIG_MAX, &data, &len) < 0)
		return errno;
	ret->len = 0;
	ab_buf_add(ret, data, len);
	if (ret_fd)
		*ret_fd = ab_take_fd(&fd);
	return 0;
}

/* `folder` is the git directory, or for .gitmodules the one that contains it. */
static void add_file(struct ab_git_files *files, struct ab_git_repo *r, const char *folder,
		     const char *name, bool is_config)
{
	struct ab_git_file f = { .repo = r,
				 .name = name,
				 .path = ab_path_join(folder, name),
				 .is_config = is_config,
				 .dir = is_config ? r->dir : r->top,
				 .stage = is_config ? r->stage : r->top_stage };
	int errnum = read_file(f.dir, f.name, &f.known, &f.st, NULL);

	snprintf(f.staged, sizeof(f.staged), "%s%s", is_config ? "" : "hooks/", r->staged);
	f.missing = errnum == ENOENT;
	if (errnum && (!f.missing || f.is_config)) {
		ab_buf_fini(&f.known);
		free(f.path);
		return;
	}
	*ab_append(files->v, files->len) = f;
}

static bool are_same(int a, int b)
{
	struct stat x, y;

	return fstat(a, &x) == 0 && fstat(b, &y) == 0 && ab_stat_same(&x, &y);
}

/* The folders in the box must be those that have these names on the host. Takes the descriptors. */
static struct ab_git_repo *open_repo(const char *gitdir, int stage, int top_stage)
{
	struct ab_git_repo *r = ab_alloc(sizeof(*r));
	ab_autofree char *top = ab_path_parent(gitdir);

	*r = (struct ab_git_repo){ .hooks = -1, .top = -1, .stage = stage, .top_stage = top_stage };
	r->dir = ab_open_beneath(AT_FDCWD, gitdir, O_PATH | O_DIRECTORY);
	if (r->dir >= 0)
		r->hooks = openat(r->dir, "hooks", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (r->hooks < 0 || !are_same(r->hooks, stage)) {
		ab_close_all(&r->dir, &r->hooks, &r->top, &r->stage, &r->top_stage);
		free(r);
		return NULL;
	}
	/* The last top may be another repository's. */
	if (top_stage >= 0 && are_same(r->dir, top_stage))
		r->top = ab_open_beneath(AT_FDCWD, top, O_PATH | O_DIRECTORY);
	return r;
}

/* Under both names that git accepts. */
static void add_closed(struct ab_git_files *files, const char *gitdir)
{
	ab_autofree char *top = ab_path_parent(gitdir);

	ab_strv_add(&files->closed, gitdir);
	if (strcmp(strrchr(gitdir, '/'), "/.git") == 0)
		ab_strv_add(&files->closed, top);
}

/* Where git would look for a repository, if no remote had this name. */
static bool is_path_of_git(void *arg, const char *name)
{
	const struct ab_git_repo *r = arg;
	ab_autofree char *git = ab_printf("%s.git", name);
	const int dirs[] = { r->top, r->dir };

	for (size_t i = 0; i < AB_COUNT(dirs); i++)
		if (dirs[i] >= 0 && (faccessat(dirs[i], name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
				     faccessat(dirs[i], git, F_OK, AT_SYMLINK_NOFOLLOW) == 0))
			return true;
	return false;
}

static void add_repo(struct ab_git_files *files, const struct ab_plan *plan, const char *hooks,
		     int stage, int top_stage)
{
	ab_autofree char *gitdir = ab_path_parent(hooks);
	ab_autofree char *worktree = ab_path_join(gitdir, "config.worktree");
	ab_autofree char *top = ab_path_parent(gitdir);
	struct ab_git_repo *r = open_repo(gitdir, stage, top_stage);

	if (!r)
		return;
	*ab_append(files->repos, files->nrepos) = r;
	r->staged = files->staged;
	r->terms = (struct ab_gitkeys_terms){ .worktree_pinned = is_closed_file(plan, worktree),
					      .repos = &files->closed,
					      .is_path = is_path_of_git,
					      .arg = r };
	add_closed(files, gitdir);
	add_file(files, r, gitdir, "config", true);
	if (r->terms.worktree_pinned)
		add_file(files, r, gitdir, "config.worktree", true);
	if (r->top >= 0)
		add_file(files, r, top, ".gitmodules", false);
}

/* git runs no file of this name, whatever its mode. */
static void name_staged(const char *run_id, char ret[AB_STAGED_NAME])
{
	snprintf(ret, AB_STAGED_NAME, "agentbox-%s.sample", run_id);
}

void ab_git_files_clean(const struct ab_strv *repos, const char *run_id)
{
	char staged[AB_STAGED_NAME];

	name_staged(run_id, staged);
	for (size_t i = 0; i < repos->len; i++) {
		ab_autofree char *hooks = ab_path_join(repos->v[i], "hooks");
		ab_autoclose int dir = ab_open_beneath(AT_FDCWD, hooks, O_PATH | O_DIRECTORY);

		if (dir >= 0)
			(void)unlinkat(dir, staged, 0);
	}
}

struct ab_git_files *ab_git_files_open(const struct ab_plan *plan, struct ab_fds *walls,
				       const char *run_id)
{
	struct ab_git_files *files = ab_alloc(sizeof(*files));
	ab_autoclose int top = -1;
	size_t next = 1;

	name_staged(run_id, files->staged);
	for (size_t i = 0; i < plan->len && next < walls->len; i++) {
		enum ab_stage stage = ab_plan_stage(plan, i);

		if (stage == AB_STAGE_TOP) {
			ab_closep(&top);
			top = ab_take_fd(&walls->v[next++]);
		} else if (stage == AB_STAGE_HOOKS) {
			add_repo(files, plan, plan->v[i].path, ab_take_fd(&walls->v[next]),
				 ab_take_fd(&top));
			next++;
		}
	}
	return files;
}

struct ab_git_file *ab_git_files_find(struct ab_git_files *files, const char *path)
{
	return ab_find_row(files->v, files->len, path, path);
}

struct ab_git_file *ab_git_files_at(struct ab_git_files *files, const struct stat *dir,
				    const char *name)
{
	for (size_t i = 0; i < files->len; i++) {
		struct stat st;

		if (strcmp(files->v[i].name, name) == 0 && fstat(files->v[i].dir, &st) == 0 &&
		    ab_stat_same(&st, dir))
			return &files->v[i];
	}
	return NULL;
}

static bool is_unchanged(const struct stat *a, const struct stat *b)
{
	return ab_stat_same(a, b) && a->st_size == b->st_size &&
	       ab_time_same(a->st_ctim, b->st_ctim);
}

void ab_git_file_refresh(struct ab_git_file *f)
{
	struct ab_buf now = { 0 };
	struct stat st;

	if (fstatat(f->dir, f->name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !ab_stat_same(&st, &f->st) ||
	    is_unchanged(&st, &f->st))
		return;
	/* Another file by now: its mount is gone, and the caller will see that. */
	if (read_file(f->dir, f->name, &now, &st, NULL) != 0 || !ab_stat_same(&st, &f->st)) {
		ab_buf_fini(&now);
		return;
	}
	ab_buf_fini(&f->known);
	f->known = now;
	f->st = st;
}

/* Write the bytes to the staged name; *ret_st: the new file. */
static int write_staged(const struct ab_git_repo *r, const struct ab_buf *content, mode_t mode,
			struct stat *ret_st)
{
	ab_autoclose int fd = -1;

	/* One of a run that was killed at this point. */
	(void)unlinkat(r->hooks, r->staged, 0);
	fd = openat(r->hooks, r->staged, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	if (fd < 0 || (content->len && ab_write_all(fd, content->data, content->len) < 0) ||
	    fchmod(fd, mode & 0777) < 0 || fstat(fd, ret_st) < 0)
		return errno;
	return 0;
}

/* git creates the lock, reads the file, writes a new one and renames it, in about a millisecond. What
 * it read must not be replaced meanwhile, or its next reader could miss a change. The box can create
 * the lock, too, so it is not waited for long. */
static void wait_for_git(const struct ab_git_file *f)
{
	ab_autofree char *lock = ab_printf("%s.lock", f->name);

	for (int i = 0; i < LOCK_LOOKS; i++) {
		if (faccessat(f->dir, lock, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
			return;
		nanosleep(&(struct timespec){ .tv_nsec = LOCK_PAUSE_NS }, NULL);
	}
}

/* Let the staged file, which has its mount, take the place of `old`. */
static int exchange(const struct ab_git_file *f, const struct stat *old)
{
	const struct ab_git_repo *r = f->repo;
	unsigned int how = f->missing ? RENAME_NOREPLACE : RENAME_EXCHANGE;
	struct stat st;

	/* Preparing took a millisecond. If it is replaced only now, an old version is visible until
	 * the second exchange. git's own lock would prevent that, but a git on the host that finds
	 * it gives up. */
	if (!f->missing &&
	    (fstatat(f->dir, f->name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !ab_stat_same(&st, old)))
		return EAGAIN;
	if (renameat2(r->hooks, r->staged, f->dir, f->name, how) < 0)
		return errno;
	if (f->missing ||
	    (fstatat(r->hooks, r->staged, &st, AT_SYMLINK_NOFOLLOW) == 0 && ab_stat_same(&st, old)))
		return 0;
	/* A program on the host has replaced it at this moment, and its version counts. */
	(void)renameat2(r->hooks, r->staged, f->dir, f->name, RENAME_EXCHANGE);
	return EAGAIN;
}

/* Make `content` the file's, whose object is `old` now. Takes the content on success. `by_host`: a
 * program on the host has made `old`, and may be about to replace it again. */
static int replace_file(struct ab_git_file *f, const struct ab_inside *in, struct ab_buf *content,
			const struct stat *old, bool by_host)
{
	const struct ab_git_repo *r = f->repo;
	struct stat st;
	int errnum = write_staged(r, content, old->st_mode, &st);

	if (!errnum)
		errnum = ab_inside_protect_at(in, f->stage, f->staged, &st);
	if (!errnum && by_host)
		wait_for_git(f);
	if (!errnum)
		errnum = exchange(f, old);
	(void)unlinkat(r->hooks, r->staged, 0);
	if (errnum)
		return errnum;
	ab_buf_fini(&f->known);
	f->known = *content;
	*content = (struct ab_buf){ 0 };
	f->st = st;
	f->missing = false;
	/* The host may have replaced it again. */
	return ab_inside_look(in, f->path) == AB_WALL_UP ? 0 : EAGAIN;
}

/* *ret_text: what is to be written instead, or empty. */
static bool judge_change(const struct ab_git_file *f, const struct ab_buf *before,
			 const struct ab_buf *after, struct ab_gitchange *ret,
			 struct ab_buf *ret_text)
{
	return ab_gitchange_allowed(before->len ? before->data : "", before->len,
				    after->len ? after->data : "", after->len, &f->repo->terms, ret,
				    ret_text);
}

int ab_git_file_renew(struct ab_git_file *f, const struct ab_inside *in, bool *ret_allowed,
		      struct ab_gitchange *ret)
{
	/* git on the host writes a remote and its name one after the other. */
	ab_autobuf struct ab_buf now = { 0 }, unused = { 0 };
	ab_autoclose int fd = -1;
	struct stat st;
	int errnum = read_file(f->dir, f->name, &now, &st, &fd);

	if (errnum)
		return errnum;
	*ret_allowed = judge_change(f, &f->known, &now, ret, &unused);
	return replace_file(f, in, &now, &st, true);
}

bool ab_git_file_compare(const struct ab_git_file *f, struct ab_gitchange *ret)
{
	ab_autobuf struct ab_buf now = { 0 }, unused = { 0 };
	struct stat st;

	if (read_file(f->dir, f->name, &now, &st, NULL) == 0)
		return judge_change(f, &f->known, &now, ret, &unused);
	*ret = (struct ab_gitchange){ .why = "cannot be read" };
	return false;
}

static bool is_lock_of(const char *from, const char *to)
{
	size_t n = strlen(to);

	return strncmp(from, to, n) == 0 && strcmp(from + n, ".lock") == 0;
}

static int explain(struct ab_gitchange *ret, int errnum)
{
	ret->key[0] = '\0';
	ret->why = errnum == EINVAL ? "is on a file system that cannot exchange two files"
		   : errnum == EAGAIN || errnum == EBUSY
			   ? "was changed on the host at the same time"
			   : "cannot be replaced";
	return errnum == EAGAIN ? EBUSY : errnum;
}

int ab_git_file_commit(struct ab_git_file *f, const struct ab_inside *in, const char *from,
		       struct ab_gitchange *ret)
{
	ab_autobuf struct ab_buf now = { 0 }, wanted = { 0 }, instead = { 0 };
	ab_autoclose int fd = -1;
	struct stat st = { 0 }, lock;
	int errnum;

	if (!is_lock_of(from, f->name)) {
		ret->key[0] = '\0';
		ret->why = "may be replaced only by its own lock file";
		return EACCES;
	}
	/* Without its mount it is about to be renewed. */
	if (ab_inside_look(in, f->path) != (f->missing ? AB_WALL_GONE : AB_WALL_UP))
		return explain(ret, EBUSY);
	/* From here on no path of the box counts, and its bytes are read once. */
	errnum = read_file(f->dir, from, &wanted, &lock, NULL);
	if (!errnum && f->missing)
		st.st_mode = lock.st_mode & 0666;
	else if (!errnum)
		errnum = read_file(f->dir, f->name, &now, &st, &fd);
	if (errnum)
		return explain(ret, errnum);
	if (!judge_change(f, &now, &wanted, ret, &instead))
		return EACCES;
	errnum = replace_file(f, in, instead.len ? &instead : &wanted, &st, false);
	if (errnum)
		return explain(ret, errnum);
	(void)unlinkat(f->dir, from, 0);
	return 0;
}
