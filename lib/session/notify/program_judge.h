#ifndef AB_SESSION_NOTIFY_PROGRAM_JUDGE_H
#define AB_SESSION_NOTIFY_PROGRAM_JUDGE_H
/*
 * commands.enforce "children": each program that the box executes is judged
 * by the rules before it runs. --trace-denials: what the box refuses is seen
 * (session/notify/trace.h).
 *
 * The kernel holds the calls that are asked about until our judge has
 * answered: a process of its own, forked before the supervisor locks itself in
 * (it must look into the box's processes, which a process under Landlock
 * cannot), with a filter that leaves it little but that. It reads what hostile
 * programs wrote. When it is gone nothing in the box can be executed any more,
 * and the supervisor ends the run.
 */
#include <stdbool.h>
#include <stdint.h>

#include "session/notify/exec_read.h"

struct ab_error;
struct ab_program_judge;

/* What the judge tells. At most AB_NOTES_MAX a minute come; what is beyond
 * that is only counted. */
enum { AB_NOTES_MAX = 100 };

enum ab_note_kind {
	AB_NOTE_EXEC,	 /* a program that was refused */
	AB_NOTE_FILE,	 /* a file or socket that the box refuses */
	AB_NOTE_CALL,	 /* a call that the filter refuses */
	AB_NOTE_AGAIN,	 /* `number` came `times` more */
	AB_NOTE_PROGRAM, /* one that was executed, for `learn` */
	AB_NOTE_KINDS,
};

struct ab_note {
	uint32_t kind;
	uint32_t told;	 /* 0: there is nothing but `before` */
	uint64_t before; /* refused since the last note, and not told:
				 * programs, or files and calls */
	uint64_t times;
	uint32_t number;   /* of a file or call, from 1 on */
	uint32_t decision; /* about a program */
	uint32_t cut;	   /* the command is longer */
	int32_t pid;	   /* in the box; of a file or call */
	uint32_t words;	   /* bytes of `command` then: its words, each
				 * with its NUL */
	char access[8];
	char call[24];
	char rule[48];
	char reason[256];
	char by[16]; /* the program that wanted it */
	char exe[256];
	char hint[1200]; /* "": nothing allows it */
	char path[1024];
	char command[1024]; /* quoted for a shell */
};

/* `trace`: NULL, when nothing but programs is asked about. */
struct ab_trace_terms;
int ab_program_judge_start(const struct ab_terms *terms, const struct ab_trace_terms *trace,
			   struct ab_program_judge **ret, struct ab_error *err);

/* Give it the listener, which it closes. -1: the judge is gone. */
int ab_program_judge_watch(struct ab_program_judge *children, int listener, struct ab_error *err);

/* Readable when there is something to hear. hear() does not wait: 1 and a
 * note, 0 when there is none, -1 when the judge is gone. */
int ab_program_judge_fd(const struct ab_program_judge *children);
int ab_program_judge_hear(struct ab_program_judge *children, struct ab_note *ret,
			  struct ab_error *err);

/* After the box is gone: let the judge go. What it said before, and how many
 * it has not told, can still be heard; await() waits for that, or for its end,
 * and is false when neither comes. */
void ab_program_judge_dismiss(struct ab_program_judge *children);
bool ab_program_judge_await(const struct ab_program_judge *children);

/* Ends it, whatever it does. */
void ab_program_judge_free(struct ab_program_judge *children);

#endif
