/* May a run read or write this path? The mount plan of a run decides, and the words are those of the
 * record of a denial (guard/notify/trace.h). */
#include "guard/notify/trace.h"
#include "policy/model/policy.h"
#include "policy/show/summary.h"
#include "shell/syntax/quote.h"
#include "steer/preview/preview.h"
#include "steer/why/why_policy.h"
#include "steer/why/why_text.h"
#include "workspace/tree/glob.h"
#include "workspace/tree/names.h"

struct question {
	const struct ab_preview *p;
	struct ab_arena *arena;
	struct ab_trace_terms terms;
	const char *path;
	char *real; /* without links, as far as it exists */
	char *safe; /* the path, escaped */
	const struct ab_mount *mount;
};

/* Its real path; what does not exist is added to the real path of the rest. */
static char *find_real(const char *path)
{
	ab_autofree char *parent = NULL, *above = NULL;
	char *real = realpath(path, NULL);

	if (real || !path[1])
		return real ? real : ab_strdup(path);
	parent = ab_path_parent(path);
	above = find_real(parent);
	return ab_path_join(above, ab_path_name(path));
}

/* The last entry of denyRead that hides this object, found as a run finds it. */
static const char *find_hiding(const struct ab_policy *policy, const char *object)
{
	const struct ab_strv *list = &policy->fs.deny_read;

	for (size_t i = list->len; i-- > 0;) {
		const struct ab_strv one = { .v = &list->v[i], .len = 1 };
		struct ab_guard *found = NULL;
		struct ab_error err = { 0 };
		bool hides = false;
		size_t n = 0;

		if (list->v[i][0] == '!' || ab_expand_deny(&one, &found, &n, &err) < 0)
			continue;
		for (size_t k = 0; k < n; k++)
			hides |= strcmp(found[k].path, object) == 0;
		ab_guards_free(found, n);
		if (hides)
			return list->v[i];
	}
	return NULL;
}

/* Does a name of several components match the beginning of a path below its folder? */
static bool matches_name(const char *name, const char *below)
{
	while (*below) {
		size_t len = strcspn(below, "/");
		ab_autofree char *entry = ab_strndup(below, len);

		if (!ab_name_starts(name, entry, &name))
			return false;
		if (!*name)
			return true;
		below += len + (below[len] == '/');
	}
	return false;
}

/* A protected name that does not exist yet; the entry, or NULL. */
static const char *find_watched(const struct question *q)
{
	const struct ab_survey *s = &q->p->host.survey;

	for (size_t i = 0; i < s->nwatch; i++) {
		const struct ab_watch *w = &s->watch[i];
		size_t n = strlen(w->dir);

		if (!ab_path_within(q->real, w->dir) || !q->real[n])
			continue;
		for (size_t k = 0; k < w->names.len; k++)
			if (w->names.v[k][0] != '!' &&
			    matches_name(w->names.v[k], q->real + n + (n > 1)))
				return w->names.v[k];
	}
	return NULL;
}

static void set_entry(const struct question *q, struct ab_why_answer *a, enum ab_key_id id,
		      const char *entry)
{
	if (!entry)
		return;
	a->entry = ab_strdup(entry);
	a->from = ab_item_origin(ab_policy_find_item(q->p->policy, id, entry));
}

/* The writable root, as the policy names it. */
static const char *find_root(const struct question *q)
{
	const struct ab_strv *roots = &q->p->policy->fs.write;
	const char *best = NULL;

	for (size_t i = 0; i < roots->len; i++) {
		ab_autofree char *real = realpath(roots->v[i], NULL);

		if (real && ab_path_within(q->real, real) &&
		    (!best || strlen(roots->v[i]) > strlen(best)))
			best = roots->v[i];
	}
	return best;
}

/* Folders of the home folder that are looked for because of something that works in another way. */
static void advise_instead(const struct question *q, struct ab_why_answer *a)
{
	static const struct {
		const char *folder, *advice;
	} ways[] = {
		{ ".gnupg",
		  "Keys of gpg are not lent to a box. To sign commits, use a key of your ssh agent: "
		  "\"ssh\": { \"sign\": [\"git\"] } in your settings, and git config gpg.format ssh." },
	};

	for (size_t i = 0; i < AB_COUNT(ways) && !a->advice; i++) {
		ab_autofree char *folder = ab_path_join(q->p->policy->home, ways[i].folder);

		if (ab_path_within(q->path, folder))
			a->advice = ab_strdup(ways[i].advice);
	}
}

