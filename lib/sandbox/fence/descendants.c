#include "sandbox/fence/descendants.h"

#include <ctype.h>
#include <dirent.h>
#include <sys/wait.h>

#include "base/system/folder.h"

enum { UNKNOWN, OURS, OTHERS, ASKING };
enum { WAIT_MS = 10 };

int ab_descendants_parse(const char *stat, struct ab_process *ret)
{
	const char *name = strrchr(stat, ')'); /* a name can contain anything */
	const char *at = name;
	char *end;

	if (!name || strlen(name) < 5)
		return 0;
	ret->pid = (pid_t)strtol(stat, NULL, 10);
	ret->parent = (pid_t)strtol(name + 4, &end, 10);
	/* The parent is the 4th field, the number of threads the 20th: after the 16th blank. */
	at = end;
	for (int blanks = 1; at && blanks < 16; blanks++)
		at = strchr(at + 1, ' ');
	ret->threads = at ? (uint32_t)strtoul(at, NULL, 10) : 1;
	ret->ours = UNKNOWN;
	return ret->pid > 0;
}

static int compare_pids(const void *a, const void *b)
{
	const struct ab_process *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static struct ab_process *find_process(struct ab_process *v, size_t len, pid_t pid)
{
	const struct ab_process key = { .pid = pid };

	return bsearch(&key, v, len, sizeof(v[0]), compare_pids);
}

/* Walk up until the answer is known, then note it for everyone on the way. A list that was read
 * while processes ended can have a circle. */
static void resolve_process(struct ab_process *v, size_t len, struct ab_process *p, pid_t root)
{
	int answer = UNKNOWN;

	for (struct ab_process *at = p; answer == UNKNOWN;) {
		at->ours = ASKING;
		if (at->parent == root) {
			answer = OURS;
			break;
		}
		at = find_process(v, len, at->parent);
		if (!at || at->pid == root || at->ours == ASKING)
			answer = OTHERS;
		else
			answer = at->ours;
	}
	for (struct ab_process *at = p; at && at->ours == ASKING;) {
		at->ours = answer;
		at = find_process(v, len, at->parent);
	}
}

size_t ab_descendants_mark(struct ab_process *v, size_t len, pid_t root)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		if (v[i].pid != root && v[i].ours == UNKNOWN)
			resolve_process(v, len, &v[i], root);
	for (size_t i = 0; i < len; i++) {
		v[i].ours = v[i].ours == OURS;
		n += (size_t)v[i].ours;
	}
	return n;
}

bool ab_process_read(int proc, const char *name, struct ab_process *ret)
{
	ab_autoclose int fd = -1;
	char path[32], text[1024];
	ssize_t n;

	snprintf(path, sizeof(path), "%.16s/stat", name);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	return ab_descendants_parse(text, ret);
}

/* The kernel lists them in order, so this rarely moves anything. (qsort() needs calls that init may
 * not make.) */
static void sort_list(struct ab_processes *list)
{
	for (size_t i = 1; i < list->len; i++) {
		struct ab_process p = list->v[i];
		size_t at = i;

		for (; at > 0 && list->v[at - 1].pid > p.pid; at--)
			list->v[at] = list->v[at - 1];
		list->v[at] = p;
	}
}

uint64_t ab_processes_list(int proc, uint64_t enough, struct ab_processes *ret)
{
	struct ab_entries entries = { .fd = proc };
	const struct dirent64 *d;
	uint64_t threads = 0;

	ret->len = 0;
	while ((threads < enough || entries.at < entries.len) && (d = ab_entries_next(&entries))) {
		if (ret->len == ret->room) {
			ret->room += 512;
			ret->v = ab_realloc(ret->v, ret->room * sizeof(ret->v[0]));
		}
		if (isdigit((unsigned char)d->d_name[0]) &&
		    ab_process_read(proc, d->d_name, &ret->v[ret->len]))
			threads += ret->v[ret->len++].threads;
	}
	sort_list(ret);
	return threads;
}

static size_t list_descendants(struct ab_processes *list)
{
	ab_autoclose int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	ab_processes_list(proc, UINT64_MAX, list);
	return ab_descendants_mark(list->v, list->len, getpid());
}

uint64_t ab_descendants_count(uint64_t enough)
{
	struct ab_processes list = { 0 };
	uint64_t sum = 0;

	list_descendants(&list);
	for (size_t i = 0; i < list.len && sum <= enough; i++)
		sum += list.v[i].ours ? list.v[i].threads : 0;
	free(list.v);
	return sum;
}

bool ab_descendants_reap(void)
{
	pid_t pid;

	do
		pid = waitpid(-1, NULL, WNOHANG);
	while (pid > 0 || (pid < 0 && errno == EINTR));
	return pid == 0;
}

/* Returns how many there were. */
static size_t kill_round(struct ab_processes *list)
{
	size_t n = list_descendants(list);

	for (size_t i = 0; i < list->len; i++)
		if (list->v[i].ours)
			kill(list->v[i].pid, SIGKILL);
	return n;
}

void ab_descendants_end(bool fenced)
{
	struct ab_processes list = { 0 };

	while (ab_descendants_reap()) {
		size_t n = 0;

		if (fenced)
			kill(-1, SIGKILL);
		else
			n = kill_round(&list);
		/* They need the processor to end. */
		poll(NULL, 0, n ? 1 : WAIT_MS);
	}
	free(list.v);
}
