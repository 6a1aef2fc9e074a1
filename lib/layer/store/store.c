#include "layer/store/store.h"

#include <sys/file.h>
#include <sys/random.h>

#include "base/system/folder.h"
#include "base/system/new_file.h"
#include "base/text/sha256.h"
#include "workspace/tree/dir.h"
#include "workspace/tree/remove_tree.h"

enum {
	LOCK_MS = 2000,
	OPEN_TRIES = 16, /* another process may remove the set between our steps */
	HASH_CHARS = 16,
	HIDE_TRIES = 1000,
	UNUSED_S = 60,
};

#define META "meta.json"
#define META_TMP ".meta.json"
#define LOCK "lock"
#define LOCK_TMP ".lock"
#define GONE ".gone-"
#define PRIVATE ".private-"
#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_NOFOLLOW)

/* Keys. */

bool ab_layer_key_valid(const char *key)
{
	size_t len = strlen(key);

	/* A dot in front is ours; commands take a dash for an option. */
	if (len == 0 || len > AB_LAYER_KEY_MAX || key[0] == '.' || key[0] == '-')
		return false;
	return key[0] == '@' ? len > 1 && ab_has_only(key + 1, len - 1, "._-")
			     : ab_has_only(key, len, "._-");
}

char *ab_layer_key_profile(const char *profile)
{
	char *key = ab_printf("@%s", profile);
	char hex[65];

	if (ab_layer_key_valid(key) && strncmp(key, "@dir-", 5) != 0)
		return key;
	/* The profile is a file of the user's with any name. */
	free(key);
	ab_sha256(profile, strlen(profile), hex);
	return ab_printf("@profile-%.*s", HASH_CHARS, hex);
}

char *ab_layer_key_workspace(const char *workspace)
{
	char hex[65];

	ab_sha256(workspace, strlen(workspace), hex);
	return ab_printf("@dir-%.*s", HASH_CHARS, hex);
}

/* Opening. */

/* Another user may have put something into a folder that others can write. */
static int check_private(int fd, const char *path, struct ab_error *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "check %s", path);
	if (st.st_uid != geteuid())
		return ab_fail(err, AB_ESYSTEM, 0, "%s belongs to another user", path);
	if ((st.st_mode & 077) == 0)
		return 0;
	ab_fail(err, AB_ESYSTEM, 0, "others can use %s", path);
	return ab_hint(err, "make it private to you: chmod 700 %s", path);
}

/* The folder of all sets; -1 with errnum ENOENT if there is none. */
static int open_layers(const struct ab_layer_store *store, bool make, struct ab_error *err)
{
	ab_autofree char *path = ab_path_join(store->path, AB_LAYERS_FOLDER);
	ab_autoclose int fd = ab_open_beneath(store->root, AB_LAYERS_FOLDER, OPEN_DIR);

	if (fd < 0 && errno == ENOENT && make &&
	    (mkdirat(store->root, AB_LAYERS_FOLDER, 0700) == 0 || errno == EEXIST))
		fd = ab_open_beneath(store->root, AB_LAYERS_FOLDER, OPEN_DIR);
	if (fd < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "open %s", path);
	if (check_private(fd, path, err) < 0)
		return -1;
	return ab_take_fd(&fd);
}

/* Did another process remove the set after we opened it? */
static bool is_still_there(int layers, const struct ab_layer_set *set)
{
	struct stat now, ours;

	return fstatat(layers, set->key, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
	       fstat(set->dir, &ours) == 0 && ab_stat_same(&now, &ours);
}

static int open_lock_file(const struct ab_layer_set *set, struct ab_error *err)
{
	ab_autoclose int fd =
		openat(set->dir, LOCK,
		       O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "open %s/" LOCK, set->path);
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022))
		return ab_fail(err, AB_ESYSTEM, 0, "%s/" LOCK " is not a private file", set->path);
	return ab_take_fd(&fd);
}

/*
 * Who only looks at a set locks its folder first, so that others can tell a look, which is soon over,
 * from a run or a command that uses the set. Where a folder cannot be locked, a look counts as use.
 */
