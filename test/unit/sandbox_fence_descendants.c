/* Which processes descend from init, by what /proc says. */
#include "sandbox/fence/descendants.h"

#include "tap.h"

static void check_parse(void)
{
	static const struct {
		const char *line;
		int valid;
		pid_t pid, parent;
		uint32_t threads;
	} rows[] = {
		{ "12 (sh) S 11 12 12 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 3 0 9", 1, 12, 11, 3 },
		{ "13 (a) S 1 (b) R 7 0 0 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 9", 1, 13, 7, 1 },
		{ "14 (x", 0, 0, 0, 0 },
		{ "", 0, 0, 0, 0 },
		{ "15 (y) S", 0, 0, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ab_process p = { 0 };
		int valid = ab_descendants_parse(rows[i].line, &p);

		ok(valid == rows[i].valid, "\"%s\" is %sa process", rows[i].line,
		   rows[i].valid ? "" : "not ");
		ok(!valid || (p.pid == rows[i].pid && p.parent == rows[i].parent &&
			      p.threads == rows[i].threads),
		   "with its parent and threads, whatever its name is");
	}
}

static void check_mark(void)
{
	/* 10 is init; 30 and 31 are a circle, which a list read in passing can have. */
	struct ab_process v[] = {
		{ .pid = 1, .parent = 0 },   { .pid = 5, .parent = 12 },
		{ .pid = 10, .parent = 1 },  { .pid = 11, .parent = 10 },
		{ .pid = 12, .parent = 11 }, { .pid = 20, .parent = 1 },
		{ .pid = 21, .parent = 20 }, { .pid = 30, .parent = 31 },
		{ .pid = 31, .parent = 30 }, { .pid = 40, .parent = 39 },
	};
	static const int ours[] = { 0, 1, 0, 1, 1, 0, 0, 0, 0, 0 };
	size_t n = ab_descendants_mark(v, sizeof(v) / sizeof(v[0]), 10);
	int right = 1;

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		right &= v[i].ours == ours[i];
	ok(n == 3 && right, "children and their children, and nobody else");
	ok(ab_descendants_mark(v, 0, 10) == 0, "nor anybody in an empty list");
}

int main(void)
{
	check_parse();
	check_mark();
	return done();
}
