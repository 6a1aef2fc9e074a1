#include "audit/read/details.h"
#include "audit/read/reader.h"
#include "broker/cleanup/moved_files.h"
#include "steer/client/steer.h"
#include "steer/permit/permit_state.h"

/*
 * What a box prints can look like our own report, with a command to copy. So it matters whether a
 * run was denied the host or the path at all: then the record says so, and its id is in our reports.
 */

enum { RUNS_MAX = 50 }; /* the newest */

/* clang-format off */
#define WANTED(X) \
	X(KIND, "kind") X(DOMAIN, "domain") X(ID, "id") X(PORT, "port") X(RULE, "rule") \
	X(PATH, "path") X(HINT, "hint")
/* clang-format on */
AB_MEMBERS(WANTED)

struct search {
	const struct ab_state *state;
	const char *what;     /* the id of a run is about that run */
	struct ab_strv hosts; /* entries */
	const char *path;     /* without links, as in a record, or NULL */
	bool wide;	      /* an entry may cover more than the host that was denied */
	bool exact;	      /* a denial of just this that a person can lift; its id is wanted */
	bool found;
	char *id;
};

/* A pattern covers more than the host that was denied. */
static bool covers(const struct ab_host_entry *entry, const struct ab_host *host, bool wide)
{
	return wide ? ab_host_entry_denies(entry, host, entry->port)
		    : !entry->below && strcmp(entry->host.text, host->text) == 0;
}

/* A denied port that is not a usual one is allowed with its port. */
static bool is_liftable(const struct ab_host_entry *entry, const struct ab_detail m[])
{
	int64_t port = ab_detail_number(&m[M_PORT], 0);

	return (ab_detail_is(&m[M_RULE], "network.allow") || ab_detail_is(&m[M_RULE], "grant")) &&
	       (entry->port ? port == entry->port : !port || ab_port_usual((uint16_t)port));
}

static bool is_about_host(const struct search *search, const struct ab_detail m[])
{
	char name[AB_HOST_ENTRY_TEXT];
	size_t len = ab_detail_copy(&m[M_DOMAIN], name, sizeof(name));
	struct ab_host host;

	if (!len || ab_host_parse(name, len, &host, NULL) < 0)
		return false;
	for (size_t i = 0; i < search->hosts.len; i++) {
		const char *text = search->hosts.v[i];
		struct ab_host_entry entry;

		if (ab_host_entry_parse(text, strlen(text), &entry, NULL) == 0 &&
		    covers(&entry, &host, search->wide) &&
		    (!search->exact || is_liftable(&entry, m)))
			return true;
	}
	return false;
}

/* Without a hint, its id opens nothing: the folder would be too much. */
static bool is_about_path(const struct search *search, const struct ab_detail m[])
{
	ab_autofree char *path = ab_detail_dup(&m[M_PATH]);

	return path && search->path && strcmp(path, search->path) == 0 &&
	       (!search->exact ||
		(ab_detail_is(&m[M_RULE], "filesystem.write") && m[M_HINT].kind == AB_DETAIL_TEXT));
}

/* Was it denied, or asked about? An open question has no kind. */
static bool search_line(void *arg, const char *line, size_t len)
{
	struct search *search = arg;
	struct ab_detail m[M_COUNT];
	bool denied;

	if (ab_details_find(line, len, members, M_COUNT, m) < 0)
		return true;
	denied = ab_detail_is(&m[M_KIND], "violation");
	search->found = (search->exact ? denied && m[M_ID].kind == AB_DETAIL_TEXT
				       : denied || m[M_KIND].kind == AB_DETAIL_NONE ||
						 ab_detail_is(&m[M_KIND], "question")) &&
			(is_about_host(search, m) || is_about_path(search, m));
	if (search->found && search->exact)
		search->id = ab_detail_dup(&m[M_ID]);
	return !search->found;
}

/* What was moved to quarantine is recorded when the run ends. */
static void search_moved(struct search *search, const struct ab_found_run *run)
{
	ab_autofree char *list = NULL;
	const char *p, *end;
	size_t len;

	if (!search->path || ab_moved_read(run->dir, &list, &len) < 0)
		return;
	for (p = list; !search->found && (end = memchr(p, '\n', len - (size_t)(p - list)));
	     p = end + 1)
		search_line(search, p, (size_t)(end - p));
}

/* An open question is recorded with its answer. */
static void search_questions(struct search *search, const struct ab_found_run *run)
{
	ab_auto(ab_steer_fini) struct ab_steer steer = { .fd = -1 };
	struct ab_error err = { 0 };
	json_auto_t *answer = NULL;
	json_t *question;
	size_t i;

	if (search->exact || !search->hosts.len ||
	    ab_steer_open(search->state, run->id, &steer, &err) < 0 ||
	    ab_steer_ask(&steer, &answer, &err, "'do':'pending','from':0") < 0)
		return;
	json_array_foreach(json_object_get(answer, "pending"), i, question)
	{
		ab_autofree char *text = json_dumps(question, JSON_COMPACT);

		if (text && !search->found)
			search_line(search, text, strlen(text));
	}
}

static void search_run(struct search *search, const struct ab_found_run *run)
{
	struct ab_error err = { 0 };

	search->found = strcmp(run->id, search->what) == 0;
	if (!search->found)
		(void)ab_reader_each(run->dir, search_line, search, &err);
	if (!search->found)
		search_moved(search, run);
	if (!search->found && run->live)
		search_questions(search, run);
}

static void search_runs(struct search *search)
{
	const struct ab_state *state = search->state;
	ab_autostrv struct ab_strv ids = { 0 };
	struct ab_error err = { 0 };

	if (ab_find_all(state->live, state->runs, &ids, &err) < 0)
		return;
	for (size_t i = ids.len, n = 0; !search->found && i-- > 0 && n < RUNS_MAX; n++) {
		struct ab_found_run run;

		if (ab_find_run(state->live, state->runs, ids.v[i], &run, &err) < 0)
			continue;
		search_run(search, &run);
		ab_found_run_fini(&run);
	}
}

char *ab_permit_unasked(const struct ab_permit *ask)
{
	ab_auto(ab_meant_fini) struct ab_meant meant = { 0 };
	ab_auto(ab_state_fini) struct ab_state state = AB_STATE_NONE;
	ab_autofree char *path = NULL;
	struct search search = { .state = &state, .what = ask->what };
	struct ab_error err = { 0 };

	/* Everything else takes access away. */
	if (ask->deny != ask->undo || ab_permit_read(ask->input, ask->what, &meant, &err) < 0)
		return NULL;
	search.wide = ask->undo || meant.kind == AB_MEANT_GROUP;
	if (meant.kind == AB_MEANT_PATH && !ask->deny)
		search.path = path = ab_permit_real_path(meant.path);
	else
		search.found = !ab_meant_hosts(&meant, ask->input, &search.hosts);
	if (!search.found && ab_steer_state(ask->input, &state, &err) == 0)
		search_runs(&search);
	ab_strv_fini(&search.hosts);
	return search.found ? NULL : path ? ab_take(path) : ab_strdup(ask->what);
}

char *ab_permit_denial_of(const struct ab_policy_input *input, const char *what)
{
	ab_auto(ab_state_fini) struct ab_state state = AB_STATE_NONE;
	struct search search = { .state = &state, .what = what, .exact = true };
	struct ab_error err = { 0 };

	if (what[0] == '/')
		search.path = what;
	else
		ab_strv_add(&search.hosts, what);
	if (ab_steer_state(input, &state, &err) == 0)
		search_runs(&search);
	ab_strv_fini(&search.hosts);
	return search.id;
}
