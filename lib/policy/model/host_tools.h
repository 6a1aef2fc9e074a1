#pragma once
/*
 * Programs of the host that the box may use: "tools" in the settings. The box has a command of that
 * name, which hands its words to the broker of the tools (hosttools); the program itself runs in
 * a box of its own.
 */
#include "base/base.h"

enum {
	AB_HOST_TOOLS_MAX = 32,
	AB_HOST_TOOL_NAME = 64,	    /* bytes of a name */
	AB_HOST_TOOL_PATTERN = 512, /* bytes of a pattern */
	AB_HOST_TOOL_PATTERNS = 256,
};

struct ab_host_tool {
	const char *name;
	const char *program;	   /* clean absolute path on the host */
	struct ab_strv allow, ask; /* patterns of its words, hosttools/tool_words.h */
	bool unconfined;	   /* runs outside of any box */
	const char *box;	   /* JSON: the settings of its box; "" if it has none */
};

struct ab_host_tools {
	const struct ab_host_tool *const *v;
	size_t len;
};

/* Inside lib/policy. */
struct ab_value;

bool ab_host_tool_is_name(const char *name);
struct ab_host_tools ab_host_tools_fill(struct ab_arena *a, const struct ab_value *v);
