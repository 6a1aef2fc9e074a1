#include "cmd.h"

#include <stdio.h>

/* Bytes kept of each stream unless limits.output is set. */
enum { OUTPUT_MOST = 10 << 20 };

static uint64_t output_limit(const struct ab_policy_input *input)
{
	struct ab_policy *policy;
	struct ab_error ignored;
	uint64_t most;

	/* The run itself reports errors in the policy. */
	if (ab_policy_load(input, &policy, NULL, &ignored) < 0)
		return OUTPUT_MOST;
	most = policy->limits.output;
	ab_policy_free(policy);
	return most ? most : OUTPUT_MOST;
}

static int exec_main(struct args *args)
{
	ab_autobuf struct ab_buf json = { 0 };
	const char *script[3];
	struct ab_request request;
	struct ab_error err = { 0 };
	struct ab_child_run apart;
	int status = run_request(args, script, &request);

	if (status >= 0)
		return status;
	if (ab_caller_init(&request.policy, &err) < 0)
		return complain(args, &err);
	status = 0;
	if (ab_run_in_child(&request, output_limit(&request.policy), &apart, &status, &err) < 0)
		status = complain(args, &err);
	ab_buf_puts(&json, apart.result);
	ab_result_add_streams(&json, &apart.out, &apart.err);
	ab_buf_puts(&json, "\n");
	fwrite(json.data, 1, json.len, stdout);
	ab_child_run_fini(&apart);
	return status;
}

const struct command command_exec = {
	.name = "exec",
	.usage = "[--json] [OPTIONS] [--] COMMAND [ARG...]  |  ... -c STRING",
	.summary = "run a command in the box and print one JSON result",
	.more = "Like run, but captures the output and prints it as one JSON object together with\n"
		"everything else about the run; agentbox-exec(1) lists its members. At most\n"
		"limits.output bytes (10M) of each stream are kept. The exit status is that of\n"
		"run.",
	.groups = OPTION_GROUPS({ "Result", options_json }, { "Running", options_run },
				{ "Policy", options_policy }),
	.runs = true,
	.main = exec_main,
};
