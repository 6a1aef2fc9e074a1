/* What a person should know about a layer that a run continues with. */
#include <sys/utsname.h>

#include "base/text/sha256.h"
#include "layer/walk/changes.h"
#include "policy/model/policy.h"
#include "state/kept/kept_parts.h"

enum { OLDER_ENTRIES = 20000 }; /* that are compared at the start of a run */

static void add_list(struct ab_buf *b, char name, const struct ab_strv *list)
{
	for (size_t i = 0; i < list->len; i++) {
		ab_buf_add(b, &name, 1);
		/* With the NUL, which no path has. */
		ab_buf_add(b, list->v[i], strlen(list->v[i]) + 1);
	}
}

void ab_kept_layers_policy_digest(const struct ab_policy *policy, char ret_hex[65])
{
	ab_autobuf struct ab_buf b = { 0 };

	ab_buf_printf(&b, "%d %d ", (int)policy->fs.home, (int)policy->fs.read_all);
	add_list(&b, 'w', &policy->fs.write);
	add_list(&b, 'r', &policy->fs.read);
	add_list(&b, 'd', &policy->fs.deny_read);
	add_list(&b, 'p', &policy->fs.deny_write);
	ab_sha256(b.data, b.len, ret_hex);
}

static bool differs(const char *was, const char *is)
{
	return was && *was && is && strcmp(was, is) != 0;
}

/* The workspace is part of the rules: another one changes their digest as well. */
void ab_kept_layers_note_changes(const struct ab_layer_set *set, const struct ab_policy *policy,
				 struct ab_strv *notes, struct ab_strv *details)
{
	const struct ab_layer_meta *meta = &set->meta;
	ab_autobuf struct ab_buf what = { 0 };
	struct utsname kernel;
	char digest[65];

	ab_kept_layers_policy_digest(policy, digest);
	if (differs(meta->profile, policy->profile))
		ab_buf_printf(&what, " with profile %s", meta->profile);
	if (meta->name && differs(meta->workspace, policy->workspace))
		ab_buf_printf(&what, " in %s", meta->workspace);
	if (what.len)
		ab_strv_addf(notes, "the layer %s was last used%s", set->key, what.data);
	else if (differs(meta->policy, digest) && strcmp(meta->workspace, policy->workspace) == 0)
		ab_strv_addf(
			notes,
			"the layer %s was last used with other rules for files; this run's apply",
			set->key);
	if (uname(&kernel) == 0 && differs(meta->kernel, kernel.release))
		ab_strv_addf(details, "the layer %s was last used with kernel %s", set->key,
			     meta->kernel);
}

void ab_kept_layers_note_older(const struct ab_layer_set *set, const char *home,
			       struct ab_strv *details)
{
	ab_autoclose int upper = ab_layer_set_open(set, "home/upper", O_RDONLY | O_DIRECTORY);
	ab_autoclose int lower = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct ab_changes_limits limits = ab_changes_limits_default;
	struct ab_layer_view view = {
		.upper = upper,
		.lower = lower,
		.since = { .tv_sec = set->meta.first_ns / 1000000000,
			   .tv_nsec = set->meta.first_ns % 1000000000 },
	};
	struct ab_changes changes = { 0 };
	size_t n = 0;

	limits.entries = OLDER_ENTRIES;
	if (upper < 0 || lower < 0 ||
	    ab_changes_collect(&view, &limits, &changes, &(struct ab_error){ 0 }) < 0)
		return;
	for (size_t i = 0; i < changes.len; i++)
		n += changes.v[i].conflict;
	if (n)
		ab_strv_addf(
			details,
			"%zu file%s changed on the host after the box changed %s; the box sees "
			"its own: to see the host's, agentbox layers refresh %s",
			n, n == 1 ? "" : "s", n == 1 ? "it" : "them", set->key);
	ab_changes_fini(&changes);
}
