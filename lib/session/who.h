#ifndef AB_SESSION_WHO_H
#define AB_SESSION_WHO_H
/*
 * Processes of a box for people: a list [{"pid":3,"exe":"/usr/bin/curl",
 * "argv":[...]}, ...], nearest first, as the broker's whois makes it. Its texts
 * are chosen in the box. Pure.
 */
#include <jansson.h>
#include <stddef.h>

/* Those of interest: the first process of a box is ours. */
size_t ab_who_count(const json_t *who);
/* "curl (pid 3, started by npm -> node)". No name has a blank in it or is
 * longer than a few: none can pass for words of ours. ASCII; to be freed. */
char *ab_who_name(const json_t *who);

/* Of one process, as they are; "" and 0 when it has none. */
const char *ab_who_exe(const json_t *process);
long long ab_who_pid(const json_t *process);

#endif
