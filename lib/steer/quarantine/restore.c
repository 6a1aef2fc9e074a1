/*
 * Theory of operation.
 *
 * A copy of the object is made beside its place under a name that no tool knows, and renamed to it
 * in one step, which fails if something is there. With `force`, what is there goes to quarantine:
 *
 * - On one mount the copy moves to the quarantine first, under the number that the other object will
 *   have. The list gets the line about that object. Then the two change places in one rename.
 * - Across mounts a copy of what is there goes to the quarantine, and reaches the disk. The list gets its
 *   line. Then the restored object takes the place, and the original, which is under the temporary
 *   name now, is removed.
 *
 * Only then is the object removed from the quarantine. Whenever this is interrupted, the place has the
 * old content or the new one, as a whole, and neither is lost: the other one is in quarantine.
 *
 * The folder is reached without following a link: the box may have put one there. It must exist.
 */
#include <sys/syscall.h>

#include "audit/write/audit.h"
#include "broker/cleanup/moved_files.h"
#include "workspace/tree/remove_tree.h"
#include "policy/layers/layers.h"
#include "state/claim.h"
#include "state/live_writers.h"
#include "steer/quarantine/quarantined_state.h"
#include "workspace/quarantine/quarantine.h"
#include "workspace/tree/copy_tree.h"
#include "workspace/tree/dir.h"

enum { TRIES = 64 };

struct job {
	const struct ab_restore *ask;
	struct ab_quarantined_one one;
	struct ab_restored *ret;
	int parent; /* the folder of the place */
	const char *name;
	struct stat there; /* what is in the place, with `force` */
	struct stat copy;  /* what comes there */
	bool keep;	   /* the temporary name has something of the user's */
};

static int refuse(struct ab_error *err, const char *path, const char *why)
{
	ab_autofree char *shown = ab_escape(path);

	return ab_fail(err, AB_EREFUSED, 0, "cannot restore %s: %s", shown, why);
}

/* Another run there would move it to its own quarantine at once; until then its programs could
 * change it. */
static int check_runs(const struct job *j, struct ab_error *err)
{
	static const struct ab_strv nothing;
	const char *path = j->ret->path;
	struct ab_writer_search search = { .root = path, .paths = &nothing };
	char found[8];

	if (j->one.is.live) {
		refuse(err, path, "its run is active, and programs in the box can still change it");
		return ab_hint(err, "end the run first: agentbox stop %s", j->one.is.run);
	}
	if (!ab_find_live_writer(&j->one.state, &search, found))
		return 0;
	refuse(err, path, "a run that is active there would move it to quarantine again");
	return ab_hint(err, "end the run first: agentbox stop %s", found);
}

static int find_place(const struct ab_policy_input *in, struct job *j, struct ab_error *err)
{
	const struct ab_quarantined *is = &j->one.is;
	ab_autofree char *parent = NULL;

	if (!j->ask->to && !is->path) {
		ab_fail(err, AB_EREFUSED, 0, "where %s was is not known", is->id);
		return ab_hint(err, "name a place: agentbox quarantine restore %s --to PATH",
			       is->id);
	}
	j->ret->path =
		j->ask->to ? ab_path_resolve(j->ask->to, in->cwd, in->home) : ab_strdup(is->path);
	if (!j->ret->path || !j->ret->path[1])
		return ab_fail(err, AB_EUSAGE, 0, "--to: \"%s\" is not a file", j->ask->to);
	if (ab_path_within(j->ret->path, j->one.state.path))
		return refuse(err, j->ret->path, "it is in agentbox's own folder");
	parent = ab_path_parent(j->ret->path);
	j->name = ab_path_name(j->ret->path);
	j->parent = ab_open_beneath(AT_FDCWD, parent, O_RDONLY | O_DIRECTORY);
	if (j->parent >= 0)
		return 0;
	if (errno == ELOOP) {
		refuse(err, j->ret->path, "a symbolic link leads to its folder");
		return ab_hint(err, "name the real folder with --to PATH");
	}
	ab_fail(err, AB_EREFUSED, errno, "open folder %s", parent);
	return ab_hint(err, errno == ENOENT || errno == ENOTDIR
				    ? "create the folder, or choose another place with --to PATH"
				    : "choose another place with --to PATH");
}

