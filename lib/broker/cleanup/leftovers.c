#include "broker/cleanup/leftovers.h"

#include <jansson.h>

#include "agents/obeyed.h"
#include "audit/write/audit.h"
#include "audit/write/log.h"
#include "audit/write/seal.h"
#include "broker/cleanup/moved_files.h"
#include "guard/walls/git_files.h"
#include "host/cgroup.h"
#include "state/state.h"
#include "workspace/quarantine/quarantine.h"
#include "workspace/survey/survey.h"

enum {
	LINES_MAX = 10, /* objects that are named one by one */
	NAMES_MAX = 10, /* names that the others are counted by */
};

char *ab_leftovers_line(const struct ab_moved *m, const struct ab_run *run)
{
	ab_autofree char *path = ab_escape(m->path);

	if (m->errnum)
		return ab_printf(
			"the run created a protected file (%s), which could not be moved to "
			"quarantine (%s): remove it before you use a tool that reads it",
			path, strerror(m->errnum));
	if (!m->name) {
		ab_autofree char *parked = ab_escape(m->parked ? m->parked : "");

		return ab_printf("the run created a protected file (%s), too large to be moved to "
				 "quarantine; renamed to %s in the same folder",
				 path, parked);
	}
	if (m->keys)
		return ab_printf(
			"the run put settings that are not known to be harmless into "
			"%s (%s); they were removed, the original was moved to quarantine as %s-q%u",
			path, m->keys, run->id, m->number);
	if (m->shared)
		return ab_printf(
			"the run created %s (%s) in a shared folder, which holds files and "
			"folders only; moved to quarantine as %s-q%u",
			m->kind == AB_NODE_LINK ? "a link" : "a special file", path, run->id,
			m->number);
	return ab_printf("the run created a protected file (%s); moved to quarantine as %s-q%u: %s",
			 path, run->id, m->number, ab_obeyed_by(m->entry ? m->entry : ""));
}

/* How to get it back, and how to allow it the next time, once for all of them. */
static void add_way_out(const struct ab_quarantine_report *report, const struct ab_run *run,
			struct ab_strv *ret)
{
	const struct ab_moved *first = NULL;
	size_t n = 0;

	for (size_t i = 0; i < report->nmoved; i++)
		if (report->moved[i].name) {
			first = first ? first : &report->moved[i];
			n++;
		}
	if (n == 1)
		ab_strv_addf(ret,
			     "to look at it: agentbox quarantine show %s-q%u; to put it back: "
			     "agentbox quarantine restore %s-q%u",
			     run->id, first->number, run->id, first->number);
	else if (n)
		ab_strv_addf(ret,
			     "to see them all: agentbox quarantine list %s; to put one back: "
			     "agentbox quarantine restore ID",
			     run->id);
	for (size_t i = 0; i < report->nmoved; i++) {
		const struct ab_moved *m = &report->moved[i];

		if (!m->name || m->part || m->shared || m->keys)
			continue;
		ab_strv_addf(ret,
			     "to allow %s in this project from now on: agentbox allow %s-q%u "
			     "--always",
			     n == 1 ? "it" : "such a name", run->id, m->number);
		return;
	}
}

/* The objects from `first` on, counted by name. */
static void count_by_name(const struct ab_quarantine_report *report, size_t first,
			  struct ab_strv *ret)
{
	ab_autostrv struct ab_strv names = { 0 };
	size_t counts[NAMES_MAX] = { 0 }, others = 0;

	for (size_t i = first; i < report->nmoved; i++) {
		const char *name = ab_path_name(report->moved[i].path);
		size_t k = 0;

		if (report->moved[i].errnum)
			continue;
		while (k < names.len && strcmp(names.v[k], name) != 0)
			k++;
		if (k == names.len && k < NAMES_MAX)
			ab_strv_add(&names, name);
		if (k < NAMES_MAX)
			counts[k]++;
		else
			others++;
	}
	for (size_t k = 0; k < names.len; k++) {
		ab_autofree char *shown = ab_escape(names.v[k]);

		ab_strv_addf(ret, "the run created %s %zu more time%s; moved to quarantine", shown,
			     counts[k], counts[k] == 1 ? "" : "s");
	}
	if (others)
		ab_strv_addf(ret, "the run created %zu more protected files; moved to quarantine",
			     others);
}

