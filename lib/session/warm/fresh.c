/*
 * Theory of operation.
 *
 * The same specification means the same box, if every file that a mount or a rule of Landlock is about
 * is still the same file: a mount moves with the name below it if the host renames it, and a file with
 * the same name would be open then. A number of an inode can be used again, so the time of birth
 * belongs to the identity (of a file system that has none, the time of the last change). A link to the
 * same file can take the place of the name: while there are two, their number tells it, or the time of
 * the last change if there always were; without the old one its mount has ended.
 *
 * A mount ends if the host removes or replaces the name below it, whatever has this name now; and a
 * file system that the host has mounted or unmounted since is not what the box has there. So neither
 * the mounts of the box nor those of the host may have changed: a descriptor of "mountinfo" tells it.
 */
#include "session/warm/fresh.h"

#include "broker/broker.h"
#include "host/home/home_mounts.h"
#include "policy/layers/compare.h"
#include "workspace/quarantine/journal.h"

static const char changed[] = "what it protects, hides or may write has changed";

/* ---- the specification ---- */

static void add_text(struct ab_buf *b, const char *text)
{
	ab_buf_add(b, text ? text : "", strlen(text ? text : "") + 1);
}

static void add_list(struct ab_buf *b, const struct ab_strv *list)
{
	for (size_t i = 0; i < list->len; i++)
		add_text(b, list->v[i]);
	add_text(b, NULL);
}

/* Of the workspace everything counts but the times: files that are not protected may come and go. */
static void add_survey(struct ab_buf *b, const struct ab_survey *survey)
{
	struct ab_survey timeless = *survey; /* borrowed */
	ab_autofree char *journal = NULL;

	timeless.started = (struct timespec){ 0 };
	journal = ab_journal_write(&timeless);
	add_text(b, journal);
	for (size_t i = 0; i < survey->nproject; i++)
		add_text(b, survey->project[i].path);
}

/* Without what is known only after the launch, or is the command's. Its environment follows from the
 * settings, that of the caller, and `variables`; our own namespaces stay what they are. */
static int write_spec(const struct ab_prepared *p, struct ab_buf *ret, struct ab_error *err)
{
	struct ab_spec box = p->spec; /* borrowed */

	box.env = (struct ab_strv){ 0 };
	/* Those in reach are masks of the plan; the others are in folders that the box does not see. */
	box.sockets = (struct ab_strv){ 0 };
	memset(box.host_ns, 0, sizeof(box.host_ns));
	box.run_id = NULL;
	box.started_ns = 0;
	box.waits = box.memory_cgroup = box.pids_cgroup = box.uncounted = box.count_processes =
		false;
	if (ab_spec_write(&box, ret, err) < 0)
		return ab_step(err, "specification");
	add_text(ret, p->state.path);
	add_text(ret, p->host.home);
	add_text(ret, p->engine.socket);
	add_text(ret, p->agent.socket);
	add_list(ret, &p->host.open_sockets);
	add_list(ret, &p->host.missing);
	add_list(ret, &p->host.copied);
	add_list(ret, &p->host.variables);
	add_list(ret, &p->host.notes);
	add_list(ret, &p->host.survey.findings);
	add_survey(ret, &p->host.survey);
	return 0;
}

static bool is_same(const struct ab_buf *a, const struct ab_buf *b)
{
	return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

/* ---- the files ---- */

static void add_identity(struct ab_buf *b, const char *path)
{
	const unsigned wanted = STATX_INO | STATX_TYPE | STATX_NLINK | STATX_CTIME | STATX_BTIME;
	struct statx st = { 0 };
	bool found = statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, wanted, &st) == 0;
	bool birth = st.stx_mask & STATX_BTIME;
	uint64_t links = S_ISDIR(st.stx_mode) ? 1 : st.stx_nlink;
	const struct statx_timestamp *time = birth && links == 1 ? &st.stx_btime : &st.stx_ctime;
	const uint64_t identity[] = {
		found, st.stx_dev_major,       st.stx_dev_minor, st.stx_ino, st.stx_mode & S_IFMT,
		links, (uint64_t)time->tv_sec, time->tv_nsec
	};

	ab_buf_add(b, (const char *)identity, sizeof(identity));
}

/* Is it shown without a look, because that could take forever (host/home/home_mounts.h)? What is mounted says
 * which one it is. */
