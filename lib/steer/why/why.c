#include "steer/why/why.h"

#include <jansson.h>

#include "audit/read/find.h"
#include "audit/read/words.h"
#include "consent/ask/process_chain.h"
#include "policy/edit/list_origin.h"
#include "policy/layers/layers.h"
#include "policy/model/config.h"
#include "policy/values/host.h"
#include "policy/values/paths.h"
#include "state/state.h"
#include "steer/client/json.h"
#include "steer/client/steer.h"
#include "steer/why/why_text.h"

/* Maximum of a list, and of ids in a hint. */
enum { LISTED = 200, NAMED = 20, COMMAND_MAX = 200 };

static json_t *parse_line(const char *line)
{
	return line ? json_loads(line, 0, NULL) : NULL;
}

static void set_member(json_t *object, const char *key, json_t *value)
{
	if (value)
		json_object_set_new(object, key, value);
}

/* The text of a JSON object; frees the object. */
static char *dump_object(json_t *object)
{
	ab_autofree char *text = json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII);

	json_decref(object);
	return ab_printf("%s\n", text ? text : "{}");
}

static json_t *list_remedies(const struct ab_why_case *c)
{
	ab_autostrv struct ab_strv r = { 0 };
	json_t *list = json_array();

	ab_why_remedies(c, &r);
	for (size_t i = 0; i + 1 < r.len; i += 2)
		json_array_append_new(list,
				      json_pack("{s:s, s:s}", "what", r.v[i], "how", r.v[i + 1]));
	return list;
}

/* The record of the denial, with more members. */
static char *make_json(const struct ab_why_case *c)
{
	json_t *object = c->denied ? json_deep_copy(c->denied) : json_object();

	set_member(object, "id", json_string(c->id));
	set_member(object, "live", json_boolean(c->live));
	set_member(object, "count", json_integer((json_int_t)c->count));
	if (c->first) {
		set_member(object, "first", json_string(c->first));
		set_member(object, "last", json_string(c->last));
	}
	set_member(object, "request", json_deep_copy(c->request));
	set_member(object, "question", json_deep_copy(c->question));
	set_member(object, "run_command", json_deep_copy(json_object_get(c->start, "command")));
	set_member(object, "remedies", list_remedies(c));
	if (ab_why_advice(c))
		set_member(object, "advice", json_string(ab_why_advice(c)));
	return dump_object(object);
}

static struct ab_why_case open_case(const struct ab_found_run *run, const struct ab_found_denial *d)
{
	struct ab_why_case c = { .id = d->id,
				 .denied = parse_line(d->denied),
				 .request = parse_line(d->request),
				 .question = parse_line(d->question),
				 .start = parse_line(run->first),
				 .live = run->live,
				 .count = d->count,
				 .first = d->first,
				 .last = d->last };

	/* If the record of the denial is lost, use that of the request, which
	 * says less. */
	if (!c.denied && json_is_false(json_object_get(c.request, "allowed")))
		c.denied = json_incref(c.request);
	return c;
}

static void close_case(struct ab_why_case *c)
{
	json_decref(c->denied);
	json_decref(c->request);
	json_decref(c->question);
	json_decref(c->start);
}

static char *explain_case(const struct ab_why_case *c, bool json)
{
	struct ab_buf b = { 0 };

	if (json)
		return make_json(c);
	ab_why_text(c, &b);
	return ab_buf_take(&b);
}

/* An answer "deny always", or a later change of the settings: then no rule of a project or of a
 * run allows the host. Settings that cannot be read change nothing here. */
static char *find_barrier(const struct ab_policy_input *input, const char *host)
{
	struct ab_error none = { 0 };
	ab_autopolicy struct ab_policy *policy = NULL;

	if (!*host || ab_policy_load(input, &policy, NULL, &none) < 0)
		return NULL;
	for (size_t i = 0; i < policy->net.deny.len; i++) {
		char *one = policy->net.deny.v[i];
		ab_autofree char *from = ab_policy_origin(policy, "network.deny", one);

		if (from && ab_origin_is_undoable(from) && ab_hosts_cover(&one, 1, host, true))
			return ab_strdup(one);
	}
	return NULL;
}

