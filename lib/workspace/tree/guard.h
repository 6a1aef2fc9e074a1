#pragma once
/*
 * An object that the mount plan covers: mounted read-only (protected names) or hidden
 * (denied reads). The path is real: no component is a symbolic link, except that
 * the last one of a LINK is the link itself, which a mount pins.
 */
#include "base/base.h"

enum ab_node { AB_NODE_FILE, AB_NODE_DIR, AB_NODE_LINK, AB_NODE_OTHER };

struct ab_guard {
	char *path;
	enum ab_node kind;
};

static inline enum ab_node ab_node_of(mode_t mode)
{
	if (S_ISREG(mode))
		return AB_NODE_FILE;
	if (S_ISDIR(mode))
		return AB_NODE_DIR;
	return S_ISLNK(mode) ? AB_NODE_LINK : AB_NODE_OTHER;
}

/* As strcmp(), but everything below a folder follows it at once: "a", "a/b", "a-b". */
int ab_path_order(const char *a, const char *b);

void ab_guards_add(struct ab_guard **v, size_t *len, const char *path, enum ab_node kind);
/* Sort: parents first, each once, nothing below a listed folder. */
void ab_guards_settle(struct ab_guard *v, size_t *len);
/* Is it listed, or below a listed folder? For a settled list. */
bool ab_guards_cover(const struct ab_guard *v, size_t len, const char *path);
void ab_guards_free(struct ab_guard *v, size_t len);
