#pragma once
/*
 * Questions of a box that stays about hosts, on the terminal of a client: they come over the box's
 * control socket, are shown as a run shows them (consent/ask/host_prompt.h), and the answer goes
 * back. Every client with a terminal shows them; the first answer counts.
 */
#include "base/base.h"

struct ab_kept_box;
struct ab_loop;
struct ab_questions;
struct ab_terminal;

/* Before the client confines itself. NULL: none can be shown here (no terminal, too many clients of
 * the control socket); they can still be answered with `allow` and `deny`. */
struct ab_questions *ab_questions_open(const struct ab_kept_box *box, struct ab_terminal *terminal);

struct ab_questions_watch {
	struct ab_loop *loop;
	void (*redraw)(void *arg);		  /* make the command redraw its screen */
	void (*uncovered)(void *arg);		  /* ab_questions_asking() may be false now */
	void (*say)(void *arg, const char *text); /* a question that cannot be shown now */
	void *arg;
};
int ab_questions_attach(struct ab_questions *questions, const struct ab_questions_watch *watch,
			struct ab_error *err);
bool ab_questions_asking(const struct ab_questions *questions);
/* As of the prompt. NULL does nothing. */
void ab_questions_resize(struct ab_questions *questions);
void ab_questions_suspend(struct ab_questions *questions);
void ab_questions_resume(struct ab_questions *questions);
void ab_questions_close(struct ab_questions *questions);