static char *explain_denial(const struct ab_policy_input *input, const struct ab_found_run *run,
			    const struct ab_found_denial *d, bool json)
{
	ab_autofree char *barred = NULL;
	ab_auto(close_case) struct ab_why_case c = open_case(run, d);

	barred = find_barrier(input, ab_json_text(c.denied, "domain"));
	c.barred = barred;
	return explain_case(&c, json);
}

/* Only the run knows its open questions: they are not recorded yet. NULL if there
 * is none. */
static char *explain_open(const struct ab_state *state, const struct ab_found_run *run,
			  const char *id, const struct ab_denial_name *name, bool json)
{
	ab_auto(ab_steer_fini) struct ab_steer steer = { .fd = -1 };
	ab_auto(close_case) struct ab_why_case c = { .id = id, .live = true };
	struct ab_error none = { 0 };

	if (!run->live || name->kind != AB_DENIAL_NETWORK ||
	    ab_steer_open(state, run->id, &steer, &none) < 0 ||
	    ab_steer_question(&steer, id, name->number, &c.question, &none) <= 0)
		return NULL;
	set_member(c.question, "kind", json_string("question"));
	c.start = parse_line(run->first);
	return explain_case(&c, json);
}

/* A run that was refused has only one record. */
static char *explain_refused(const struct ab_found_run *run, bool json)
{
	ab_auto(close_case) struct ab_why_case c = { .start = parse_line(run->first),
						     .first = run->began };
	struct ab_buf b = { 0 };

	if (json) {
		json_t *object = json_deep_copy(c.start);

		set_member(object, "remedies", list_remedies(&c));
		return dump_object(object);
	}
	ab_why_refused(&c, &b);
	return ab_buf_take(&b);
}

static bool is_refused(const struct ab_found_run *run)
{
	json_auto_t *first = parse_line(run->first);

	return ab_json_is(first, "kind", "refused");
}

static char *list_json(const struct ab_found_run *run, const struct ab_strv *lines, size_t n)
{
	json_t *object = json_object(), *list = json_array();

	for (size_t i = 0; i < lines->len; i++) {
		const char *line = lines->v[i];
		size_t id = strcspn(line, " ");
		const char *text = line + id + strspn(line + id, " ");

		json_array_append_new(list, json_pack("{s:s%, s:s}", "id", line, id, "text", text));
	}
	set_member(object, "run_id", json_string(run->id));
	set_member(object, "live", json_boolean(run->live));
	set_member(object, "count", json_integer((json_int_t)n));
	set_member(object, "denials", list);
	return dump_object(object);
}

static void put_denials(struct ab_buf *b, const char *margin, const struct ab_strv *lines, size_t n)
{
	for (size_t i = 0; i < lines->len; i++)
		ab_buf_printf(b, "%s%s\n", margin, lines->v[i]);
	if (n > lines->len)
		ab_buf_printf(b, "%sand %zu more\n", margin, n - lines->len);
	if (n)
		ab_buf_puts(b, "for details: agentbox why ID\n");
}

static int list_denials(const struct ab_found_run *run, bool json, char **ret, struct ab_error *err)
{
	ab_autostrv struct ab_strv lines = { 0 };
	ab_autobuf struct ab_buf b = { 0 };
	size_t n;

	if (ab_find_denials(run->dir, LISTED, &lines, &n, err) < 0)
		return -1;
	if (json) {
		*ret = list_json(run, &lines, n);
		return 0;
	}
	if (n == 0)
		ab_buf_printf(&b, "nothing was denied in run %s\n", run->id);
	put_denials(&b, "", &lines, n);
	*ret = ab_buf_take(&b);
	return 0;
}

