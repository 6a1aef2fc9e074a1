#include "steer/runs/run_ports.h"

#include "host/process/socket_owner.h"
#include "netns/capture.h"
#include "policy/model/policy.h"
#include "policy/model/ports.h"
#include "sandbox/start/listening_ports.h"

#include "state/run_process.h"
#include "state/state.h"
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

/* The process that listens; it is hostile text. */
static void name_server(pid_t init, struct ab_server *server)
{
	ab_autobuf struct ab_buf b = { 0 };
	json_auto_t *list = NULL;
	const json_t *process;

	ab_socket_owner_listener(init, server->port, &b);
	list = json_loads(b.data, 0, NULL);
	process = json_array_get(list, 0);
	server->program = ab_escape(ab_path_name(ab_json_text(process, "exe")));
	server->pid = (int)ab_json_count(process, "pid");
}

/* What it has published, from its start on, as the run knows; or NULL. */
static json_t *ask_for_published(const struct ab_run *run)
{
	ab_auto(ab_steer_fini) struct ab_steer steer = { .fd = -1 };
	struct ab_error ignored = { 0 };
	json_auto_t *answer = NULL;

	if (ab_steer_open_run(run, &steer, &ignored) < 0 ||
	    ab_steer_ask(&steer, &answer, &ignored, "'do':'status'") < 0)
		return NULL;
	return json_incref(json_object_get(answer, "published"));
}

static void note_published(const struct ab_run *run, struct ab_servers *servers)
{
	json_auto_t *list = ask_for_published(run);
	const json_t *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		for (size_t k = 0; k < servers->len; k++)
			if (ab_json_count(one, "port") == servers->v[k].port)
				servers->v[k].published = (uint16_t)ab_json_count(one, "host");
	}
}

static int describe_servers(const struct ab_run *run, const json_t *start, struct ab_servers *ret,
			    struct ab_error *err)
{
	const json_t *network = json_object_get(json_object_get(start, "policy"), "network");
	ab_autofree uint16_t *ports = NULL;
	struct ab_ends ends;
	pid_t init = 0;
	size_t n;

	if (ab_run_ports_list(start, run->id, &ports, &n, err) < 0)
		return -1;
	if (ab_ends_open(start, &ends) == 0) {
		init = ab_socket_owner_pid(ends.init);
		ab_ends_fini(&ends);
	}
	snprintf(ret->run, sizeof(ret->run), "%s", run->id);
	ret->closed = !ab_json_is(network, "mode", "filtered") &&
		      !json_array_size(json_object_get(network, "publish"));
	ret->v = ab_alloc((n + 1) * sizeof(ret->v[0]));
	for (size_t i = 0; i < n; i++) {
		/* On IPv4 and on IPv6. */
		if (i && ports[i] == ports[i - 1])
			continue;
		ret->v[ret->len] = (struct ab_server){ .port = ports[i] };
		name_server(init, &ret->v[ret->len++]);
	}
	if (ret->len)
		note_published(run, ret);
	return 0;
}

int ab_run_ports(const struct ab_policy_input *input, const char *run, struct ab_servers *ret,
		 struct ab_error *err)
{
	ab_auto(ab_state_fini) struct ab_state state = AB_STATE_NONE;
	ab_auto(ab_run_fini) struct ab_run found = { .dir = -1 };
	json_auto_t *start = NULL;

	*ret = (struct ab_servers){ 0 };
	if (ab_steer_state(input, &state, err) < 0 ||
	    ab_state_find_live(&state, run, &found, err) < 0)
		return -1;
	start = ab_run_start(&found);
	return describe_servers(&found, start, ret, err);
}

void ab_servers_fini(struct ab_servers *servers)
{
	for (size_t i = 0; i < servers->len; i++)
		free(servers->v[i].program);
	free(servers->v);
	*servers = (struct ab_servers){ 0 };
}

static int send_listener(struct ab_steer *steer, const struct ab_publish *p, struct ab_error *err)
{
	/* The supervisor of the run is locked, so we make the listener. */
	ab_autoclose int fd = ab_listening_ports_publish("", p->host, p->port, err);
	json_auto_t *answer = NULL;

	return fd < 0 ? -1
		      : ab_steer_pass(steer, &fd, 1, &answer, err,
				      "'do':'publish','port':%u,'host':%u", p->port, p->host);
}

/* By an earlier publish, or from the start of the run. */
static bool is_published(const struct ab_run *run, const struct ab_publish *p)
{
	json_auto_t *list = ask_for_published(run);
	const json_t *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		if (ab_json_count(one, "port") == p->port && ab_json_count(one, "host") == p->host)
			return true;
	}
	return false;
}

int ab_run_publish(const struct ab_policy_input *input, const char *run, const char *what,
		   uint16_t *ret_host, uint16_t *ret_port, char ret_run[8], struct ab_error *err)
{
	ab_auto(ab_state_fini) struct ab_state state = AB_STATE_NONE;
	ab_auto(ab_run_fini) struct ab_run found = { .dir = -1 };
	ab_auto(ab_steer_fini) struct ab_steer steer = { .fd = -1 };
	struct ab_publish p;

	if (!ab_publish_parse(what, &p)) {
		ab_fail(err, AB_EUSAGE, 0, "invalid port \"%s\"", what);
		return ab_hint(err, "use PORT or HOSTPORT:PORT, as in 8080:3000");
	}
	if (ab_steer_state(input, &state, err) < 0 ||
	    ab_state_find_live(&state, run, &found, err) < 0 ||
	    ab_steer_open_run(&found, &steer, err) < 0)
		return -1;
	memcpy(ret_run, steer.id, sizeof(steer.id));
	*ret_host = p.host;
	*ret_port = p.port;
	return is_published(&found, &p) ? 0 : send_listener(&steer, &p, err);
}
