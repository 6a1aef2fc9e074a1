#include "guard/notify/trace.h"

#include "base/data/hash.h"
#include "guard/notify/exec_resolve.h"
#include "guard/notify/guard_link.h"
#include "sandbox/seccomp/seccomp.h"

enum { KEYS_MAX = 1024 }; /* later denials are only counted */

struct keys {
	struct {
		uint64_t key, times;
	} v[KEYS_MAX];
	size_t len;
};

struct ab_trace {
	struct keys reported, programs;
	size_t next;
	uint64_t key; /* of the note that was made last */
};

struct ab_trace *ab_trace_new(void)
{
	return ab_alloc(sizeof(struct ab_trace));
}

/* With its end. A collision only makes one record of two. */
static uint64_t hash_text(uint64_t key, const char *text)
{
	return ab_hash(key, text, strlen(text) + 1);
}

static uint64_t hash_note(const struct ab_note *note, const char *path)
{
	uint64_t key = AB_HASH_START + note->kind;

	key = hash_text(key, path);
	key = hash_text(key, note->exe);
	key = hash_text(key, note->reason);
	return hash_text(key, note->kind == AB_NOTE_CALL ? note->call : note->access);
}

static void copy_text(char *to, size_t room, const char *text)
{
	snprintf(to, room, "%s", text);
}

/* If the path is too long, keep its end: its beginning would name another file. */
static void copy_path(char *to, size_t room, const char *path)
{
	size_t len = strlen(path);

	if (len < room)
		copy_text(to, room, path);
	else
		snprintf(to, room, "...%s", path + len - (room - 4));
}

/* False: it was reported before. */
static bool is_new(struct ab_trace *trace, struct keys *keys, uint64_t key)
{
	for (size_t i = 0; i < keys->len; i++)
		if (keys->v[i].key == key) {
			keys->v[i].times++;
			return false;
		}
	trace->key = key;
	return true;
}

bool ab_trace_denied(struct ab_trace *trace, struct ab_arena *arena, pid_t pid, int nr,
		     const struct ab_denied *denied, struct ab_note *ret)
{
	const char *name = ab_seccomp_name(nr);
	/* A kernel thread has none, but makes no calls. */
	const char *exe = ab_exec_link(arena, "/proc/%d/exe", pid);
	ssize_t words;

	*ret = (struct ab_note){ .kind = denied->access[0] ? AB_NOTE_FILE : AB_NOTE_CALL };
	if (name[0] || ret->kind == AB_NOTE_FILE)
		copy_text(ret->call, sizeof(ret->call), name);
	else
		snprintf(ret->call, sizeof(ret->call), "%d", nr);
	copy_text(ret->access, sizeof(ret->access), denied->access);
	copy_path(ret->path, sizeof(ret->path), denied->path);
	copy_text(ret->rule, sizeof(ret->rule), denied->rule);
	copy_text(ret->reason, sizeof(ret->reason), denied->reason);
	if (strlen(denied->hint) < sizeof(ret->hint))
		copy_text(ret->hint, sizeof(ret->hint), denied->hint);
	copy_text(ret->exe, sizeof(ret->exe), exe ? exe : "");
	if (!is_new(trace, &trace->reported, hash_note(ret, denied->path)))
		return false;
	ab_exec_by(pid, ret->by);
	ret->pid = ab_exec_own_pid(pid);
	words = ab_exec_proc(pid, "cmdline", ret->command, sizeof(ret->command));
	ret->words = words > 0 ? (uint32_t)words : 0;
	ret->number = (uint32_t)trace->reported.len + 1;
	ret->told = trace->reported.len < KEYS_MAX;
	return true;
}

bool ab_trace_program(struct ab_trace *trace, const char *real, struct ab_note *ret)
{
	if (!is_new(trace, &trace->programs, hash_text(AB_HASH_START, real)) ||
	    trace->programs.len == KEYS_MAX || strlen(real) >= sizeof(ret->path))
		return false;
	*ret = (struct ab_note){ .kind = AB_NOTE_PROGRAM, .told = 1 };
	copy_text(ret->path, sizeof(ret->path), real);
	return true;
}

void ab_trace_sent(struct ab_trace *trace, const struct ab_note *note)
{
	struct keys *keys = note->kind == AB_NOTE_PROGRAM ? &trace->programs : &trace->reported;

	keys->v[keys->len++].key = trace->key;
}

bool ab_trace_again(struct ab_trace *trace, struct ab_note *ret)
{
	while (trace->next < trace->reported.len && !trace->reported.v[trace->next].times)
		trace->next++;
	if (trace->next == trace->reported.len)
		return false;
	*ret = (struct ab_note){ .kind = AB_NOTE_AGAIN,
				 .told = 1,
				 .number = (uint32_t)trace->next + 1,
				 .times = trace->reported.v[trace->next].times };
	trace->next++;
	return true;
}