/* "7kq2x-1, 7kq2x-2 and 7 more" */
static int fail_unknown_id(const struct ab_found_run *run, const char *id, struct ab_error *err)
{
	ab_autostrv struct ab_strv lines = { 0 };
	ab_autobuf struct ab_buf b = { 0 };
	struct ab_error ignored;
	size_t n = 0;

	ab_fail(err, AB_ESYSTEM, 0, "run %s has no denial %s", run->id, id);
	if (is_refused(run))
		return ab_hint(err, "its command was refused and did not start: agentbox why %s",
			       run->id);
	if (ab_find_denials(run->dir, NAMED, &lines, &n, &ignored) < 0 || n == 0)
		return ab_hint(err, "nothing was denied in it");
	for (size_t i = 0; i < lines.len; i++)
		ab_buf_printf(&b, "%s%.*s", i ? ", " : "", (int)strcspn(lines.v[i], " "),
			      lines.v[i]);
	if (n > lines.len)
		ab_buf_printf(&b, " and %zu more", n - lines.len);
	return ab_hint(err, "its denials: %s", b.data);
}

static int explain_id(const struct ab_policy_input *input, const struct ab_state *state,
		      const struct ab_found_run *run, const char *id,
		      const struct ab_denial_name *name, bool json, char **ret,
		      struct ab_error *err)
{
	ab_auto(ab_found_denial_fini) struct ab_found_denial d = { 0 };
	int found = ab_find_denial(run->dir, id, &d, err);

	if (found < 0)
		return -1;
	if (found == 0) {
		*ret = explain_open(state, run, id, name, json);
		return *ret ? 0 : fail_unknown_id(run, id, err);
	}
	*ret = explain_denial(input, run, &d, json);
	return 0;
}

/* The other denials of the run, after the explanation of its last one. */
static int add_others(const struct ab_found_run *run, char **text, struct ab_error *err)
{
	ab_autostrv struct ab_strv lines = { 0 };
	struct ab_buf b = { 0 };
	size_t n;

	if (ab_find_denials(run->dir, LISTED, &lines, &n, err) < 0)
		return -1;
	if (n < 2)
		return 0;
	ab_buf_printf(&b, "%s\n%zu things were denied in this run:\n", *text, n);
	put_denials(&b, "  ", &lines, n);
	free(*text);
	*text = ab_buf_take(&b);
	return 0;
}

/* A run without a denial. What the kernel denied by itself is recorded only if it was traced. */
static char *explain_quiet(const struct ab_found_run *run, bool json)
{
	ab_autostrv struct ab_strv none = { 0 };
	ab_autobuf struct ab_buf command = { 0 };
	struct ab_buf b = { 0 };
	json_auto_t *start = NULL;

	if (json)
		return list_json(run, &none, 0);
	start = parse_line(run->first);
	ab_process_chain_command(&command, json_object_get(start, "command"), COMMAND_MAX);
	ab_buf_printf(&b, "nothing was denied in the last run, %s", run->id);
	if (command.len) {
		ab_buf_puts(&b, ": ");
		ab_words_short(&b, command.data, COMMAND_MAX);
	}
	ab_buf_puts(&b, "\n");
	ab_buf_puts(&b, "Denied hosts and writes are always recorded; hidden files, sockets and "
			"system calls only with agentbox run --trace-denials.\n");
	return ab_buf_take(&b);
}

/* `whole`: also what else was denied. */
static int explain_last(const struct ab_policy_input *input, const struct ab_found_run *run,
			bool whole, bool json, char **ret, struct ab_error *err)
{
	ab_auto(ab_found_denial_fini) struct ab_found_denial d = { 0 };
	int found = ab_find_denial(run->dir, NULL, &d, err);

	if (found < 0)
		return -1;
	if (found == 0 && is_refused(run)) {
		*ret = explain_refused(run, json);
		return 0;
	}
	if (found == 0 && whole) {
		*ret = explain_quiet(run, json);
		return 0;
	}
	if (found == 0)
		return ab_fail(err, AB_ESYSTEM, 0, "nothing was denied in the last run, %s",
			       run->id);
	*ret = explain_denial(input, run, &d, json);
	return whole && !json ? add_others(run, ret, err) : 0;
}

