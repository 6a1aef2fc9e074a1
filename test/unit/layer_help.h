#ifndef AB_TEST_LAYER_HELP_H
#define AB_TEST_LAYER_HELP_H
/* A host folder and a layer above it, made by hand in $T/lower and $T/upper. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "layer/walk/changes.h"
#include "layer/walk/known.h"
#include "layer/walk/look.h"
#include "tap.h"
#include "workspace/tree/remove_tree.h"

/* Scripts run in $T; w NAME makes a whiteout. */
#define SH_PROLOGUE "cd \"$T\"; w() { for n; do mknod \"$n\" c 0 0; done; }; "
#include "run_sh.h"
#include "workspace/tree/guard.h"

static char top[64];
static const char *test_folder = "/tmp";
static struct ab_layer_view view = { .upper = -1, .lower = -1 };

/* File times come from a clock that stands still for some milliseconds. */
static inline void wait_for_tick(void)
{
	struct timespec first, now;

	clock_gettime(CLOCK_REALTIME, &first);
	do {
		usleep(1000);
		clock_gettime(CLOCK_REALTIME_COARSE, &now);
	} while (!ab_time_later(now, first));
}

static inline int open_folder(const char *name)
{
	ab_autofree char *path = ab_printf("%s/%s", top, name);

	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* An empty folder. Without programs, which would take most of the time of some tests. */
static inline void make_empty(const char *folder, const char *name, mode_t mode)
{
	int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0 || ab_remove_object(dir, name) < 0 || mkdirat(dir, name, mode) < 0)
		abort();
	close(dir);
}

/* A new host folder, made by `lower`; then the layer starts, and `upper` fills it. */
static inline void make_layer(const char *lower, const char *upper)
{
	umask(022);
	if (!top[0]) {
		snprintf(top, sizeof(top), "%s/agentbox-test-XXXXXX", test_folder);
		if (!mkdtemp(top))
			abort();
		setenv("T", top, 1);
	}
	make_empty(top, "lower", 0755);
	make_empty(top, "upper", 0755);
	if (sh("cd lower; %s", lower) != 0)
		ok(false, "the host's folder is made");
	wait_for_tick();
	clock_gettime(CLOCK_REALTIME, &view.since);
	wait_for_tick();
	if (sh("cd upper; %s", upper) != 0)
		ok(false, "the layer is made");
	if (view.upper >= 0)
		close(view.upper);
	if (view.lower >= 0)
		close(view.lower);
	view.upper = open_folder("upper");
	view.lower = open_folder("lower");
	view.copy = false;
	view.known = (struct ab_known){ 0 };
}

static inline void end_layer(void)
{
	sh("chmod -R u+rwx . 2>/dev/null || :; cd /; rm -rf \"$T\"");
}

/* "K was>is path", with the count, "conflict" and the reason of a refusal. */
static inline void dump_change(struct ab_buf *b, const struct ab_change *c)
{
	ab_autofree char *path = ab_escape(c->path);

	ab_buf_printf(b, "%c %c>%c %s", "AMDPR"[c->kind], "-fdlo"[c->was], "-fdlo"[c->is], path);
	if (c->count)
		ab_buf_printf(b, " (%llu)", (unsigned long long)c->count);
	if (c->conflict)
		ab_buf_puts(b, " conflict");
	if (c->refused)
		ab_buf_printf(b, " [%s]", c->refused);
	ab_buf_puts(b, "\n");
}

static inline char *changes_text(const struct ab_changes_limits *limits)
{
	struct ab_changes changes = { 0 };
	struct ab_error err = { 0 };
	struct ab_buf b = { 0 };

	if (ab_changes_collect(&view, limits, &changes, &err) < 0)
		return ab_printf("error: %s\n", err.text);
	for (size_t i = 0; i < changes.len; i++) {
		dump_change(&b, &changes.v[i]);
		if (i && ab_path_order(changes.v[i - 1].path, changes.v[i].path) >= 0)
			ab_buf_puts(&b, "not sorted\n");
		if (ab_changes_find(&changes, changes.v[i].path) != &changes.v[i])
			ab_buf_puts(&b, "not found\n");
	}
	if (changes.cut)
		ab_buf_puts(&b, "cut\n");
	ab_changes_fini(&changes);
	return ab_buf_take(&b);
}

static inline void changes_are_at(const char *file, int line, const char *want, const char *name)
{
	ab_autofree char *got = changes_text(NULL);

	is_str_at(file, line, got, want, name);
}
#define changes_are(want, name) changes_are_at(__FILE__, __LINE__, (want), (name))

#endif
