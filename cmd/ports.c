#include "cmd.h"

#include <stdio.h>

static int ports_main(struct args *args)
{
	const char *run = args->nrest ? args->rest[0] : NULL;
	ab_autofree uint16_t *ports = NULL;
	struct ab_error err = { 0 };
	size_t n = 0;
	int status = check_words(args, 0, 1);

	if (status >= 0)
		return status;
	if (ab_caller_init(&args->input, &err) < 0 ||
	    ab_run_ports(&args->input, run, &ports, &n, &err) < 0)
		return complain(args, &err);
	if (given(args, ID_JSON)) {
		for (size_t i = 0; i < n; i++)
			printf("%s%u", i ? "," : "[", ports[i]);
		puts(n ? "]" : "[]");
		return 0;
	}
	if (n == 0)
		puts("no listening ports");
	for (size_t i = 0; i < n; i++)
		printf("%u\n", ports[i]);
	return 0;
}

const struct command command_ports = {
	.name = "ports",
	.usage = "[--json] [RUN]",
	.summary = "list the ports that programs in a run listen on",
	.more = "Prints the TCP ports on which programs in the box accept connections, one per\n"
		"line. RUN may be omitted if only one run is active.",
	.groups =
		(const struct option_group[]){
			{ NULL, options_json },
			{ NULL, options_common },
			{ 0 },
		},
	.main = ports_main,
};
