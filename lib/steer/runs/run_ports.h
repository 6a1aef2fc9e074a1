#pragma once
/*
 * The ports that an active run listens on, from another process of the same user: list them, and
 * publish one.
 */
#include <jansson.h>

#include "base/base.h"

struct ab_policy_input;

/* `start` is the run's start record. Free *ret. */
int ab_run_ports_list(const json_t *start, const char *id, uint16_t **ret, size_t *ret_len,
		      struct ab_error *err);

struct ab_server {
	uint16_t port;
	char *program;	    /* its name, escaped; "" if it is not known */
	int pid;	    /* in the box; 0 if it is not known */
	uint16_t published; /* the port of the host, or 0 */
};

struct ab_servers {
	char run[8];
	bool closed; /* no port can be published while it runs */
	struct ab_server *v;
	size_t len;
};

/*
 * The TCP ports that programs in an active run listen on, in ascending order, without
 * our own. `run` is an id or a name; NULL: the only active run.
 */
int ab_run_ports(const struct ab_policy_input *input, const char *run, struct ab_servers *ret,
		 struct ab_error *err);
void ab_servers_fini(struct ab_servers *servers);

/*
 * Publish a port of an active run on 127.0.0.1, until the run ends. `what` is "PORT" or
 * "HOSTPORT:PORT". *ret_host is the port of the host, ret_run the run.
 */
int ab_run_publish(const struct ab_policy_input *input, const char *run, const char *what,
		   uint16_t *ret_host, uint16_t *ret_port, char ret_run[8], struct ab_error *err);
