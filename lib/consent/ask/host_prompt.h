#pragma once
/*
 * Questions about hosts on the caller's terminal, while the command uses it.
 *
 * While a question is shown, the box's output is held back, the question is on
 * the alternate screen, and keys typed before it are discarded: nothing in the
 * box can draw, cover or answer it. Afterwards the program redraws itself.
 *
 * host_prompt_text.c, pure: the layout.
 */
#include "base/base.h"
#include "base/system/loop.h"
#include "consent/ask/host_choice.h"

struct ab_host_prompt;
struct ab_terminal;
struct ab_terminal_rescue;

struct ab_host_prompt_question {
	uint32_t number;
	const char *run_id;
	const char *host; /* canonical: punycode, never raw bytes */
	uint16_t port;
	const char *door;
	const char *about; /* about the ssh agent or a tool: "log in to ..."; or NULL */
	bool held;	   /* the monitor has paused the network */
	const char *who;   /* JSON array of processes, hostile text; NULL: unknown */
	uint64_t left_ms;
	size_t others;	   /* questions queued behind it */
	const char *group; /* "npm": the host belongs to it; or NULL */
};

/* With texts of its own; NULL stays NULL. */
struct ab_host_prompt_question
ab_host_prompt_question_copy(const struct ab_host_prompt_question *question);
void ab_host_prompt_question_fini(struct ab_host_prompt_question *question);

/* The choice that a key stands for in this question; false: none. Pure. */
bool ab_host_prompt_choice(const struct ab_host_prompt_question *question, int key,
			   enum ab_host_choice *ret);

/* Call before the supervisor locks itself in. *ret is NULL if there is no
 * terminal to ask on. `terminal` is the command's; NULL: try /dev/tty. */
int ab_host_prompt_open(struct ab_terminal *terminal, struct ab_host_prompt **ret,
			struct ab_error *err);
/* The terminal that the broker restores if the supervisor dies, also when the
 * command has none. `prompt` may be NULL: nothing to restore. */
void ab_host_prompt_rescue_get(const struct ab_host_prompt *prompt, struct ab_terminal_rescue *ret);
/* Runs on the supervisor's loop. */
struct ab_host_prompt_watch {
	struct ab_loop *loop;
	/* `said` false: no letter was typed, but Ctrl-C, Escape or the like. */
	void (*answered)(void *arg, uint32_t number, enum ab_host_choice choice, bool said);
	void (*redraw)(void *arg);    /* make the command redraw its screen */
	void (*uncovered)(void *arg); /* ab_host_prompt_asking may be false now */
	void *arg;
};
int ab_host_prompt_attach(struct ab_host_prompt *prompt, const struct ab_host_prompt_watch *watch,
			  struct ab_error *err);
/* Shows this question in place of the present one, or updates the present one
 * (who, time left). */
void ab_host_prompt_show(struct ab_host_prompt *prompt,
			 const struct ab_host_prompt_question *question);
/* Gives the terminal back to the command. */
void ab_host_prompt_hide(struct ab_host_prompt *prompt);
/* Is one shown, or still on the screen? Lines written now would be lost with it. */
bool ab_host_prompt_asking(const struct ab_host_prompt *prompt);
void ab_host_prompt_resize(struct ab_host_prompt *prompt); /* SIGWINCH */
/* Call before we stop, after ab_terminal_suspend; and after SIGCONT and
 * ab_terminal_resume, which shows an open question again. */
void ab_host_prompt_suspend(struct ab_host_prompt *prompt);
void ab_host_prompt_resume(struct ab_host_prompt *prompt);
/* Can a person see and answer a question now, in the terminal's foreground? */
bool ab_host_prompt_usable(const struct ab_host_prompt *prompt);
/* Close it before the terminal, and not from `answered`. NULL does nothing. */
void ab_host_prompt_close(struct ab_host_prompt *prompt);

/* The id of a question: "7kq2x-1", "7kq2x-t1"; 0: the run's own. Pure. */
void ab_question_id(const char *run_id, uint32_t number, char ret[32]);

/* Pure: the whole screen for a question. */
void ab_host_prompt_text(struct ab_buf *b, const struct ab_host_prompt_question *question,
			 bool more, size_t rows, size_t cols);
