#ifndef AB_SESSION_CHILDREN_H
#define AB_SESSION_CHILDREN_H
/*
 * commands.enforce "children": each program that the box executes is judged
 * by the rules before it runs.
 *
 * The kernel holds every execve of the box until our judge has answered: a
 * process of its own, forked before the supervisor locks itself in (it must
 * look into the box's processes, which a process under Landlock cannot), with
 * a filter that leaves it little but that. It reads what hostile programs
 * wrote. When it is gone nothing in the box can be executed any more, and the
 * supervisor ends the run.
 */
#include <stdbool.h>
#include <stdint.h>

#include "session/exec.h"

struct ab_error;
struct ab_children;

/* What the judge tells of a program that it refused. At most AB_NOTES_MAX a
 * minute come; what is beyond that is only counted. */
enum { AB_NOTES_MAX = 100 };

struct ab_note {
	uint64_t before;	/* refused since the last note, and not told */
	uint32_t told;		/* 0: there is nothing but `before` */
	uint32_t decision;
	uint32_t cut;		/* the command is longer */
	char rule[48];
	char reason[256];
	char by[16];		/* the program that wanted it */
	char path[512];
	char command[1024];	/* quoted for a shell */
};

int ab_children_start(const struct ab_terms *terms, struct ab_children **ret,
		      struct ab_error *err);

/* Give it the listener, which it closes. -1: the judge is gone. */
int ab_children_watch(struct ab_children *children, int listener,
		      struct ab_error *err);

/* Readable when there is something to hear. hear() does not wait: 1 and a
 * note, 0 when there is none, -1 when the judge is gone. */
int ab_children_fd(const struct ab_children *children);
int ab_children_hear(struct ab_children *children, struct ab_note *ret,
		     struct ab_error *err);

/* After the box is gone: let the judge go. What it said before, and how many
 * it has not told, can still be heard; await() waits for that, or for its end,
 * and is false when neither comes. */
void ab_children_dismiss(struct ab_children *children);
bool ab_children_await(const struct ab_children *children);

/* Ends it, whatever it does. */
void ab_children_free(struct ab_children *children);

#endif
