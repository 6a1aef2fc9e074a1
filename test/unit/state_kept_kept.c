/*
 * Which kept layer a run uses, and what it is told about it.
 */
#include "state/kept/kept.h"

#include <stdlib.h>

#include "base/data/mem.h"
#include "policy/model/policy.h"
#include "state/kept/kept_parts.h"
#include "tap.h"

static void check_keys(void)
{
	static const struct {
		enum ab_home_mode home;
		const char *name, *profile, *workspace, *key;
	} cases[] = {
		{ AB_HOME_LAYERED, NULL, NULL, "/w", NULL },
		{ AB_HOME_LAYERED, "dev", NULL, "/w", "dev" },
		{ AB_HOME_LAYERED, "dev", NULL, "", "dev" },
		{ AB_HOME_KEPT, NULL, "claude", "/w", "@claude" },
		{ AB_HOME_KEPT, NULL, "claude", "", "@claude" },
		{ AB_HOME_KEPT, "dev", "claude", "/w", "dev" },
		{ AB_HOME_KEPT, NULL, NULL, "", NULL },
		{ AB_HOME_READONLY, "dev", NULL, "/w", NULL },
		{ AB_HOME_PRIVATE, "dev", NULL, "/w", NULL },
	};
	struct ab_policy policy = { .workspace = "/w", .fs.home = AB_HOME_KEPT };
	ab_autofree char *own = ab_kept_layers_key(&policy, NULL), *other = NULL;

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		struct ab_policy p = { .workspace = cases[i].workspace,
				       .fs.home = cases[i].home,
				       .fs.home_profile = cases[i].profile };
		ab_autofree char *key = ab_kept_layers_key(&p, cases[i].name);

		is_str(key, cases[i].key, "the key");
	}
	policy.workspace = "/x";
	other = ab_kept_layers_key(&policy, NULL);
	ok(own && other && strcmp(own, other) != 0, "one for each workspace");
}

static const char *note(struct ab_layer_meta *meta, const struct ab_policy *policy)
{
	static char text[256];
	ab_autostrv struct ab_strv notes = { 0 }, details = { 0 };
	struct ab_layer_set set = { .key = meta->key, .meta = *meta };

	ab_kept_layers_note_changes(&set, policy, &notes, &details);
	snprintf(text, sizeof(text), "%zu %s", notes.len, notes.len ? notes.v[0] : "");
	return text;
}

/* One line, however much has changed. */
static void check_notes(void)
{
	char *denied[] = { (char *)"/secret", NULL };
	struct ab_policy policy = { .profile = "ci", .workspace = "/w", .home = "/home/u" };
	struct ab_layer_meta meta = { .key = (char *)"dev",
				      .name = (char *)"dev",
				      .profile = (char *)"ci",
				      .workspace = (char *)"/w" };
	char digest[65];

	ab_kept_layers_policy_digest(&policy, digest);
	meta.policy = digest;
	is_str(note(&meta, &policy), "0 ", "nothing has changed");
	policy.fs.deny_read = (struct ab_strv){ denied, 1 };
	is_str(note(&meta, &policy),
	       "1 the layer dev was last used with other rules for files; this run's apply",
	       "the rules");
	policy.profile = "default";
	is_str(note(&meta, &policy), "1 the layer dev was last used with profile ci",
	       "the profile, and with it the rules");
	policy.workspace = "/x";
	is_str(note(&meta, &policy), "1 the layer dev was last used with profile ci in /w",
	       "profile and workspace");
	policy.profile = "ci";
	is_str(note(&meta, &policy), "1 the layer dev was last used in /w", "the workspace");
}

int main(void)
{
	check_keys();
	check_notes();
	return done();
}
