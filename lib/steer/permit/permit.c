#include "steer/permit/permit.h"

#include <inttypes.h>

#include "base/text/units.h"
#include "policy/values/complaint.h"
#include "policy/toolchains/host_groups.h"
#include "policy/toolchains/registries.h"
#include "policy/toolchains/tool_places.h"
#include "sandbox/mount/furniture.h"
#include "consent/ask/process_chain.h"
#include "shell/syntax/quote.h"
#include "steer/client/json.h"
#include "steer/client/steer.h"
#include "steer/permit/permit_state.h"

/* A run's id could also be a host; `allow RUN` resumes a paused network. */
static bool names_run(struct ab_permit_job *job, const char *what)
{
	struct ab_error none = { 0 };

	if (!ab_run_id_valid(what) || ab_permit_find(job, what, &none) < 0)
		return false;
	if (strcmp(job->run.id, what) == 0)
		return true;
	ab_permit_forget(job);
	return false;
}

static int carry_out(struct ab_permit_job *job, const struct ab_meant *meant, struct ab_error *err)
{
	if (job->ask->undo)
		return ab_permit_undo(job, meant, err);
	switch (meant->kind) {
	case AB_MEANT_DENIAL:
		return ab_permit_denial(job, meant, err);
	case AB_MEANT_HOST:
		if (names_run(job, job->ask->what))
			return ab_permit_hold(job, err);
		return ab_permit_hosts(job, meant, err);
	case AB_MEANT_GROUP:
		return ab_permit_hosts(job, meant, err);
	case AB_MEANT_PATH:
		return ab_permit_path(job, meant->path, false, err);
	}
	return -1;
}

/* Lists cannot open or close the whole network. */
static int refuse_wildcard(const struct ab_permit *ask, struct ab_error *err)
{
	ab_fail(err, AB_EUSAGE, 0, "\"*\" is not a host");
	return ab_hint(err, ask->deny ? "to run without a network:  "
					"agentbox run --net blocked -- ..."
				      : "to run with an unfiltered network:  "
					"agentbox run --net allowed -- ...");
}

/* The same for all that anybody registers under a top-level label; denying that is possible. */
static int check_width(const struct ab_permit *ask, const struct ab_meant *meant,
		       struct ab_error *err)
{
	struct ab_complaint why = { .right = "" };
	struct ab_host_entry entry;

	if (ask->deny || ask->undo || meant->kind != AB_MEANT_HOST ||
	    ab_host_entry_parse(meant->entry, strlen(meant->entry), &entry, NULL) < 0 ||
	    ab_host_entry_may_allow(&entry, &why) == 0)
		return 0;
	ab_fail(err, AB_EUSAGE, 0, "%s", why.wrong);
	return ab_hint(err, "%s", why.right);
}

int ab_permit(const struct ab_permit *ask, struct ab_permitted *ret, struct ab_error *err)
{
	struct ab_permit_job job = {
		.ask = ask, .ret = ret, .run = { .dir = -1 }, .again = { .cwd = ask->input->cwd }
	};
	ab_auto(ab_meant_fini) struct ab_meant meant = { 0 };
	int result;

	*ret = (struct ab_permitted){ 0 };
	if (ab_furniture_boxed())
		return ab_fail(err, AB_EREFUSED, 0, "nothing can be %s from inside a box",
			       ask->deny ? "denied" : "allowed");
	if (strcmp(ask->what, "*") == 0)
		return refuse_wildcard(ask, err);
	if (ab_permit_read(ask->input, ask->what, &meant, err) < 0 ||
	    check_width(ask, &meant, err) < 0)
		return -1;
	result = ab_steer_state(ask->input, &job.state, err);
	if (result == 0) {
		result = carry_out(&job, &meant, err);
		ab_state_fini(&job.state);
	}
	ab_permit_forget(&job);
	return result;
}

char *ab_permitted_json(const struct ab_permit *ask, const struct ab_permitted *p)
{
	struct ab_buf b = { 0 };

	ab_buf_jsonf(&b,
		     "{'allowed':%hhd,'run':%s,'entries':%p,'for_ms':%ju,'released':%ju,'path':%s,"
		     "'workspace':%s,'command':%s,'file':%s,'diff':%p,'said':%p,'notes':%p}\n",
		     (bool)!ask->deny, ab_text_or_null(p->run), ab_list(&p->entries), ask->for_ms,
		     p->released, ab_text_or_null(p->path), ab_text_or_null(p->workspace),
		     ab_text_or_null(p->command), ab_text_or_null(p->file), ab_list(&p->diff),
		     ab_list(&p->said), ab_list(&p->notes));
	return ab_buf_take(&b);
}

void ab_permitted_fini(struct ab_permitted *p)
{
	ab_strv_fini_all(&p->entries, &p->diff, &p->said, &p->notes);
	ab_free_all(p->path, p->workspace, p->command, p->file);
	*p = (struct ab_permitted){ 0 };
}

/* People ask about recent runs. */
enum { LOOKED_AT = 200 };

