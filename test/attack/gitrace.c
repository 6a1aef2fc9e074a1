/*
 * Races against the checked change of .git/config.
 *
 *	gitrace attack SECONDS: in a git folder in the box. A thread changes the lock file, the
 *	path in memory and what is below hooks while renames of config.lock to config are made.
 *	gitrace watch FILE STOP: on the host. Reads FILE until STOP exists.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 60, LONGEST = 30 };

static char good[8192], evil[8192];
static size_t ngood, nevil;
static atomic_bool over;
static char target[] = "config";
static int opened;

static void write_file(const char *name, const char *data, size_t len, int flags)
{
	int fd = open(name, O_WRONLY | O_CREAT | flags, 0644);
	ssize_t n = fd < 0 ? 0 : write(fd, data, len);

	(void)n;
	if (fd >= 0)
		close(fd);
}

/* The same length, so that an overwrite in place changes only the bytes. */
static void *flip_content(void *arg)
{
	(void)arg;
	while (!over) {
		write_file("config.lock", evil, nevil, 0);
		write_file("config.lock", good, ngood, 0);
	}
	return NULL;
}

static void *replace_lock(void *arg)
{
	(void)arg;
	while (!over) {
		write_file("other", evil, nevil, O_TRUNC);
		rename("other", "config.lock");
		write_file("other", good, ngood, O_TRUNC);
		rename("other", "config.lock");
	}
	return NULL;
}

static void *flip_path(void *arg)
{
	volatile char *last = &target[sizeof(target) - 2];

	(void)arg;
	while (!over) {
		*last = 'G';
		*last = 'g';
	}
	return NULL;
}

/* Everything that the box can try with a name that appears below hooks. */
static void *attack_staged(void *arg)
{
	(void)arg;
	while (!over) {
		DIR *dir = opendir("hooks");
		struct dirent *e;

		while (dir && (e = readdir(dir)) != NULL) {
			char path[300];
			int fd;

			if (strncmp(e->d_name, "agentbox-", 9) != 0)
				continue;
			snprintf(path, sizeof(path), "hooks/%s", e->d_name);
			fd = open(path, O_WRONLY | O_TRUNC);
			if (fd >= 0)
				opened++;
			if (rename(path, "taken") == 0 || link(path, "taken") == 0 ||
			    rename("config.lock", path) == 0)
				opened++;
		}
		if (dir)
			closedir(dir);
	}
	return NULL;
}

/* The present content with one more harmless line, and the same with a harmful one. */
static void make_content(void)
{
	static const char good_line[] = "[branch \"x\"]\n\tdescription = xxxxxxxxxxxxxxx\n";
	static const char evil_line[] = "[core]\n\tpager = evil\n[branch \"x\"]\n\trebase = no\n";
	int fd = open("config", O_RDONLY);
	ssize_t n = read(fd, good, sizeof(good) / 2);

	_Static_assert(sizeof(good_line) <= sizeof(evil_line), "padded below");
	close(fd);
	if (n < 0)
		exit(2);
	memcpy(evil, good, (size_t)n);
	memcpy(good + n, good_line, sizeof(good_line) - 1);
	memcpy(evil + n, evil_line, sizeof(evil_line) - 1);
	ngood = nevil = (size_t)n + sizeof(evil_line) - 1;
	memset(good + n + sizeof(good_line) - 1, '\n', sizeof(evil_line) - sizeof(good_line));
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void race(const char *name, void *(*attacker)(void *), bool flips, double seconds)
{
	unsigned done = 0, refused = 0, other = 0;
	double begin = now();
	pthread_t thread;

	over = false;
	make_content();
	pthread_create(&thread, NULL, attacker, NULL);
	/* At least this long and this often, and until both answers were seen, on any machine. */
	while (now() < begin + LONGEST && (now() < begin + seconds || done + refused < TRIES ||
					   !done || (flips && !refused))) {
		write_file("config.lock", good, ngood, 0);
		if (rename("config.lock", target) == 0)
			done++;
		else if (errno == EACCES)
			refused++;
		else
			other++;
	}
	over = true;
	pthread_join(thread, NULL);
	strcpy(target, "config");
	unlink("config.lock");
	unlink("other");
	unlink("confiG");
	printf("%s: %s, %s, %s (%u, %u, %u)\n", name,
	       done + refused >= TRIES ? "tried" : "NOT TRIED", done > 0 ? "done" : "never done",
	       refused > 0 ? "refused" : "never refused", done, refused, other);
	fflush(stdout);
}

static int watch(const char *file, const char *stop)
{
	unsigned long reads = 0, seen = 0, torn = 0;

	while (reads % 64 != 0 || access(stop, F_OK) < 0) {
		char text[16384];
		int fd = open(file, O_RDONLY);
		ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

		reads++;
		if (fd >= 0)
			close(fd);
		text[n < 0 ? 0 : n] = '\0';
		seen += strstr(text, "evil") != NULL;
		torn += n <= 0 || strstr(text, "repositoryformatversion") == NULL;
	}
	printf("reads %s, evil %lu, torn %lu\n", reads > 100 ? "many" : "few", seen, torn);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "watch") == 0)
		return watch(argv[2], argv[3]);
	if (argc != 3 || strcmp(argv[1], "attack") != 0)
		return 2;
	race("content", flip_content, true, atof(argv[2]));
	race("lock", replace_lock, true, atof(argv[2]));
	race("path", flip_path, false, atof(argv[2]));
	race("staged", attack_staged, false, atof(argv[2]));
	printf("opened %d\n", opened);
	return 0;
}
