#include "audit/read/find.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "audit/read/details.h"
#include "audit/write/log.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "base/system/folder.h"

#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

enum { ID_LEN = 5 };

static const char id_letters[] = "abcdefghijkmnpqrstuvwxyz23456789";

bool ab_run_id_valid(const char *text)
{
	return strlen(text) == ID_LEN && strspn(text, id_letters) == ID_LEN;
}

bool ab_find_live(int dir)
{
	/* Who only looks must not keep the lock: a moment is enough to be
	 * taken for the run itself. */
	if (flock(dir, LOCK_SH | LOCK_NB) == 0) {
		flock(dir, LOCK_UN);
		return false;
	}
	return errno == EWOULDBLOCK;
}

void ab_found_run_fini(struct ab_found_run *run)
{
	ab_closep(&run->dir);
	free(run->first);
	*run = (struct ab_found_run){ .dir = -1 };
}

/* false: no such run, or it has no record (yet). */
static bool open_run(int live, int runs, const char *id, struct ab_found_run *ret)
{
	static const char *const names[] = { "timestamp" };
	struct ab_found_run run = { .dir = -1 };
	struct ab_detail stamp[AB_COUNT(names)];

	/* In this order: it may be moved from one to the other meanwhile. */
	run.dir = openat(live, id, OPEN_DIR);
	if (run.dir < 0)
		run.dir = openat(runs, id, OPEN_DIR);
	if (run.dir < 0 || ab_log_first(run.dir, &run.first) < 0 ||
	    ab_details_find(run.first, strlen(run.first), names, AB_COUNT(names), stamp) < 0) {
		ab_found_run_fini(&run);
		return false;
	}
	snprintf(run.id, sizeof(run.id), "%s", id);
	ab_detail_copy(&stamp[0], run.began, sizeof(run.began));
	run.live = ab_find_live(run.dir);
	*ret = run;
	return true;
}

static bool has_name(const struct ab_found_run *run, const char *name)
{
	static const char *const names[] = { "name" };
	struct ab_detail field[AB_COUNT(names)];

	return ab_details_find(run->first, strlen(run->first), names, AB_COUNT(names), field) ==
		       0 &&
	       ab_detail_is(&field[0], name);
}

/* The names in a folder that can be runs. */
static int list_ids(int folder, struct ab_strv *ret, struct ab_error *err)
{
	ab_autodir DIR *dir = ab_folder_list(folder, ".");
	const char *name;

	if (!dir)
		return ab_fail(err, AB_ESYSTEM, errno, "list the runs");
	while ((name = ab_folder_next(dir)) != NULL)
		if (ab_run_id_valid(name))
			ab_strv_add(ret, name);
	return 0;
}

/* What can be a run; one that moves meanwhile is there twice. */
static int list_both(int live, int runs, struct ab_strv *ret, struct ab_error *err)
{
	return list_ids(live, ret, err) < 0 ? -1 : list_ids(runs, ret, err);
}

/* `name` NULL: any. 1: there is none. */
static int find_newest(int live, int runs, const char *name, struct ab_found_run *ret,
		       struct ab_error *err)
{
	ab_autostrv struct ab_strv ids = { 0 };
	struct ab_found_run newest = { .dir = -1 };

	if (list_both(live, runs, &ids, err) < 0)
		return -1;
	for (size_t i = 0; i < ids.len; i++) {
		struct ab_found_run run;

		if (!open_run(live, runs, ids.v[i], &run))
			continue;
		if (strcmp(run.began, newest.began) >= 0 && (!name || has_name(&run, name))) {
			ab_found_run_fini(&newest);
			newest = run;
		} else {
			ab_found_run_fini(&run);
		}
	}
	if (newest.dir < 0)
		return 1;
	*ret = newest;
	return 0;
}

/* What may have been meant by a word that is no run. */
static int hint_run(int live, int runs, const char *run, struct ab_error *err)
{
	struct ab_denial_name name;
	struct ab_error none = { 0 };
	struct ab_found_run newest;

	if (ab_denial_parse(run, &name) == 0)
		return ab_hint(err, "what was refused as %s: agentbox why %s", run, run);
	if (find_newest(live, runs, NULL, &newest, &none) != 0)
		return ab_hint(err, "no run has left a record yet");
	ab_hint(err, "the newest one is %s; those that go on: agentbox ps", newest.id);
	ab_found_run_fini(&newest);
	return -1;
}

int ab_find_run(int live, int runs, const char *run, struct ab_found_run *ret, struct ab_error *err)
{
	int found;

	if (run && ab_run_id_valid(run) && open_run(live, runs, run, ret))
		return 0;
	found = find_newest(live, runs, run, ret, err);
	if (found <= 0)
		return found;
	if (!run)
		return ab_fail(err, AB_ESYSTEM, 0, "there is no run yet that left a record");
	ab_fail(err, AB_ESYSTEM, 0, "there is no run %.100s", run);
	return hint_run(live, runs, run, err);
}

int ab_find_all(int live, int runs, struct ab_strv *ret_ids, struct ab_error *err)
{
	ab_autostrv struct ab_strv ids = { 0 }, keys = { 0 };

	if (list_both(live, runs, &ids, err) < 0)
		return -1;
	for (size_t i = 0; i < ids.len; i++) {
		struct ab_found_run run;

		if (!open_run(live, runs, ids.v[i], &run))
			continue;
		ab_strv_addf(&keys, "%s %s", run.began, run.id);
		ab_found_run_fini(&run);
	}
	ab_strv_sort(&keys);
	for (size_t i = 0; i < keys.len; i++) {
		const char *id = strrchr(keys.v[i], ' ') + 1;

		if (i == 0 || strcmp(keys.v[i], keys.v[i - 1]) != 0)
			ab_strv_add(ret_ids, id);
	}
	return 0;
}

int ab_denial_parse(const char *text, struct ab_denial_name *ret)
{
	struct ab_denial_name name = { .kind = AB_DENIAL_NETWORK };
	const char *p = text + ID_LEN;
	uint64_t number = 0;

	if (strspn(text, id_letters) < ID_LEN || *p++ != '-')
		return -1;
	if (*p == 'e' || *p == 'f')
		name.kind = *p++ == 'e' ? AB_DENIAL_PROGRAM : AB_DENIAL_FILE;
	/* One spelling for one number. */
	if (*p < '1' || *p > '9')
		return -1;
	for (; *p >= '0' && *p <= '9'; p++) {
		number = number * 10 + (uint64_t)(*p - '0');
		if (number > UINT32_MAX)
			return -1;
	}
	if (*p)
		return -1;
	memcpy(name.run, text, ID_LEN);
	name.number = (uint32_t)number;
	*ret = name;
	return 0;
}

uint64_t ab_denial_times(const struct ab_detail *id, const struct ab_detail *door,
			 const struct ab_detail *repeated)
{
	int64_t n = ab_detail_number(repeated, 0);
	bool file = ab_detail_is(door, "file") || ab_detail_is(door, "call");
	bool itself = id->kind == AB_DETAIL_TEXT && (!file || n <= 0);

	return (uint64_t)itself + (n > 0 ? (uint64_t)n : 0);
}
