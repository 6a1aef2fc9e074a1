#ifndef AGENTBOX_H
#define AGENTBOX_H
/*
 * agentbox as a library: what the program can do, for programs.
 *
 * Functions return 0, or -1 with *err filled. Results that are text are the
 * caller's to free(). The library never prints and never exits; what it has to
 * say while a command runs goes to the request's `say`.
 *
 * Everything begins with a struct ab_policy_input (policy/layers.h): zero it,
 * set what was asked for, and let ab_caller_init() fill in the rest.
 *
 *	ab_run, ab_run_apart	a command in the box (session/apart.h)
 *	ab_check_*		judge a command, run nothing
 *	ab_runs_list, _stop	live runs (steer/runs.h)
 *	ab_permit		allow and deny (steer/permit.h)
 *	ab_reload		new lists for live runs (steer/reload.h)
 *	ab_records_*, ab_why	what a run did, and why it was refused
 *				something (steer/records.h, steer/why.h)
 *	ab_stats_*, ab_page_*	the same as a table and as a page (audit/)
 *	ab_watch		the full-screen view (steer/watch.h)
 *	ab_learn		a policy from a run (steer/learn.h)
 *	ab_gc_run		remove old records (steer/gc.h)
 *	ab_hook_*		answers for agents' hooks (session/agent_hook.h)
 *	ab_run_ports		listening ports of a live run (steer/ports.h)
 *	ab_connect		a connection out of the box (session/connect.h)
 *	ab_doctor, ab_attack	what this machine can enforce (doctor/)
 *
 * ab_run() needs a process with a single thread: it executes the program again
 * as the box's first process. The process that calls it becomes the run's
 * supervisor for good: afterwards it is locked in (it can execute nothing and
 * open nothing but the state folder), and its standard input and output are
 * closed unless they are a terminal. A caller that wants to do more than exit
 * with the status uses ab_run_apart(), which runs it in a child.
 */
#include "audit/lines.h"
#include "audit/page.h"
#include "audit/query.h"
#include "audit/stats.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/guess.h"
#include "base/mem.h"
#include "base/strv.h"
#include "base/units.h"
#include "doctor/attack_result.h"
#include "doctor/diagnosis.h"
#include "policy/compare.h"
#include "policy/layers.h"
#include "policy/show.h"
#include "policy/trust.h"
#include "session/agent_hook.h"
#include "session/apart.h"
#include "session/approvals.h"
#include "session/caller.h"
#include "session/check.h"
#include "session/connect.h"
#include "session/request.h"
#include "session/result.h"
#include "session/run.h"
#include "session/secrets_report.h"
#include "shell/judge.h"
#include "shell/report.h"
#include "steer/gc.h"
#include "steer/learn.h"
#include "steer/permit.h"
#include "steer/ports.h"
#include "steer/records.h"
#include "steer/reload.h"
#include "steer/runs.h"
#include "steer/watch.h"
#include "steer/why.h"

#endif
