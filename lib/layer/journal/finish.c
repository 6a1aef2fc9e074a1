#include "layer/journal/finish.h"

#include "layer/journal/excuse.h"
#include "layer/journal/stack.h"
#include "layer/journal/steps.h"
#include "workspace/tree/remove_tree.h"
#include "layer/journal/view.h"
#include "layer/journal/workers.h"
#include "layer/store/store.h"
#include "layer/walk/records.h"

static const char undo_kind[8] ab_unterminated = "ab-undo1";

static bool has_mark(const struct ab_site *site, const char *name)
{
	return faccessat(site->dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void tell_progress(const struct ab_progress *progress, size_t done, size_t all)
{
	if (progress && progress->step)
		progress->step(progress->arg, done, all);
}

static int fail_step(const struct ab_site *site, size_t i, int errnum, const char *what,
		     struct ab_error *err)
{
	ab_autofree char *path = ab_escape(site->steps.v[i].path);

	if (errnum == ESTALE || errnum == EEXIST)
		return ab_fail(err, AB_EREFUSED, 0, "%s: %s changed meanwhile", what, path);
	return ab_fail(err, AB_ESYSTEM, errnum, "%s %s", what, path);
}

static int drop_journal(struct ab_site *site, const char *name, struct ab_error *err)
{
	if (ab_undo_drop(site->undo, name) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "cannot remove the journal of the apply");
	return 0;
}

/* next becomes last, and last an earlier one. */
static int retire_journal(struct ab_site *site, struct ab_error *err)
{
	if (ab_undo_push(site->undo) < 0 || renameat(site->undo, "next", site->undo, "last") < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "cannot complete the journal of the apply");
	/* Or the next one does it. */
	(void)ab_undo_trim(site->undo, (uint64_t)AB_UNDO_GIB << 30, &site->forgotten);
	return 0;
}

/* Is the file that the step replaced or removed in its place again, as it was? */
static bool is_restored(struct ab_site *site, const struct ab_step *step)
{
	struct ab_look look;
	const char *name;
	int dir;

	if (!step->old.ino || S_ISDIR(step->old.mode))
		return false;
	dir = ab_parent_open(&site->host, site->root, step->path, &name);
	return dir >= 0 && ab_look_at(dir, name, &look) == 0 &&
	       ab_identity_same(&look.id, &step->old);
}

/* Two renames changed the ctime of these files: that is not a conflict. */
static void know_restored(struct ab_site *site)
{
	ab_autofree struct ab_step_now *now = ab_alloc((site->steps.len + 1) * sizeof(now[0]));

	for (size_t i = 0; i < site->steps.len; i++)
		now[i].skip = !is_restored(site, &site->steps.v[i]);
	ab_site_known(site, true, now);
}

/* The copies that came back, before those in the journal go away. */
static int sync_restored(struct ab_site *site)
{
	ab_autoclose int root = -1;

	if (!site->copied)
		return 0;
	root = ab_open_same_mount(site->root, ".", O_RDONLY | O_DIRECTORY);
	return root < 0 ? -1 : syncfs(root);
}

static void tell_kept(const struct ab_site *site, struct ab_strv *notes)
{
	for (size_t i = 0; i < site->kept.len; i++)
		ab_strv_add_safe(notes, "%s is another version of a file that changed meanwhile",
				 site->kept.v[i]);
}

/* At once: what comes next may fail, too. */
static int hint_kept(const struct ab_site *site, struct ab_error *err)
{
	static const char more[] = "\nThere are more: find . -name '.agentbox-*-kept*'";
	ab_autostrv struct ab_strv lines = { 0 };
	ab_autofree char *text = NULL;
	bool cut = false;
	char *end;

	if (err->hint[0])
		ab_strv_add(&lines, err->hint);
	tell_kept(site, &lines);
	text = ab_strv_join(&lines, "\n");
	for (; strlen(text) + sizeof(more) > sizeof(err->hint); cut = true)
		*((end = strrchr(text, '\n')) ? end : text) = '\0';
	return ab_hint(err, "%s%s", text, cut ? more + !*text : "");
}

static int take_back(struct ab_site *site, struct ab_error *err)
{
	for (size_t i = site->steps.len; i-- > 0;) {
		struct ab_step_now now = { .host = site->steps.v[i].staged };

		if (ab_step_undo(site, i, &now, false) < 0)
			return fail_step(site, i, errno, "cannot take back the apply of", err);
	}
	know_restored(site);
	if (sync_restored(site) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "cannot write the files to the disk");
	return drop_journal(site, "next", err);
}

static int do_step(struct ab_site *site, const void *fresh, size_t i)
{
	return ab_step_do(site, i, *(const bool *)fresh);
}

/* -1 with errno: step *ret_at failed. */
static int do_steps(struct ab_site *site, bool fresh, const struct ab_progress *progress,
		    size_t *ret_at)
{
	if (ab_steps_each(site, do_step, &fresh, progress, ret_at) < 0)
		return -1;
	for (size_t i = ab_steps_placing(&site->steps); i < site->steps.len; i++) {
		if (ab_step_do(site, i, fresh) < 0) {
			*ret_at = i;
			return -1;
		}
		tell_progress(progress, i + 1, site->steps.len);
	}
	return 0;
}

static int clear_step(struct ab_site *site, const void *arg, size_t i)
{
	(void)arg;
	return ab_step_clear(site, i);
}

/* Are there originals that only have to be there until `done`? */
static bool has_originals(const struct ab_site *site)
{
	return site->steps.far || site->copied;
}

/* Everything is in place. From `done` on nothing is taken back, so it is on the disk before an original
 * is removed. */
static int mark_done(struct ab_site *site)
{
	if (site->copied && syncfs(site->dir) < 0)
		return -1;
	if (ab_undo_mark(site->dir, "done") < 0)
		return -1;
	return has_originals(site) ? fsync(site->dir) : 0;
}

static char *show_temporary(const struct ab_site *site, size_t i)
{
	const char *path = site->steps.v[i].path;
	ab_autofree char *whole = NULL;
	char temp[AB_STEP_NAME];

	ab_step_name(&site->steps, i, temp);
	whole = ab_printf("%.*s%s", (int)(ab_path_name(path) - path), path, temp);
	return ab_escape(whole);
}

static int complete_apply(struct ab_site *site, struct ab_error *err)
{
	size_t at = 0;

	ab_site_known(site, false, NULL);
	if (mark_done(site) < 0) {
		ab_fail(err, AB_ESYSTEM, errno, "cannot complete the journal of the apply");
		return ab_hint(err, "Everything is in place. The next command that uses this layer "
				    "completes the journal.");
	}
	if (has_originals(site) && ab_steps_each(site, clear_step, NULL, NULL, &at) < 0) {
		int errnum = errno;
		ab_autofree char *path = show_temporary(site, at);

		ab_fail(err, AB_ESYSTEM, errnum, "cannot remove %s, which the apply replaced",
			path);
		return ab_hint(err, "Everything is applied. The next command that uses this layer "
				    "tries again to remove it.");
	}
	return retire_journal(site, err);
}

int ab_site_finish(struct ab_site *site, bool fresh, const struct ab_progress *progress,
		   struct ab_error *err)
{
	size_t at;

	if (do_steps(site, fresh, progress, &at) < 0) {
		struct ab_error second = { 0 };

		fail_step(site, at, errno, "cannot apply", err);
		if (ab_undo_mark(site->dir, "back") < 0 || take_back(site, &second) < 0)
			ab_hint(err,
				"The apply is half done: %s.\n"
				"The next command that uses this layer tries again.",
				second.text[0] ? second.text : "the journal is not writable");
		else
			ab_hint(err, "Nothing was applied.");
		return hint_kept(site, err);
	}
	return complete_apply(site, err);
}

int ab_site_drop_staged(struct ab_site *site, struct ab_error *err)
{
	for (size_t i = 0; i < site->steps.len; i++)
		if (ab_step_unstage(site, i) < 0)
			return fail_step(site, i, errno, "cannot remove the copy of", err);
	return drop_journal(site, "next", err);
}

/* ---- undo ---- */

static int save_now(struct ab_site *site, const struct ab_step_now *now)
{
	ab_autobuf struct ab_buf b = { 0 };

	for (size_t i = 0; i < site->steps.len; i++) {
		ab_record_put(&b, now[i].skip);
		ab_record_put_identity(&b, &now[i].host);
	}
	return ab_record_file_save(site->dir, "undo", undo_kind, &b);
}

static int load_now(struct ab_site *site, struct ab_step_now **ret)
{
	ab_autofree char *file = NULL;
	ab_autofree struct ab_step_now *now = NULL;
	struct ab_record_reader r;

	if (ab_record_file_load(site->dir, "undo", undo_kind, &file, &r) < 0)
		return -1;
	now = ab_alloc((site->steps.len + 1) * sizeof(now[0]));
	for (size_t i = 0; i < site->steps.len; i++) {
		now[i].skip = ab_record_get(&r);
		ab_record_get_identity(&r, &now[i].host);
	}
	if (r.bad || r.left)
		return ab_errno(EBADMSG);
	*ret = ab_take(now);
	return 0;
}

/* One after the other: the kernel does only one rename between two folders at a time. */
static int undo_steps(struct ab_site *site, const struct ab_step_now *now, bool fresh,
		      const struct ab_progress *progress, struct ab_error *err)
{
	for (size_t i = site->steps.len; i-- > 0;) {
		if (ab_step_undo(site, i, &now[i], fresh) < 0) {
			fail_step(site, i, errno, "cannot take back", err);
			return ab_hint(err, "The undo is half done. The next command that uses "
					    "this layer completes it.");
		}
		tell_progress(progress, site->steps.len - i, site->steps.len);
	}
	ab_site_known(site, true, now);
	if (sync_restored(site) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "cannot write the files to the disk");
	if (ab_site_excuse(site, now) < 0)
		return ab_fail(err, AB_ESYSTEM, errno,
			       "cannot write the journal of an earlier apply");
	if (drop_journal(site, "last", err) < 0)
		return -1;
	if (ab_undo_pop(site->undo) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "cannot remove the journal of the apply");
	return 0;
}

int ab_site_undo(struct ab_site *site, const struct ab_step_now *now,
		 const struct ab_progress *progress, struct ab_strv *notes, struct ab_error *err)
{
	if (save_now(site, now) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "cannot write the journal");
	if (undo_steps(site, now, true, progress, err) < 0)
		return hint_kept(site, err);
	tell_kept(site, notes);
	return 0;
}

/* ---- recovery ---- */

int ab_site_fail_unread(const struct ab_layer_set *set, const char *name, struct ab_error *err)
{
	bool next = name[0] == 'n';

	if (errno != EBADMSG)
		return ab_fail(err, AB_ESYSTEM, errno, "cannot read the journal %s/undo/%s",
			       set->path, name);
	ab_fail(err, AB_EREFUSED, 0,
		"the journal %s/undo/%s is damaged, or another version of agentbox wrote it",
		set->path, name);
	return ab_hint(err,
		       "It is of an apply that %s; nothing was changed or removed.\n"
		       "The version that wrote it %s: agentbox undo %s\n"
		       "What the apply replaced is in \"old\" there%s.\n"
		       "To remove the layer with these files: agentbox layers rm --yes %s",
		       next ? "was interrupted" : "can be taken back",
		       next ? "completes it or takes it back" : "takes it back", set->key,
		       next ? ", or beside its place as .agentbox-*" : "", set->key);
}

/* Nothing of the apply can be found again. */
static int fail_gone(const struct ab_layer_set *set, struct ab_error *err)
{
	ab_fail(err, AB_EREFUSED, 0,
		"an apply was interrupted, and its folder has been replaced or removed since");
	err->errnum = ENODEV;
	return ab_hint(err,
		       "Remove the layer, with the files that the apply has replaced: agentbox "
		       "layers rm --yes %s",
		       set->key);
}

/* The journal may belong to either of the two layers. */
static int open_journal(const struct ab_layer_set *set, const char *name, struct ab_steps *steps,
			struct ab_site *site, struct ab_error *err)
{
	struct ab_look root;

	if (ab_site_open(site, set, steps->home, err) < 0)
		return ab_layer_root_gone(set, steps->home) || err->errnum == ENOTDIR
			       ? fail_gone(set, err)
			       : -1;
	site->steps = *steps;
	*steps = (struct ab_steps){ 0 };
	if (ab_site_enter(site, name) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "cannot open the journal of the apply");
	if (ab_look_at(site->root, "", &root) < 0 || root.id.ino != site->steps.root.ino ||
	    root.id.dev != site->steps.root.dev)
		return fail_gone(set, err);
	return 0;
}

static bool is_intact(struct ab_site *site)
{
	for (size_t i = 0; i < site->steps.len; i++)
		if (!ab_step_intact(site, i))
			return false;
	return true;
}

static int claim_again(struct ab_site *site, const struct ab_layer_set *set,
		       struct ab_host_guard *guard, struct ab_error *err)
{
	if (ab_site_claim(site, set, guard, err) == 0)
		return 0;
	return ab_wrap(err, "an apply was interrupted and cannot be completed now");
}

static bool has_leftovers(struct ab_site *site)
{
	for (size_t i = 0; i < site->steps.len; i++)
		if (ab_step_left(site, i) != 0)
			return true;
	return false;
}

/* What still cannot be removed is named and left: the undo folder has a copy. */
static int recover_done(struct ab_site *site, const struct ab_layer_set *set,
			struct ab_host_guard *guard, struct ab_strv *notes, struct ab_error *err)
{
	if (has_leftovers(site)) {
		if (claim_again(site, set, guard, err) < 0)
			return -1;
		for (size_t i = 0; i < site->steps.len; i++) {
			ab_autofree char *path = NULL;
			int errnum;

			if (ab_step_clear(site, i) == 0)
				continue;
			errnum = errno;
			path = show_temporary(site, i);
			ab_strv_addf(notes, "cannot remove %s, which an apply replaced: %s", path,
				     strerror(errnum));
		}
	}
	return retire_journal(site, err);
}

static int recover_next(struct ab_site *site, const struct ab_layer_set *set,
			struct ab_host_guard *guard, struct ab_strv *notes, struct ab_error *err)
{
	if (site->done)
		return recover_done(site, set, guard, notes, err);
	if (claim_again(site, set, guard, err) < 0)
		return -1;
	if (ab_steps_load_ready(site->dir, &site->steps) < 0) {
		if (errno != ENOENT)
			return ab_site_fail_unread(set, "next", err);
		if (ab_site_drop_staged(site, err) < 0)
			return -1;
		ab_strv_add(notes, "an interrupted apply was taken back");
		return 0;
	}
	if (!has_mark(site, "back") && !is_intact(site) && ab_undo_mark(site->dir, "back") < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "cannot write the journal");
	if (has_mark(site, "back")) {
		if (take_back(site, err) < 0)
			return hint_kept(site, err);
		ab_strv_add(notes, "an interrupted apply was taken back");
		tell_kept(site, notes);
		return 0;
	}
	if (ab_site_finish(site, false, NULL, err) < 0)
		return -1;
	ab_strv_add(notes, "an interrupted apply was completed");
	return 0;
}

static int recover_last(struct ab_site *site, const struct ab_layer_set *set,
			struct ab_host_guard *guard, struct ab_strv *notes, struct ab_error *err)
{
	ab_autofree struct ab_step_now *now = NULL;

	if (claim_again(site, set, guard, err) < 0)
		return -1;
	if (ab_steps_load_ready(site->dir, &site->steps) < 0 || load_now(site, &now) < 0)
		return ab_site_fail_unread(set, "last", err);
	if (undo_steps(site, now, false, NULL, err) < 0)
		return hint_kept(site, err);
	ab_strv_add(notes, "an interrupted undo was completed");
	tell_kept(site, notes);
	return 0;
}

static int recover_journal(const struct ab_layer_set *set, int undo, const char *name,
			   struct ab_host_guard *guard, struct ab_strv *notes, struct ab_error *err)
{
	ab_autosite struct ab_site site = AB_SITE_NONE;
	ab_autoclose int dir = ab_open_same_mount(undo, name, O_RDONLY | O_DIRECTORY);
	bool next = name[0] == 'n';
	struct ab_steps steps;
	int rc;

	if (dir < 0)
		return errno == ENOENT ? 0
				       : ab_fail(err, AB_ESYSTEM, errno, "cannot open the journal");
	if (!next && faccessat(dir, "undo", F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	if (ab_steps_load(dir, &steps) < 0) {
		/* Without a plan nothing was staged. */
		if (next && errno == ENOENT)
			return ab_remove_object(undo, name) < 0
				       ? ab_fail(err, AB_ESYSTEM, errno, "cannot remove a journal")
				       : 0;
		return ab_site_fail_unread(set, name, err);
	}
	rc = open_journal(set, name, &steps, &site, err);
	ab_steps_fini(&steps);
	if (rc < 0)
		return -1;
	return next ? recover_next(&site, set, guard, notes, err)
		    : recover_last(&site, set, guard, notes, err);
}

int ab_layer_recover(const struct ab_layer_set *set, struct ab_host_guard *guard,
		     struct ab_strv *notes, struct ab_error *err)
{
	ab_autoclose int undo = ab_layer_set_open(set, "undo", O_RDONLY | O_DIRECTORY);

	if (undo < 0)
		return errno == ENOENT ? 0
				       : ab_fail(err, AB_ESYSTEM, errno,
						 "cannot open the undo folder of %s", set->key);
	if (recover_journal(set, undo, "next", guard, notes, err) < 0 ||
	    recover_journal(set, undo, "last", guard, notes, err) < 0)
		return -1;
	if (ab_undo_pop(undo) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "cannot open the undo folder of %s",
			       set->key);
	/* "copy": of a discard that was killed. */
	(void)ab_remove_object(undo, "gone");
	(void)ab_remove_object(undo, "copy");
	return 0;
}
