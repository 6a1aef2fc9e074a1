#include "audit/read/details.h"
#include "audit/read/reader.h"
#include "policy/toolchains/host_groups.h"
#include "steer/client/steer.h"
#include "steer/permit/permit_state.h"

/*
 * What a box prints can look like our own report, with a command to copy. So it matters whether a
 * run was denied the host at all: then the record says so, and its id is in our reports.
 */

enum { RUNS_MAX = 50 }; /* the newest */

#define WANTED(X) X(KIND, "kind") X(DOMAIN, "domain")
AB_MEMBERS(WANTED)

/* A pattern covers more than the host that was denied, unless it is of a group. */
static bool covers(const struct ab_host_entry *entry, const struct ab_host *host, bool group)
{
	return group ? ab_host_entry_denies(entry, host, entry->port)
		     : !entry->below && strcmp(entry->host.text, host->text) == 0;
}

static bool is_about(const struct ab_strv *entries, bool group, const struct ab_detail m[])
{
	char name[AB_HOST_ENTRY_TEXT];
	size_t len = ab_detail_copy(&m[M_DOMAIN], name, sizeof(name));
	struct ab_host host;

	if (!len || ab_host_parse(name, len, &host, NULL) < 0)
		return false;
	for (size_t i = 0; i < entries->len; i++) {
		const char *text = entries->v[i];
		struct ab_host_entry entry;

		if (ab_host_entry_parse(text, strlen(text), &entry, NULL) == 0 &&
		    covers(&entry, &host, group))
			return true;
	}
	return false;
}

/* Was it denied, or asked about? */
static bool has_denial(int dir, const struct ab_strv *entries, bool group)
{
	struct ab_detail m[M_COUNT];
	struct ab_error err = { 0 };
	struct ab_reader r;
	const char *line;
	bool found = false;
	size_t len;

	if (ab_reader_open(dir, &r, &err) < 0)
		return false;
	while (!found && ab_reader_next(&r, &line, &len, &err) > 0)
		found = ab_details_find(line, len, members, M_COUNT, m) == 0 &&
			(ab_detail_is(&m[M_KIND], "violation") ||
			 ab_detail_is(&m[M_KIND], "question")) &&
			is_about(entries, group, m);
	ab_reader_fini(&r);
	return found;
}

static bool find_denial(const struct ab_state *state, const struct ab_strv *entries, bool group)
{
	ab_autostrv struct ab_strv ids = { 0 };
	struct ab_error err = { 0 };
	bool found = false;

	if (ab_find_all(state->live, state->runs, &ids, &err) < 0)
		return false;
	for (size_t i = ids.len, n = 0; !found && i-- > 0 && n < RUNS_MAX; n++) {
		struct ab_found_run run;

		if (ab_find_run(state->live, state->runs, ids.v[i], &run, &err) < 0)
			continue;
		found = has_denial(run.dir, entries, group);
		ab_found_run_fini(&run);
	}
	return found;
}

bool ab_permit_is_unasked(const struct ab_permit *ask)
{
	ab_auto(ab_meant_fini) struct ab_meant meant = { 0 };
	ab_autostrv struct ab_strv entries = { 0 };
	struct ab_error err = { 0 };
	struct ab_state state;
	bool found;

	if (!ask->always || ask->deny || ask->undo ||
	    ab_permit_read(ask->input, ask->what, &meant, &err) < 0)
		return false;
	if (meant.kind == AB_MEANT_HOST)
		ab_strv_add(&entries, meant.entry);
	else if (meant.kind != AB_MEANT_GROUP ||
		 !ab_group_expand(meant.entry + 1, ask->input->home, ask->input->environ, &entries))
		return false;
	if (ab_steer_state(ask->input, &state, &err) < 0)
		return true;
	found = find_denial(&state, &entries, meant.kind == AB_MEANT_GROUP);
	ab_state_fini(&state);
	return !found;
}
