/* The layout that programs were compiled with: prints it, for comparison with abi.txt. */
#include <agentbox.h>
#include <stddef.h>
#include <stdio.h>

#define TYPE(type) printf("%s %zu\n", #type, sizeof(struct type))
#define MEMBER(type, member)                                                     \
	printf("%s.%s %zu %zu\n", #type, #member, offsetof(struct type, member), \
	       sizeof(((struct type *)0)->member))
#define VALUE(name) printf("%s %d\n", #name, (int)(name))

int main(void)
{
	TYPE(ab_fault);
	MEMBER(ab_fault, code);
	MEMBER(ab_fault, errnum);
	MEMBER(ab_fault, text);
	MEMBER(ab_fault, hint);
	TYPE(ab_setting_value);
	TYPE(ab_policy_options);
	MEMBER(ab_policy_options, policy);
	MEMBER(ab_policy_options, policy_file);
	MEMBER(ab_policy_options, profile);
	MEMBER(ab_policy_options, cwd);
	MEMBER(ab_policy_options, workspace);
	MEMBER(ab_policy_options, no_project);
	MEMBER(ab_policy_options, settings);
	MEMBER(ab_policy_options, nsettings);
	MEMBER(ab_policy_options, env);
	TYPE(ab_manager_options);
	MEMBER(ab_manager_options, program_fd);
	MEMBER(ab_manager_options, program);
	MEMBER(ab_manager_options, policy);
	MEMBER(ab_manager_options, noop);
	MEMBER(ab_manager_options, noop_exit);
	TYPE(ab_asked);
	MEMBER(ab_asked, id);
	MEMBER(ab_asked, kind);
	MEMBER(ab_asked, text);
	MEMBER(ab_asked, port);
	MEMBER(ab_asked, rule);
	MEMBER(ab_asked, reason);
	MEMBER(ab_asked, left_ms);
	MEMBER(ab_asked, json);
	TYPE(ab_callbacks);
	MEMBER(ab_callbacks, arg);
	MEMBER(ab_callbacks, started);
	MEMBER(ab_callbacks, output);
	MEMBER(ab_callbacks, question);
	MEMBER(ab_callbacks, settled);
	MEMBER(ab_callbacks, violation);
	MEMBER(ab_callbacks, record);
	MEMBER(ab_callbacks, message);
	MEMBER(ab_callbacks, ended);
	TYPE(ab_run_options);
	MEMBER(ab_run_options, argv);
	MEMBER(ab_run_options, shell);
	MEMBER(ab_run_options, shell_path);
	MEMBER(ab_run_options, policy);
	MEMBER(ab_run_options, name);
	MEMBER(ab_run_options, in);
	MEMBER(ab_run_options, out);
	MEMBER(ab_run_options, err);
	MEMBER(ab_run_options, input);
	MEMBER(ab_run_options, input_len);
	MEMBER(ab_run_options, capture_max);
	MEMBER(ab_run_options, deadline_ms);
	MEMBER(ab_run_options, question_ms);
	MEMBER(ab_run_options, records_fd);
	MEMBER(ab_run_options, yes);
	MEMBER(ab_run_options, trace_denials);
	MEMBER(ab_run_options, require_covered);
	MEMBER(ab_run_options, callbacks);
	MEMBER(ab_run_options, pool);
	TYPE(ab_pool_options);
	MEMBER(ab_pool_options, boxes);
	MEMBER(ab_pool_options, policy);
	/* Further members may follow. */
	MEMBER(ab_outcome, exit);
	MEMBER(ab_outcome, signal);
	MEMBER(ab_outcome, started);
	MEMBER(ab_outcome, timed_out);
	MEMBER(ab_outcome, error);
	MEMBER(ab_outcome, hint);
	MEMBER(ab_outcome, run_id);
	MEMBER(ab_outcome, out);
	MEMBER(ab_outcome, err);
	MEMBER(ab_outcome, out_len);
	MEMBER(ab_outcome, err_len);
	MEMBER(ab_outcome, out_total);
	MEMBER(ab_outcome, err_total);
	MEMBER(ab_outcome, out_truncated);
	MEMBER(ab_outcome, err_truncated);
	MEMBER(ab_outcome, duration_ms);
	MEMBER(ab_outcome, violations);
	MEMBER(ab_outcome, nviolations);
	MEMBER(ab_outcome, violations_total);
	MEMBER(ab_outcome, engine);
	MEMBER(ab_outcome, holds);
	MEMBER(ab_outcome, missing);
	MEMBER(ab_outcome, json);
	VALUE(AB_FAULT_GONE);
	VALUE(AB_VERDICT_FORBIDDEN);
	VALUE(AB_STDIO_FD0);
	VALUE(AB_QUESTION_ABOUT_NETWORK);
	VALUE(AB_QUESTION_ABOUT_TOOL);
	VALUE(AB_MESSAGE_WARNING);
	return 0;
}