/* The folders that were not searched, and what to do about it. */
static void add_missed(const struct ab_quarantine_report *report, const char *way,
		       struct ab_strv *ret)
{
	const char *plural = report->nmissed == 1 ? "" : "s";
	ab_autobuf struct ab_buf b = { 0 };

	if (!report->nmissed)
		return;
	ab_buf_printf(&b,
		      "%zu folder%s could not be searched completely for what the run created: ",
		      report->nmissed, plural);
	for (size_t i = 0; i < report->missed.len; i++) {
		ab_buf_puts(&b, i ? ", " : "");
		ab_buf_escape(&b, report->missed.v[i]);
	}
	ab_buf_printf(&b, "%s; %s", report->nmissed > report->missed.len ? ", ..." : "", way);
	ab_strv_add(ret, b.data);
}

/* `way`: how to search what was not. */
static void add_lines(const struct ab_quarantine *quarantine, const struct ab_run *run,
		      const char *way, struct ab_strv *ret)
{
	const struct ab_quarantine_report *report = ab_quarantine_report(quarantine);
	size_t shown = report->nmoved > LINES_MAX + 1 ? LINES_MAX : report->nmoved;

	for (size_t i = 0; i < shown; i++)
		ab_strv_give(ret, ab_leftovers_line(&report->moved[i], run));
	/* A person must do something about those. */
	for (size_t i = shown; i < report->nmoved; i++)
		if (report->moved[i].errnum)
			ab_strv_give(ret, ab_leftovers_line(&report->moved[i], run));
	count_by_name(report, shown, ret);
	add_way_out(report, run, ret);
	for (size_t i = 0; i < report->alerts.len; i++)
		ab_strv_give(ret, ab_escape(report->alerts.v[i]));
	for (size_t i = 0; i < report->findings.len; i++)
		if (!ab_strv_has(&report->alerts, report->findings.v[i]))
			ab_strv_give(ret, ab_escape(report->findings.v[i]));
	add_missed(report, way, ret);
}

void ab_leftovers_lines(const struct ab_quarantine *quarantine, const struct ab_run *run,
			struct ab_strv *ret)
{
	ab_autofree char *way =
		ab_printf("to search all of it: agentbox quarantine scan %s", run->id);

	add_lines(quarantine, run, way, ret);
}

/* If the run has ended before, a process that is still in it will be there for longer: every start would wait. */
static int remove_cgroup(const json_t *start, const struct ab_run *run, bool ended)
{
	const char *cgroup = json_string_value(json_object_get(start, "cgroup"));

	if (!cgroup)
		return 0;
	return ended ? ab_cgroup_try_remove(cgroup, run->id) : ab_cgroup_remove(cgroup, run->id);
}

static json_t *read_last(const struct ab_run *run)
{
	ab_autofree char *line = NULL;

	return ab_log_last(run->dir, &line) < 0 ? NULL : json_loads(line, 0, NULL);
}

/* If the supervisor wrote the end, but could not have the workspace swept, its end is repeated with what
 * was found now. */
static void format_end(const struct ab_run *run, json_t *last, const struct ab_strv *findings,
		       struct ab_buf *ret)
{
	static const char *const anew[] = { "timestamp", "run_id", "kind",     "prev",	   "torn",
					    "swept",	 "key",	   "findings", "signature" };
	const char *kind = json_string_value(json_object_get(last, "kind")), *name;
	json_t *value;

	ab_record_open(ret, run->id, "end");
	if (!kind || strcmp(kind, "end") != 0) {
		ab_record_text(ret, "error", "all processes of the run were killed");
		last = NULL;
	}
	for (size_t i = 0; i < AB_COUNT(anew); i++)
		(void)json_object_del(last, anew[i]);
	json_object_foreach(last, name, value)
	{
		ab_autofree char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

		if (text)
			ab_record_json(ret, name, text);
	}
	ab_record_list(ret, "findings", findings);
}

