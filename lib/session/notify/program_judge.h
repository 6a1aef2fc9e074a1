#ifndef AB_SESSION_NOTIFY_PROGRAM_JUDGE_H
#define AB_SESSION_NOTIFY_PROGRAM_JUDGE_H
/*
 * The judge answers the calls that the kernel holds for us. In every run these are calls that
 * create, rename, change or open for writing: it reports those that the box denies, and
 * refuses protected names (session/writes/writes.h). With commands.enforce "children" it also
 * applies the rules to each program that the box executes, before it runs. With --trace-denials it
 * sees everything that the box denies (session/notify/trace.h).
 *
 * The judge is a process of its own: it must inspect the box's processes, which the supervisor
 * under Landlock cannot. Its filter leaves it little else, because it reads what hostile programs
 * wrote. The broker forks it at the first such call, so a run without one does not pay for it. When
 * it is gone, these calls fail in the box, and the supervisor ends the run.
 */
#include <stdbool.h>
#include <stdint.h>

#include "session/notify/exec_read.h"

struct ab_error;
struct ab_program_judge;

/* Commands of one box whose processes live, at most. */
enum { AB_JUDGE_LISTENERS = 64 };

/* What was approved with a further command of a box that stays, beside its listener. */
struct ab_judge_more {
	char rule[64]; /* "": nothing */
	char user_rule[512];
	uint32_t yes; /* escalated programs are accepted */
};

/* Notes of the judge. It sends at most AB_NOTES_MAX a minute and only counts the rest. */
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

/* Before the broker is forked, which gets the judge's end of the socket; then close that here. */
int ab_program_judge_open(struct ab_program_judge **ret, struct ab_error *err);
int ab_program_judge_seat(const struct ab_program_judge *judge);
void ab_program_judge_leave_seat(struct ab_program_judge *judge);
/* The broker was told to fork the judge. */
void ab_program_judge_begin(struct ab_program_judge *judge);
bool ab_program_judge_begun(const struct ab_program_judge *judge);
/* The listener of a further command. -1: the judge is gone. */
int ab_program_judge_add(struct ab_program_judge *judge, int listener,
			 const struct ab_judge_more *more);

/* Readable when there is a note. hear() does not wait: 1 and a note, 0 when there is none, -1 when
 * the judge is gone. */
int ab_program_judge_fd(const struct ab_program_judge *children);
int ab_program_judge_hear(struct ab_program_judge *children, struct ab_note *ret,
			  struct ab_error *err);

/* After the box is gone: tell the judge to exit. Its last notes and counts can still be read;
 * await() waits for them or for its end, and is false if neither comes. */
void ab_program_judge_dismiss(struct ab_program_judge *children);
bool ab_program_judge_await(const struct ab_program_judge *children);

/* A judge that is left ends with the broker. */
void ab_program_judge_free(struct ab_program_judge *children);

#endif
