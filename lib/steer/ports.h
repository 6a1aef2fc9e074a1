#ifndef AB_STEER_PORTS_H
#define AB_STEER_PORTS_H
/*
 * The ports that listen inside a live run, seen from another process of the
 * same user (ab_run_ports in agentbox.h).
 */
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct ab_error;

/* `start` is the run's start record. Free *ret. */
int ab_ports_list(const json_t *start, const char *id, uint16_t **ret, size_t *ret_len,
		  struct ab_error *err);

#endif
