#include "cmd.h"

/* Bytes kept of each stream unless limits.output is set. */
enum { OUTPUT_MOST = 10 << 20 };

static uint64_t output_limit(const struct ab_policy_input *input)
{
	ab_autopolicy struct ab_policy *policy = NULL;
	struct ab_error ignored;

	/* The run itself reports errors in the policy. */
	if (ab_policy_load(input, &policy, NULL, &ignored) < 0)
		return OUTPUT_MOST;
	return policy->limits.output ? policy->limits.output : OUTPUT_MOST;
}

static int exec_main(struct args *args, struct ab_error *err)
{
	ab_autobuf struct ab_buf json = { 0 };
	struct ab_request request;
	struct ab_child_run apart;
	int status = 0;

	if (run_request(args, &request, err) < 0)
		return -1;
	if (ab_run_in_child(&request, output_limit(&request.policy), &apart, &status, err) < 0)
		status = complain(args, err);
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
	.groups = OPTION_GROUPS({ "Result", options_json }, { "Running", options_run },
				{ "Policy", options_policy }),
	.runs = true,
	.words = { 0, SIZE_MAX },
	.main = exec_main,
};