static int check_object(struct job *j, struct ab_error *err)
{
	const struct ab_quarantined *is = &j->one.is;
	ab_autofree char *what = ab_quarantined_describe(is), *shown = NULL;
	struct stat st;

	if (is->kind == AB_NODE_OTHER)
		return refuse(err, j->ret->path, "it is neither a file nor a folder");
	shown = ab_escape(j->ret->path);
	j->ret->what = ab_printf("%s: %s", shown, what);
	j->ret->why = ab_escape(is->why);
	j->ret->executable = is->kind == AB_NODE_FILE && is->mode & 0111;
	j->ret->exists = fstatat(j->parent, j->name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	if (is->mode & 06000)
		ab_strv_add(&j->ret->notes,
			    "it had a set-user-id or set-group-id bit, which it loses");
	if (!j->ret->exists || j->ask->force)
		return 0;
	refuse(err, j->ret->path, "something is in its place");
	return ab_hint(err,
		       "compare:  agentbox quarantine show %s\n"
		       "move what is there to quarantine instead:  --force\n"
		       "choose another place:  --to PATH",
		       is->id);
}

static int open_job(const struct ab_policy_input *in, const struct ab_restore *ask, struct job *j,
		    struct ab_restored *ret, struct ab_error *err)
{
	*ret = (struct ab_restored){ 0 };
	*j = (struct job){ .ask = ask, .ret = ret, .parent = -1 };
	if (ab_quarantined_open(in, ask->id, &j->one, err) < 0)
		return -1;
	memcpy(ret->id, j->one.is.id, sizeof(ret->id));
	if (find_place(in, j, err) < 0 || check_runs(j, err) < 0)
		return -1;
	return check_object(j, err);
}

void ab_restored_fini(struct ab_restored *r)
{
	ab_free_all(r->path, r->what, r->why);
	ab_strv_fini(&r->notes);
	*r = (struct ab_restored){ 0 };
}

/* The object must be the one that was listed. */
static int check_identity(const struct job *j, mode_t *ret_mode)
{
	const struct ab_quarantined *is = &j->one.is;
	struct stat st;

	if (fstatat(j->one.dir, is->file, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno;
	if (st.st_dev != is->dev || st.st_ino != is->ino || ab_node_of(st.st_mode) != is->kind)
		return ESTALE;
	*ret_mode = (st.st_mode & S_IFMT) | is->mode;
	return 0;
}

/*
 * As much as is ever moved by copying (workspace/quarantine/move.c), and more. A copy, never a rename: the
 * box may have kept other names of the file (hard links) or may have given it set-id bits, and a later
 * box could change it through those.
 */
static int copy_bounded(int from, const char *name, mode_t mode, int to, const char *as,
			enum ab_copy_keep keep)
{
	struct ab_copy_tree c = {
		.max_bytes = 1ull << 30, .max_entries = 10000, .max_depth = 32, .keep = keep
	};
	int rc = ab_copy_tree(&c, from, name, mode, to, as);

	ab_copy_tree_fini(&c);
	return rc;
}

int ab_restore_copy(int from, const char *name, mode_t mode, int to, const char *as)
{
	int rc = copy_bounded(from, name, mode, to, as, AB_COPY_RESTORED);

	if (rc != 0 && rc != EEXIST)
		(void)ab_remove_object(to, as);
	return rc;
}

static int stage_copy(const struct job *j, char tmp[64], struct ab_error *err)
{
	mode_t mode = 0;
	int rc = check_identity(j, &mode);

	for (int i = 0; i < TRIES && (rc == 0 || rc == EEXIST); i++) {
		snprintf(tmp, 64, ".agentbox-restore-%d-%d", (int)getpid(), i);
		rc = ab_restore_copy(j->one.dir, j->one.is.file, mode, j->parent, tmp);
		if (rc == 0)
			return 0;
	}
	return ab_fail(err, AB_ESYSTEM, rc, "copy %s to %s", j->one.is.id, j->ret->path);
}

static int rename_as(const struct job *j, const char *tmp, unsigned flags)
{
	return (int)syscall(SYS_renameat2, j->parent, tmp, j->parent, j->name, flags);
}

/* For the list of the quarantine: `file` has, or will have, what is in the place now. */
static void note_replaced(struct job *j, const char *file, const struct stat *st)
{
	struct ab_run run = { .state = &j->one.state, .dir = j->one.dir };
	struct ab_moved m = { .path = j->ret->path,
			      .entry = j->one.is.entry,
			      .name = (char *)(uintptr_t)file,
			      .number = ab_quarantine_number(file),
			      .mode = j->there.st_mode & 07777,
			      .st = *st };
	struct ab_quarantine_report report = { .moved = &m, .nmoved = 1 };
	size_t told = 0;

	memcpy(run.id, j->one.is.run, sizeof(run.id));
	clock_gettime(CLOCK_REALTIME, &m.at);
	ab_moved_note(&run, &report, &told);
	snprintf(j->ret->replaced, sizeof(j->ret->replaced), "%s-q%u", j->one.is.run, m.number);
}

static bool is_object(int dir, const char *name, const struct stat *object, struct stat *ret)
{
	return fstatat(dir, name, ret, AT_SYMLINK_NOFOLLOW) == 0 && ab_stat_same(ret, object);
}

/* One rename. `file` is the copy of the object, in the quarantine. 0, or an errno. */
static int exchange_near(struct job *j, const char *file)
{
	struct stat st;
	int rc = 0;

	note_replaced(j, file, &j->there);
	if (renameat2(j->one.dir, file, j->parent, j->name, RENAME_EXCHANGE) < 0) {
		rc = errno;
	} else if (!is_object(j->one.dir, file, &j->there, &st)) {
		/* Another program put something there meanwhile: it comes back, or stays in
		 * quarantine. */
		if (renameat2(j->one.dir, file, j->parent, j->name, RENAME_EXCHANGE) < 0)
			return errno;
		rc = ESTALE;
	}
	/* Nothing but our own copy: another program may have put something there. */
	if (rc && is_object(j->one.dir, file, &j->copy, &st))
		(void)ab_remove_object(j->one.dir, file);
	return rc;
}

/* The original is under the temporary name, and whole in quarantine. */
static int drop_replaced(struct job *j, const char *tmp)
{
	if (ab_remove_object(j->parent, tmp) < 0)
		ab_strv_addf(&j->ret->notes, "what was replaced stays beside it as %s: %s", tmp,
			     strerror(errno));
	return 0;
}

/* Is it what was there, and as it was when it was copied? */
static bool is_as_copied(const struct job *j, const char *name)
{
	struct stat st;

	return is_object(j->parent, name, &j->there, &st) && st.st_size == j->there.st_size &&
	       ab_time_same(st.st_mtim, j->there.st_mtim);
}

/* Another program may have put something there meanwhile, or have written to it: it comes back. 0, or an
 * errno. */
static int exchange_with(struct job *j, const char *tmp)
{
	struct stat st;
	int rc = ESTALE;

	if (rename_as(j, tmp, RENAME_EXCHANGE) < 0)
		return errno;
	if (is_as_copied(j, tmp))
		return 0;
	if (rename_as(j, tmp, RENAME_EXCHANGE) < 0)
		rc = errno;
	j->keep = !is_object(j->parent, tmp, &j->copy, &st);
	return rc;
}

/* A copy of what is in the place, as a whole and on the disk. 0, or an errno; EEXIST: `file` is another
 * object. */
static int copy_replaced(const struct job *j, const char *file, struct stat *ret)
{
	int rc = copy_bounded(j->parent, j->name, j->there.st_mode, j->one.dir, file,
			      AB_COPY_PRIVATE);

	if (rc == EEXIST)
		return rc;
	if (rc == 0 &&
	    (fstatat(j->one.dir, file, ret, AT_SYMLINK_NOFOLLOW) < 0 || syncfs(j->one.dir) < 0))
		rc = errno;
	if (rc)
		(void)ab_remove_object(j->one.dir, file);
	return rc;
}

static int exchange_far(struct job *j, const char *tmp, const char *file)
{
	struct stat st;
	int rc = copy_replaced(j, file, &st);

	if (rc)
		return rc;
	note_replaced(j, file, &st);
	rc = exchange_with(j, tmp);
	if (rc == 0)
		return drop_replaced(j, tmp);
	if (!j->keep)
		(void)ab_remove_object(j->one.dir, file);
	return rc;
}

/* 0, or an errno; then the place has what it had, and nothing new is in quarantine. */
static int move_replaced(struct job *j, const char *tmp)
{
	char file[AB_QUARANTINE_NAME];
	unsigned number = ab_quarantine_last_number(j->one.dir);
	int rc;

	if (fstatat(j->parent, j->name, &j->there, AT_SYMLINK_NOFOLLOW) < 0 ||
	    fstatat(j->parent, tmp, &j->copy, AT_SYMLINK_NOFOLLOW) < 0)
		return errno;
	for (int i = 0; i < TRIES; i++) {
		ab_quarantine_make_name(++number, j->name, file);
		if (ab_rename_new(j->parent, tmp, j->one.dir, file) == 0)
			return exchange_near(j, file);
		rc = errno == EXDEV ? exchange_far(j, tmp, file) : errno;
		if (rc != EEXIST)
			return rc;
	}
	return EEXIST;
}

static int exchange_places(struct job *j, const char *tmp, struct ab_error *err)
{
	int rc = move_replaced(j, tmp);

	if (rc == 0)
		return 0;
	j->ret->replaced[0] = '\0';
	if (rc == ESTALE)
		refuse(err, j->ret->path, "another program is changing what is in its place");
	else
		ab_fail(err, AB_ESYSTEM, rc, "move %s to quarantine", j->ret->path);
	return j->keep ? ab_hint(err, "What was there is beside it now, as %s.", tmp) : -1;
}

static int put_in_place(struct job *j, const char *tmp, struct ab_error *err)
{
	if (rename_as(j, tmp, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno == EEXIST && j->ask->force)
		return exchange_places(j, tmp, err);
	if (errno == EEXIST)
		return refuse(err, j->ret->path, "something is in its place");
	return ab_fail(err, AB_ESYSTEM, errno, "create %s", j->ret->path);
}

/* A line without an object: who reads the list ignores it. */
static void note_restored(const struct job *j)
{
	ab_autoclose int fd = openat(j->one.dir, AB_MOVED_LIST,
				     O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	ab_autobuf struct ab_buf line = { 0 };

	ab_record_open(&line, j->one.is.run, "restored");
	ab_record_text(&line, "id", j->one.is.id);
	ab_record_text(&line, "path", j->ret->path);
	ab_buf_puts(&line, "}\n");
	if (fd >= 0)
		(void)ab_write_all(fd, line.data, line.len);
}

static int restore_object(struct job *j, struct ab_error *err)
{
	char tmp[64];

	if (stage_copy(j, tmp, err) < 0)
		return -1;
	if (put_in_place(j, tmp, err) < 0) {
		if (!j->keep)
			(void)ab_remove_object(j->parent, tmp);
		return -1;
	}
	(void)fsync(j->parent);
	note_restored(j);
	if (ab_remove_object(j->one.dir, j->one.is.file) < 0)
		ab_strv_addf(&j->ret->notes, "a copy of it stays in quarantine: %s",
			     strerror(errno));
	return 0;
}

/* No box that can write there starts meanwhile. */
static int restore_alone(struct job *j, struct ab_error *err)
{
	ab_autofree char *parent = ab_path_parent(j->ret->path);
	ab_autostrv struct ab_strv name = { 0 };
	ab_auto(ab_claim_release) struct ab_claim claim = AB_CLAIM_NONE;

	ab_claim_init(&claim, &j->one.state, NULL);
	ab_strv_add(&name, j->name);
	return ab_claim_take(&claim, parent, &name, err) < 0 ? -1 : restore_object(j, err);
}

int ab_restore(const struct ab_policy_input *input, const struct ab_restore *ask, bool really,
	       struct ab_restored *ret, struct ab_error *err)
{
	struct job j;
	int result = open_job(input, ask, &j, ret, err);

	if (result == 0 && really)
		result = restore_alone(&j, err);
	ab_closep(&j.parent);
	if (j.one.is.id[0])
		ab_quarantined_close(&j.one);
	if (result < 0)
		ab_restored_fini(ret);
	return result;
}
