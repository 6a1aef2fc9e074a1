#include "state/kept/kept.h"

#include <sys/statvfs.h>
#include <sys/utsname.h>

#include "base/text/units.h"
#include "layer/journal/view.h"
#include "layer/walk/points.h"
#include "layer/walk/records.h"
#include "policy/model/policy.h"
#include "state/kept/kept_parts.h"

enum { FULL_BYTES = 1 << 20 }; /* less room than this counts as none */

char *ab_kept_layers_key(const struct ab_policy *policy, const char *name)
{
	bool layered = policy->fs.home == AB_HOME_LAYERED || policy->fs.home == AB_HOME_KEPT;

	if (name && layered)
		return ab_strdup(name);
	if (policy->fs.home != AB_HOME_KEPT)
		return NULL;
	if (policy->fs.home_profile)
		return ab_layer_key_profile(policy->fs.home_profile);
	return *policy->workspace ? ab_layer_key_workspace(policy->workspace) : NULL;
}

/* A name that looks like the id of a run may be one. */
static int check_name(const struct ab_layer_set *set, const char *name, struct ab_error *err)
{
	if (set->fresh || !name || set->meta.name)
		return 0;
	ab_fail(err, AB_EUSAGE, 0, "%s is the id of a run with changes to apply", name);
	return ab_hint(err, "choose another name");
}

static int check_home(const struct ab_layer_set *set, const char *home, struct ab_error *err)
{
	const char *was = set->meta.home;

	if (set->fresh || !was || !*was || strcmp(was, home) == 0)
		return 0;
	ab_fail(err, AB_EUSAGE, 0, "the layer %s lies above another home folder: %s", set->key,
		was);
	return ab_hint(err, "use another name, or remove the layer: agentbox layers rm %s",
		       set->key);
}

/* Before a plan is made, and when the box has ended. */
static void tidy_home(struct ab_kept_layers *kept)
{
	ab_autoclose int upper = -1;

	if (!kept->points.len)
		return;
	upper = ab_layer_set_open(&kept->set, "home/upper", O_PATH | O_DIRECTORY);
	if (upper >= 0)
		ab_points_tidy(&kept->points, upper);
	(void)ab_record_list_save(kept->set.dir, AB_RECORD_POINTS, &kept->points);
}

static int use_set(const struct ab_kept_layers_wish *wish, struct ab_kept_layers *kept,
		   struct ab_strv *notes, struct ab_strv *details, struct ab_error *err)
{
	struct ab_layer_set *set = &kept->set;
	ab_autoclose int real = -1;

	if (check_name(set, wish->name, err) < 0 || check_home(set, kept->home, err) < 0)
		return -1;
	real = open(kept->home, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (real < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "open %s", kept->home);
	if (ab_layer_set_make(set, "home", real, &kept->upper, &kept->work, err) < 0)
		return -1;
	(void)ab_record_list_load(set->dir, AB_RECORD_POINTS, &kept->points);
	tidy_home(kept);
	if (!set->fresh)
		ab_kept_layers_note_changes(set, wish->policy, notes, details);
	if (!set->fresh && wish->verbose)
		ab_kept_layers_note_older(set, kept->home, details);
	return 0;
}

/* A person chose the name, so a person can choose another one. */
static int refuse_second(const char *name, struct ab_error *err)
{
	err->code = AB_EUSAGE;
	return ab_hint(err,
		       "to run a command in that box: agentbox run --in %s -- ...; or choose "
		       "another name",
		       name);
}

int ab_kept_layers_take(const struct ab_kept_layers_wish *wish, struct ab_kept_layers *ret,
			struct ab_strv *notes, struct ab_strv *details, struct ab_error *err)
{
	ab_autofree char *key = ab_kept_layers_key(wish->policy, wish->name);
	unsigned how = AB_LAYERS_CREATE | AB_LAYERS_LOCK;

