#ifndef AB_SHELL_JUDGE_JUDGE_REPORT_H
#define AB_SHELL_JUDGE_JUDGE_REPORT_H
/*
 * A judgement in words: for programs, and for people. What is added to a
 * buffer is safe to print, whatever the command held.
 */
#include <stdbool.h>

#include "shell/judge/judge.h"

struct ab_buf;

/* One line of JSON, without its newline. */
void ab_judgement_json(const struct ab_judgement *judgement, struct ab_buf *b);
/* The tree for people, the part that decided marked. */
void ab_judgement_explain(const struct ab_judgement *judgement, struct ab_buf *b);
/*
 * The line with the part that decided, and ^^^ under it; `indent` begins both
 * lines. False, and nothing is added, where that part is all of the command.
 */
bool ab_judgement_point(const struct ab_judgement *judgement, const char *indent, struct ab_buf *b);
/* The part that decided. */
struct ab_text ab_judgement_segment(const struct ab_judgement *judgement);

#endif
