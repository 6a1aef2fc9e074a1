#pragma once
/*
 * The processes of a box as text for people, from a list [{"pid":3,
 * "exe":"/usr/bin/curl","argv":[...]}, ...], nearest first, as the broker
 * makes it. The box chose its texts. Pure.
 */
#include <jansson.h>

#include "base/base.h"

/* Without the first process of a box, which is our own init. */
size_t ab_process_chain_count(const json_t *who);
/* "curl (pid 3, started by npm -> node)". Names have no blanks and are cut, so
 * none can pass for our own text. ASCII; the caller frees it. */
char *ab_process_chain_name(const json_t *who);

/* Quoted for a shell, not escaped for a terminal. Ends after the first word
 * that exceeds `most` bytes. */
void ab_process_chain_command(struct ab_buf *b, const json_t *argv, size_t most);

/* Of one process, not escaped; "" and 0 if unknown. */
const char *ab_process_chain_exe(const json_t *process);
long long ab_process_chain_pid(const json_t *process);