static int explain_what(const struct ab_policy_input *input, const struct ab_state *state,
			const char *what, bool json, char **ret, struct ab_error *err)
{
	bool last = !what || strcmp(what, "last") == 0;
	struct ab_denial_name name;
	bool denial = !last && ab_denial_parse(what, &name) == 0;
	const char *wanted = last ? NULL : denial ? name.run : what;
	ab_auto(ab_found_run_fini) struct ab_found_run run = { .dir = -1 };

	if (ab_find_run(state->live, state->runs, wanted, &run, err) < 0)
		return -1;
	if (denial)
		return explain_id(input, state, &run, what, &name, json, ret, err);
	if (last)
		return explain_last(input, &run, !what, json, ret, err);
	if (!is_refused(&run))
		return list_denials(&run, json, ret, err);
	*ret = explain_refused(&run, json);
	return 0;
}

/* As people write it; ids of runs are in lower case. */
static bool looks_like_variable(const char *what)
{
	return *what && what[strspn(what, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] == '\0' &&
	       !ab_is_digit(*what);
}

/* Only a shell could make something of it. */
static bool looks_like_command(const char *what)
{
	return strpbrk(what, " \t\n|&;<>()$`\"'\\") != NULL;
}

static bool looks_like_path(const char *what)
{
	return what[0] == '/' || what[0] == '~' || what[0] == '.' ||
	       (strchr(what, '/') && !strchr(what, ':'));
}

/* A dot or a port, or an address: a bare word is more likely a mistyped run. */
static bool looks_like_host(const char *what)
{
	struct ab_host_entry entry;

	return strpbrk(what, ".:") && ab_host_entry_parse(what, strlen(what), &entry, NULL) == 0;
}

/* Something that no record is about: 1 if the policy answers. `err` has what the records say. */
static int explain_policy(const struct ab_policy_input *input, const char *what, bool json,
			  char **ret, struct ab_error *err)
{
	ab_autofree char *file = ab_path_join(input->cwd, what), *note = NULL;
	bool exists =
		!strpbrk(what, ":*") && what[strlen(what) - 1] != '.' && access(file, F_OK) == 0;

	if (looks_like_command(what))
		return ab_why_command(input, NULL, 0, what, json, ret, err);
	/* A file of this folder, whose name may be that of a host. */
	if (!looks_like_path(what) && exists && looks_like_host(what))
		note = ab_printf("about the host of that name: agentbox why %s.", what);
	if (looks_like_path(what) || exists)
		return ab_why_path(input, what, false, false, note, json, ret, err);
	if (looks_like_host(what))
		return ab_why_host(input, what, json, ret, err);
	return ab_hint(err, "if it is a command: agentbox why -- %s", what);
}

int ab_why(const struct ab_policy_input *input, const char *what, bool json, char **ret,
	   struct ab_error *err)
{
	struct ab_denial_name denial;
	ab_auto(ab_state_fini) struct ab_state state = AB_STATE_NONE;
	int result;

	/* Nothing of these is the name of a run. */
	if (what && (!*what || looks_like_command(what) || looks_like_path(what)))
		return *what ? explain_policy(input, what, json, ret, err)
			     : ab_fail(err, AB_EUSAGE, 0, "\"\" is not a host, path or command");
	if (ab_steer_state(input, &state, err) < 0)
		return -1;
	result = explain_what(input, &state, what, json, ret, err);
	if (result == 0 || !what || strcmp(what, "last") == 0 ||
	    ab_denial_parse(what, &denial) == 0)
		return result;
	if (ab_environ_get(input->environ, what))
		return ab_why_variable(input, what, json, ret, err);
	if (looks_like_variable(what))
		return ab_hint(err, "if it is a variable: %s is not set in this shell", what);
	return explain_policy(input, what, json, ret, err);
}
