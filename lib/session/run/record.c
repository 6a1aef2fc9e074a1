#include "session/run/run_state.h"

#include <sys/utsname.h>

#include "audit/write/audit.h"
#include "broker/cleanup/gc.h"
#include "broker/cleanup/leftovers.h"
#include "export/exporter.h"
#include "export/otlp_target.h"
#include "guard/notify/refused_programs.h"
#include "policy/model/policy.h"
#include "policy/show/show.h"
#include "policy/values/paths.h"
#include "sandbox/plan/engine.h"
#include "session/run/caller.h"
#include "session/run/prepare.h"
#include "state/run_process.h"
#include "workspace/quarantine/journal.h"
#include "workspace/tree/dir.h"
#include "workspace/tree/host_path.h"

uint64_t ab_run_now_ns(void)
{
	return (uint64_t)ab_clock_ns(CLOCK_MONOTONIC);
}

bool ab_run_has_upstream(const struct run *r)
{
	const struct ab_policy *policy = r->prepared->policy;

	return policy->net.mode == AB_NET_FILTERED && strcmp(policy->net.upstream, "none") != 0;
}

/* Names and hosts only: neither values nor placeholders may be in the record. */
static void record_secrets(struct ab_buf *line, const struct ab_secrets *secrets)
{
	ab_buf_jsonf(line, ",'secrets':{");
	for (size_t i = 0; i < secrets->len; i++)
		if (!secrets->v[i].part)
			ab_buf_jsonf(line, ",%s:%p", secrets->v[i].name,
				     ab_list(&secrets->v[i].hosts));
	ab_buf_puts(line, "}");
}

/* The user may have written a secret value into a command in the settings. */
static char *format_policy(const struct ab_prepared *p)
{
	char *text = ab_policy_json(p->policy), *covered;
	size_t len;

	if (!p->safe.vault)
		return text;
	covered = ab_vault_cover(p->safe.vault, text, strlen(text), &len);
	if (!covered)
		return text;
	explicit_bzero(text, strlen(text));
	free(text);
	return covered;
}

