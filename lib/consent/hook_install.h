#pragma once
/* Settings files of agents, for `hook install` and `hook status`. */
#include "base/base.h"

struct ab_hook_dialect;
struct ab_policy_input;

/* "" if the file does not exist. */
int ab_hook_read_settings(const char *path, char **ret, struct ab_error *err);

/* Refuse a path with a symbolic link below the folder `top`. */
int ab_hook_check_links(const char *path, const char *top, struct ab_error *err);

/* Fail with an option that every run would refuse. */
int ab_hook_check_options(const struct ab_policy_input *options, struct ab_error *err);

/* Our hooks in these settings. */
struct ab_hook_found {
	struct ab_strv commands; /* each once, under whatever event */
	struct ab_strv missing;	 /* events without an entry as `hook install` writes it */
};

int ab_hook_find_installed(const struct ab_hook_dialect *dialect, const char *path,
			   struct ab_hook_found *ret, struct ab_error *err);
void ab_hook_found_fini(struct ab_hook_found *found);
