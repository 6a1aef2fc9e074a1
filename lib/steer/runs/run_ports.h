#ifndef AB_STEER_RUNS_RUN_PORTS_H
#define AB_STEER_RUNS_RUN_PORTS_H
/*
 * List the ports that an active run listens on, from another process of the
 * same user.
 */
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct ab_error;
struct ab_policy_input;

/* `start` is the run's start record. Free *ret. */
int ab_run_ports_list(const json_t *start, const char *id, uint16_t **ret, size_t *ret_len,
		      struct ab_error *err);

/*
 * The TCP ports that programs in an active run listen on, in ascending order, without
 * our own; free *ret_ports. `run` is an id or a name; NULL: the only active run.
 */
int ab_run_ports(const struct ab_policy_input *input, const char *run, uint16_t **ret_ports,
		 size_t *ret_len, struct ab_error *err);

#endif
