#pragma once
/*
 * Looks a name up in the text of a hosts file. Pure. It searches the text
 * itself, so a file of some megabytes (a block list) needs no table.
 */
#include "policy/values/host.h"
#include "proxy/dial/answer.h"

/* Call it once after reading, so that names match in any case. */
void ab_hosts_lower(char *text, size_t len);

/* The addresses of the name in a lower-case text; false: it is not there. */
bool ab_hosts_find(const char *text, size_t len, const char *name, struct ab_answer *ret);

/* Does the name always mean the machine itself (RFC 6761), or is the address its own? */
bool ab_host_is_local(const struct ab_host *host);
