#pragma once
/*
 * Everything that the program can do, for cmd/. Other programs use bindings/c/agentbox.h.
 *
 * Functions return 0, or -1 with *err filled. The caller must free() results that are
 * text. The library never prints and never exits; messages while a command runs go
 * to the request's `say`.
 *
 * Everything starts with a struct ab_policy_input (policy/layers/layers.h): zero it, set the
 * options, and let ab_caller_init() fill in the rest.
 *
 *	ab_run, ab_run_in_child	a command in the box (session/run/in_child.h)
 *	ab_run_stay		a box that stays; ab_enter, ab_attach: further commands in it
 *				(steer/stay/enter.h)
 *	ab_check_*		judge a command without running it
 *	ab_preview_*		what a run would be allowed to do (steer/preview/preview.h)
 *	ab_runs_list, _stop	active runs (steer/runs/runs.h)
 *	ab_permit		allow and deny (steer/permit/permit.h)
 *	ab_reload		reload the host lists of active runs (steer/runs/reload.h)
 *	ab_records_*, ab_why	what a run did, and why something was denied
 *				(steer/runs/records.h, steer/why/why.h)
 *	ab_diff			what a layer would change (steer/changes/diff.h)
 *	ab_stats_*, ab_page_*	the same as a table and as a page (audit/)
 *	ab_watch		the full-screen view (steer/watch/watch.h)
 *	ab_settings_*		change settings files (steer/settings/settings.h)
 *	ab_learn		a policy from a run (steer/learn/learn.h)
 *	ab_quarantined_*, ab_restore_*	files in quarantine (steer/quarantine/quarantined.h)
 *	ab_gc_run		remove old records and layers (steer/runs/gc_command.h)
 *	ab_layers_*		kept layers (steer/layers/layers.h)
 *	ab_hook_*		answers for agents' hooks (consent/agent_hook.h)
 *	ab_mcp_*		a server of the Model Context Protocol (steer/mcp/mcp.h)
 *	ab_run_ports		listening ports of a live run (steer/runs/run_ports.h)
 *	ab_connect		a connection out of the box (steer/client/connect.h)
 *	ab_tool_client_*	a command of the box for a program of the host
 *				(steer/client/tool_client.h)
 *	ab_apply_*		apply, discard and undo changes of layers (layer/apply/apply.h,
 *				steer/apply/layer_command.h)
 *	ab_init_*		a project's first settings file (steer/init/init.h)
 *	ab_import_read		settings of other sandboxes (steer/import/import.h)
 *	ab_doctor, ab_attack	what this machine can enforce (doctor/)
 *
 * ab_run() needs a process with a single thread: it executes the program again as the
 * box's first process. The calling process becomes the run's supervisor for the
 * rest of its life: it is confined (it cannot execute anything and can open only
 * the state folder), and its standard input and output are closed unless they are
 * a terminal. A caller that wants to do more than exit with the status uses
 * ab_run_in_child(), which runs it in a child.
 */
#include "audit/read/collect.h"
#include "audit/read/query.h"
#include "audit/read/stats.h"
#include "audit/show/lines.h"
#include "audit/show/page.h"
#include "base/base.h"
#include "base/text/guess.h"
#include "base/text/units.h"
#include "base/text/words.h"
#include "base/text/wrap.h"
#include "attack/attack_result.h"
#include "doctor/diagnosis.h"
#include "host/home/home.h"
#include "layer/apply/apply.h"
#include "layer/diff/contents.h"
#include "layer/diff/show.h"
#include "base/text/text_diff.h"
#include "policy/layers/compare.h"
#include "policy/layers/layers.h"
#include "policy/layers/trust.h"
#include "policy/show/schema.h"
#include "policy/show/show.h"
#include "policy/show/summary.h"
#include "policy/toolchains/toolchains.h"
#include "consent/agent_hook.h"
#include "consent/check.h"
#include "consent/request.h"
#include "session/run/caller.h"
#include "session/run/in_child.h"
#include "session/run/result_json.h"
#include "session/run/run.h"
#include "secrets/secrets_report.h"
#include "state/approvals.h"
#include "shell/judge/judge.h"
#include "shell/judge/judge_report.h"
#include "shell/syntax/quote.h"
#include "serve/serve.h"
#include "steer/changes/diff.h"
#include "steer/changes/pager.h"
#include "steer/apply/layer_command.h"
#include "terminal/tty.h"
#include "hosttools/tool_broker.h"
#include "hosttools/tool_git.h"
#include "steer/client/connect.h"
#include "steer/client/steer.h"
#include "steer/client/tool_client.h"
#include "steer/import/import.h"
#include "steer/init/init.h"
#include "steer/layers/layers.h"
#include "steer/learn/learn.h"
#include "steer/mcp/mcp.h"
#include "steer/mcp/mcp_wrap.h"
#include "steer/permit/permit.h"
#include "steer/preview/preview.h"
#include "steer/quarantine/quarantined.h"
#include "steer/runs/gc_command.h"
#include "steer/runs/history.h"
#include "steer/runs/records.h"
#include "steer/runs/reload.h"
#include "steer/runs/run_ports.h"
#include "steer/runs/runs.h"
#include "steer/runs/verify_records.h"
#include "steer/settings/settings.h"
#include "steer/stay/enter.h"
#include "steer/watch/watch.h"
#include "steer/why/policy_test.h"
#include "steer/why/why.h"