static bool is_served(const struct ab_prepared *p, const struct ab_mount *m)
{
	const char *mount = p->host.home && m->op == AB_MOUNT_SHOW
				    ? ab_home_mounts_served(&p->host.mounts, p->host.home, m->path)
				    : NULL;

	return mount && strcmp(mount, m->path) == 0;
}

/* Most rules are about a folder that the plan has, too. The process that waits is in its folder. */
static void add_identities(struct ab_buf *b, const struct ab_prepared *p)
{
	const struct ab_spec *spec = &p->spec;

	add_identity(b, spec->cwd);
	for (size_t i = 0; i < spec->plan.len; i++)
		if (!is_served(p, &spec->plan.v[i]))
			add_identity(b, spec->plan.v[i].path);
	for (size_t i = 0; i < spec->nfiles; i++)
		if (!ab_plan_at(&spec->plan, spec->files[i].path))
			add_identity(b, spec->files[i].path);
	for (size_t i = 0; i < spec->nrules; i++)
		if (!ab_plan_at(&spec->plan, spec->rules[i].path))
			add_identity(b, spec->rules[i].path);
}

static bool have_mounts_changed(const struct ab_fresh *f)
{
	struct pollfd p[] = { { .fd = f->mounts[0], .events = POLLPRI },
			      { .fd = f->mounts[1], .events = POLLPRI } };

	return poll(p, AB_COUNT(p), 0) != 0;
}

/* ---- */

int ab_fresh_begin(struct ab_fresh *f, const struct ab_request *request, struct ab_prepared *box,
		   struct ab_error *err)
{
	f->quiet = *request;
	f->quiet.verbose = 0;
	f->box = box;
	f->result = (struct ab_copy)AB_COPY_NONE;
	ab_prepared_init(&f->now);
	f->mounts[0] = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	if (f->mounts[0] < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "open /proc/self/mountinfo");
	if (ab_hidden_names_find(&box->policy->fs.deny_read, &f->denied, err) < 0)
		return -1;
	box->denied = &f->denied;
	return 0;
}

int ab_fresh_note(struct ab_fresh *f, struct ab_error *err)
{
	if (write_spec(f->box, &f->spec, err) < 0)
		return -1;
	add_identities(&f->files, f->box);
	return 0;
}

void ab_fresh_fini(struct ab_fresh *f)
{
	ab_close_all(&f->mounts[0], &f->mounts[1]);
	ab_hidden_names_fini(&f->denied);
	ab_buf_fini_all(&f->spec, &f->files);
}

const char *ab_fresh_ours(const struct ab_fresh *f, const struct ab_prepared *now)
{
	ab_autobuf struct ab_buf files = { 0 };

	if (now->nested != f->box->nested || !ab_policy_same(now->policy, f->box->policy))
		return "the settings are others now";
	if (!ab_hidden_names_stand(&f->denied, &f->box->policy->fs.deny_read))
		return changed;
	add_identities(&files, f->box);
	if (!is_same(&files, &f->files))
		return changed;
	if (have_mounts_changed(f))
		return "file systems were mounted or unmounted";
	return NULL;
}

void ab_fresh_forget_theirs(void *arg)
{
	struct ab_prepared *now = &((struct ab_fresh *)arg)->now;

	/* These are the box's. */
	now->policy = NULL;
	now->state = (struct ab_state){ .root = -1, .live = -1, .runs = -1 };
	ab_prepared_fini(now);
}

const char *ab_fresh_theirs(void *arg, struct ab_broker_view *ret)
{
	static struct ab_error err;
	struct ab_fresh *f = arg;
	struct ab_prepared *now = &f->now;
	ab_autobuf struct ab_buf spec = { 0 };

	ab_prepared_init(now);
	err = (struct ab_error){ 0 };
	now->policy = f->box->policy;
	now->state = f->box->state; /* it is among the files that the supervisor looks at */
	now->denied = &f->denied;
	now->again = true;
	now->result = &f->result;
	if (ab_state_check(&now->state, &err) < 0 || ab_prepare_spec(&f->quiet, now, &err) < 0)
		return err.text;
	if (write_spec(now, &spec, &err) < 0)
		return err.text;
	if (!is_same(&spec, &f->spec))
		return changed;
	*ret = (struct ab_broker_view){ .survey = &now->host.survey, .claims = now->claims };
	return NULL;
}