void ab_permit_forget(struct ab_permit_job *job)
{
	ab_found_run_fini(&job->run);
	json_decref(job->again.start);
	job->again.start = NULL;
}

static void keep_run(struct ab_permit_job *job, const struct ab_found_run *run)
{
	ab_permit_forget(job);
	job->run = *run;
	job->again.start = json_loads(run->first, 0, NULL);
}

int ab_permit_find(struct ab_permit_job *job, const char *run, struct ab_error *err)
{
	struct ab_found_run found;

	if (ab_find_run(job->state.live, job->state.runs, run, &found, err) < 0)
		return -1;
	keep_run(job, &found);
	return 0;
}

void ab_permit_find_here(struct ab_permit_job *job, const char *workspace)
{
	ab_autostrv struct ab_strv ids = { 0 };
	struct ab_error err = { 0 };

	if (ab_find_all(job->state.live, job->state.runs, &ids, &err) < 0)
		return;
	for (size_t i = ids.len, n = 0; i-- > 0 && n < LOOKED_AT; n++) {
		json_auto_t *start = NULL;
		struct ab_found_run run;

		if (ab_find_run(job->state.live, job->state.runs, ids.v[i], &run, &err) < 0)
			continue;
		start = json_loads(run.first, 0, NULL);
		if (ab_json_is(json_object_get(start, "policy"), "workspace", workspace)) {
			keep_run(job, &run);
			return;
		}
		ab_found_run_fini(&run);
	}
}

struct ab_policy_input ab_permit_input(const struct ab_permit_job *job)
{
	const char *profile = ab_json_text(json_object_get(job->again.start, "policy"), "profile");
	const char *workspace =
		ab_json_text(json_object_get(job->again.start, "policy"), "workspace");
	struct ab_policy_input in = *job->ask->input;

	/* Nothing will run, so any current folder is fine. */
	in.judging = true;
	if (*profile)
		in.profile = profile;
	if (*workspace)
		in.workspace = workspace;
	return in;
}

struct ab_policy *ab_permit_policy(const struct ab_permit_job *job, struct ab_error *err)
{
	struct ab_policy_input in = ab_permit_input(job);
	struct ab_policy *policy = NULL;
	struct ab_error none = { 0 };

	(void)ab_policy_load(&in, &policy, NULL, err ? err : &none);
	return policy;
}

/* Nobody copies a longer command from a message. */
enum { COMMAND_MAX = 400 };

char *ab_permit_flag(const char *flag, const char *value)
{
	struct ab_buf b = { 0 };

	ab_buf_printf(&b, "%s ", flag);
	/* If a terminal can show it, so that it can be copied. */
	if (ab_all_printable(value))
		ab_quote(&b, value);
	else
		ab_buf_puts(&b, "...");
	return ab_buf_take(&b);
}

/* The command after "--". */
static void add_command(struct ab_buf *b, const json_t *start)
{
	ab_autobuf struct ab_buf words = { 0 };

	ab_process_chain_command(&words, json_object_get(start, "command"), COMMAND_MAX);
	if (words.len && words.len <= COMMAND_MAX && ab_all_printable(words.data))
		ab_buf_puts(b, words.data);
	else
		ab_buf_puts(b, "...");
}

/* The options of the run that are in its record. */
static void add_options(struct ab_buf *b, const json_t *start)
{
	const struct {
		const char *key, *usual;
	} options[] = { { "profile", "default" }, { "workspace", ab_json_text(start, "cwd") } };

	for (size_t i = 0; i < AB_COUNT(options); i++) {
		const char *value = ab_json_text(json_object_get(start, "policy"), options[i].key);

		if (!*value || strcmp(value, options[i].usual) == 0)
			continue;
		ab_buf_printf(b, "--%s ", options[i].key);
		ab_quote(b, value);
		ab_buf_puts(b, " ");
	}
}

char *ab_permit_again(const struct ab_again *again, const char *flags)
{
	const char *cwd = ab_json_text(again->start, "cwd");
	struct ab_buf b = { 0 };

	if (*cwd && strcmp(cwd, again->cwd) != 0) {
		ab_buf_puts(&b, "cd ");
		ab_quote(&b, cwd);
		ab_buf_puts(&b, " && ");
	}
	ab_buf_puts(&b, "agentbox run ");
	add_options(&b, again->start);
	ab_buf_printf(&b, "%s%s-- ", flags, *flags ? " " : "");
	add_command(&b, again->start);
	return ab_buf_take(&b);
}

char *ab_permit_sentence(const char *run, const char *entry, bool deny, uint64_t for_ms,
			 uint64_t released, uint64_t closed)
{
	struct ab_buf b = { 0 };
	char room[48];

	ab_buf_printf(&b, "%s: %s is %s for %s", run, entry, deny ? "denied" : "allowed",
		      for_ms ? ab_format_duration(for_ms, room) : "this run");
	if (released)
		ab_buf_printf(&b, "; %" PRIu64 " waiting request%s released", released,
			      released == 1 ? "" : "s");
	if (closed)
		ab_buf_printf(&b, "; %" PRIu64 " open connection%s closed", closed,
			      closed == 1 ? "" : "s");
	return ab_buf_take(&b);
}

