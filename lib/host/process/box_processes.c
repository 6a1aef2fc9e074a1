#include "host/process/box_processes.h"

#include "base/system/folder.h"

enum {
	STATUS_MAX = 16 << 10,
	MEMORY_MS = 200, /* for one sample */
};

void ab_box_processes_open(pid_t init, int ms, struct ab_box_processes *ret)
{
	*ret = (struct ab_box_processes){
		.proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC),
		.init = init,
		.until = ab_now_ms() + ms,
		.v = ab_alloc(AB_BOX_PROCESSES * sizeof(ret->v[0])),
	};
}

void ab_box_processes_fini(struct ab_box_processes *p)
{
	ab_closep(&p->proc);
	free(p->v);
	*p = (struct ab_box_processes){ .proc = -1 };
}

bool ab_box_processes_late(const struct ab_box_processes *p)
{
	return ab_now_ms() >= p->until;
}

int ab_box_processes_hold(const struct ab_box_processes *p, pid_t pid)
{
	char name[16];

	snprintf(name, sizeof(name), "%d", pid);
	return openat(p->proc, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static void add_process(struct ab_box_processes *p, pid_t pid)
{
	if (p->len < AB_BOX_PROCESSES)
		p->v[p->len++] = pid;
}

/* The children of one thread. */
static void add_children(struct ab_box_processes *p, int tasks, const char *thread)
{
	char path[32], text[4096 + 1];
	ab_autoclose int fd = -1;
	size_t have = 0;
	ssize_t n;

	snprintf(path, sizeof(path), "%.10s/children", thread);
	fd = openat(tasks, path, O_RDONLY | O_CLOEXEC);
	p->has_children_files |= fd >= 0;
	while (fd >= 0 && p->len < AB_BOX_PROCESSES && have < sizeof(text) - 1 &&
	       (n = read(fd, text + have, sizeof(text) - 1 - have)) > 0) {
		char *at = text, *end;

		text[have + (size_t)n] = '\0';
		/* A blank follows each number. */
		for (; (end = strchr(at, ' ')); at = end + 1)
			add_process(p, (pid_t)strtol(at, NULL, 10));
		have = strlen(at);
		memmove(text, at, have);
	}
}

static void add_descendants(struct ab_box_processes *p, pid_t pid)
{
	ab_autoclose int dir = ab_box_processes_hold(p, pid);
	ab_autodir DIR *tasks = dir < 0 ? NULL : ab_folder_list(dir, "task");
	const char *task;

	while ((task = ab_folder_next(tasks)) != NULL && !ab_box_processes_late(p))
		add_children(p, dirfd(tasks), task);
}

/* If the kernel does not list children: all processes in init's pid namespace, unless that is the
 * host's. */
static void add_namespace(struct ab_box_processes *p)
{
	char own[64], want[64], link[64], path[32];
	ab_autodir DIR *all = NULL;
	const char *name;
	ssize_t n, m;

	snprintf(path, sizeof(path), "%d/ns/pid", p->init);
	n = readlinkat(p->proc, path, want, sizeof(want));
	m = readlinkat(p->proc, "self/ns/pid", own, sizeof(own));
	if (n <= 0 || m <= 0 || (m == n && memcmp(own, want, (size_t)n) == 0))
		return;
	all = ab_folder_list(AT_FDCWD, "/proc");
	while ((name = ab_folder_next(all)) != NULL && !ab_box_processes_late(p)) {
		pid_t pid = (pid_t)strtol(name, NULL, 10);

		if (pid <= 0 || pid == p->init)
			continue;
		snprintf(path, sizeof(path), "%d/ns/pid", pid);
		m = readlinkat(p->proc, path, link, sizeof(link));
		if (m == n && memcmp(want, link, (size_t)n) == 0)
			add_process(p, pid);
	}
}

pid_t ab_box_processes_next(struct ab_box_processes *p)
{
	if (!p->begun) {
		p->begun = true;
		add_descendants(p, p->init);
		if (!p->has_children_files)
			add_namespace(p);
	} else if (p->at > 0) {
		add_descendants(p, p->v[p->at - 1]);
	}
	if (p->at == p->len || ab_box_processes_late(p))
		return 0;
	return p->v[p->at++];
}

/* "12 kB" */
static uint64_t parse_kb(const char *text, size_t len)
{
	uint64_t n = 0;
	size_t i = 0;

	while (i < len && ab_is_blank(text[i]))
		i++;
	for (; i < len && ab_is_digit(text[i]) && n < UINT64_MAX / 32768; i++)
		n = n * 10 + (uint64_t)(text[i] - '0');
	return n * 1024;
}

uint64_t ab_box_memory_sum(const char *text, size_t len, const char *const *keys, size_t *ret_found)
{
	uint64_t sum = 0;

	*ret_found = 0;
	while (len > 0) {
		const char *end = memchr(text, '\n', len);
		size_t n = end ? (size_t)(end - text) : len;

		for (size_t i = 0; keys[i]; i++) {
			size_t k = strlen(keys[i]);

			if (n <= k || memcmp(text, keys[i], k) != 0)
				continue;
			sum += parse_kb(text + k, n - k);
			++*ret_found;
		}
		text += n + (end != NULL);
		len -= n + (end != NULL);
	}
	return sum;
}

static uint64_t read_memory(int dir, const char *file, const char *const *keys, size_t *ret_found)
{
	ab_autoclose int fd = openat(dir, file, O_RDONLY | O_CLOEXEC);
	char text[STATUS_MAX];
	ssize_t n = fd < 0 ? -1 : ab_read_full(fd, text, sizeof(text));

	*ret_found = 0;
	return n > 0 ? ab_box_memory_sum(text, (size_t)n, keys, ret_found) : 0;
}

/* The most that it can be: shared pages count for each process. Cheap. */
static uint64_t get_upper_bound(int dir)
{
	static const char *const keys[] = { "RssAnon:", "RssShmem:", "VmSwap:", NULL };
	size_t found;

	return read_memory(dir, "status", keys, &found);
}

/* Each page divided by the number of processes that share it. The kernel looks at every page. */
static uint64_t get_share(int dir)
{
	static const char *const keys[] = { "Pss_Anon:", "Pss_Shmem:", "SwapPss:", NULL };
	size_t found;
	uint64_t share = read_memory(dir, "smaps_rollup", keys, &found);

	return found ? share : get_upper_bound(dir);
}

static uint64_t sum_memory(pid_t init, uint64_t (*get)(int dir))
{
	struct ab_box_processes p;
	uint64_t sum = 0;
	pid_t pid;

	ab_box_processes_open(init, MEMORY_MS, &p);
	while ((pid = ab_box_processes_next(&p)) != 0) {
		ab_autoclose int dir = ab_box_processes_hold(&p, pid);

		if (dir >= 0)
			sum += get(dir);
	}
	ab_box_processes_fini(&p);
	return sum;
}

bool ab_box_memory_exceeds(pid_t init, uint64_t limit, uint64_t *ret_used)
{
	*ret_used = sum_memory(init, get_upper_bound);
	/* The processes are not all looked at in one moment: pages of a process that forks meanwhile
	 * count for it whole, and again for its children. So look twice. */
	for (int i = 0; i < 2 && *ret_used > limit; i++)
		*ret_used = sum_memory(init, get_share);
	return *ret_used > limit;
}