static int mark_tool(int dir)
{
	int fd = openat(dir, AB_GC_TOOL_MARK, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 ? -1 : close(fd);
}

void ab_run_prepare_start(struct run *r)
{
	struct ab_buf process = { 0 };

	r->policy_text = format_policy(r->prepared);
	r->origins_text = ab_policy_origins(r->prepared->policy);
	ab_run_process_note(&process, r->box.pid);
	r->process_text = ab_buf_take(&process);
	r->watch_text = ab_journal_write(&r->prepared->host.survey);
}

int ab_run_write_start(struct run *r, struct ab_error *err)
{
	const struct ab_prepared *p = r->prepared;
	const struct ab_request *request = r->request;
	ab_autobuf struct ab_buf line = { 0 };
	ab_autofree char *watch = NULL;
	ab_autoclose int naming = -1;
	/* A folder of records may come from many machines. */
	struct utsname machine;
	bool known = uname(&machine) == 0, automatic = p->policy->fs.review == AB_REVIEW_AUTO;

	if (request->name && ab_state_claim_name(&p->state, request->name, &naming, err) < 0)
		return -1;
	if (!r->policy_text)
		ab_run_prepare_start(r);
	/* Its box waited: the workspace was looked at again. */
	if (r->warm)
		watch = ab_journal_restart(r->watch_text, &p->host.survey.started);
	if (request->tool_of && mark_tool(r->dir.dir) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "mark the run of the tool");
	(void)ab_buf_room(&line, strlen(r->policy_text) + strlen(r->origins_text) +
					 strlen(r->watch_text) + 2048);
	ab_record_open(&line, r->dir.id, "start");
	ab_buf_jsonf(&line,
		     "?,'name':%s?,'tool_of':%s?,'stays':%-s,'command':%p,'cwd':%s,'decision':%s,"
		     "'rule':%s?,'approved':%s?,'machine':%s,'pid':%d%-s",
		     request->name, request->tool_of, p->spec.stay ? "true" : NULL,
		     ab_list(&p->spec.argv), p->spec.cwd, ab_decision_names[r->consent.decision],
		     r->consent.rule, r->consent.approved, known ? machine.nodename : NULL,
		     getpid(), r->process_text);
	if (p->policy->secrets.len)
		record_secrets(&line, &p->policy->secrets);
	if (p->review)
		ab_buf_jsonf(&line, ",'review':%s,'layers':%s", automatic ? "auto" : "ask",
			     p->review->key);
	ab_buf_jsonf(&line, ",'policy':%-s,'origins':%-s?,'managed':%p,'watch':%-s?,'cgroup':%s",
		     r->policy_text, r->origins_text, ab_list(&p->policy->attempts),
		     watch ? watch : r->watch_text, r->cgroup.path);
	return ab_log_write(&r->log, &line, err);
}

int ab_run_write_holds(struct run *r, const struct ab_holds *holds, const struct ab_strv *held,
		       struct ab_error *err)
{
	ab_autobuf struct ab_buf line = { 0 };
	ab_autostrv struct ab_strv missing = { 0 };
	ab_autofree char *given_up = ab_policy_given_up(r->prepared->policy);

	ab_property_list(r->missing, &missing);
	ab_record_open(&line, r->dir.id, "assurance");
	ab_buf_jsonf(&line,
		     ",'engine':%s,'holds':%p,'missing':%p?,'missing_why':%s?,'given_up':%s,"
		     "'home':%s",
		     r->engine->name, ab_list(held), ab_list(&missing),
		     missing.len ? holds->missing : NULL, ab_text_or_null(given_up), r->home);
	if (r->prepared->spec.limits.memory)
		ab_record_text(&line, "memory_limit", r->cgroup.memory ? "box" : "sampled");
	if (ab_run_has_upstream(r))
		ab_record_text(&line, "addresses_checked_by", "upstream");
	if (r->prepared->spec.children)
		ab_buf_jsonf(&line, ",'children_judged':%hhd", (bool)!holds->unasked);
	if (r->prepared->spec.traced)
		ab_buf_jsonf(&line, ",'denials_traced':%hhd", (bool)!holds->unasked);
	return ab_log_write(&r->log, &line, err);
}

/* So far: what is lost after this record is only said. */
static void record_export(struct ab_buf *line, const struct ab_prepared *p)
{
	struct ab_export_counts n;

	ab_exporter_counts(p->exporter, &p->audit, &n);
	ab_buf_jsonf(line, ",'audit_sent':%ju,'audit_dropped':%ju?,'audit_error':%s", n.sent,
		     n.dropped + n.refused, ab_text_or_null(n.why));
}

int ab_run_write_end(struct run *r, int status, const struct ab_strv *moved, struct ab_error *err)
{
	const struct ab_error *failed =
		r->outcome.failed.code != AB_ENONE ? &r->outcome.failed : &r->ended;
	ab_autobuf struct ab_buf line = { 0 };

	ab_record_open(&line, r->dir.id, "end");
	ab_buf_jsonf(
		&line,
		",'status':%d,'ms':%ju?,'timed_out':%-s?,'error':%s?,'findings':%p?,'swept':%-s",
		status, (ab_run_now_ns() - r->begun_ns) / 1000000,
		r->outcome.timed_out ? "true" : NULL,
		failed->code != AB_ENONE ? failed->text : NULL, ab_list(moved),
		r->unswept ? "false" : NULL);
	if (r->prepared->spec.children)
		ab_record_number(&line, "execs_denied",
				 (int64_t)ab_refused_programs_count(r->refusals));
	ab_record_number(&line, "files_denied", (int64_t)ab_refused_programs_others(r->refusals));
	if (r->had_network)
		ab_buf_jsonf(&line,
			     ",'requests_allowed':%ju,'requests_denied':%ju,'requests_failed':%ju,"
			     "'bytes_up':%ju,'bytes_down':%ju",
			     r->report.totals.allowed, r->report.totals.denied,
			     r->report.totals.failed, r->report.totals.bytes_up,
			     r->report.totals.bytes_down);
	ab_buf_jsonf(&line, "?,'review':%-s", r->review.json);
	if (r->prepared->exporter)
		record_export(&line, r->prepared);
	return ab_log_end(&r->log, &line, err);
}

int ab_run_write_refused(struct run *r, struct ab_error *err)
{
	const struct ab_request *request = r->request;
	ab_autostrv struct ab_strv command = { 0 };
	ab_autobuf struct ab_buf line = { 0 };

	ab_run_get_command(r, &command);
	ab_record_open(&line, r->dir.id, "refused");
	ab_buf_jsonf(&line,
		     ",'command':%p,'cwd':%s,'allowed':false,'decision':%s,'rule':%s,'reason':%s",
		     ab_list(&command), ab_request_start(request),
		     ab_decision_names[r->consent.decision], r->consent.rule, r->consent.reason);
	return ab_log_end(&r->log, &line, err);
}

int ab_pick_run_id(struct ab_prepared *p, struct ab_error *err)
{
	char id[8];

	if (p->spec.run_id)
		return 0;
	if (ab_state_pick_id(&p->state, id, err) < 0)
		return -1;
	p->spec.run_id = ab_strdup(id);
	return 0;
}

static int open_state(struct ab_prepared *p, const struct ab_request *rq, struct ab_error *err)
{
	ab_autofree char *path = NULL;

	/* In a box the outer run keeps the record, hidden from us. */
	if (p->nested || p->state.root >= 0)
		return 0;
	path = ab_state_dir(rq->policy.environ, rq->policy.home, rq->policy.cwd);
	if (!path) {
		ab_fail(err, AB_EUSAGE, 0, "no home folder to keep records in");
		return ab_hint(err, "set HOME, or AGENTBOX_STATE to a folder");
	}
	/* Before the plan: the folder must exist to be masked. Before leftovers are swept: a run
	 * that stays in live/ would be swept again by every start. */
	if (ab_state_open(path, &p->state, err) < 0 || ab_state_check_writable(&p->state, err) < 0)
		return -1;
	ab_claim_init(&p->claim, &p->state, NULL);
	/* Remove what a killed run left in a workspace before we look at what exists there. */
	ab_leftovers_stale(&p->state, &p->notes);
	/* record.c checks again when it claims the name; a failure here leaves nothing behind. */
	return rq->name ? ab_state_check_name(&p->state, rq->name, err) : 0;
}

/* Is this file (pipe, socket) one of the command's 0-2? */
static int check_stdio(const struct ab_copy *to, struct ab_error *err)
{
	char buf[32];

	for (int fd = 0; fd < 3; fd++) {
		struct stat st;

		if (to->fd < 0 || S_ISCHR(to->st.st_mode) || fstat(fd, &st) < 0 ||
		    !ab_stat_same(&st, &to->st))
			continue;
		ab_fail(err, AB_EUSAGE, 0, "%s %s is the command's %s", to->option, to->name,
			ab_name_fd(fd, buf));
		ab_hint(err, "the command could write its own record; use another file for one of "
			     "them");
		return ab_step(err, "record");
	}
	return 0;
}

/* The key and the records of all runs are there. */
static int check_state(const struct ab_prepared *p, const struct ab_copy *to, struct ab_error *err)
{
	if (!to->path || !p->state.path || !ab_path_within(to->path, p->state.path))
		return 0;
	ab_fail(err, AB_EUSAGE, 0, "%s %s is in the state folder", to->option, to->name);
	ab_hint(err, "the run's own record is there already; use a file elsewhere");
	return ab_step(err, "record");
}

static int refuse_link(const char *option, const char *name, const char *real, struct ab_error *err)
{
	ab_fail(err, AB_EUSAGE, 0, "%s %s leads through a link that the command could replace",
		option, name);
	ab_hint(err, "name the file without the link: %s", real ? real : "its real path");
	return ab_step(err, "record");
}

static char *make_absolute(const struct ab_request *rq, const char *name)
{
	return name[0] == '/' ? ab_strdup(name) : ab_path_join(rq->policy.cwd, name);
}

/* The folder of the file, if the links on the way to it are followed; NULL: nowhere. */
static char *find_folder(const struct ab_strv *roots, const char *path, bool *ret_led)
{
	ab_autofree char *folder = ab_path_parent(path);

	return ab_host_path_follow(roots, folder, ret_led);
}

/* Open a file for the record, unless a link in `roots` leads there. Another box may put one there
 * at any time, so its folder is opened by its real path, in which no link is followed. */
static int open_copy(const struct ab_request *rq, const char *option, const char *name,
		     const struct ab_strv *roots, struct ab_copy *ret, struct ab_error *err)
{
	ab_autofree char *path = NULL, *folder = NULL, *real = NULL;
	ab_autoclose int dir = -1;
	bool led;

	if (ab_copy_is_fd(name))
		return ab_copy_open_fd(option, name, ret, err);
	path = make_absolute(rq, name);
	folder = find_folder(roots, path, &led);
	real = folder ? ab_path_join(folder, ab_path_name(path)) : NULL;
	if (led)
		return refuse_link(option, name, real, err);
	if (folder)
		dir = ab_open_beneath(AT_FDCWD, folder, O_PATH | O_DIRECTORY);
	if (dir < 0 && folder && errno == ELOOP)
		return refuse_link(option, name, real, err);
	if (dir < 0) {
		ab_fail(err, AB_EUSAGE, errno, "%s %s", option, name);
		return ab_step(err, "record");
	}
	return ab_copy_open_file(option, name, dir, ab_path_name(path), ret, err);
}

int ab_prepare_result(const struct ab_request *rq, const struct ab_policy *policy,
		      struct ab_copy *ret, struct ab_error *err)
{
	char top[] = "/", *list[] = { top, NULL };
	const struct ab_strv everywhere = { list, 1 };
	bool led = false;

	if (!policy && !ab_copy_is_fd(rq->result)) {
		ab_autofree char *path = make_absolute(rq, rq->result);

		free(find_folder(&everywhere, path, &led));
	}
	if (led)
		return 1;
	if (open_copy(rq, "--result", rq->result, policy ? &policy->fs.touched : &everywhere, ret,
		      err) < 0)
		return -1;
	return ab_copy_clear(ret, err);
}

static int open_audit(struct ab_prepared *p, const struct ab_request *rq, struct ab_error *err)
{
	if (!rq->audit || p->audit.fd >= 0)
		return 0;
	if (p->nested) {
		ab_fail(err, AB_EUSAGE, 0,
			"--audit %s: inside a box, only the outer run keeps a record", rq->audit);
		return ab_hint(err, "pass it to the outer run");
	}
	if (ab_otlp_is_target(rq->audit))
		return ab_exporter_start(rq->audit, p->policy, rq->policy.environ, &p->audit,
					 &p->exporter, err);
	if (p->output >= 0) {
		if (ab_copy_open_own("--audit", rq->audit, ab_take_fd(&p->output), false, &p->audit,
				     err) < 0)
			return -1;
	} else if (open_copy(rq, "--audit", rq->audit, &p->policy->fs.touched, &p->audit, err) <
		   0) {
		return -1;
	}
	if (check_stdio(&p->audit, err) < 0 || check_state(p, &p->audit, err) < 0)
		return -1;
	if (S_ISREG(p->audit.st.st_mode) && p->result->fd >= 0 &&
	    ab_stat_same(&p->audit.st, &p->result->st)) {
		ab_fail(err, AB_EUSAGE, 0, "--audit and --result are the same file");
		return ab_step(err, "record");
	}
	return 0;
}

/* A read-only mount does not stop writes to a FIFO. */
void ab_record_guard(struct ab_prepared *p)
{
	const struct ab_copy *const to[] = { &p->audit, p->result };
	struct ab_facts *facts = &p->host.facts;

	for (size_t i = 0; i < AB_COUNT(to); i++) {
		if (to[i]->path && S_ISREG(to[i]->st.st_mode))
			ab_objects_add(&facts->closed, to[i]->path, AB_AS_FILE);
		if (to[i]->path && S_ISFIFO(to[i]->st.st_mode))
			ab_objects_add(&facts->masked, to[i]->path, AB_AS_FILE);
	}
}

/* Does the path lead through a link that the box could replace? Then its name may mean another file
 * after the run. */
static bool is_redirectable(const struct ab_prepared *p, const char *path)
{
	ab_autostrv struct ab_strv roots = { 0 };
	ab_autofree char *real = NULL;
	bool led;

	ab_strv_extend(&roots, &p->policy->fs.touched);
	ab_strv_extend(&roots, &p->host.survey.write);
	real = ab_host_path_follow(&roots, path, &led);
	/* The file is already open, so a name can only be missing behind a link of /proc, whose
	 * text is not a path. */
	return led || (!real && errno != ENOENT && errno != ENOTDIR && errno != EACCES);
}

int ab_record_check_links(const struct ab_prepared *p, const struct ab_request *rq,
			  struct ab_error *err)
{
	const struct ab_copy *const to[] = { &p->audit, p->result };

	for (size_t i = 0; i < AB_COUNT(to); i++) {
		ab_autofree char *path = NULL;

		if (!to[i] || to[i]->fd < 0 || !to[i]->named)
			continue;
		path = make_absolute(rq, to[i]->name);
		if (!is_redirectable(p, path))
			continue;
		refuse_link(to[i]->option, to[i]->name, to[i]->path, err);
		/* Nor is the failure written there. */
		if (to[i] == p->result)
			ab_copy_fini(p->result);
		return -1;
	}
	return 0;
}

int ab_prepare_record(const struct ab_request *rq, struct ab_prepared *p, struct ab_error *err)
{
	if (open_state(p, rq, err) < 0)
		return -1;
	if (rq->result && p->result->fd < 0 && ab_prepare_result(rq, p->policy, p->result, err) < 0)
		return -1;
	return check_stdio(p->result, err) < 0 ? -1 : open_audit(p, rq, err);
}
