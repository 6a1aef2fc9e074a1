/* The processes of a box and their memory, with our own children in the part of the box. */
#include "host/process/box_processes.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/data/mem.h"
#include "tap.h"

static const struct {
	const char *text;
	unsigned long long sum;
	size_t found;
	const char *name;
} cases[] = {
	{ "", 0, 0, "nothing" },
	{ "Rss:\t12 kB\n", 12 << 10, 1, "one line" },
	{ "Rss:\t12 kB\nSwap:  3 kB\nOther: 9 kB\n", 15 << 10, 2, "two of three" },
	{ "RssX: 5 kB\n Rss: 5 kB\n", 0, 0, "only whole keys" },
	{ "Rss:", 0, 0, "no number" },
	{ "Rss: x\n", 0, 1, "not a number" },
	{ "Rss: 7", 7 << 10, 1, "no end" },
};

static void test_sum(void)
{
	static const char *const keys[] = { "Rss:", "Swap:", NULL };

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		size_t len = strlen(cases[i].text), found;
		/* Exactly as long, so that a sanitizer sees more. */
		ab_autofree char *text = ab_strndup(cases[i].text, len);

		ok(ab_box_memory_sum(text, len, keys, &found) == cases[i].sum &&
			   found == cases[i].found,
		   "%s", cases[i].name);
		for (size_t n = 0; n < len; n++)
			ab_box_memory_sum(text, n, keys, &found);
	}
}

enum { MEGABYTE = 1 << 20, EACH = 32 };

/* A child that shares `map` and has as much of its own, until it is killed. */
static pid_t make_child(const char *map, int ready)
{
	pid_t pid = fork();
	char *own;

	if (pid != 0)
		return pid;
	own = mmap(NULL, EACH * MEGABYTE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		   0);
	memset(own, map[0], EACH * MEGABYTE);
	if (write(ready, "y", 1) == 1)
		pause();
	_exit(0);
}

static void test_memory(void)
{
	char *shared = mmap(NULL, EACH * MEGABYTE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ab_box_processes p;
	pid_t kids[3];
	int ends[2], seen = 0;
	uint64_t used;
	char byte;

	memset(shared, 1, EACH * MEGABYTE);
	if (pipe(ends) < 0)
		return;
	for (int i = 0; i < 3; i++) {
		kids[i] = make_child(shared, ends[1]);
		if (read(ends[0], &byte, 1) != 1)
			return;
	}
	ab_box_processes_open(getpid(), 60000, &p);
	for (pid_t pid; (pid = ab_box_processes_next(&p)) != 0;)
		seen += pid == kids[0] || pid == kids[1] || pid == kids[2];
	ab_box_processes_fini(&p);
	ok(seen == 3, "all children are found");
	ok(ab_box_memory_exceeds(getpid(), 90ULL * MEGABYTE, &used) && used < 150ULL * MEGABYTE,
	   "the sum of their own memory, and shared pages once");
	ok(!ab_box_memory_exceeds(getpid(), 1000ULL * MEGABYTE, &used),
	   "which is below a gigabyte");
	for (int i = 0; i < 3; i++) {
		kill(kids[i], SIGKILL);
		waitpid(kids[i], NULL, 0);
	}
	ok(!ab_box_memory_exceeds(getpid(), 0, &used) && used == 0, "nobody uses nothing");
}

int main(void)
{
	test_sum();
	test_memory();
	return done();
}
