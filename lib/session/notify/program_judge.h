#ifndef AB_SESSION_NOTIFY_PROGRAM_JUDGE_H
#define AB_SESSION_NOTIFY_PROGRAM_JUDGE_H
/*
 * commands.enforce "children": the judge applies the rules to each program that the box executes,
 * before it runs. --trace-denials: it also sees what the box denies (session/notify/trace.h).
 *
 * The kernel holds each such call until the judge has answered. The judge is a process of its own,
 * forked before the supervisor locks itself in: it must inspect the box's processes, which a
 * process under Landlock cannot. Its filter leaves it little else, because it reads what hostile
 * programs wrote. When it is gone, nothing in the box can be executed any more, and the supervisor
 * ends the run.
 */
#include <stdbool.h>
#include <stdint.h>

#include "session/notify/exec_read.h"

struct ab_error;
struct ab_program_judge;

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

/* `trace`: NULL to judge programs only. */
struct ab_trace_terms;
int ab_program_judge_start(const struct ab_terms *terms, const struct ab_trace_terms *trace,
			   struct ab_program_judge **ret, struct ab_error *err);

/* Pass the listener, which it closes. -1: the judge is gone. */
int ab_program_judge_watch(struct ab_program_judge *children, int listener, struct ab_error *err);

/* Readable when there is a note. hear() does not wait: 1 and a note, 0 when there is none, -1 when
 * the judge is gone. */
int ab_program_judge_fd(const struct ab_program_judge *children);
int ab_program_judge_hear(struct ab_program_judge *children, struct ab_note *ret,
			  struct ab_error *err);

/* After the box is gone: tell the judge to exit. Its last notes and counts can still be read;
 * await() waits for them or for its end, and is false if neither comes. */
void ab_program_judge_dismiss(struct ab_program_judge *children);
bool ab_program_judge_await(const struct ab_program_judge *children);

/* Kills it, whatever it does. */
void ab_program_judge_free(struct ab_program_judge *children);

#endif
