#ifndef AB_SESSION_ASK_HOST_PROMPT_H
#define AB_SESSION_ASK_HOST_PROMPT_H
/*
 * Questions about hosts on the caller's terminal, while the command has it.
 *
 * The box's output is held and the other screen used as long as a question
 * stands there, and what was typed before it did is thrown away: so nothing in
 * the box can draw it, cover it or answer it. Afterwards the program is told
 * to draw itself again.
 *
 * host_prompt_text.c, pure: how it looks.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/system/loop.h"
#include "session/state/approvals.h"

struct ab_buf;
struct ab_error;
struct ab_host_prompt;
struct ab_terminal;
struct ab_terminal_rescue;

struct ab_host_prompt_question {
	uint32_t number;
	const char *run_id;
	const char *host; /* canonical: punycode, never raw bytes */
	uint16_t port;
	const char *door;
	bool held;	 /* the monitor holds the network */
	const char *who; /* JSON array of processes, or NULL: not known
				 * (yet); hostile text */
	uint64_t left_ms;
	size_t others; /* questions that wait behind it */
};

/* Before the lock. *ret is NULL where nobody can be asked: no terminal, or it
 * is not ours. `terminal` may be NULL (the command has none, we may have). */
int ab_host_prompt_open(struct ab_terminal *terminal, struct ab_host_prompt **ret,
			struct ab_error *err);
/* What the broker is to give back for a supervisor that died, also when there
 * is a prompt and no terminal of the command; NULL: nothing. */
void ab_host_prompt_rescue_get(const struct ab_host_prompt *prompt, struct ab_terminal_rescue *ret);
/* On the supervisor's loop. `redraw`: have the command draw itself again. */
struct ab_host_prompt_watch {
	struct ab_loop *loop;
	/* `said` false: Ctrl-C or Escape, a no that nobody put in words. */
	void (*answered)(void *arg, uint32_t number, enum ab_answer answer, bool said);
	void (*redraw)(void *arg);
	void *arg;
};
int ab_host_prompt_attach(struct ab_host_prompt *prompt, const struct ab_host_prompt_watch *watch,
			  struct ab_error *err);
/* Show this one, instead of one that is shown; also with news about it (who,
 * time left). */
void ab_host_prompt_show(struct ab_host_prompt *prompt,
			 const struct ab_host_prompt_question *question);
/* No question any more: the command has the terminal again. */
void ab_host_prompt_hide(struct ab_host_prompt *prompt);
bool ab_host_prompt_asking(const struct ab_host_prompt *prompt); /* is one shown? */
void ab_host_prompt_resize(struct ab_host_prompt *prompt);	 /* SIGWINCH */
/* Before we stop, after ab_terminal_suspend; and after SIGCONT and
 * ab_terminal_resume: a question that stood there stands there again. */
void ab_host_prompt_suspend(struct ab_host_prompt *prompt);
void ab_host_prompt_resume(struct ab_host_prompt *prompt);
/* Is there somebody at it now: are we in the terminal's foreground? */
bool ab_host_prompt_able(const struct ab_host_prompt *prompt);
/* Before the terminal; not out of `answered`. NULL does nothing. */
void ab_host_prompt_close(struct ab_host_prompt *prompt);

/* Pure: the whole screen for a question. */
void ab_host_prompt_text(struct ab_buf *b, const struct ab_host_prompt_question *question,
			 bool more, size_t rows, size_t cols);

#endif
