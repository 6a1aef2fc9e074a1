#pragma once
/*
 * The reader: text to tree, as bash reads it (POSIX and the bash forms).
 *
 * Pure: no I/O, no globals; memory only from the arena. Linear for any text,
 * and bounded by the limits below. If it stops early (an error, a limit), the
 * tree has every command that was complete before that byte, because a shell
 * would have run those.
 */
#include "base/base.h"
#include "shell/syntax/ast.h"

enum {
	AB_SHELL_TEXT_MAX = 1 << 20, /* bytes */
	AB_SHELL_DEPTH_MAX = 200,    /* nesting of any kind */
	AB_SHELL_NODES_MAX = 150000, /* nodes, words and parts */
};

struct ab_script {
	struct ab_shell_node *list; /* never NULL */
	/* NULL: the whole text was read. Else the error at byte `error_at`, a
	 * phrase for people: "a quote is not closed". */
	const char *error;
	uint32_t error_at;
};

/* The text must outlive the tree. Returns how many bytes were examined, for the tests. */
uint64_t ab_parse(struct ab_arena *arena, struct ab_text text, struct ab_script *ret);
