#include "state/run_process.h"

#include <sys/syscall.h>

#include "audit/write/audit.h"

enum { TEXT_MAX = 16 << 20 };

/* Fields of /proc/PID/stat, counted after the name. */
enum { FIELD_PARENT = 2, FIELD_STARTED = 20 };

static int open_process(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

char *ab_run_process_read(int process, const char *name)
{
	char *text = NULL;
	size_t len;

	(void)ab_read_file(process, name, 0, TEXT_MAX, &text, &len);
	return text;
}

/* 0: it is gone. */
static int64_t read_stat_field(int process, int field)
{
	ab_autofree char *stat = ab_run_process_read(process, "stat");
	/* The name, which may contain anything, ends at the last bracket. */
	char *p = stat ? strrchr(stat, ')') : NULL;

	for (int i = 0; p && i < field; i++)
		p = strchr(p + 1, ' ');
	return p ? strtoll(p, NULL, 10) : 0;
}

int64_t ab_run_process_started(pid_t pid)
{
	ab_autoclose int process = open_process(pid);

	return read_stat_field(process, FIELD_STARTED);
}

void ab_run_process_note(struct ab_buf *line, pid_t init)
{
	ab_record_number(line, "init", init);
	ab_record_number(line, "init_started", ab_run_process_started(init));
}

static pid_t get_pid(const json_t *start, const char *key)
{
	json_int_t pid = json_integer_value(json_object_get(start, key));

	return pid > 1 && pid <= INT_MAX ? (pid_t)pid : -1;
}

int ab_run_process_init(const json_t *start)
{
	pid_t pid = get_pid(start, "init");
	json_int_t since = json_integer_value(json_object_get(start, "init_started"));
	ab_autoclose int process = -1;

	if (pid < 0 || since <= 0)
		return -1;
	process = open_process(pid);
	if (process < 0 || read_stat_field(process, FIELD_STARTED) != since)
		return -1;
	return ab_take_fd(&process);
}

static int open_pidfd(pid_t pid)
{
	return pid < 0 ? -1 : (int)syscall(SYS_pidfd_open, pid, 0);
}

/* First open the handles, then check whose they are: if the check succeeds, they were right when
 * they were opened, because init exists since before the record, and names its parent itself. */
int ab_ends_open(const json_t *start, struct ab_ends *ret)
{
	pid_t supervisor = get_pid(start, "pid");
	struct ab_ends ends = { .init = open_pidfd(get_pid(start, "init")),
				.supervisor = open_pidfd(supervisor) };
	ab_autoclose int process = ab_run_process_init(start);

	if (ends.init < 0 || ends.supervisor < 0 || process < 0 ||
	    read_stat_field(process, FIELD_PARENT) != supervisor) {
		ab_ends_fini(&ends);
		return -1;
	}
	*ret = ends;
	return 0;
}

void ab_ends_fini(struct ab_ends *ends)
{
	ab_close_all(&ends->init, &ends->supervisor);
	*ends = (struct ab_ends){ -1, -1 };
}
