#include "broker/cleanup/hourly.h"

#include <inttypes.h>
#include <sys/file.h>

#include "broker/cleanup/gc.h"
#include "state/state.h"

/*
 * Its time is that of the last look at all records. Its first line is the rule that was used, the
 * others are names of folders to remove, the first of them last.
 */
#define LIST ".looked"

enum {
	HOUR_S = 3600,
	HEAD = 20 + 1 + 20 + 1,	    /* two numbers, padded: the length says whether names follow */
	TAIL = AB_HOURLY_TURN * 16, /* bytes of so many names */
};

bool ab_hourly_is_turn(const char *id)
{
	size_t len = strlen(id);

	/* Two of the 32 letters that ids are made of. */
	return len > 0 && (id[len - 1] == 'a' || id[len - 1] == 'b');
}

static void format_rule(const struct ab_gc_rule *rule, char ret[HEAD + 1])
{
	snprintf(ret, HEAD + 1, "%20" PRIu64 " %20" PRIu64 "\n", rule->keep_ms, rule->keep_runs);
}

bool ab_hourly_is_due(const struct stat *st)
{
	time_t now = time(NULL);

	return st->st_mtime > now || now - st->st_mtime >= HOUR_S;
}

/* Locked, so that one process works on it at a time; others leave it to that one. */
int ab_hourly_open(int dir, const char *name, struct stat *ret)
{
	ab_autoclose int fd =
		openat(dir, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || fstat(fd, ret) < 0 ||
	    !S_ISREG(ret->st_mode))
		return -1;
	return ab_take_fd(&fd);
}

static void write_list(int fd, int runs, const struct ab_gc_rule *rule)
{
	ab_autostrv struct ab_strv due = { 0 };
	ab_autobuf struct ab_buf text = { 0 };
	char head[HEAD + 1];

	/* Emptied first: if the rest fails, nothing is removed until the next look. */
	if (ftruncate(fd, 0) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		return;
	if (rule->keep_ms != AB_GC_ALL || rule->keep_runs != AB_GC_ALL)
		ab_gc_due(runs, rule, &due);
	format_rule(rule, head);
	ab_buf_puts(&text, head);
	for (size_t i = 0; i < due.len; i++)
		ab_buf_printf(&text, "%s\n", due.v[i]);
	if (ab_write_all(fd, text.data, text.len) < 0)
		(void)!ftruncate(fd, 0);
}

/* A rule that keeps more must not remove what is on the list of another one. */
static bool is_own_list(int fd, const struct ab_gc_rule *rule)
{
	char want[HEAD + 1], head[HEAD];

	format_rule(rule, want);
	return pread(fd, head, HEAD, 0) == HEAD && memcmp(head, want, HEAD) == 0;
}

/* Take the last names off the list. Its time stays: that of the last look. */
static void take_names(int fd, const struct stat *st, size_t most, struct ab_strv *ret)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, st->st_mtim };
	off_t size = st->st_size, from = size - TAIL > HEAD ? size - TAIL : HEAD;
	char tail[TAIL];
	ssize_t n = pread(fd, tail, (size_t)(size - from), from), end = n;

	while (end > 0 && ret->len < most) {
		const char *before = memrchr(tail, '\n', (size_t)end - 1);
		ssize_t start = before ? before - tail + 1 : 0;

		/* The rest of a longer line. */
		if (start == 0 && from > HEAD)
			break;
		ab_strv_give(ret, ab_strndup(tail + start, (size_t)(end - start - 1)));
		end = start;
	}
	if (ftruncate(fd, from + (end > 0 ? end : 0)) < 0)
		ab_strv_fini(ret);
	futimens(fd, times);
}

static void collect_names(int runs, const struct ab_gc_rule *rule, size_t most, struct ab_strv *ret)
{
	struct stat st;
	ab_autoclose int fd = ab_hourly_open(runs, LIST, &st);

	if (fd < 0)
		return;
	if (ab_hourly_is_due(&st) || st.st_size < HEAD) {
		write_list(fd, runs, rule);
		if (fstat(fd, &st) < 0)
			return;
	}
	if (st.st_size > HEAD && is_own_list(fd, rule))
		take_names(fd, &st, most, ret);
}

/* This is all that most runs pay for. */
static bool has_work(int runs)
{
	struct stat st;

	return fstatat(runs, LIST, &st, AT_SYMLINK_NOFOLLOW) < 0 || ab_hourly_is_due(&st) ||
	       st.st_size != HEAD;
}

void ab_hourly_cleanup(const struct ab_run *run, const struct ab_gc_rule *rule, size_t most)
{
	int runs = run->state->runs;
	ab_autostrv struct ab_strv names = { 0 };

	if (has_work(runs))
		collect_names(runs, rule, most, &names);
	for (size_t i = 0; i < names.len; i++)
		ab_gc_remove_due(runs, names.v[i]);
}