static int take_lock(const struct ab_layer_set *set, int fd, unsigned how)
{
	int locked;

	if (how & AB_LAYERS_LOOK) {
		locked = how & AB_LAYERS_TRY ? ab_lock_wait(set->dir, LOCK_EX, 0)
					     : ab_lock_wait(set->dir, LOCK_EX, LOCK_MS);
		return locked == 1 ? 1 : ab_lock_wait(fd, LOCK_EX, 0);
	}
	if (!(how & AB_LAYERS_TRY))
		return ab_lock_wait(fd, LOCK_EX, LOCK_MS);
	locked = ab_lock_wait(fd, LOCK_EX, 0);
	if (locked != 1)
		return locked;
	/* While we have the folder, nobody looks. If we do not get it, the look takes long. */
	(void)ab_lock_wait(set->dir, LOCK_SH, LOCK_MS);
	locked = ab_lock_wait(fd, LOCK_EX, 0);
	flock(set->dir, LOCK_UN);
	return locked;
}

static int report_busy(const struct ab_layer_set *set, struct ab_error *err)
{
	const struct ab_strv *runs = &set->meta.runs;

	if (runs->len) {
		const char *id = runs->v[runs->len - 1];

		ab_fail(err, AB_ESYSTEM, 0, "the layers of %s are in use by run %s", set->key, id);
		ab_hint(err, "wait until it has ended, or stop it: agentbox stop %s", id);
	} else {
		ab_fail(err, AB_ESYSTEM, 0, "the layers of %s are in use", set->key);
		ab_hint(err, "wait until the other command has ended");
	}
	err->errnum = EWOULDBLOCK;
	return -1;
}

static int report_missing(const char *key, struct ab_error *err)
{
	ab_fail(err, AB_ESYSTEM, 0, "no layer named %s", key);
	ab_hint(err, "list them with: agentbox layers");
	err->errnum = ENOENT;
	return -1;
}

static int report_damaged(const struct ab_layer_set *set, struct ab_error *err)
{
	ab_wrap(err, "%s/" META " is damaged", set->path);
	return ab_hint(err, "remove these layers: agentbox layers rm %s", set->key);
}

/* Too little of something says nothing about the file. */
static int report_unread(const struct ab_layer_set *set, struct ab_error *err)
{
	if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
		return ab_fail(err, AB_ESYSTEM, errno, "read %s/" META, set->path);
	ab_fail(err, AB_ECONFIG, errno, "read it");
	return report_damaged(set, err);
}

/* The file must be ours and regular; the rest is the reader's work. */
static int read_meta(struct ab_layer_set *set, struct ab_error *err)
{
	ab_autoclose int fd =
		openat(set->dir, META, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	ab_autofree char *text = NULL;
	struct ab_layer_meta meta;
	struct stat st;
	size_t len;

	set->fresh = fd < 0 && errno == ENOENT;
	if (set->fresh) {
		set->meta = (struct ab_layer_meta){ .key = ab_strdup(set->key), .waiting = -1 };
		return 0;
	}
	if (fd < 0 || fstat(fd, &st) < 0)
		return report_unread(set, err);
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022)) {
		ab_fail(err, AB_ECONFIG, 0, "it is not a private file");
		return report_damaged(set, err);
	}
	if (ab_read_all(fd, AB_LAYER_META_MAX, &text, &len) < 0)
		return report_unread(set, err);
	if (ab_layer_meta_read(text, len, &meta, err) < 0)
		return report_damaged(set, err);
	if (strcmp(meta.key, set->key) != 0) {
		ab_layer_meta_fini(&meta);
		ab_fail(err, AB_ECONFIG, 0, "it describes other layers");
		return report_damaged(set, err);
	}
	set->meta = meta;
	return 0;
}

