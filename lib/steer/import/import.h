#pragma once
/*
 * Reads settings of another sandbox or agent and writes them as settings of agentbox.
 * Everything that is not carried over gets a line that says why. The result never
 * permits more than the file did, as far as the two can be compared.
 *
 * Pure: text in, text out. The file may be hostile: it came with a project.
 */
#include "base/base.h"

enum { AB_IMPORT_MAX = 1 << 20 };

struct ab_import {
	char *settings;	     /* a settings file */
	struct ab_strv left; /* "line 3: model: has no counterpart"; safe to print */
};

/* `format`: "srt", "claude-code", "codex", "nono". Fails if it is unknown, or the text is not JSON
 * or TOML. `name` is for messages. */
int ab_import_read(const char *format, const char *name, const char *text, size_t len,
		   struct ab_import *ret, struct ab_error *err);
void ab_import_fini(struct ab_import *import);
