#include "cmd.h"

static void add_json(struct ab_buf *b, const struct ab_servers *servers)
{
	for (size_t i = 0; i < servers->len; i++) {
		const struct ab_server *s = &servers->v[i];

		ab_buf_jsonf(b, ",{'run':%s,'port':%u,'program':%s,'pid':%d", servers->run, s->port,
			     s->program, s->pid);
		ab_buf_json_number(b, "published", s->published, s->published);
		ab_buf_puts(b, "}");
	}
}

/* The ports of this run, or of all active runs. */
static int print_json(struct args *args, const char *run, struct ab_error *err)
{
	ab_autobuf struct ab_buf b = { 0 };
	ab_autostrv struct ab_strv notes = { 0 };
	ab_auto(ab_run_list_fini) struct ab_run_list list = { 0 };
	struct ab_servers servers;
	int result = 0;

	ab_buf_puts(&b, "[");
	if (run)
		result = ab_run_ports(&args->input, run, &servers, err);
	else
		result = ab_runs_list(&args->input, &list, &notes, err);
	if (result < 0)
		return -1;
	for (size_t i = 0; run ? i < 1 : i < list.len; i++) {
		/* A run may end meanwhile, or share the network of this machine. */
		if (!run && ab_run_ports(&args->input, list.v[i].id, &servers, err) < 0)
			continue;
		add_json(&b, &servers);
		ab_servers_fini(&servers);
	}
	printf("%s]\n", b.data);
	return 0;
}

static void print_server(const struct ab_server *s, const struct ab_servers *of)
{
	ab_autofree char *who =
		s->pid ? ab_printf("%s, pid %d", s->program, s->pid) : ab_strdup("?");

	if (s->published)
		printf("%-6u %-24s  published on 127.0.0.1:%u\n", s->port, who, s->published);
	else if (of->closed)
		printf("%-6u %-24s  not published: agentbox run --publish %u\n", s->port, who,
		       s->port);
	else
		printf("%-6u %-24s  not published: agentbox publish %s %u\n", s->port, who, of->run,
		       s->port);
}

static int ports_main(struct args *args, struct ab_error *err)
{
	const char *run = args->rest[0];
	struct ab_servers servers;

	if (given(args, "json"))
		return print_json(args, run, err);
	if (ab_run_ports(&args->input, run, &servers, err) < 0)
		return -1;
	if (servers.len == 0)
		puts("no listening ports");
	for (size_t i = 0; i < servers.len; i++)
		print_server(&servers.v[i], &servers);
	ab_servers_fini(&servers);
	return 0;
}

const struct command command_ports = {
	.name = "ports",
	.usage = "[--json] [RUN]",
	.summary = "list the ports that programs in a run listen on",
	.groups = groups_json,
	.words = { 0, 1 },
	.main = ports_main,
};
