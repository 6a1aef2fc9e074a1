#include "steer/runs/run_ports.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "netns/capture.h"
#include "sandbox/start/listening_ports.h"
#include "session/state/run_process.h"
#include "session/state/state.h"
#include "steer/client/json.h"
#include "steer/client/steer.h"

enum { PORTS_MAX = 1024 };

/* Ports of the proxy, in a box with a filtered network. */
static const uint16_t proxy_ports[] = { AB_PORT_DNS, AB_PORT_DOOR, AB_PORT_CAPTURED };

static bool is_ours(const json_t *network, uint16_t port)
{
	const char *mode = ab_json_text(network, "mode");
	const json_t *hosts = json_object_get(network, "hostPorts"), *one;
	size_t i;

	if (strcmp(mode, "filtered") != 0)
		return false;
	for (i = 0; i < AB_COUNT(proxy_ports); i++)
		if (proxy_ports[i] == port)
			return true;
	json_array_foreach(hosts, i, one) if (json_integer_value(one) == port) return true;
	return false;
}

static int by_number(const void *a, const void *b)
{
	return *(const uint16_t *)a - *(const uint16_t *)b;
}

int ab_run_ports_list(const json_t *start, const char *id, uint16_t **ret, size_t *ret_len,
		      struct ab_error *err)
{
	const json_t *network = json_object_get(json_object_get(start, "policy"), "network");
	const char *mode = ab_json_text(network, "mode");
	ab_autoclose int init = ab_run_process_init(start);
	ab_autofree char *v4 = NULL;
	ab_autofree char *v6 = NULL;
	ab_autofree uint16_t *ports = ab_alloc(PORTS_MAX * sizeof(ports[0]));
	size_t n = 0, kept = 0;

	if (strcmp(mode, "allowed") == 0) {
		ab_fail(err, AB_ESYSTEM, 0,
			"run %s shares the network of this machine and has no ports of its own",
			id);
		return ab_hint(err, "to see the ports of this machine: ss -ltn");
	}
	v4 = init < 0 ? NULL : ab_run_process_read(init, "net/tcp");
	if (!v4)
		return ab_fail(err, AB_ESYSTEM, 0, "run %s is starting or ending", id);
	/* NULL if the kernel has no IPv6. */
	v6 = ab_run_process_read(init, "net/tcp6");
	n = ab_ports_parse(v4, ports, n, PORTS_MAX);
	if (v6)
		n = ab_ports_parse(v6, ports, n, PORTS_MAX);
	for (size_t i = 0; i < n; i++)
		if (!is_ours(network, ports[i]))
			ports[kept++] = ports[i];
	qsort(ports, kept, sizeof(ports[0]), by_number);
	*ret = ab_take(ports);
	*ret_len = kept;
	return 0;
}

static int list_run(const struct ab_state *state, const char *run, uint16_t **ret, size_t *ret_len,
		    struct ab_error *err)
{
	struct ab_run found;
	json_t *start;
	int result;

	if (ab_state_find_live(state, run, &found, err) < 0)
		return -1;
	start = ab_run_start(&found);
	result = ab_run_ports_list(start, found.id, ret, ret_len, err);
	json_decref(start);
	ab_run_fini(&found);
	return result;
}

int ab_run_ports(const struct ab_policy_input *input, const char *run, uint16_t **ret_ports,
		 size_t *ret_len, struct ab_error *err)
{
	struct ab_state state;
	int result;

	if (ab_steer_state(input, &state, err) < 0)
		return -1;
	result = list_run(&state, run, ret_ports, ret_len, err);
	ab_state_fini(&state);
	return result;
}
