/*
 * Limits for kept layers: by age, by size, and what stays whatever its age.
 */
#include "broker/cleanup/gc_layers.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "layer/store/store.h"
#include "state/state.h"
#include "tap.h"
#include "workspace/tree/remove_tree.h"

#define DAYS(n) ((n)*86400000ULL)
enum { MB = 1 << 20 };

static struct ab_state state;
static struct ab_error error;
static char top[] = "/tmp/gc-layers-XXXXXX";

static bool exists(const char *path)
{
	return faccessat(state.root, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* A set that was used so many days ago, with a file of that size. */
static void make_set(const char *key, uint64_t days, size_t size, int64_t changes)
{
	struct ab_layer_set set;
	ab_autofree char *upper = NULL, *work = NULL, *data = ab_alloc(size + 1);
	ab_autoclose int real = open(top, O_PATH | O_CLOEXEC), dir = -1, file = -1;

	if (ab_layers_open(AB_LAYER_STORE(&state), key, AB_LAYERS_CREATE | AB_LAYERS_LOCK, &set,
			   &error) < 0 ||
	    ab_layer_set_make(&set, "home", real, &upper, &work, &error) < 0)
		abort();
	dir = open(upper, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	file = openat(dir, "data", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (ab_write_all(file, data, size) < 0)
		abort();
	set.meta.last_ns = ((int64_t)time(NULL) * 1000 - (int64_t)DAYS(days)) * 1000000;
	set.meta.waiting = changes;
	if (ab_layer_set_save(&set, &error) < 0)
		abort();
	ab_layer_set_fini(&set);
}

/* The keys that were removed. */
static const char *collect(const struct ab_gc_layers_rule *rule, struct ab_gc_layers_report *ret)
{
	static char text[256];

	ab_gc_layers(AB_LAYER_STORE(&state), rule, ret);
	text[0] = '\0';
	for (size_t i = 0; i < ret->removed.len; i++) {
		strncat(text, ret->removed.v[i], 64);
		strcat(text, " ");
	}
	return text;
}

static void check_age(void)
{
	struct ab_gc_layers_rule rule = {
		.keep_ms = DAYS(90), .max_size = UINT64_MAX, .entries = UINT64_MAX, .dry = true
	};
	struct ab_gc_layers_report r;

	make_set("old", 100, 10, 0);
	make_set("new", 1, 10, 0);
	make_set("work", 100, 10, 3);
	is_str(collect(&rule, &r), "old ", "an old set is due");
	ok(r.kept == 2 && r.waiting.len == 1 && exists("layers/old"), "a dry run removes nothing");
	is_str(r.waiting.len ? r.waiting.v[0] : NULL, "work", "one with changes is named");
	ab_gc_layers_report_fini(&r);
	rule.dry = false;
	is_str(collect(&rule, &r), "old ", "the old set is removed");
	ok(!exists("layers/old") && exists("layers/new") && exists("layers/work"), "and no other");
	ab_gc_layers_report_fini(&r);
	rule.waiting = true;
	is_str(collect(&rule, &r), "work ", "one with changes is removed on request");
	ab_gc_layers_report_fini(&r);
}

static void check_size(void)
{
	struct ab_gc_layers_rule rule = { .keep_ms = UINT64_MAX,
					  .max_size = 4 * MB,
					  .entries = UINT64_MAX };
	struct ab_gc_layers_report r;
	struct ab_layer_set busy;

	make_set("a3", 3, MB, 0);
	make_set("a2", 2, MB, 0);
	make_set("a5", 5, MB, 0);
	make_set("waits", 9, MB, 2);
	make_set("used", 9, MB, 0);
	if (ab_layers_open(AB_LAYER_STORE(&state), "used", AB_LAYERS_LOCK, &busy, &error) < 0)
		abort();
	/* 2 MB stay for certain, so the new ones have less than 2 MB. */
	is_str(collect(&rule, &r), "a3 a5 ", "the oldest go first; what stays counts");
	ok(exists("layers/used") && exists("layers/waits") && exists("layers/a2"),
	   "what is in use, has changes or is new stays");
	ok(r.freed >= 2 * MB && r.left >= 3 * MB && r.left < 4 * MB, "sizes: %llu, %llu",
	   (unsigned long long)r.freed, (unsigned long long)r.left);
	ab_gc_layers_report_fini(&r);
	ab_layer_set_fini(&busy);

	/* A look that stops early counts less, and so removes less. */
	make_set("large", 10, 8 * MB, 0);
	rule.entries = 1;
	is_str(collect(&rule, &r), "", "a short look removes nothing by mistake");
	ab_gc_layers_report_fini(&r);
	rule.entries = UINT64_MAX;
	rule.late = true;
	is_str(collect(&rule, &r), "large ", "out of sight");
	ok(!exists("layers/large") && exists("layers/.gone-0-large"), "and removed later");
	ab_gc_layers_report_fini(&r);
	ok(!ab_layers_sweep(AB_LAYER_STORE(&state), 1000) && !exists("layers/.gone-0-large"),
	   "by a sweep");
}

static void check_damaged(void)
{
	struct ab_gc_layers_rule rule = {
		.keep_ms = 0, .max_size = 1, .entries = UINT64_MAX, .waiting = true
	};
	struct ab_gc_layers_report r;

	mkdirat(state.root, "layers/bad", 0700);
	symlinkat("/etc/passwd", state.root, "layers/bad/meta.json");
	collect(&rule, &r);
	ok(exists("layers/bad"), "a set that cannot be read is left to a person");
	ab_gc_layers_report_fini(&r);
}

static void check_policy(void)
{
	struct ab_gc_layers_rule rule;

	ok(ab_gc_layers_policy("{\"policy\":{\"layers\":{\"keepFor\":\"2d\",\"maxSize\":\"3G\"}}}",
			       &rule) == 0 &&
		   rule.keep_ms == DAYS(2) && rule.max_size == 3ULL << 30,
	   "the settings in a record");
	ok(ab_gc_layers_policy("{\"policy\":{\"layers\":{\"keepFor\":\"none\"}}}", &rule) == 0 &&
		   rule.keep_ms == UINT64_MAX && rule.max_size == UINT64_MAX,
	   "no limits");
	ok(ab_gc_layers_policy("{\"command\":[\"policy\"]}", &rule) < 0, "no policy");
	ok(ab_gc_layers_policy("{", &rule) < 0, "not a record");
}

int main(void)
{
	ab_autoclose int tmp = open("/tmp", O_PATH | O_CLOEXEC);

	if (!mkdtemp(top) || ab_state_open(top, &state, &error) < 0)
		abort();
	check_age();
	check_size();
	check_damaged();
	check_policy();
	ab_state_fini(&state);
	ok(ab_remove_tree(tmp, top + strlen("/tmp/")) == 0, "nothing is left");
	return done();
}