void ab_leftovers_record(const struct ab_run *run, const struct ab_log_setup *log_setup,
			 struct ab_buf *line)
{
	struct ab_log_setup setup = *log_setup;
	struct ab_log log = AB_LOG_NONE;
	struct ab_seal seal = { 0 };
	struct ab_error err;

	(void)ab_seal_load(run->state->root, &seal, &err);
	setup.seal = &seal;
	if (ab_log_resume(&setup, &log, &err) == 0) {
		(void)ab_moved_record(run, &log, &err);
		(void)ab_log_end(&log, line, &err);
	}
	ab_log_fini(&log);
	ab_seal_wipe(&seal);
}

static bool sweep_run(struct ab_run *run, void *arg)
{
	struct ab_strv *notes = arg;
	struct ab_survey survey = { 0 };
	struct ab_quarantine *quarantine;
	const struct ab_log_setup setup = { .dir = run->dir, .run_id = run->id };
	ab_autobuf struct ab_buf line = { 0 };
	ab_autostrv struct ab_strv lines = { 0 };
	json_auto_t *start = ab_run_start(run), *last = read_last(run);
	struct ab_error err;
	size_t told = 0;
	bool ended = ab_run_ended(run);
	/* The supervisor, which may have written the end, is locked in: it cannot remove the cgroup if the
	 * broker has died. */
	bool clean = remove_cgroup(start, run, ended) == 0;

	if (ended)
		return clean;
	/* The watch list in the first line of the run's record. */
	if (ab_run_survey(start, &survey) < 0) {
		ab_strv_addf(notes,
			     "run %s was killed and its record cannot be read; its workspace was "
			     "not swept",
			     run->id);
		return true;
	}
	if (ab_quarantine_open(&survey, run->dir, &quarantine, &err) == 0) {
		ab_git_files_clean(&survey.repos, run->id);
		ab_quarantine_sweep(quarantine);
		ab_quarantine_review(quarantine, AB_SEARCH_USUAL, NULL);
		ab_moved_note(run, ab_quarantine_report(quarantine), &told);
		ab_leftovers_lines(quarantine, run, &lines);
		ab_quarantine_close(quarantine);
	} else {
		ab_strv_addf(&lines, "cannot sweep the workspace of run %s: %s", run->id, err.text);
	}
	ab_strv_extend(notes, &lines);
	format_end(run, last, &lines, &line);
	/* Best effort: the caller gets the findings as well. */
	ab_leftovers_record(run, &setup, &line);
	ab_survey_fini(&survey);
	/* Without an end it would be swept again, with files that the user has made since. */
	return clean || !ab_run_ended(run);
}

void ab_leftovers_stale(const struct ab_state *state, struct ab_strv *notes)
{
	ab_state_each_stale(state, sweep_run, notes);
}

int ab_leftovers_scan(struct ab_run *run, struct ab_strv *ret, bool *ret_complete,
		      struct ab_error *err)
{
	json_auto_t *start = ab_run_start(run);
	struct ab_survey survey = { 0 };
	struct ab_quarantine *quarantine;
	size_t nwatch, told = 0;
	int r;

	if (ab_run_survey(start, &survey) < 0)
		return ab_fail(err, AB_ESYSTEM, 0, "the record of run %s cannot be read", run->id);
	/* They were watched while the box ran. */
	nwatch = survey.nwatch;
	survey.nwatch = 0;
	r = ab_quarantine_open(&survey, run->dir, &quarantine, err);
	survey.nwatch = nwatch;
	if (r == 0) {
		ab_quarantine_review(quarantine, AB_SEARCH_ALL, NULL);
		ab_moved_note(run, ab_quarantine_report(quarantine), &told);
		add_lines(quarantine, run, "check their permissions, and scan again", ret);
		*ret_complete = !ab_quarantine_report(quarantine)->nmissed;
		ab_quarantine_close(quarantine);
	}
	ab_survey_fini(&survey);
	return r;
}