static int lock_set(struct ab_layer_set *set, unsigned how, struct ab_error *err)
{
	ab_autoclose int fd = open_lock_file(set, err);
	int locked;

	if (fd < 0)
		return -1;
	locked = take_lock(set, fd, how);
	if (locked < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "lock %s", set->path);
	if (locked == 0) {
		set->lock = ab_take_fd(&fd);
		return 0;
	}
	/* To name the run that has it. */
	if (read_meta(set, &(struct ab_error){ 0 }) < 0)
		set->meta = (struct ab_layer_meta){ 0 };
	return report_busy(set, err);
}

/* 1: open and, if asked for, locked; 0: it was removed meanwhile. */
static int open_once(int layers, unsigned how, struct ab_layer_set *set, struct ab_error *err)
{
	int result;

	set->dir = ab_open_beneath(layers, set->key, OPEN_DIR);
	if (set->dir < 0 && errno == ENOENT && (how & AB_LAYERS_CREATE)) {
		if (mkdirat(layers, set->key, 0700) < 0 && errno != EEXIST)
			return ab_fail(err, AB_ESYSTEM, errno, "create %s", set->path);
		return 0;
	}
	if (set->dir < 0 && errno == ENOENT)
		return report_missing(set->key, err);
	if (set->dir < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "open %s", set->path);
	if (check_private(set->dir, set->path, err) < 0)
		return -1;
	if (!(how & AB_LAYERS_LOCK))
		return 1;
	result = lock_set(set, how, err);
	if (is_still_there(layers, set))
		return result < 0 ? -1 : 1;
	*err = (struct ab_error){ 0 };
	ab_layer_meta_fini(&set->meta);
	set->meta = (struct ab_layer_meta){ 0 };
	ab_close_all(&set->lock, &set->dir);
	return 0;
}

int ab_layers_open(const struct ab_layer_store *store, const char *key, unsigned how,
		   struct ab_layer_set *ret, struct ab_error *err)
{
	ab_autolayerset struct ab_layer_set set = AB_LAYER_SET_NONE;
	ab_autoclose int layers = -1;
	int opened = 0;

	if (!ab_layer_key_valid(key))
		return ab_fail(err, AB_EUSAGE, 0, "\"%s\" cannot be the name of layers", key);
	layers = open_layers(store, how & AB_LAYERS_CREATE, err);
	if (layers < 0)
		return err->errnum == ENOENT ? report_missing(key, err) : -1;
	set.key = ab_strdup(key);
	set.path = ab_printf("%s/" AB_LAYERS_FOLDER "/%s", store->path, key);
	for (int tries = 0; opened == 0 && tries < OPEN_TRIES; tries++)
		opened = open_once(layers, how, &set, err);
	if (opened < 0)
		return -1;
	if (opened == 0)
		return ab_fail(err, AB_ESYSTEM, 0, "%s is removed again and again", set.path);
	if (read_meta(&set, err) < 0) {
		if (!(how & AB_LAYERS_UNREAD))
			return -1;
		set.meta = (struct ab_layer_meta){ .key = ab_strdup(key), .waiting = -1 };
	}
	*ret = set;
	set = (struct ab_layer_set)AB_LAYER_SET_NONE;
	return 0;
}

/* A lock file has its name only when it is locked, so that no sweep takes it for one that its run
 * left behind. */
static int make_private(int layers, struct ab_layer_set *set, struct ab_error *err)
{
	if (mkdirat(layers, set->key, 0700) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "create %s", set->path);
	set->dir = ab_open_beneath(layers, set->key, OPEN_DIR);
	if (set->dir < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "open %s", set->path);
	set->lock = openat(set->dir, LOCK_TMP, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			   0600);
	if (set->lock < 0 || flock(set->lock, LOCK_EX | LOCK_NB) < 0 ||
	    renameat(set->dir, LOCK_TMP, set->dir, LOCK) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "lock %s", set->path);
	return 0;
}

int ab_layers_open_private(const struct ab_layer_store *store, struct ab_layer_set *ret,
			   struct ab_error *err)
{
	ab_autolayerset struct ab_layer_set set = AB_LAYER_SET_NONE;
	ab_autoclose int layers = open_layers(store, true, err);
	uint64_t number;

