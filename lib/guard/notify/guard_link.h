#pragma once
/*
 * The guard answers the calls that the kernel holds for us. In every run these are calls that
 * create, rename, change or open for writing: it reports those that the box denies, and
 * refuses protected names (guard/writes/writes.h). With commands.enforce "children" it also
 * applies the rules to each program that the box executes, before it runs. With --trace-denials it
 * sees everything that the box denies (guard/notify/trace.h).
 *
 * The guard is a process of its own: it must inspect the box's processes, which the supervisor
 * under Landlock cannot. Its filter leaves it little else, because it reads what hostile programs
 * wrote. The broker forks it at the first such call, so a run without one does not pay for it. When
 * it is gone, these calls fail in the box, and the supervisor ends the run.
 */
#include "base/base.h"
#include "guard/notify/exec_read.h"

/* Commands of one box whose processes live, at most. */
enum { AB_GUARD_LISTENERS = 64 };

/* What was approved with a further command of a box that stays, beside its listener. */
struct ab_guard_more {
	char rule[64]; /* "": nothing */
	char user_rule[512];
	uint32_t yes; /* escalated programs are accepted */
};

/* Notes of the guard. It sends at most AB_NOTES_MAX a minute and only counts the rest. */
enum { AB_NOTES_MAX = 100 };

enum ab_note_kind {
	AB_NOTE_EXEC,	 /* a program that was refused */
	AB_NOTE_FILE,	 /* a file or socket that the box denies */
	AB_NOTE_CALL,	 /* a call that the filter denies */
	AB_NOTE_AGAIN,	 /* `number` happened `times` more */
	AB_NOTE_PROGRAM, /* a program that was executed, for `learn` */
	AB_NOTE_KINDS,
};

struct ab_note {
	uint32_t kind;
	uint32_t told; /* 0: only `before` is set */
	/* refused since the last note without a note of their own: programs, or files and calls */
	uint64_t before;
	uint64_t times;
	uint32_t number;   /* of a file or call, from 1 */
	uint32_t decision; /* the verdict on a program */
	uint32_t cut;	   /* the command is longer */
	int32_t pid;	   /* in the box; for a file or call */
	uint32_t words;	   /* for a file or call: bytes of `command`, its words each with its NUL */
	char access[8];
	char call[24];
	char rule[48];
	char reason[256];
	char by[16]; /* the calling program */
	char exe[256];
	char hint[1200]; /* "": nothing allows it */
	char path[1024];
	char command[1024]; /* quoted for a shell */
};

struct ab_guard_link {
	int sock;   /* readable when there is a note */
	int seat;   /* the guard's end, until the broker has it */
	bool begun; /* the broker was told to fork the guard */
};

/* Before the broker is forked, which gets the guard's end of the socket; then close that here. */
int ab_guard_link_open(struct ab_guard_link **ret, struct ab_error *err);
void ab_guard_link_leave_seat(struct ab_guard_link *guard);
/* The listener of a further command. -1: the guard is gone. */
int ab_guard_link_add(struct ab_guard_link *guard, int listener, const struct ab_guard_more *more);

/* Does not wait: 1 and a note, 0 when there is none, -1 when the guard is gone. */
int ab_guard_link_hear(struct ab_guard_link *children, struct ab_note *ret, struct ab_error *err);

/* After the box is gone: tell the guard to exit. Its last notes and counts can still be read;
 * await() waits for them or for its end, and is false if neither comes. */
void ab_guard_link_dismiss(struct ab_guard_link *children);
bool ab_guard_link_await(const struct ab_guard_link *children);

/* A guard that is left ends with the broker. */
void ab_guard_link_free(struct ab_guard_link *children);