static bool is_path(const char *what)
{
	static const char *const starts[] = { "/", "./", "../", "~/" };
	static const char *const whole[] = { ".", "..", "~" };

	for (size_t i = 0; i < AB_COUNT(starts); i++)
		if (strncmp(what, starts[i], strlen(starts[i])) == 0)
			return true;
	return ab_has_word(whole, AB_COUNT(whole), what);
}

static int read_path(const struct ab_policy_input *in, const char *what, struct ab_meant *ret,
		     struct ab_error *err)
{
	ret->kind = AB_MEANT_PATH;
	ret->path = ab_path_resolve(what, in->cwd, in->home);
	return ret->path ? 0 : ab_fail(err, AB_EUSAGE, 0, "%s: the home folder is unknown", what);
}

static int read_group(const char *what, struct ab_meant *ret, struct ab_error *err)
{
	ab_autofree char *all = NULL;

	if (ab_has_word(ab_group_names, ab_group_count, what + 1)) {
		ret->kind = AB_MEANT_GROUP;
		snprintf(ret->entry, sizeof(ret->entry), "%s", what);
		return 0;
	}
	all = ab_group_list();
	ab_fail(err, AB_EUSAGE, 0, "unknown group %s", what);
	return ab_hint(err, "groups: %s", all);
}

/* "7kq-1" is a valid host name, but more likely a mistyped id. If it counted as
 * a host, the denial would silently stay. */
static bool is_nearly_id(const char *what)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	size_t run = strspn(what, letters);
	const char *p = what + run;

	if (run < 3 || run > 7 || *p++ != '-')
		return false;
	p += *p == 'e' || *p == 'f' || *p == 'q';
	return *p && !p[strspn(p, "0123456789")];
}

static int read_host(const struct ab_policy_input *in, const char *what, struct ab_meant *ret,
		     struct ab_error *err)
{
	ab_autofree char *file = ab_path_join(in->cwd, what), *parent = ab_path_parent(file);
	bool exists = access(file, F_OK) == 0;
	struct ab_complaint why = { .right = "" };
	struct ab_host_entry entry;

	if (ab_host_entry_parse(what, strlen(what), &entry, &why) == 0) {
		/* A name without a dot that is a file here may mean a host, too; with "*", ":" or "/" it
		 * cannot mean the file. */
		if (exists && !strpbrk(what, "*:/") && what[strlen(what) - 1] != '.') {
			ab_fail(err, AB_EUSAGE, 0, "%s could be a host or a file", what);
			return ab_hint(err, "use ./%s for the file, %s. for the host", what, what);
		}
		if (is_nearly_id(what)) {
			ab_fail(err, AB_EUSAGE, 0,
				"%s is not a denial id; an id looks like 7kq2x-1", what);
			return ab_hint(err,
				       "list denials with agentbox log --denied\n"
				       "if it is a host, add a dot: %s.",
				       what);
		}
		ret->kind = AB_MEANT_HOST;
		ab_host_entry_format(&entry, ret->entry);
		return 0;
	}
	/* ".envrc" */
	if (what[0] == '.')
		return read_path(in, what, ret, err);
	ab_fail(err, AB_EUSAGE, 0, "%s", why.wrong);
	/* The file may be missing, its folder not. */
	if (exists || (strchr(what, '/') && access(parent, F_OK) == 0))
		return ab_hint(err, "for the file, write ./%s", what);
	return ab_hint(err, "%s", why.right);
}

int ab_permit_read(const struct ab_policy_input *in, const char *what, struct ab_meant *ret,
		   struct ab_error *err)
{
	*ret = (struct ab_meant){ 0 };
	if (!*what)
		return ab_fail(err, AB_EUSAGE, 0, "\"\" is not a host");
	if (is_path(what))
		return read_path(in, what, ret, err);
	if (what[0] == '@')
		return read_group(what, ret, err);
	if (ab_denial_parse(what, &ret->denial) == 0) {
		ret->kind = AB_MEANT_DENIAL;
		return 0;
	}
	return read_host(in, what, ret, err);
}

/* Only files in the home folder count: the workspace of the run, which may have others, is not known. */
static bool expand_group(const char *name, const struct ab_policy_input *in, struct ab_strv *ret)
{
	const struct ab_tool_place home = { .from = "~", .to = in->home };
	struct ab_arena arena = { 0 };
	bool known = ab_group_expand(name, ab_registries_find(&arena, in->home ? &home : NULL),
				     in->environ, ret);

	ab_arena_fini(&arena);
	return known;
}

bool ab_meant_hosts(const struct ab_meant *meant, const struct ab_policy_input *in,
		    struct ab_strv *ret)
{
	if (meant->kind == AB_MEANT_HOST)
		ab_strv_add(ret, meant->entry);
	return meant->kind == AB_MEANT_HOST ||
	       (meant->kind == AB_MEANT_GROUP && expand_group(meant->entry + 1, in, ret));
}

void ab_meant_fini(struct ab_meant *meant)
{
	free(ab_take(meant->path));
}