	if (!key || !wish->policy->home)
		return 0;
	ret->home = realpath(wish->policy->home, NULL);
	if (!ret->home)
		return 0;
	/* A run with this name that has just ended, or a command that works on the layer, is soon
	 * finished; another agent is not. */
	if (!wish->name)
		how |= AB_LAYERS_TRY;
	if (ab_layers_open(&wish->store, key, how, &ret->set, err) == 0) {
		/* No box may start on half an apply. */
		if (ab_layer_recover(&ret->set, wish->guard, notes, err) < 0 ||
		    use_set(wish, ret, notes, details, err) < 0)
			return ab_step(err, "layers");
		return 0;
	}
	if (err->errnum != EWOULDBLOCK)
		return ab_step(err, "layers");
	if (wish->name)
		return refuse_second(wish->name, err);
	*err = (struct ab_error){ 0 };
	return ab_kept_layers_share(wish, key, ret, notes, err);
}

int ab_kept_layers_review(struct ab_kept_layers *kept, const struct ab_kept_layers_wish *wish,
			  const char *run_id, struct ab_layer_set **ret, struct ab_error *err)
{
	const char *key = wish->name ? wish->name : run_id;

	if (kept->set.dir >= 0 && strcmp(kept->set.key, key) == 0) {
		*ret = &kept->set;
		return 0;
	}
	if (ab_layers_open(&wish->store, key, AB_LAYERS_CREATE | AB_LAYERS_LOCK, &kept->review,
			   err) < 0) {
		if (err->errnum == EWOULDBLOCK && wish->name)
			return refuse_second(wish->name, err);
		return ab_step(err, "layers");
	}
	if (check_name(&kept->review, wish->name, err) < 0)
		return -1;
	*ret = &kept->review;
	return 0;
}

static void replace_text(char **text, const char *by)
{
	char *copy = ab_strdup(by);

	free(*text);
	*text = copy;
}

static int describe_set(struct ab_layer_set *set, const struct ab_kept_layers_wish *wish,
			const char *home, const char *run_id, struct ab_error *err)
{
	struct ab_layer_meta *meta = &set->meta;
	struct utsname kernel;
	char digest[65];
	int64_t now = ab_clock_ns(CLOCK_REALTIME);

	if (set->dir < 0)
		return 0;
	ab_kept_layers_policy_digest(wish->policy, digest);
	if (set->fresh)
		meta->created_ns = now;
	if (!meta->first_ns)
		meta->first_ns = now;
	meta->last_ns = now;
	replace_text(&meta->name, wish->name);
	replace_text(&meta->profile, wish->policy->profile);
	replace_text(&meta->workspace, wish->policy->workspace);
	replace_text(&meta->home, home);
	replace_text(&meta->policy, digest);
	if (uname(&kernel) == 0)
		replace_text(&meta->kernel, kernel.release);
	ab_layer_meta_add_run(meta, run_id);
	return ab_layer_set_save(set, err) < 0 ? ab_step(err, "layers") : 0;
}

int ab_kept_layers_begin(struct ab_kept_layers *kept, const struct ab_kept_layers_wish *wish,
			 const char *run_id, struct ab_error *err)
{
	/* Without the list they would count as what a box has made. */
	if (kept->points.len)
		(void)ab_record_list_save(kept->set.dir, AB_RECORD_POINTS, &kept->points);
	if (!kept->copy && describe_set(&kept->set, wish, kept->home, run_id, err) < 0)
		return -1;
	return describe_set(&kept->review, wish, kept->home, run_id, err);
}

void ab_kept_layers_locks(const struct ab_kept_layers *kept, int ret[AB_KEPT_LOCKS])
{
	ret[0] = kept->set.lock;
	ret[1] = kept->review.lock;
}

/* The box got ENOSPC for a write or for the first change of a file, and said so in its own words. */
char *ab_kept_layers_full(const struct ab_kept_layers *kept, const struct ab_layer_set *review)
{
	int dir = review ? review->dir : kept->set.dir;
	struct statvfs fs;
	char left[24];

	/* Both layers are in the state folder. */
	if (dir < 0 || fstatvfs(dir, &fs) < 0)
		return NULL;
	if ((uint64_t)fs.f_bavail * fs.f_frsize >= FULL_BYTES && (!fs.f_files || fs.f_favail))
		return NULL;
	return ab_printf(
		"the disk with the layers is full (%s left): what the box writes to %s goes there. "
		"See agentbox layers, and make room with agentbox gc or agentbox layers rm",
		ab_round_size((uint64_t)fs.f_bavail * fs.f_frsize, left),
		!review	      ? "the home folder"
		: kept->upper ? "the workspace and the home folder"
			      : "the workspace");
}

static void release_set(struct ab_layer_set *set, bool unneeded, const struct ab_layer_store *store)
{
	/* On failure a later cleanup removes it. */
	if (set->dir >= 0 && (unneeded || set->fresh))
		(void)ab_layers_remove(store, set, &(struct ab_error){ 0 });
	ab_layer_set_fini(set);
}

void ab_kept_layers_leave_home(struct ab_kept_layers *kept, const struct ab_layer_store *store,
			       const struct ab_layer_set *review)
{
	tidy_home(kept);
	if (review != &kept->set)
		release_set(&kept->set, kept->copy, store);
	ab_free_all(kept->upper, kept->work, kept->below);
	kept->upper = kept->work = kept->below = NULL;
}

void ab_kept_layers_fini(struct ab_kept_layers *kept, const struct ab_layer_store *store)
{
	ab_kept_layers_leave_home(kept, store, NULL);
	release_set(&kept->review, false, store);
	free(ab_take(kept->home));
	ab_strv_fini_all(&kept->placeholders, &kept->points);
}
