#include "state/state.h"

#include <sys/file.h>
#include <sys/random.h>

#include "audit/read/details.h"
#include "audit/write/log.h"
#include "base/system/folder.h"
#include "base/system/own_path.h"
#include "layer/store/store.h"
#include "workspace/quarantine/journal.h"

/* Microseconds pass from creating a run's folder to its first record. */
enum { UNSTARTED_S = 60 };

enum { ID_TRIES = 64 };

#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* It must be private: another user who could write here could forge what we sweep and read what we
 * record. */
static int check_owner(int fd, const char *path, struct ab_error *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "check %s", path);
	if (st.st_uid != geteuid())
		ab_fail(err, AB_ESYSTEM, 0, "%s belongs to another user", path);
	else if (st.st_mode & 022)
		ab_fail(err, AB_ESYSTEM, 0, "others can write to %s", path);
	else
		return 0;
	return ab_hint(err,
		       "choose another state folder with AGENTBOX_STATE, "
		       "or: chmod 700 %s",
		       path);
}

static int open_subfolder(const struct ab_state *state, const char *name, struct ab_error *err)
{
	int fd = openat(state->root, name, OPEN_DIR);

	if (fd < 0 && errno == ENOENT && (mkdirat(state->root, name, 0700) == 0 || errno == EEXIST))
		fd = openat(state->root, name, OPEN_DIR);
	if (fd < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "open %s/%s", state->path, name);
	return fd;
}

/* The folder itself, made if there is none. */
static int open_root(const char *path, struct ab_error *err)
{
	int fd = ab_own_path_open(path, OPEN_DIR & ~O_NOFOLLOW);

	if (fd < 0 && errno == ENOENT) {
		ab_autofree char *failed = ab_folder_make_all(path, 0700);

		if (failed)
			return ab_fail(err, AB_ESYSTEM, errno, "create %s", failed);
		fd = ab_own_path_open(path, OPEN_DIR & ~O_NOFOLLOW);
	}
	if (fd < 0 && errno == EPERM)
		return ab_fail(err, AB_ESYSTEM, 0,
			       "a link of another user leads to the state folder %s", path);
	return fd < 0 ? ab_fail(err, AB_ESYSTEM, errno, "open %s", path) : fd;
}

static int open_folders(const char *path, struct ab_state *state, struct ab_error *err)
{
	state->root = open_root(path, err);
	if (state->root < 0)
		return -1;
	state->path = ab_fd_path(state->root);
	if (!state->path)
		return ab_fail(err, AB_ESYSTEM, errno, "find %s", path);
	if (check_owner(state->root, path, err) < 0)
		return -1;
	state->live = open_subfolder(state, "live", err);
	state->runs = state->live < 0 ? -1 : open_subfolder(state, "runs", err);
	return state->runs < 0 ? -1 : 0;
}

int ab_state_open(const char *path, struct ab_state *ret, struct ab_error *err)
{
	struct ab_state state = AB_STATE_NONE;

	if (open_folders(path, &state, err) == 0) {
		*ret = state;
		return 0;
	}
	ab_state_fini(&state);
	if (!err->hint[0])
		ab_hint(err, "agentbox keeps its records there; choose another "
			     "place with AGENTBOX_STATE");
	return ab_step(err, "state folder");
}

int ab_state_check_writable(const struct ab_state *state, struct ab_error *err)
{
	if (faccessat(state->runs, ".", W_OK | X_OK, 0) == 0)
		return 0;
	ab_fail(err, AB_ESYSTEM, errno, "write to %s/runs", state->path);
	ab_hint(err, "ended runs are kept there; chmod 700 it, or choose another place with "
		     "AGENTBOX_STATE");
	return ab_step(err, "state folder");
}

int ab_state_check(const struct ab_state *state, struct ab_error *err)
{
	return check_owner(state->root, state->path, err) < 0 ? -1
							      : ab_state_check_writable(state, err);
}

