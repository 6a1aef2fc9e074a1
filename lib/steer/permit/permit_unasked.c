#include "audit/read/details.h"
#include "audit/read/reader.h"

#include "steer/client/steer.h"
#include "steer/permit/permit_state.h"

/*
 * What a box prints can look like our own report, with a command to copy. So it matters whether a
 * run was denied the host at all: then the record says so, and its id is in our reports.
 */

enum { RUNS_MAX = 50 }; /* the newest */

#define WANTED(X) X(KIND, "kind") X(DOMAIN, "domain") X(ID, "id") X(PORT, "port") X(RULE, "rule")
AB_MEMBERS(WANTED)

struct search {
	const struct ab_strv *entries;
	bool group;
	bool exact; /* a denial of just this entry, that a person can lift; its id is wanted */
	bool found;
	char *id;
};

/* A pattern covers more than the host that was denied, unless it is of a group. */
static bool covers(const struct ab_host_entry *entry, const struct ab_host *host, bool group)
{
	return group ? ab_host_entry_denies(entry, host, entry->port)
		     : !entry->below && strcmp(entry->host.text, host->text) == 0;
}

/* A denied port that is not a usual one is allowed with its port. */
static bool is_liftable(const struct ab_host_entry *entry, const struct ab_detail m[])
{
	int64_t port = ab_detail_number(&m[M_PORT], 0);

	return m[M_ID].kind == AB_DETAIL_TEXT && ab_detail_is(&m[M_KIND], "violation") &&
	       (ab_detail_is(&m[M_RULE], "network.allow") || ab_detail_is(&m[M_RULE], "grant")) &&
	       (entry->port ? port == entry->port : !port || ab_port_usual((uint16_t)port));
}

static bool is_about(const struct search *search, const struct ab_detail m[])
{
	char name[AB_HOST_ENTRY_TEXT];
	size_t len = ab_detail_copy(&m[M_DOMAIN], name, sizeof(name));
	struct ab_host host;

	if (!len || ab_host_parse(name, len, &host, NULL) < 0)
		return false;
	for (size_t i = 0; i < search->entries->len; i++) {
		const char *text = search->entries->v[i];
		struct ab_host_entry entry;

		if (ab_host_entry_parse(text, strlen(text), &entry, NULL) == 0 &&
		    covers(&entry, &host, search->group) &&
		    (!search->exact || is_liftable(&entry, m)))
			return true;
	}
	return false;
}

/* Was it denied, or asked about? */
static bool search_line(void *arg, const char *line, size_t len)
{
	struct search *search = arg;
	struct ab_detail m[M_COUNT];

	search->found =
		ab_details_find(line, len, members, M_COUNT, m) == 0 &&
		(ab_detail_is(&m[M_KIND], "violation") || ab_detail_is(&m[M_KIND], "question")) &&
		is_about(search, m);
	if (search->found && search->exact)
		search->id = ab_detail_dup(&m[M_ID]);
	return !search->found;
}

static void search_runs(const struct ab_state *state, struct search *search)
{
	ab_autostrv struct ab_strv ids = { 0 };
	struct ab_error err = { 0 };

	if (ab_find_all(state->live, state->runs, &ids, &err) < 0)
		return;
	for (size_t i = ids.len, n = 0; !search->found && i-- > 0 && n < RUNS_MAX; n++) {
		struct ab_found_run run;

		if (ab_find_run(state->live, state->runs, ids.v[i], &run, &err) < 0)
			continue;
		(void)ab_reader_each(run.dir, search_line, search, &err);
		ab_found_run_fini(&run);
	}
}

bool ab_permit_is_unasked(const struct ab_permit *ask)
{
	ab_auto(ab_meant_fini) struct ab_meant meant = { 0 };
	ab_autostrv struct ab_strv entries = { 0 };
	struct search search = { .entries = &entries };
	struct ab_error err = { 0 };
	struct ab_state state;

	if (!ask->always || ask->deny || ask->undo ||
	    ab_permit_read(ask->input, ask->what, &meant, &err) < 0 ||
	    !ab_meant_hosts(&meant, ask->input, &entries))
		return false;
	if (ab_steer_state(ask->input, &state, &err) < 0)
		return true;
	search.group = meant.kind == AB_MEANT_GROUP;
	search_runs(&state, &search);
	ab_state_fini(&state);
	return !search.found;
}

char *ab_permit_denial_of(const struct ab_policy_input *input, const char *entry)
{
	ab_auto(ab_state_fini) struct ab_state state = AB_STATE_NONE;
	ab_autostrv struct ab_strv entries = { 0 };
	struct search search = { .entries = &entries, .exact = true };
	struct ab_error err = { 0 };

	ab_strv_add(&entries, entry);
	if (ab_steer_state(input, &state, &err) == 0)
		search_runs(&state, &search);
	return search.id;
}
