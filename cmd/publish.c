#include "cmd.h"

/* Does a program in the box listen on it by now? If that is not known, nothing is said. */
static bool is_listening(const struct args *args, const char *run, uint16_t port)
{
	struct ab_servers servers;
	struct ab_error ignored = { 0 };
	bool found = false;

	if (ab_run_ports(&args->input, run, &servers, &ignored) < 0)
		return true;
	for (size_t i = 0; i < servers.len; i++)
		found |= servers.v[i].port == port;
	ab_servers_fini(&servers);
	return found;
}

static int publish_main(struct args *args, struct ab_error *err)
{
	bool named = args->nrest == 2, listening;
	const char *what;
	uint16_t host, port;
	char run[8];

	what = args->rest[named];
	if (ab_run_publish(&args->input, named ? args->rest[0] : NULL, what, &host, &port, run,
			   err) < 0)
		return -1;
	listening = is_listening(args, run, port);
	if (given(args, "json")) {
		put_json("{'run':%s,'port':%u,'published':%u,'listening':%hhd}\n", run, port, host,
			 listening);
		return 0;
	}
	printf("port %u of %s is on 127.0.0.1:%u until the run ends\n", port, run, host);
	if (!listening)
		printf("nothing in the box listens on port %u yet\n", port);
	return 0;
}

const struct command command_publish = {
	.name = "publish",
	.usage = "[--json] [RUN] [HOSTPORT:]PORT",
	.summary = "make a port of an active run reachable from the host",
	.groups = groups_json,
	.words = { 1, 2 },
	.main = publish_main,
};
