#pragma once
#include "base/base.h"

struct ab_policy_input;
struct ab_setting;

/* Fill in what the calling process knows: environment, current folder, home. The strings live as
 * long as the process. */
int ab_caller_init(struct ab_policy_input *input, struct ab_error *err);

/*
 * Make every path among the options absolute: the config file, the workspace, and the values of
 * `settings`, which are input->settings. Afterwards no other current folder changes what the
 * options mean. After ab_caller_init(); the strings live as long as the process. A path that cannot
 * be resolved stays as it is, and the policy refuses it.
 */
void ab_caller_fix_paths(struct ab_policy_input *input, struct ab_setting *settings);

/* Fail if an option makes a path writable that does not exist: it was probably mistyped. Settings
 * may name paths that exist on other machines only. */
int ab_caller_check_paths(const struct ab_policy_input *input, struct ab_error *err);

/* Would the caller's shell find this program: a path, or a name in a folder of PATH? */
bool ab_caller_finds(const char *program);
/* Is there a profile for the agent that has this name? */
bool ab_caller_knows_agent(const char *name);

/* "standard input", ... or "descriptor N", for messages. */
const char *ab_name_fd(int fd, char buf[32]);
