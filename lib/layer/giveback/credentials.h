#pragma once
/*
 * The content of a file that a box gives back. Pure.
 *
 * A file whose name ends in .json must be a JSON object. Of the credential files of known agents
 * only the values that a service renews are taken over, each by its name and its type (struct
 * ab_agent_login), and written anew: some files also hold what an agent obeys, such as the address of
 * its service, or a server from which it loads settings. Everything else stays as the host has it. A
 * value with the placeholder of a secret in it is not a login.
 */
#include "base/base.h"

enum { AB_GIVEBACK_MAX = 1 << 20 }; /* bytes of a file */

/* Is there a rule for the members of this file? */
bool ab_credentials_known(const char *path);

/*
 * `path` is the file's name in the policy, which ends with its path below home. It must be neither
 * relative to a folder below home nor resolved: the rule of the file would not be found. `host` is the host's text, or NULL if there is no
 * such file. `placeholders`: that may be in the home layer, or NULL. *ret is the new text; it is equal to the host's if nothing is to be taken over.
 * -1: refused, and *ret_why is a clause ("the box's copy is not a JSON object").
 */
int ab_credentials_merge(const char *path, const char *host, size_t host_len, const char *box,
			 size_t box_len, const struct ab_strv *placeholders, struct ab_buf *ret,
			 const char **ret_why);
