/* The list that the guard writes and the broker reads. */
#include "workspace/quarantine/spots.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/data/mem.h"
#include "tap.h"

static void all(const struct ab_spots *s, char *ret, size_t room)
{
	enum ab_spot kind;
	size_t at = 0, len = 0;
	char *path;

	ret[0] = '\0';
	while ((path = ab_spots_next(s, &at, &kind)) != NULL) {
		len += (size_t)snprintf(ret + len, room - len, "%c%s ", kind, path);
		free(path);
	}
}

static void notes(void)
{
	struct ab_spots *s = ab_spots_new(0);
	char text[256];

	all(s, text, sizeof(text));
	is_str(text, "", "nothing at first");
	ab_spots_add(s, AB_SPOT_FOLDER, "/w/a");
	ab_spots_add(s, AB_SPOT_TREE, "/w/a");
	ab_spots_add(s, AB_SPOT_FOLDER, "/w");
	ab_spots_add(s, AB_SPOT_FOLDER, "/w/a");
	all(s, text, sizeof(text));
	is_str(text, "f/w/a t/w/a f/w ", "each kind once, in order");
	ok(ab_spots_is_whole(s), "nothing is lost");
	ab_spots_lose(s);
	ok(!ab_spots_is_whole(s), "until it is said");
	free(s);
}

static void bound(void)
{
	struct ab_spots *s = ab_spots_new(10);
	char text[64];

	ab_spots_add(s, AB_SPOT_FOLDER, "/abcdefg");
	ok(ab_spots_is_whole(s), "room for exactly one");
	ab_spots_add(s, AB_SPOT_FOLDER, "/abcdefg");
	ok(ab_spots_is_whole(s), "which is known");
	ab_spots_add(s, AB_SPOT_FOLDER, "/b");
	all(s, text, sizeof(text));
	is_str(text, "f/abcdefg ", "what has no room is left out");
	ok(!ab_spots_is_whole(s), "and that is said");
	free(s);
}

/* Another process writes, and is killed. */
static void killed(void)
{
	struct ab_spots *s = ab_spots_new(0);
	char text[64];
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		ab_spots_add(s, AB_SPOT_TREE, "/w/x");
		kill(getpid(), SIGKILL);
	}
	ok(pid > 0 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status), "killed");
	all(s, text, sizeof(text));
	is_str(text, "t/w/x ", "what it has noted stays");
	free(s);
}

/* Whatever the memory has: a hostile guard writes paths of any bytes. */
static void odd(void)
{
	struct ab_spots *s = ab_spots_new(64);
	char text[256];

	ab_spots_add(s, AB_SPOT_FOLDER, "/a");
	ab_spots_add(s, AB_SPOT_FOLDER, "relative");
	ab_spots_add(s, AB_SPOT_FOLDER, "/b");
	all(s, text, sizeof(text));
	is_str(text, "f/a ", "a path that is not absolute ends the list");
	free(s);
}

int main(void)
{
	notes();
	bound();
	killed();
	odd();
	return done();
}
