#include "session/run/prepare.h"

#include <sys/sysmacros.h>

#include "agents/agents.h"
#include "base/process/own_program.h"
#include "base/text/units.h"
#include "consent/request.h"
#include "export/exporter.h"
#include "guard/engine/tmp_folder.h"
#include "host/etc_files.h"
#include "host/git_ssh.h"
#include "host/home/home.h"
#include "host/home/home_registries.h"
#include "host/unix_sockets.h"
#include "hosttools/tool_box.h"
#include "landlock/landlock.h"
#include "layer/journal/view.h"
#include "policy/layers/environment.h"
#include "policy/model/policy.h"
#include "policy/values/paths.h"
#include "sandbox/mount/furniture.h"
#include "sandbox/mount/stdio_view.h"
#include "sandbox/plan/engine.h"
#include "sandbox/plan/landlock_rules.h"
#include "sandbox/start/launch.h"
#include "secrets/uncovered.h"
#include "session/review/review_layer.h"
#include "session/run/caller.h"
#include "state/shared_modes.h"

/* The write fence is tested wherever the plan leaves the read-only root as it is. */
static void choose_unwritable(struct ab_prepared *p)
{
	ab_autofree char *above = ab_path_parent(p->spec.cwd);
	const char *home = p->host.home ? p->host.home : p->policy->home;
	const char *const tries[] = { "/", home, above };

	for (size_t i = 0; i < AB_COUNT(tries); i++)
		if (tries[i] && !ab_plan_find(&p->spec.plan, tries[i]))
			ab_strv_add(&p->spec.unwritable, tries[i]);
}

/* The owner of a device could change the mode of its node. The devices of every box are replaced by
 * the box's own nodes, and a terminal by the box's own. */
static int check_device(int fd, const struct stat *st, struct ab_error *err)
{
	char buf[32];

	if ((!S_ISCHR(st->st_mode) && !S_ISBLK(st->st_mode)) || st->st_uid != geteuid() ||
	    (S_ISCHR(st->st_mode) && ab_stdio_view_device(st->st_rdev)) || isatty(fd))
		return 0;
	ab_fail(err, AB_EUSAGE, 0,
		"%s is a device of yours (%u:%u): the command could change its mode on the host",
		ab_name_fd(fd, buf), major(st->st_rdev), minor(st->st_rdev));
	return ab_hint(err, "pass its data through a pipe: cat DEVICE | agentbox run ..., or "
			    "agentbox run ... | cat >DEVICE");
}

/* A descriptor of the caller bypasses the mounts: everything below a folder could be opened through
 * it, and a protected file that is open for reading could be reopened for writing. */
