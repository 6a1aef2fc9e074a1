#pragma once
/*
 * Fit our own texts, which are written for 80 columns, into a narrower terminal. Pure.
 *
 * Lines that begin at the margin and follow each other are one paragraph, and are filled again. Any
 * other line that is too long is broken at a space; its continuation begins below the last column
 * of the line (after two spaces or more), if that is in the left half, or else a little further in
 * than the line itself. A word is never broken: it may be a command to copy.
 */
#include "base/base.h"

void ab_wrap_text(struct ab_buf *to, const char *text, size_t width);

/*
 * One line of a message, behind `margin` columns that the caller has written: broken at spaces; each
 * further line begins at the margin. A command to copy is not broken, but begins on a line of its
 * own where it does not fit: "agentbox ..." behind a colon, up to "; ", the
 * next command (", agentbox ..."), " (see ..." or the end, or in parentheses. So are settings, "{ ... }" behind a colon. Adds no newline at the end.
 */
void ab_wrap_message(struct ab_buf *to, const char *text, size_t margin, size_t width);