static void set_denied(const struct question *q, struct ab_why_answer *a, const char *access,
		       const struct ab_denied *d)
{
	enum ab_key_id id = AB_KEY_COUNT;
	ab_autobuf struct ab_buf word = { 0 };
	bool hidden = strcmp(d->rule, "filesystem.denyRead") == 0;
	const char *entry = NULL;

	a->text = ab_printf("%s cannot be %s: %s.", q->safe, access, d->reason);
	a->rule = d->rule;
	if (hidden) {
		id = AB_KEY_DENY_READ;
		entry = q->mount ? find_hiding(q->p->policy, q->mount->path) : NULL;
	} else if (strcmp(d->rule, "filesystem.denyWrite") == 0) {
		id = AB_KEY_DENY_WRITE;
		entry = ab_trace_entry(q->p->policy, q->mount && q->mount->op == AB_MOUNT_CLOSE
							     ? q->mount->path
							     : q->real);
	}
	set_entry(q, a, id, entry);
	advise_instead(q, a);
	if (!d->hint[0])
		return;
	ab_why_add_way(&a->how, "in one run", "%s", d->hint);
	if (strcmp(d->rule, "filesystem.write") == 0) {
		ab_quote(&word, q->path);
		ab_why_add_way(&a->how, "always", "agentbox allow %s --always", word.data);
	}
}

static void answer_read(const struct question *q, struct ab_why_answer *a)
{
	const struct ab_mount *m = q->mount;
	struct ab_denied d;

	a->subject = ab_strdup("read");
	if (m && m->op == AB_MOUNT_MASK &&
	    ab_trace_mask(q->arena, &q->terms, q->real, "read", &d)) {
		set_denied(q, a, "read", &d);
	} else if (m && m->op == AB_MOUNT_MASK) {
		a->rule = "filesystem.unix";
		a->text = ab_printf("%s is a socket of the host, and hidden.", q->safe);
	} else if (ab_path_within_any(q->real, &q->p->host.missing)) {
		a->rule = "filesystem.denyRead";
		a->text = m && m->op == AB_MOUNT_LAYER
				  ? ab_printf("%s does not exist; if it did, it would be hidden.",
					      q->safe)
				  : ab_printf("%s does not exist, and a run can neither create nor "
					      "read it.",
					      q->safe);
	} else if (m && m->op == AB_MOUNT_PRIVATE && !m->path[1]) {
		a->rule = "filesystem.read";
		a->text = ab_printf("%s is not visible: filesystem.read does not include it.",
				    q->safe);
	} else if (m && m->op == AB_MOUNT_PRIVATE) {
		ab_autofree char *folder = ab_escape(m->path);

		a->text = ab_printf("%s is not visible: a run has an empty %s of its own.", q->safe,
				    folder);
	} else {
		a->access = "allow";
		a->text = ab_printf("%s can be read%s.", q->safe,
				    access(q->path, F_OK) < 0 ? ", once it exists" : "");
	}
}

static const char *describe_layer(const struct question *q)
{
	const struct ab_preview *p = q->p;

	if (p->host.survey.reviewed && ab_path_within(q->real, p->host.survey.reviewed))
		return "changes wait until you apply them";
	return p->policy->fs.home == AB_HOME_KEPT
		       ? "writes go to a layer that is kept, not to your file"
		       : "writes go to a layer that is gone after the run, not to your file";
}

static void answer_write(const struct question *q, struct ab_why_answer *a)
{
	enum ab_mount_op op = q->mount ? q->mount->op : AB_MOUNT_SHOW;
	struct ab_denied d = { .reason = "a folder of the system", .rule = "", .hint = "" };

	a->subject = ab_strdup("write");
	if ((op == AB_MOUNT_WRITE || op == AB_MOUNT_PIN) && find_watched(q)) {
		ab_trace_protected(q->arena, &q->terms, q->real, &d);
		set_denied(q, a, "created", &d);
	} else if (op == AB_MOUNT_WRITE || op == AB_MOUNT_PIN) {
		a->access = "allow";
		a->text = ab_printf("%s can be written.", q->safe);
		a->rule = "filesystem.write";
		set_entry(q, a, AB_KEY_WRITE, find_root(q));
	} else if (op == AB_MOUNT_LAYER) {
		a->access = "allow";
		a->text = ab_printf("%s can be written: %s.", q->safe, describe_layer(q));
	} else if (op == AB_MOUNT_PRIVATE && q->mount->path[1]) {
		a->access = "allow";
		a->text = ab_printf("%s can be written in the run's own folder, which is gone "
				    "after the run.",
				    q->safe);
	} else {
		(void)ab_trace_write(q->arena, &q->terms, q->real, false, &d);
		set_denied(q, a, "written", &d);
	}
}

void ab_why_answer_path(const struct ab_preview *p, const char *path, bool read, bool write,
			struct ab_why_answers *ret)
{
	struct ab_arena arena = { 0 };
	struct question q = { .p = p,
			      .arena = &arena,
			      .terms = { .policy = p->policy,
					 .plan = &p->plan,
					 .sockets = &p->host.sockets,
					 .state = p->state,
					 .home = p->host.home ? p->host.home : p->policy->home,
					 .uid = geteuid() },
			      .path = path,
			      .real = find_real(path),
			      .safe = ab_escape(path) };

	q.mount = ab_plan_find(&p->plan, q.real);
	if (read)
		answer_read(&q, ab_why_answer_add(ret));
	if (write)
		answer_write(&q, ab_why_answer_add(ret));
	ab_free_all(q.real, q.safe);
	ab_arena_fini(&arena);
}