void ab_state_fini(struct ab_state *state)
{
	free(state->path);
	ab_close_all(&state->root, &state->live, &state->runs);
	*state = (struct ab_state)AB_STATE_NONE;
}

int ab_run_pick_id(char ret_id[8], struct ab_error *err)
{
	/* Without 0 1 l o, which look alike. */
	static const char letters[32] ab_unterminated = "abcdefghijkmnpqrstuvwxyz23456789";
	unsigned char random[5];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return ab_fail(err, AB_ESYSTEM, errno, "get random bytes");
	for (size_t i = 0; i < sizeof(random); i++)
		ret_id[i] = letters[random[i] % sizeof(letters)];
	ret_id[sizeof(random)] = '\0';
	return 0;
}

/* Does an active or kept run have it, or a kept layer? */
static bool is_id_taken(const struct ab_state *state, const char *id)
{
	char layers[32];
	struct stat st;

	snprintf(layers, sizeof(layers), AB_LAYERS_FOLDER "/%s", id);
	return fstatat(state->runs, id, &st, AT_SYMLINK_NOFOLLOW) == 0 ||
	       fstatat(state->live, id, &st, AT_SYMLINK_NOFOLLOW) == 0 ||
	       fstatat(state->root, layers, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

int ab_state_pick_id(const struct ab_state *state, char ret_id[8], struct ab_error *err)
{
	for (int tries = 0; tries < ID_TRIES; tries++) {
		if (ab_run_pick_id(ret_id, err) < 0)
			return -1;
		if (!is_id_taken(state, ret_id))
			return 0;
	}
	return ab_fail(err, AB_ESYSTEM, 0, "cannot find a free id for the run");
}

static int create_folder(const struct ab_state *state, const char *id, const char *name,
			 struct ab_run *ret, struct ab_error *err)
{
	struct ab_run run = { .state = state, .dir = -1 };

	snprintf(run.id, sizeof(run.id), "%s", id);
	if (mkdirat(state->live, name, 0700) < 0) {
		ab_fail(err, AB_ESYSTEM, errno, "create the run's folder in %s", state->path);
		goto fail;
	}
	run.dir = openat(state->live, name, OPEN_DIR);
	if (run.dir < 0 || flock(run.dir, LOCK_EX) < 0) {
		ab_fail(err, AB_ESYSTEM, errno, "%s the run's folder in %s",
			run.dir < 0 ? "open" : "lock", state->path);
		goto fail;
	}
	*ret = run;
	return 0;
fail:
	ab_run_fini(&run);
	ab_hint(err, "a run does not start without its record; choose another place with "
		     "AGENTBOX_STATE");
	return ab_step(err, "record");
}

int ab_run_create(const struct ab_state *state, const char *id, struct ab_run *ret,
		  struct ab_error *err)
{
	return create_folder(state, id, id, ret, err);
}

/* The name of the folder of a run that may come. */
struct reserved {
	char name[sizeof(((struct ab_run *)NULL)->id) + 1];
};

static struct reserved name_reserved(const char *id)
{
	struct reserved reserved;

	snprintf(reserved.name, sizeof(reserved.name), ".%s", id);
	return reserved;
}

int ab_run_reserve(const struct ab_state *state, const char *id, struct ab_run *ret,
		   struct ab_error *err)
{
	return create_folder(state, id, name_reserved(id).name, ret, err);
}

int ab_run_appear(const struct ab_run *run, struct ab_error *err)
{
	int live = run->state->live;

	if (renameat2(live, name_reserved(run->id).name, live, run->id, RENAME_NOREPLACE) == 0)
		return 0;
	return ab_fail_step(err, "record", errno, "create the run's folder in %s",
			    run->state->path);
}

void ab_run_forget(const struct ab_run *run)
{
	unlinkat(run->dir, AB_LOG_NAME, 0);
	if (unlinkat(run->state->live, name_reserved(run->id).name, AT_REMOVEDIR) < 0)
		unlinkat(run->state->live, run->id, AT_REMOVEDIR);
}

void ab_run_retire(struct ab_run *run)
{
	unlinkat(run->dir, AB_CONTROL_NAME, 0);
	/* Its age counts from here (broker/cleanup/gc.h). Set it before the run is where gc looks
	 * for old ones. */
	futimens(run->dir, NULL);
	/* On failure it stays in live/, unlocked: the next start sweeps it. */
	renameat(run->state->live, run->id, run->state->runs, run->id);
}

void ab_run_fini(struct ab_run *run)
{
	ab_closep(&run->dir);
}

/* Remove the folder of a run that never began, once its start must have failed. Only an empty
 * folder is removed. */
static void remove_unstarted(const struct ab_run *run)
{
	struct stat st;

	if (fstat(run->dir, &st) < 0 || time(NULL) - st.st_mtime < UNSTARTED_S)
		return;
	unlinkat(run->dir, AB_LOG_NAME, 0);
	unlinkat(run->dir, AB_CONTROL_NAME, 0);
	unlinkat(run->state->live, run->id, AT_REMOVEDIR);
}

/* The folder of a run that never came, and whose processes are all dead. */
static void remove_reserved(const struct ab_state *state, const char *name)
{
	ab_autoclose int dir = openat(state->live, name, OPEN_DIR);
	struct stat st;

	/* Before it is locked, it is young. */
	if (dir < 0 || fstat(dir, &st) < 0 || time(NULL) - st.st_mtime < UNSTARTED_S ||
	    flock(dir, LOCK_EX | LOCK_NB) < 0)
		return;
	unlinkat(dir, AB_LOG_NAME, 0);
	unlinkat(state->live, name, AT_REMOVEDIR);
}

/* The folder of a run that may be active; -1 with errno. */
static int open_run(const struct ab_state *state, const char *id, struct ab_run *ret)
{
	*ret = (struct ab_run){ .state = state, .dir = -1 };
	if (strlen(id) >= sizeof(ret->id) || id[0] == '.' || strchr(id, '/'))
		return ab_errno(ENOENT);
	memcpy(ret->id, id, strlen(id) + 1);
	ret->dir = openat(state->live, id, OPEN_DIR);
	return ret->dir;
}

/* True: we could lock it, so the run is dead. An active run is left alone. */
static bool claim_dead_run(const struct ab_state *state, const char *id, struct ab_run *ret)
{
	struct ab_run run;

	if (open_run(state, id, &run) < 0 || flock(run.dir, LOCK_EX | LOCK_NB) < 0) {
		ab_run_fini(&run);
		return false;
	}
	/* No record yet: the run is starting, or was killed while it did. The command has done
	 * nothing. */
	if (!ab_log_begun(run.dir)) {
		remove_unstarted(&run);
		ab_run_fini(&run);
		return false;
	}
	*ret = run;
	return true;
}

void ab_state_each_stale(const struct ab_state *state, ab_stale_fn fn, void *arg)
{
	ab_autodir DIR *list = NULL;
	const char *id;
	struct stat st;

	/* On most file systems a link count of two means no subfolders. */
	if (state->live < 0 || fstat(state->live, &st) < 0 || st.st_nlink == 2)
		return;
	list = ab_folder_list(state->live, ".");
	while ((id = ab_folder_next(list)) != NULL) {
		struct ab_run run;

		if (id[0] == '.')
			remove_reserved(state, id);
		if (id[0] == '.' || !claim_dead_run(state, id, &run))
			continue;
		if (fn(&run, arg))
			ab_run_retire(&run);
		ab_run_fini(&run);
	}
}

/* A run is active while one of its processes holds the lock. False with errno 0: it is not. */
static bool open_live(const struct ab_state *state, const char *id, struct ab_run *ret)
{
	struct ab_run run;
	bool locked = open_run(state, id, &run) >= 0 && flock(run.dir, LOCK_SH | LOCK_NB) == 0;

	if (run.dir >= 0 && !locked && errno == EWOULDBLOCK) {
		*ret = run;
		return true;
	}
	if (locked || errno == ENOENT || errno == ENOTDIR || errno == ELOOP)
		errno = 0;
	ab_run_fini(&run);
	return false;
}

int ab_state_each_live(const struct ab_state *state, ab_live_fn fn, void *arg)
{
	ab_autodir DIR *list = ab_folder_list(state->live, ".");
	int result = list ? 0 : -1;
	struct ab_run run;
	const char *id;

	while ((id = ab_folder_next(list)) != NULL) {
		if (!open_live(state, id, &run)) {
			result = errno ? -1 : result;
			continue;
		}
		fn(&run, arg);
		ab_run_fini(&run);
	}
	return result;
}

struct search {
	const char *name;    /* NULL: any */
	struct ab_buf found; /* their ids */
	struct ab_run run;   /* the last of them */
	size_t n;
};

static void match_run(struct ab_run *run, void *arg)
{
	struct search *s = arg;
	ab_autofree char *name = ab_run_name(run);

	if (s->name ? (!name || strcmp(name, s->name) != 0) : ab_run_is_tool(run))
		return;
	ab_buf_printf(&s->found, "%s%s", s->n++ ? ", " : "", run->id);
	if (name)
		ab_buf_printf(&s->found, " (%s)", name);
	ab_run_fini(&s->run);
	s->run = *run;
	run->dir = -1;
}

/* 1: found; 0: none. */
static int find_by_name(const struct ab_state *state, const char *name, struct ab_run *ret,
			struct ab_error *err)
{
	struct search s = { .name = name, .run = { .dir = -1 } };
	int result;

	(void)ab_state_each_live(state, match_run, &s);
	result = s.n == 1;
	if (s.n > 1) {
		ab_fail(err, AB_EUSAGE, 0, "more than one run is active: %s", s.found.data);
		result =
			ab_hint(err, "choose one by its id or name; for allow and deny with --run");
	}
	if (result == 1)
		*ret = s.run;
	else
		ab_run_fini(&s.run);
	ab_buf_fini(&s.found);
	return result;
}

int ab_state_find_live(const struct ab_state *state, const char *run, struct ab_run *ret,
		       struct ab_error *err)
{
	struct stat st;
	int found;

	if (run && open_live(state, run, ret))
		return 0;
	found = find_by_name(state, run, ret, err);
	if (found)
		return found < 0 ? -1 : 0;
	if (!run)
		return ab_fail(err, AB_ESYSTEM, 0, "no active runs");
	if (!strchr(run, '/') && run[0] != '.' &&
	    (fstatat(state->runs, run, &st, 0) == 0 || fstatat(state->live, run, &st, 0) == 0))
		return ab_fail(err, AB_ESYSTEM, 0, "run %s has ended", run);
	ab_fail(err, AB_ESYSTEM, 0, "no run named %s", run);
	return ab_hint(err, "list active runs with agentbox ps");
}

enum { NAME_MAX_LEN = 32 };

json_t *ab_run_start(const struct ab_run *run)
{
	ab_autofree char *line = NULL;

	return ab_log_first(run->dir, &line) < 0 ? NULL : json_loads(line, 0, NULL);
}

bool ab_run_ended(const struct ab_run *run)
{
	static const char *const names[] = { "kind", "swept" };
	ab_autofree char *line = NULL;
	struct ab_detail f[AB_COUNT(names)];

	return ab_log_last(run->dir, &line) == 0 &&
	       ab_details_find(line, strlen(line), names, AB_COUNT(names), f) == 0 &&
	       (ab_detail_is(&f[0], "end") || ab_detail_is(&f[0], "refused")) &&
	       f[1].kind != AB_DETAIL_FALSE;
}

int ab_run_survey(const json_t *start, struct ab_survey *ret)
{
	ab_autofree char *watch = json_dumps(json_object_get(start, "watch"), JSON_COMPACT);
	struct ab_error unused;

	return watch ? ab_journal_read(watch, strlen(watch), ret, &unused) : -1;
}

/* The members before "command" as an object of their own: a start record is long, and every `run
 * --in NAME` looks for its name. NULL: it begins in another way, or there is none yet. */
static char *read_start_head(const struct ab_run *run)
{
	static const char next[] = ",\"command\":";
	char head[512];
	ssize_t n = ab_log_head(run->dir, head, sizeof(head));
	const char *end = n > 0 ? memmem(head, (size_t)n, next, strlen(next)) : NULL;

	return end ? ab_printf("%.*s}", (int)(end - head), head) : NULL;
}

/* One member of the beginning of its start record, which points into the returned text. NULL: it has
 * none yet. */
static char *find_start_member(const struct ab_run *run, const char *name, struct ab_detail *ret)
{
	char *line = read_start_head(run);

	if ((line || ab_log_first(run->dir, &line) == 0) &&
	    ab_details_find(line, strlen(line), &name, 1, ret) == 0)
		return line;
	free(line);
	return NULL;
}

char *ab_run_name(const struct ab_run *run)
{
	struct ab_detail name;
	ab_autofree char *line = find_start_member(run, "name", &name);

	return line ? ab_detail_dup(&name) : NULL;
}

bool ab_run_stays(const struct ab_run *run)
{
	struct ab_detail stays;
	ab_autofree char *line = find_start_member(run, "stays", &stays);

	return line && stays.kind == AB_DETAIL_TRUE;
}

bool ab_run_is_tool(const struct ab_run *run)
{
	struct ab_detail outer;
	ab_autofree char *line = find_start_member(run, "tool_of", &outer);

	return line && outer.kind == AB_DETAIL_TEXT;
}

static bool is_name(const char *name)
{
	size_t len = strlen(name);

	/* Every command would take a leading dash for an option. The name is also that of a folder,
	 * which must not be hidden, or "..". */
	return len && len <= NAME_MAX_LEN && ab_has_only(name, len, "-_.") && name[0] != '-' &&
	       name[0] != '.';
}

struct taken {
	const char *name;
	char id[8];
	bool stays;
};

/* A name that is another run's id could never be used: ids are found first. */
static void match_name(struct ab_run *run, void *arg)
{
	struct taken *t = arg;
	ab_autofree char *name = ab_run_name(run);

	if (strcmp(run->id, t->name) == 0 || (name && strcmp(name, t->name) == 0)) {
		memcpy(t->id, run->id, sizeof(t->id));
		t->stays = ab_run_stays(run);
	}
}

int ab_state_check_name(const struct ab_state *state, const char *name, struct ab_error *err)
{
	struct taken taken = { .name = name };

	if (!is_name(name)) {
		ab_fail(err, AB_EUSAGE, 0, "invalid run name \"%s\"", name);
		return ab_hint(err,
			       "use 1 to 32 letters, digits, -, _ and ., not starting with - or .");
	}
	(void)ab_state_each_live(state, match_name, &taken);
	if (!taken.id[0])
		return 0;
	ab_fail(err, AB_EUSAGE, 0, "run %s is already named %s", taken.id, name);
	if (!taken.stays)
		return ab_hint(err, "choose another name, or stop that run: agentbox stop %s",
			       taken.id);
	return ab_hint(
		err,
		"to run a command in its box: agentbox run --in %s -- ...; or choose another "
		"name, or stop that run: agentbox stop %s",
		name, taken.id);
}

int ab_state_claim_name(const struct ab_state *state, const char *name, int *ret_lock,
			struct ab_error *err)
{
	/* A descriptor of its own: the lock belongs to the open file. */
	ab_autoclose int lock = openat(state->live, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (lock < 0 || flock(lock, LOCK_EX) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "lock %s/live", state->path);
	if (ab_state_check_name(state, name, err) < 0)
		return -1;
	*ret_lock = ab_take_fd(&lock);
	return 0;
}
