#ifndef AB_SESSION_ASK_COMMAND_PROMPT_H
#define AB_SESSION_ASK_COMMAND_PROMPT_H
/*
 * A command that needs a person's word: the question on the terminal.
 *
 * It is asked before there is a box, on a /dev/tty of our own, so nothing
 * that runs in one can write it, read it or answer it. What was typed before
 * the question stood there is thrown away.
 *
 * command_prompt_text.c, pure: how it looks. Whatever the command holds, it cannot leave
 * its place: a line of it begins with "|", the rest of one that is too long
 * with ":", and what is hidden is written out.
 */
#include "session/state/approvals.h"
#include "shell/judge/judge.h"

struct ab_buf;

struct ab_question {
	struct ab_text text;  /* what would run */
	struct ab_span range; /* the part of it that decided */
	const char *reason;
	const char *rule; /* as ab_command_prompt_rule() makes it */
	const char *cwd;
};

enum ab_asked {
	AB_ASKED,
	AB_ASK_NO_TERMINAL,
	AB_ASK_BACKGROUND, /* there is one, and it is not ours now */
};

/* The answer of who is at the terminal. `ret_said`: it was an answer in so
 * many words; else the terminal was closed, or Ctrl-C typed. */
enum ab_asked ab_command_prompt(const struct ab_question *question, enum ab_answer *ret_answer,
				bool *ret_said);

/* Everything below is pure. */

/* The question, and its repetition with all that there is to know. Lines for
 * a terminal of that many columns, the last one open for the answer. */
void ab_command_prompt_question(struct ab_buf *b, const struct ab_question *question, size_t cols);
void ab_command_prompt_more(struct ab_buf *b, const struct ab_question *question, size_t cols);
/* What a key means; false: nothing. Letters of other keys ("ESC O A") come
 * several at a time, and are none. */
bool ab_command_prompt_key(const char *keys, size_t len, enum ab_answer *ret);

/* Bytes for people: hidden characters and non-UTF-8 written out. */
void ab_command_prompt_show(struct ab_buf *b, struct ab_text text);
/* "recursive-delete-root", or the user's own rule: "\"git push *\"". */
char *ab_command_prompt_rule(const struct ab_judgement *judgement);

#endif
