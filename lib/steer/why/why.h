#pragma once
/*
 * `agentbox why`: explain a denial. The sentence that the client got, how often it
 * happened, which process asked, and how to allow it.
 */
#include "base/base.h"

struct ab_policy_input;

/*
 * `what` is the first of these that fits: the id of a denial; the id or name of a run, to list its
 * denials; "last", the last denial of the newest run; a variable of the environment; a text with a
 * blank or an operator of the shell, a command; a path (it begins with /, ./, ../ or ~, or has a
 * slash); a host. NULL: the newest run as a whole. *ret is text for people, escaped, or one JSON
 * object; free it.
 */
int ab_why(const struct ab_policy_input *input, const char *what, bool json, char **ret,
	   struct ab_error *err);

/* From the policy of this folder, without a run (why_policy.h). A host may have a port; of a command
 * either argv or a text for a shell. `read`, `write`: what is asked about; neither: both. `note`: what
 * the name of the file may also mean, or NULL. */
int ab_why_host(const struct ab_policy_input *input, const char *host, bool json, char **ret,
		struct ab_error *err);
int ab_why_path(const struct ab_policy_input *input, const char *path, bool read, bool write,
		const char *note, bool json, char **ret, struct ab_error *err);
int ab_why_command(const struct ab_policy_input *input, const char *const *argv, size_t argc,
		   const char *script, bool json, char **ret, struct ab_error *err);

/* The same for a variable of the caller's environment, which `what` may name if no
 * run has that name. */
int ab_why_variable(const struct ab_policy_input *input, const char *name, bool json, char **ret,
		    struct ab_error *err);
