#ifndef AB_PROXY_DIAL_HOSTS_FILE_H
#define AB_PROXY_DIAL_HOSTS_FILE_H
/*
 * A name in the text of a hosts file. Pure. The text is searched as it is, so
 * that a file of some megabytes (lists of blocked hosts) costs no table.
 */
#include <stdbool.h>
#include <stddef.h>

#include "proxy/dial/answer.h"

/* Once, after reading: names are found whatever case they are written in. */
void ab_hosts_lower(char *text, size_t len);

/* The addresses that the lower-case text gives this name; false: the file
 * does not have it. */
bool ab_hosts_find(const char *text, size_t len, const char *name, struct ab_answer *ret);

/* Does this name mean the machine itself, whatever a file or a server says
 * (RFC 6761)? */
bool ab_hosts_is_local(const char *name);

#endif
