#pragma once
/*
 * Asks on the terminal whether a command that needs approval may run.
 *
 * The question is asked before the box exists, on our own /dev/tty descriptor,
 * so nothing in a box can draw, read or answer it. Keys typed before the
 * question was shown are discarded.
 *
 * command_prompt_text.c, pure: the layout. No command text can imitate the
 * rest of the question: its lines begin with "|", continued ones with ":", and
 * hidden characters are escaped.
 */
#include "base/base.h"
#include "shell/judge/judge.h"
#include "state/approvals.h"

struct ab_question {
	struct ab_text text;  /* the command */
	struct ab_span range; /* the part that decided the verdict */
	const char *reason;
	const char *rule; /* from ab_command_prompt_rule() */
	const char *cwd;
};

enum ab_asked {
	AB_ASKED,
	AB_ASK_NO_TERMINAL,
	AB_ASK_BACKGROUND, /* we are not in the terminal's foreground */
};

/* `ret_said`: the person typed a letter of the menu; else the terminal was
 * closed, or Ctrl-C or the like was typed, which counts as no. */
enum ab_asked ab_command_prompt(const struct ab_question *question, enum ab_answer *ret_answer,
				bool *ret_said);

/* Everything below is pure. */

/* The question, and the question again in full. Lines fit `cols` columns; the
 * last one stays open for the answer. */
void ab_command_prompt_question(struct ab_buf *b, const struct ab_question *question, size_t cols);
void ab_command_prompt_more(struct ab_buf *b, const struct ab_question *question, size_t cols);
/* The answer that a key stands for; false: none. Several bytes are another key
 * ("ESC O A") or pasted text, and never an answer. */
bool ab_command_prompt_key(const char *keys, size_t len, enum ab_answer *ret);

/* Escapes hidden characters and bytes that are not UTF-8. */
void ab_command_prompt_show(struct ab_buf *b, struct ab_text text);
/* "recursive-delete-root", or the user's own rule: "\"git push *\"". */
char *ab_command_prompt_rule(const struct ab_judgement *judgement);