static int check_fd(const struct ab_prepared *p, int fd, struct ab_error *err)
{
	ab_autofree char *path = NULL;
	char buf[32];
	const struct ab_mount *m;
	struct stat st;

	if (fstat(fd, &st) < 0) {
		if (fd < 3)
			return 0; /* closed by the caller: fine */
		return ab_fail(err, AB_EUSAGE, errno, "--fd %d", fd);
	}
	if (S_ISDIR(st.st_mode)) {
		ab_fail(err, AB_EUSAGE, 0, "%s is a folder", ab_name_fd(fd, buf));
		return ab_hint(err, "the command could open hidden files through it; pass the "
				    "folder with --write instead");
	}
	if (fd < 3 && check_device(fd, &st, err) < 0)
		return -1;
	if (!S_ISREG(st.st_mode) || (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY)
		return 0;
	path = ab_fd_path(fd);
	m = path ? ab_plan_find(&p->spec.plan, path) : NULL;
	if (!m || m->op != AB_MOUNT_CLOSE)
		return 0;
	ab_fail(err, AB_EUSAGE, 0, "%s is the protected file %s", ab_name_fd(fd, buf), path);
	return ab_hint(err,
		       "the command could open it again for writing; "
		       "pipe it in instead: cat %s | agentbox run ...",
		       path);
}

static int check_fds(struct ab_prepared *p, const struct ab_request *rq, struct ab_error *err)
{
	for (int fd = 0; fd < 3; fd++)
		if (check_fd(p, fd, err) < 0)
			return -1;
	for (size_t i = 0; i < rq->nfds; i++) {
		if (check_fd(p, rq->fds[i], err) < 0)
			return -1;
		ab_strv_addf(&p->spec.keep_fds, "%d", rq->fds[i]);
	}
	return 0;
}

/* A hidden socket stays hidden even if the policy names it. */
static int check_sockets(const struct ab_prepared *p, struct ab_error *err)
{
	for (size_t i = 0; i < p->host.open_sockets.len; i++) {
		const char *path = p->host.open_sockets.v[i];
		const struct ab_mount *m = ab_plan_find(&p->spec.plan, path);

		if (!m || m->op != AB_MOUNT_MASK)
			continue;
		ab_fail(err, AB_EUSAGE, 0, "cannot allow the socket %s: %s is hidden", path,
			m->path);
		return ab_hint(err, "show it as well: --read %s", m->path);
	}
	return 0;
}

/* A private folder is there, and what the host has below it is not. `m`: the deepest mount above it. */
static bool sees_folder(const struct ab_prepared *p, const struct ab_mount *m, const char *folder)
{
	if (!m)
		return !p->spec.hidden_root;
	return m->op != AB_MOUNT_MASK &&
	       (m->op != AB_MOUNT_PRIVATE || strcmp(m->path, folder) == 0);
}

int ab_prepare_cwd(const struct ab_request *rq, struct ab_prepared *p, struct ab_error *err)
{
	char cwd[PATH_MAX];
	const struct ab_mount *m;
	struct stat st;

	if (rq->start)
		snprintf(cwd, sizeof(cwd), "%s", rq->start);
	else if (!getcwd(cwd, sizeof(cwd)))
		return ab_fail(err, AB_ESYSTEM, errno, "find the current folder");
	m = ab_plan_find(&p->spec.plan, cwd);
	if (rq->start && !sees_folder(p, m, cwd)) {
		ab_fail(err, AB_EUSAGE, 0, "cannot start in %s: the box does not see this folder",
			cwd);
		return ab_hint(err, "show it with --read, or start in another folder");
	}
	/* Hidden by a private folder: start in the workspace, or else in the private folder. */
	if (m && m->op == AB_MOUNT_PRIVATE && strcmp(m->path, cwd) != 0) {
		const char *ws = p->policy->workspace;
		const struct ab_mount *w = *ws ? ab_plan_find(&p->spec.plan, ws) : NULL;

		snprintf(cwd, sizeof(cwd), "%s", w && w->op != AB_MOUNT_PRIVATE ? ws : m->path);
	}
	free(p->spec.cwd);
	p->spec.cwd = ab_strdup(cwd);
	if (rq->tool_of && stat(".", &st) == 0)
		p->spec.cwd_ino = st.st_ino;
	return 0;
}

/* In a box the variables hold the outer run's placeholders. */
static void pass_placeholders(struct ab_prepared *p, const struct ab_request *rq)
{
	for (size_t i = 0; i < p->policy->secrets.len; i++) {
		const struct ab_strv *names = &p->policy->secrets.v[i].names;

		for (size_t k = 0; k < names->len; k++) {
			const char *value = ab_environ_get(rq->policy.environ, names->v[k]);

			if (value)
				ab_env_set(&p->spec.env, names->v[k], value);
		}
	}
}

static void note_environment(struct ab_prepared *p, const struct ab_environment_report *report)
{
	ab_autobuf struct ab_buf list = { 0 };

	for (size_t i = 0; i < report->stripped.len; i++) {
		ab_buf_puts(&list, i ? ", " : "");
		ab_buf_escape(&list, report->stripped.v[i]);
	}
	if (list.len)
		ab_strv_addf(&p->details,
			     "variables that are not passed to the box (--pass-env NAME passes "
			     "one): %s",
			     list.data);
	for (size_t i = 0; i < report->cleaned.len; i++)
		ab_strv_addf(&p->details,
			     "%s is passed without the user and password in its URL (--pass-env %s "
			     "passes it whole)",
			     report->cleaned.v[i], report->cleaned.v[i]);
}

/* An agent in its own profile gets the words that switch off its own sandbox, which could not start
 * in the box. */
void ab_prepare_argv(const struct ab_request *rq, struct ab_prepared *p)
{
	const struct ab_agent *agent = ab_agent_of_program(rq->argv[0]);
	const char *profile = p->policy->fs.home_profile;
	const char *const *words = NULL;
	size_t n = 0;

	if (agent && profile && !p->nested && strcmp(agent->name, profile) == 0)
		n = ab_agent_words(agent, rq->argv, rq->argc, &words);
	ab_strv_fini(&p->spec.argv);
	ab_strv_add(&p->spec.argv, rq->argv[0]);
	for (size_t i = 0; i < n; i++)
		ab_strv_add(&p->spec.argv, words[i]);
	for (size_t i = 1; i < rq->argc; i++)
		ab_strv_add(&p->spec.argv, rq->argv[i]);
	if (n)
		ab_strv_addf(&p->details,
			     "%s is started with %s %s: its own sandbox cannot start "
			     "in the box",
			     agent->name, words[0], words[1]);
}

static void fill_spec(struct ab_prepared *p, const struct ab_request *rq)
{
	struct ab_spec *spec = &p->spec;
	const struct ab_policy *policy = p->policy;
	struct ab_environment_report report = { 0 };

	spec->hidden_root = p->host.hidden_root;
	spec->no_namespaces = p->no_namespaces;
	spec->own_net = policy->net.mode != AB_NET_ALLOWED;
	spec->door = policy->net.mode == AB_NET_FILTERED;
	spec->landlock_abi = ab_landlock_abi();
	if (spec->landlock_abi > AB_LL_NEWEST)
		spec->landlock_abi = AB_LL_NEWEST;
	spec->limits = (struct ab_limits){
		.memory = policy->limits.memory,
		.processes = policy->limits.processes,
		.files = policy->limits.files,
		.cpu_ms = policy->limits.cpu_ms,
		.file_size = policy->limits.file_size,
	};
	spec->require = policy->assurance.require;
	if (p->no_namespaces)
		spec->require &=
			~ab_box_engine_reports(AB_ENGINE_NO_NAMESPACES) | policy->assurance.firm;
	spec->strict = policy->assurance.fallback == AB_FALLBACK_STRICT;
	spec->protected_complete = p->host.survey.complete;
	spec->readable = p->host.readable ? ab_strdup(p->host.readable) : NULL;
	if (spec->readable)
		spec->require &= ~AB_PROP_BIT(AB_PROP_READ_DENY) | policy->assurance.firm;
	spec->children = !p->nested && policy->commands.enforce == AB_ENFORCE_CHILDREN;
	spec->connects = !p->nested && spec->landlock_abi < 9;
	spec->datagrams = policy->fs.unix_datagrams == AB_DATAGRAMS_ALLOW ||
			  ab_unix_sockets_have_datagrams(&p->host.open_sockets);
	spec->userns = policy->userns;
	spec->traced = !p->nested && !p->no_namespaces && (rq->trace_denials || rq->learn);
	spec->timing = rq->verbose > 1;
	if (!p->again)
		ab_box_namespaces(spec->host_ns);
	ab_prepare_argv(rq, p);
	ab_strv_extend(&spec->sockets, &p->host.sockets);
	ab_safe_guard(&p->safe, &p->host.facts);
	ab_plan_make(&p->host.facts, &spec->plan);
	ab_host_engine_check(&p->engine, &spec->plan, &p->notes);
	ab_plan_take_layers(&spec->plan, &p->host.facts, &spec->layers);
	ab_landlock_rules_make(spec, &p->host.open_sockets);
	ab_safe_find_covered(&p->safe, &report.covered);
	if (!p->again)
		ab_environment_build(policy, ab_safe_environ(&p->safe, &rq->policy), &spec->env,
				     &report);
	ab_env_add_missing(&spec->env, &p->host.variables);
	if (p->tmp)
		ab_tmp_folder_name(p->tmp, &spec->env);
	if (p->engine.socket) {
		ab_host_engine_variables(&spec->env);
		spec->listen = ab_strdup(AB_ENGINE_SOCKET);
	}
	note_environment(p, &report);
	ab_environment_report_fini(&report);
	if (p->nested)
		pass_placeholders(p, rq);
	if (spec->door && !p->nested) {
		ab_etc_fill(spec);
		ab_git_ssh_fill(spec);
	}
}

/* Tell the user about a writable path that a stronger rule overrides. */
static void note_overridden(struct ab_prepared *p)
{
	const struct ab_strv *writable = &p->policy->fs.write;

	for (size_t i = 0; i < writable->len; i++) {
		const struct ab_mount *m = ab_plan_find(&p->spec.plan, writable->v[i]);

		if (m && (m->op == AB_MOUNT_MASK || m->op == AB_MOUNT_CLOSE))
			ab_strv_addf(&p->notes, "%s is not writable: %s is %s", writable->v[i],
				     m->path, m->op == AB_MOUNT_MASK ? "hidden" : "protected");
	}
}

static int open_safe(const struct ab_request *rq, struct ab_prepared *p, struct ab_error *err)
{
	if (!ab_safe_needed(p->policy))
		return 0;
	if (p->nested) {
		ab_strv_add(&p->notes,
			    "inside a box, the secrets and path rules of the outer run apply");
		return 0;
	}
	if (ab_prepare_record(rq, p, err) < 0)
		return -1;
	return ab_safe_open(p->policy, &rq->policy, p->state.root, &p->safe, &p->notes, err);
}

/* What runs on the host before the start has ended here: an approver, and the commands of secrets. So
 * what was looked at before is looked at again. */
int ab_prepare_secrets(const struct ab_request *rq, struct ab_prepared *p, struct ab_error *err)
{
	int r = open_safe(rq, p, err);

	ab_policy_forget_registries(p->policy);
	return r;
}

/* Refuse a run with visible credentials, for --require-covered. */
static int check_covered(const struct ab_prepared *p, const struct ab_request *rq,
			 struct ab_error *err)
{
	ab_autostrv struct ab_strv found = { 0 };
	ab_autofree char *list = NULL;

	if (!rq->require_covered)
		return 0;
	ab_uncovered_find(p->policy, ab_safe_environ(&p->safe, &rq->policy), &p->spec, &found);
	if (found.len == 0)
		return 0;
	list = ab_strv_join(&found, "; ");
	ab_fail(err, AB_EPROPERTY, 0, "credentials would be visible in the box: %s", list);
	ab_hint(err, "hide files with --deny-read, remove variables with env.strip, or run without "
		     "--require-covered");
	return ab_step(err, "secrets");
}

static struct ab_kept_layers_wish wish_layers(struct ab_prepared *p, const struct ab_request *rq)
{
	return (struct ab_kept_layers_wish){ .store = { .root = p->state.root,
							.path = p->state.path },
					     .policy = p->policy,
					     .guard = &p->claim.guard,
					     .name = rq->name,
					     .verbose = rq->verbose > 0 };
}

/* Before the plan: an interrupted apply is completed. A set of a name can have both layers. */
static int take_layers(struct ab_prepared *p, const struct ab_request *rq, struct ab_error *err)
{
	struct ab_kept_layers_wish wish = wish_layers(p, rq);

	if (p->nested)
		return 0;
	return ab_kept_layers_take(&wish, &p->kept, &p->notes, &p->details, err);
}

/* The box sees the host's program in its place (host/facts.c). */
static void note_replaced(struct ab_prepared *p)
{
	ab_autofree char *own = ab_own_program(), *path = NULL;
	const char *home = p->host.home;

	if (!own || !p->kept.upper || !home || !ab_path_within(own, home))
		return;
	path = ab_printf("%s%s", p->kept.upper, own + strlen(home));
	if (faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		ab_strv_add_safe(
			&p->notes,
			"an earlier box has put something else in place of %s in its layer; "
			"boxes get the host's program",
			own);
}

static void look_at_home(struct ab_prepared *p, const struct ab_request *rq)
{
	struct ab_home_setup setup = { .policy = p->policy,
				       .env = rq->policy.environ,
				       .nested = p->nested,
				       .verbose = rq->verbose > 0 };

	setup.no_mounts = p->no_namespaces && p->policy->fs.home == AB_HOME_READONLY;
	setup.upper = p->kept.upper;
	setup.work = p->kept.work;
	setup.points = &p->kept.points;
	setup.below = p->kept.below;
	ab_home_look(&setup, &p->host, &p->notes, &p->details);
	note_replaced(p);
	if (p->kept.home && !ab_layer_mounts_find(&p->host.facts.layers, p->kept.home))
		ab_kept_layers_leave_home(&p->kept, AB_LAYER_STORE(&p->state), p->review);
	ab_home_return_begin(p->policy, p->host.facts.layers.len ? p->host.home : NULL,
			     p->kept.upper ? &p->kept.set : NULL, &p->returns, &p->notes);
}

int ab_prepare_layers(const struct ab_request *rq, struct ab_prepared *p, struct ab_error *err)
{
	struct ab_kept_layers_wish wish = wish_layers(p, rq);

	return ab_kept_layers_begin(&p->kept, &wish, p->spec.run_id, err);
}

static void say_copied(void *arg, uint64_t entries, uint64_t bytes)
{
	const struct ab_request *rq = arg;
	char size[24];
	ab_autofree char *text = ab_printf("copying the workspace for the review: %llu entries, %s",
					   (unsigned long long)entries, ab_round_size(bytes, size));

	rq->say(rq->arg, AB_SAY_NOTE, text);
}

/* Changes of an earlier reviewed run with this name are invisible in a run without review. */
static void note_waiting(struct ab_prepared *p, const struct ab_kept_layers_wish *wish)
{
	ab_autolayerset struct ab_layer_set own = AB_LAYER_SET_NONE;
	const struct ab_layer_set *set = &p->kept.set;
	ab_autofree char *count = NULL;
	struct ab_error err = { 0 };

	if (!wish->name)
		return;
	if (set->dir < 0 || strcmp(set->key, wish->name) != 0) {
		if (ab_layers_open(&wish->store, wish->name, 0, &own, &err) < 0)
			return;
		set = &own;
	}
	if (!ab_layer_set_waiting(set))
		return;
	/* It may not be known how many. */
	if (set->meta.waiting > 0)
		count = ab_printf("%lld ", (long long)set->meta.waiting);
	ab_strv_addf(&p->notes,
		     "%s has %schange%s waiting; without --review this run does not see %s",
		     wish->name, count ? count : "", set->meta.waiting == 1 ? "" : "s",
		     set->meta.waiting == 1 ? "it" : "them");
}

/* No box may start on half an apply. What settling it puts back into the workspace is looked at with
 * the rest. */
static int open_review(const struct ab_request *rq, struct ab_prepared *p, struct ab_error *err)
{
	struct ab_kept_layers_wish wish = wish_layers(p, rq);

	if (p->nested || !ab_survey_reviews(p->policy))
		return 0;
	if (ab_pick_run_id(p, err) < 0 ||
	    ab_kept_layers_review(&p->kept, &wish, p->spec.run_id, &p->review, err) < 0)
		return -1;
	return ab_layer_recover(p->review, &p->claim.guard, &p->notes, err) < 0
		       ? ab_step(err, "layers")
		       : 0;
}

/* The layer above the workspace, if its changes are reviewed. */
static int add_review(const struct ab_request *rq, struct ab_prepared *p, struct ab_error *err)
{
	struct ab_kept_layers_wish wish = wish_layers(p, rq);
	struct ab_review_setup setup = { .workspace = p->host.survey.reviewed,
					 .state = p->state.path,
					 .missing = &p->host.missing,
					 .hidden = &p->safe.hidden,
					 .progress = isatty(STDERR_FILENO) ? say_copied : NULL,
					 .arg = (void *)(uintptr_t)rq };

	if (p->nested)
		return 0;
	if (!p->host.survey.reviewed) {
		p->review = NULL;
		note_waiting(p, &wish);
		return 0;
	}
	return ab_review_layer(&setup, p->review, &p->host.facts, &p->notes, err);
}

static void say_waiting(void *arg, const char *text)
{
	const struct ab_request *rq = arg;

	rq->say(rq->arg, AB_SAY_NOTE, text);
}

/* Before we look at the workspace: what an apply changes there is protected, too. */
static int await_apply(const struct ab_request *rq, struct ab_prepared *p, struct ab_error *err)
{
	ab_autostrv struct ab_strv roots = { 0 };

	if (p->nested)
		return 0;
	ab_strv_extend(&roots, &p->policy->fs.write);
	ab_strv_extend(&roots, &p->policy->fs.share);
	ab_strv_add_once(&roots, p->policy->workspace);
	return ab_claim_wait(&p->state, &roots, say_waiting, (void *)(uintptr_t)rq, &p->claims,
			     err);
}

static int make_tmp(struct ab_prepared *p, struct ab_error *err)
{
	p->tmp = ab_tmp_folder_make(err);
	if (!p->tmp)
		return -1;
	ab_objects_add(&p->host.facts.write, p->tmp, AB_AS_DIR);
	return 0;
}

static int find_engine(struct ab_prepared *p, const struct ab_request *rq, struct ab_error *err)
{
	if (!p->nested)
		return ab_host_engine_find(p->policy, rq->policy.environ,
					   p->host.survey.reviewed != NULL, &p->host.facts,
					   &p->engine, &p->notes, err);
	if (p->policy->docker.images.len)
		ab_strv_add(&p->notes,
			    "inside a box, the container filter of the outer run applies");
	return 0;
}

/* Without mounts a file cannot be shown in part: sandbox/fence/carve.c hides it. */
static void note_hidden_views(struct ab_prepared *p)
{
	for (size_t i = 0; i < p->spec.nfiles; i++)
		if (p->spec.files[i].over_mask)
			ab_strv_addf(
				&p->notes,
				"engine no-namespaces: %s has more in it than the box may see, so it "
				"is hidden",
				p->spec.files[i].path);
}

/* It has the key that signs records. */
static int check_state(const struct ab_prepared *p, struct ab_error *err)
{
	for (size_t i = 0; i < p->spec.plan.len; i++) {
		const struct ab_mount *m = &p->spec.plan.v[i];

		if (m->op != AB_MOUNT_WRITE || !ab_path_within(p->state.path, m->path))
			continue;
		ab_fail(err, AB_EUSAGE, 0,
			"engine no-namespaces: the state folder %s is in a folder that the box may "
			"write, where only a mount could hide it",
			p->state.path);
		ab_hint(err, "choose another place with AGENTBOX_STATE");
		return ab_step(err, "state folder");
	}
	return 0;
}

/* A kept home may have those of earlier runs, too, and a copy of one what the home has. */
static void note_placeholders(struct ab_prepared *p)
{
	struct ab_layer_meta *meta = p->kept.upper ? &p->kept.set.meta : &p->returns.seen;

	for (size_t i = 0; i < p->kept.placeholders.len; i++)
		ab_layer_meta_add_placeholder(meta, p->kept.placeholders.v[i]);
	for (size_t i = 0; p->safe.vault && i < ab_vault_len(p->safe.vault); i++) {
		const struct ab_vault_entry *e = ab_vault_at(p->safe.vault, i);
		const char *old;

		if (e->placeholder)
			ab_layer_meta_add_placeholder(meta, e->placeholder);
		for (size_t k = 0; (old = ab_vault_retired(p->safe.vault, i, k)) != NULL; k++)
			ab_layer_meta_add_placeholder(meta, old);
	}
}

int ab_prepare_spec(const struct ab_request *rq, struct ab_prepared *p, struct ab_error *err)
{
	struct ab_host_look look = { .policy = p->policy,
				     .env = rq->policy.environ,
				     .program = rq->argv[0],
				     .denied = p->denied,
				     .viewed = &p->views,
				     .look_only = p->again };

	ab_policy_protect_registries(p->policy, &rq->policy);
	if (ab_prepare_record(rq, p, err) < 0 || await_apply(rq, p, err) < 0 ||
	    take_layers(p, rq, err) < 0 || open_review(rq, p, err) < 0)
		return -1;
	/* Our own claim is over as well. */
	if (p->claim.used && await_apply(rq, p, err) < 0)
		return -1;
	if (!p->nested)
		ab_share_create(p->policy, &p->shares, &p->notes);
	if (!p->nested)
		ab_home_registries_find(p->policy, &p->views);
	look.state = p->state.path;
	if (ab_host_facts_look(&look, &p->host, err) < 0)
		return -1;
	if (!p->nested)
		ab_shared_modes_settle(&p->state, &p->host.survey);
	if (p->no_namespaces && make_tmp(p, err) < 0)
		return -1;
	look_at_home(p, rq);
	if (add_review(rq, p, err) < 0)
		return -1;
	ab_record_guard(p);
	ab_strv_extend(&p->notes, &p->host.notes);
	ab_strv_extend(&p->notes, &p->host.survey.findings);
	if (find_engine(p, rq, err) < 0)
		return -1;
	fill_spec(p, rq);
	if (p->no_namespaces && check_state(p, err) < 0)
		return -1;
	note_overridden(p);
	if (ab_safe_needed(p->policy) && !p->nested &&
	    ab_safe_fill(&p->safe, p->policy, &p->spec, &p->notes, err) < 0)
		return -1;
	note_placeholders(p);
	if (p->no_namespaces && ab_tmp_folder_certificates(p->tmp, &p->spec, err) < 0)
		return -1;
	if (!p->nested)
		ab_home_registries_fill(p->policy, &p->views, &p->spec, &p->notes, &p->details);
	if (p->no_namespaces)
		note_hidden_views(p);
	if (ab_ssh_agent_prepare(p->policy, rq->policy.environ, p->nested, &p->spec, &p->agent,
				 &p->notes, err) < 0)
		return -1;
	if (ab_tool_box_fill(p->policy, p->nested, p->host.survey.reviewed != NULL, &p->spec,
			     &p->notes, err) < 0)
		return -1;
	if (check_covered(p, rq, err) < 0)
		return -1;
	ab_uncovered_variables(p->policy, &p->spec.env, &p->notes);
	if (check_sockets(p, err) < 0 || ab_prepare_cwd(rq, p, err) < 0 ||
	    check_fds(p, rq, err) < 0 || ab_record_check_links(p, rq, err) < 0)
		return -1;
	choose_unwritable(p);
	return 0;
}

/* Include the rules that the user granted for this run only. */
static int load_policy(const struct ab_request *request, struct ab_prepared *p,
		       struct ab_error *err)
{
	const struct ab_policy_input *in = &request->policy;
	struct ab_policy_input with = *in;
	ab_autofree struct ab_setting *settings = NULL;
	size_t n = in->nsettings;

	with.registries_later = true;
	if (!p->nested && !in->config_text && !request->prepares)
		ab_next_run_take(in, time(NULL), &p->next, &p->notes);
	if (p->next.write.len == 0)
		return ab_policy_load(&with, &p->policy, &p->notes, err);
	settings = ab_alloc((n + p->next.write.len) * sizeof(settings[0]));
	for (size_t i = 0; i < n; i++)
		settings[i] = in->settings[i];
	for (size_t i = 0; i < p->next.write.len; i++)
		settings[n++] = (struct ab_setting){ "filesystem.write", p->next.write.v[i],
						     AB_NEXT_RUN_ORIGIN };
	with.settings = settings;
	with.nsettings = n;
	if (ab_policy_load(&with, &p->policy, &p->notes, err) < 0)
		return -1;
	for (size_t i = 0; i < p->next.write.len; i++) {
		const char *path = p->next.write.v[i];

		if (ab_strv_has(&p->policy->fs.write, path) &&
		    !ab_policy_held_back(p->policy, "filesystem.write", path))
			ab_strv_addf(&p->notes, "%s is writable for this run (allowed earlier)",
				     path);
	}
	/* Another box that can write there could turn it into a link between our checks. */
	p->policy->fs.write_itself = p->next.write;
	return 0;
}

/* Without its profile an agent has neither its service nor a home that is kept. */
static void suggest_profile(struct ab_prepared *p, const struct ab_request *rq)
{
	const struct ab_agent *agent = ab_agent_of_program(rq->argv[0]);

	if (agent && !p->nested && !rq->policy.profile &&
	    strcmp(p->policy->profile, "default") == 0)
		ab_strv_addf(&p->notes,
			     "there is a profile for %s: agentbox run --profile %s -- %s",
			     agent->name, agent->name, agent->name);
}

/* No setting can do this, so a loaded policy never has it. */
static int set_learning(struct ab_prepared *p, struct ab_error *err)
{
	if (p->nested)
		return ab_fail(err, AB_EUSAGE, 0,
			       "cannot learn inside a box: the outer run decides");
	if (p->policy->net.fixed) {
		ab_fail(err, AB_EREFUSED, 0,
			"cannot learn: the managed settings decide about unknown hosts");
		return ab_hint(err, "agentbox config show tells you what is managed");
	}
	if (p->policy->net.mode != AB_NET_FILTERED)
		ab_strv_addf(&p->notes,
			     "the policy sets the network to %s; it is filtered while learning",
			     p->policy->net.mode == AB_NET_BLOCKED ? "blocked" : "allowed");
	p->policy->net.mode = AB_NET_FILTERED;
	p->policy->net.unknown = AB_UNKNOWN_LEARN;
	return 0;
}

void ab_prepared_init(struct ab_prepared *ret)
{
	*ret = (struct ab_prepared){ .state = { .root = -1, .live = -1, .runs = -1 },
				     .next = AB_NEXT_NONE,
				     .audit = AB_COPY_NONE,
				     .output = -1,
				     .kept = AB_KEPT_LAYERS_NONE,
				     .claim = AB_CLAIM_NONE };
}

int ab_prepare(const struct ab_request *request, struct ab_prepared *ret, struct ab_error *err)
{
	ab_prepared_init(ret);
	ret->nested = ab_furniture_boxed();
	if (ab_caller_check_paths(&request->policy, err) < 0 ||
	    load_policy(request, ret, err) < 0 || (request->learn && set_learning(ret, err) < 0)) {
		ab_prepared_fini(ret);
		return -1;
	}
	suggest_profile(ret, request);
	if (ret->nested && ret->policy->fs.review != AB_REVIEW_NONE) {
		ab_strv_add(&ret->notes, "inside a box there is no review: the outer run decides "
					 "what becomes of its workspace");
		ret->policy->fs.review = AB_REVIEW_NONE;
	}
	ab_policy_review_commands(ret->policy);
	return 0;
}

void ab_prepared_close(struct ab_prepared *p)
{
	ab_next_run_fini(&p->next);
	ab_kept_layers_fini(&p->kept, AB_LAYER_STORE(&p->state));
	ab_state_fini(&p->state);
	ab_copy_fini(&p->audit);
	ab_closep(&p->output);
	ab_exporter_free(ab_take(p->exporter));
	ab_safe_fini(&p->safe);
	ab_host_engine_fini(&p->engine);
}

void ab_prepared_fini(struct ab_prepared *p)
{
	ab_prepared_close(p);
	ab_policy_free(p->policy);
	free(p->tmp);
	ab_home_return_fini(&p->returns);
	ab_host_facts_fini(&p->host);
	ab_spec_fini(&p->spec);
	ab_shares_fini(&p->shares);
	ab_registry_views_fini(&p->views);
	ab_ssh_agent_fini(&p->agent);
	ab_strv_fini_all(&p->details, &p->notes);
	p->policy = NULL;
}
