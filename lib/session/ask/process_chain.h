#ifndef AB_SESSION_ASK_PROCESS_CHAIN_H
#define AB_SESSION_ASK_PROCESS_CHAIN_H
/*
 * The processes of a box, for people: from a list [{"pid":3,
 * "exe":"/usr/bin/curl","argv":[...]}, ...], nearest first, as the broker's
 * whois makes it. The box chose its texts. Pure.
 */
#include <jansson.h>
#include <stddef.h>

struct ab_buf;

/* How many are worth showing: the first process of a box is ours. */
size_t ab_process_chain_count(const json_t *who);
/* "curl (pid 3, started by npm -> node)". Names have no blanks and are cut, so
 * none can pass for words of ours. ASCII; free it. */
char *ab_process_chain_name(const json_t *who);

/* A list of words, quoted for a shell and not escaped. Ends after the first
 * word that goes beyond `most` bytes. */
void ab_process_chain_command(struct ab_buf *b, const json_t *argv, size_t most);

/* Of one process, as they are; "" and 0 when it has none. */
const char *ab_process_chain_exe(const json_t *process);
long long ab_process_chain_pid(const json_t *process);

#endif