	if (layers < 0)
		return -1;
	if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
		return ab_fail(err, AB_ESYSTEM, errno, "get random bytes");
	set.key = ab_printf(PRIVATE "%016llx", (unsigned long long)number);
	set.path = ab_printf("%s/" AB_LAYERS_FOLDER "/%s", store->path, set.key);
	if (make_private(layers, &set, err) < 0 || read_meta(&set, err) < 0)
		return -1;
	*ret = set;
	set = (struct ab_layer_set)AB_LAYER_SET_NONE;
	return 0;
}

void ab_layer_set_fini(struct ab_layer_set *set)
{
	ab_free_all(set->key, set->path);
	ab_layer_meta_fini(&set->meta);
	ab_close_all(&set->lock, &set->dir);
	*set = (struct ab_layer_set)AB_LAYER_SET_NONE;
}

bool ab_layer_set_busy(const struct ab_layer_set *set)
{
	ab_autoclose int fd = -1;
	bool busy;

	if (set->lock >= 0)
		return false;
	fd = openat(set->dir, LOCK, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return false;
	/* A look that takes long is no use, either. */
	busy = ab_lock_wait(set->dir, LOCK_EX, LOCK_MS) != 1 && ab_lock_wait(fd, LOCK_SH, 0) == 1;
	ab_closep(&fd);
	flock(set->dir, LOCK_UN);
	return busy;
}

void ab_layer_set_unlock(const struct ab_layer_set *set)
{
	flock(set->lock, LOCK_UN);
}

bool ab_layer_set_lock_again(const struct ab_layer_store *store, const struct ab_layer_set *set)
{
	ab_autoclose int layers = open_layers(store, false, &(struct ab_error){ 0 });

	return layers >= 0 && take_lock(set, set->lock, AB_LAYERS_TRY) == 0 &&
	       is_still_there(layers, set);
}

int ab_layer_set_save(struct ab_layer_set *set, struct ab_error *err)
{
	ab_autobuf struct ab_buf text = { 0 };

	ab_layer_meta_write(&set->meta, &text);
	if (ab_new_file_write(set->dir, META, META_TMP, text.data, text.len, AB_NEW_FILE_NO_SYNC) <
	    0)
		return ab_fail(err, AB_ESYSTEM, errno, "write %s/" META, set->path);
	set->fresh = false;
	return 0;
}

/* Parts of a set. */

int ab_layer_set_open(const struct ab_layer_set *set, const char *part, int flags)
{
	return ab_open_same_mount(set->dir, part, flags | O_NOFOLLOW);
}

/* Create a folder, or open the one that is there, which must be ours. */
static int make_folder(const struct ab_layer_set *set, const char *part, mode_t mode,
		       struct ab_error *err)
{
	ab_autoclose int fd = -1;
	bool made = mkdirat(set->dir, part, 0700) == 0;
	struct stat st;

	if (!made && errno != EEXIST)
		return ab_fail(err, AB_ESYSTEM, errno, "create %s/%s", set->path, part);
	fd = ab_layer_set_open(set, part, O_RDONLY | O_DIRECTORY);
	/* A box may close its own home folder. */
	if (fd < 0 && errno == EACCES)
		fd = ab_layer_set_open(set, part, O_PATH | O_DIRECTORY);
	if (fd < 0 || fstat(fd, &st) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "open %s/%s", set->path, part);
	if (st.st_uid != geteuid())
		return ab_fail(err, AB_ESYSTEM, 0, "%s/%s belongs to another user", set->path,
			       part);
	if (made && mode != 0700 && fchmod(fd, mode) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "chmod %s/%s", set->path, part);
	return 0;
}

int ab_layer_set_make(struct ab_layer_set *set, const char *kind, int real, char **ret_upper,
		      char **ret_work, struct ab_error *err)
{
	ab_autofree char *upper = ab_path_join(kind, "upper"), *work = ab_path_join(kind, "work");
	struct stat st;

	if (fstat(real, &st) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "check the folder below the layer");
	if (make_folder(set, kind, 0700, err) < 0 ||
	    make_folder(set, upper, st.st_mode & 0777, err) < 0 ||
	    make_folder(set, work, 0700, err) < 0)
		return -1;
	*ret_upper = ab_path_join(set->path, upper);
	*ret_work = ab_path_join(set->path, work);
	return 0;
}

/* Rename it out of sight; -1 with errno. */
static int hide_folder(int dir, const char *name)
{
	char gone[sizeof(GONE) + AB_LAYER_KEY_MAX + 12];

	for (unsigned i = 0; i < HIDE_TRIES; i++) {
		snprintf(gone, sizeof(gone), GONE "%u-%s", i, name);
		if (renameat2(dir, name, dir, gone, RENAME_NOREPLACE) == 0 || errno == ENOENT)
			return 0;
		if (errno != EEXIST)
			break;
	}
	return -1;
}

/* A private set whose run is gone. */
static bool is_abandoned(int dir, const char *name)
{
	ab_autofree char *path = NULL;
	ab_autoclose int fd = -1;
	struct stat st;

	if (strncmp(name, PRIVATE, strlen(PRIVATE)) != 0)
		return false;
	path = ab_path_join(name, LOCK);
	fd = ab_open_same_mount(dir, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0)
		return flock(fd, LOCK_EX | LOCK_NB) == 0;
	/* Just created, or left by a run that was killed at that moment. */
	return errno == ENOENT && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       time(NULL) - st.st_mtime > UNUSED_S;
}

/* Two processes that move its folders up at once would find it neither full nor empty. 0 and 1 as below; what
 * another one still removes is left to it. */
static int remove_hidden(int dir, const char *name, size_t *budget)
{
	ab_autoclose int fd = ab_open_same_mount(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);

	if (fd >= 0 && ab_lock_wait(fd, LOCK_EX, *budget == SIZE_MAX ? LOCK_MS : 0) == 1)
		return 0;
	return ab_remove_tree_some(dir, name, budget);
}

/* Remove folders that were renamed; 0: all; 1: the budget is used up; -1: one cannot be removed. */
static int sweep_hidden(int dir, size_t *budget)
{
	ab_autodir DIR *list = ab_folder_list(dir, ".");
	ab_autostrv struct ab_strv hidden = { 0 };
	const char *name;
	int result = 0;

	while ((name = ab_folder_next(list)) != NULL)
		if (strncmp(name, GONE, strlen(GONE)) == 0 || is_abandoned(dir, name))
			ab_strv_add(&hidden, name);
	for (size_t i = 0; i < hidden.len && result != 1; i++) {
		int removed = remove_hidden(dir, hidden.v[i], budget);

		if (removed != 0)
			result = removed;
	}
	return result;
}

int ab_layer_set_drop(struct ab_layer_set *set, const char *part, struct ab_error *err)
{
	size_t budget = SIZE_MAX;

	if (strlen(part) > AB_LAYER_KEY_MAX || strchr(part, '/') || part[0] == '.')
		return ab_fail(err, AB_EUSAGE, 0, "invalid part of layers: %s", part);
	if (hide_folder(set->dir, part) < 0 || sweep_hidden(set->dir, &budget) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "remove %s/%s", set->path, part);
	return 0;
}

static bool has_entry(const struct ab_layer_set *set, const char *part)
{
	ab_autoclose int fd = ab_layer_set_open(set, part, O_RDONLY | O_DIRECTORY);
	ab_autodir DIR *list = fd < 0 ? NULL : ab_folder_list(fd, ".");

	return ab_folder_next(list) != NULL || (fd < 0 && errno == EACCES);
}

bool ab_layer_set_interrupted(const struct ab_layer_set *set)
{
	ab_autoclose int next = ab_layer_set_open(set, "undo/next", O_PATH);
	ab_autoclose int undone = ab_layer_set_open(set, "undo/last/undo", O_PATH);

	return next >= 0 || undone >= 0;
}

bool ab_layer_set_waiting(const struct ab_layer_set *set)
{
	if (set->meta.waiting >= 0)
		return set->meta.waiting > 0;
	return has_entry(set, "project/upper") || has_entry(set, "project/copy");
}

/* All sets. */

int ab_layers_list(const struct ab_layer_store *store, struct ab_strv *ret, struct ab_error *err)
{
	ab_autoclose int layers = open_layers(store, false, err);
	ab_autodir DIR *list = NULL;
	const char *name;

	if (layers < 0) {
		if (err->errnum != ENOENT)
			return -1;
		*err = (struct ab_error){ 0 };
		return 0;
	}
	list = ab_folder_list(layers, ".");
	if (!list)
		return ab_fail(err, AB_ESYSTEM, errno, "read %s/" AB_LAYERS_FOLDER, store->path);
	while ((name = ab_folder_next(list)) != NULL)
		if (ab_layer_key_valid(name) && ab_folder_is(layers, name))
			ab_strv_add(ret, name);
	ab_strv_sort(ret);
	return 0;
}

/* Does the set answer the question? `run`: the id of a run that used it; else `cwd`: the folder
 * that its changes are for. */
static bool is_wanted(const struct ab_layer_set *set, const char *run, const char *cwd)
{
	const char *workspace = set->meta.workspace;

	if (run)
		return ab_strv_has(&set->meta.runs, run);
	return workspace && *workspace && ab_path_within(cwd, workspace) &&
	       ab_layer_set_waiting(set);
}

/* The newest one; NULL: none. Free it. */
static char *search_sets(const struct ab_layer_store *store, const char *run, const char *cwd)
{
	ab_autostrv struct ab_strv keys = { 0 };
	char *found = NULL;
	int64_t newest = -1;

	if (ab_layers_list(store, &keys, &(struct ab_error){ 0 }) < 0)
		return NULL;
	for (size_t i = 0; i < keys.len; i++) {
		ab_autolayerset struct ab_layer_set set = AB_LAYER_SET_NONE;

		if (ab_layers_open(store, keys.v[i], 0, &set, &(struct ab_error){ 0 }) < 0 ||
		    set.meta.last_ns <= newest || !is_wanted(&set, run, cwd))
			continue;
		newest = set.meta.last_ns;
		free(found);
		found = ab_strdup(keys.v[i]);
	}
	return found;
}

int ab_layers_find(const struct ab_layer_store *store, const char *which, const char *cwd,
		   unsigned how, struct ab_layer_set *ret, struct ab_error *err)
{
	ab_autofree char *key = NULL;

	how &= ~(unsigned)AB_LAYERS_CREATE;
	if (which && ab_layers_open(store, which, how, ret, err) == 0)
		return 0;
	if (which && err->errnum != ENOENT)
		return -1;
	key = search_sets(store, which, cwd);
	if (key) {
		*err = (struct ab_error){ 0 };
		return ab_layers_open(store, key, how, ret, err);
	}
	if (which)
		return -1;
	ab_fail(err, AB_ESYSTEM, 0, "no changes are waiting for this folder");
	ab_hint(err, "name a run, or list all layers with: agentbox layers");
	err->errnum = ENOENT;
	return -1;
}

int ab_layers_retire(const struct ab_layer_store *store, struct ab_layer_set *set,
		     struct ab_error *err)
{
	ab_autoclose int layers = open_layers(store, false, err);

	if (layers < 0)
		return -1;
	if (hide_folder(layers, set->key) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "remove %s", set->path);
	/* Others that wait for the lock find that the set is gone. */
	ab_close_all(&set->lock, &set->dir);
	return 0;
}

int ab_layers_remove(const struct ab_layer_store *store, struct ab_layer_set *set,
		     struct ab_error *err)
{
	ab_autoclose int layers = open_layers(store, false, err);
	size_t budget = SIZE_MAX;

	if (layers < 0 || ab_layers_retire(store, set, err) < 0)
		return -1;
	if (sweep_hidden(layers, &budget) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "remove %s", set->path);
	return 0;
}

bool ab_layers_sweep(const struct ab_layer_store *store, size_t budget)
{
	ab_autoclose int layers = open_layers(store, false, &(struct ab_error){ 0 });

	return layers >= 0 && sweep_hidden(layers, &budget) == 1;
}
