#pragma once
/*
 * Print a judgement for programs and for people. The output is safe for a
 * terminal, whatever the command contains.
 */
#include "base/base.h"
#include "shell/judge/judge.h"

/* One line of JSON, without its newline. */
void ab_judgement_json(const struct ab_judgement *judgement, struct ab_buf *b);
/* The tree for people, with the decisive part marked. */
void ab_judgement_explain(const struct ab_judgement *judgement, struct ab_buf *b);
/*
 * The line with the decisive part, and ^^^ under it; both lines start with `indent`.
 * Adds nothing and returns false if that part is the whole command.
 */
bool ab_judgement_point(const struct ab_judgement *judgement, const char *indent, struct ab_buf *b);
/* A part of the text; the decisive part. */
struct ab_text ab_judgement_text(const struct ab_judgement *judgement, struct ab_span range);
