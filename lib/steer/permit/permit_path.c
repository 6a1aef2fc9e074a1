#include "policy/values/paths.h"
#include "state/next_run.h"
#include "steer/client/json.h"
#include "steer/permit/permit_state.h"
#include "workspace/survey/survey.h"
#include "workspace/tree/host_path.h"
#include "workspace/tree/names.h"

/*
 * The real path, with links resolved. A file that does not exist yet is allowed
 * through its folder. Paths in a record (`made`) have no links: if there is one
 * now, something else would be opened than what was denied.
 */
static int find_real(const char *path, bool made, char **ret, struct ab_error *err)
{
	ab_autofree char *parent = ab_path_parent(path);
	const char *meant = path;
	char *real = realpath(path, NULL);

	if (!real && errno == ENOENT && made) {
		meant = parent;
		real = realpath(parent, NULL);
	}
	if (real && made && strcmp(real, meant) != 0) {
		ab_fail(err, AB_EREFUSED, 0,
			"%s cannot be allowed by its id: it is now a link to %s", meant, real);
		free(real);
		return ab_hint(err, "name the real folder or file");
	}
	if (!real) {
		ab_fail(err, AB_EUSAGE, errno, "%s", path);
		return errno == ENOENT
			       ? ab_hint(err, "create it first: only existing paths can be allowed")
			       : -1;
	}
	*ret = real;
	return 0;
}

char *ab_permit_real_path(const char *path)
{
	ab_autofree char *parent = NULL, *above = NULL;
	char *real = realpath(path, NULL);

	if (real || !path[1])
		return real ? real : ab_strdup(path);
	parent = ab_path_parent(path);
	above = ab_permit_real_path(parent);
	return ab_path_join(above, ab_path_name(path));
}

char *ab_permit_workspace(struct ab_permit_job *job)
{
	const struct ab_policy_input *in = job->ask->input;
	const char *workspace, *cwd;

	if (!job->again.start)
		ab_permit_find_here(job, in->cwd);
	workspace = ab_json_text(json_object_get(job->again.start, "policy"), "workspace");
	cwd = ab_json_text(job->again.start, "cwd");
	return ab_strdup(*workspace ? workspace : *cwd ? cwd : in->cwd);
}

static int check_place(struct ab_permit_job *job, const struct ab_policy *policy, const char *path,
		       struct ab_error *err)
{
	const struct ab_policy_input *in = job->ask->input;
	ab_autofree char *config = ab_config_dir(in->environ, in->home);
	ab_autofree char *real = config ? realpath(config, NULL) : NULL;
	ab_autofree char *home = in->home ? realpath(in->home, NULL) : NULL;
	struct ab_place place = { .home = home ? home : in->home,
				  .state = job->state.path,
				  .config = real ? real : config,
				  .deny_write = &policy->fs.deny_write };

	return ab_permit_place(&place, path, &job->ret->notes, err);
}

/* Would the next run leave it out because of the managed settings? */
static bool is_unmanageable(const struct ab_permit_job *job, const char *path)
{
	const struct ab_setting with = { "filesystem.write", path, AB_NEXT_RUN_ORIGIN };
	struct ab_policy_input in = ab_permit_input(job);
	struct ab_error none = { 0 };
	ab_autopolicy struct ab_policy *policy = NULL;

	in.settings = &with;
	in.nsettings = 1;
	if (ab_policy_load(&in, &policy, NULL, &none) < 0)
		return false;
	return ab_policy_held_back(policy, with.key, path) ||
	       !ab_host_path_writes(&policy->fs.write, path);
}

static int keep_for_next(struct ab_permit_job *job, const char *path, struct ab_error *err)
{
	struct ab_permitted *ret = job->ret;
	bool had;

	if (is_unmanageable(job, path)) {
		ab_fail(err, AB_EREFUSED, 0,
			"%s cannot be allowed: the managed settings do not permit it", path);
		return ab_hint(err, "ask the administrator of this machine");
	}
	if (ab_next_run_add(job->state.root, time(NULL), ret->workspace, path, &had, err) < 0)
		return -1;
	ab_strv_addf(&ret->said,
		     "%s is writable in the next run in %s%s; a running box cannot be given "
		     "more access",
		     path, ret->workspace, had ? " (allowed earlier)" : "");
	return 0;
}

/* Nothing changes for the live run; the rule applies to the next one. */
static int allow_path(struct ab_permit_job *job, const char *path, struct ab_error *err)
{
	ab_autofree char *flag = ab_permit_flag("--write", path);
	struct ab_permitted *ret = job->ret;

	ret->path = ab_strdup(path);
	if ((job->ask->always ? ab_permit_always(job, "filesystem.write", path, err)
			      : keep_for_next(job, path, err)) < 0)
		return -1;
	ret->command = ab_permit_again(&job->again, job->ask->always ? "" : flag);
	return 0;
}

/* A run may create this file already: nothing has to be allowed. */
static bool can_be_created(struct ab_permit_job *job, const char *path)
{
	ab_autofree char *missing = ab_permit_real_path(path);
	ab_autopolicy struct ab_policy *policy = ab_permit_policy(job, NULL);
	struct ab_error err = { 0 };

	if (!policy || check_place(job, policy, missing, &err) < 0 ||
	    !ab_host_path_writes(&policy->fs.write, missing))
		return false;
	ab_strv_addf(&job->ret->said, "%s can already be created in %s", missing,
		     job->ret->workspace);
	job->ret->path = ab_take(missing);
	return true;
}

/* In a writable folder, what the repositories there use is protected all the same. -1: no run may write it. */
static int check_closed(const struct ab_policy_input *in, const struct ab_policy *policy,
			const char *path, struct ab_error *err)
{
	const struct ab_survey_limits limits = { AB_SURVEY_USUAL, .look_only = true };
	struct ab_survey survey = { 0 };
	bool closed = false;

	if (ab_survey_make(policy, in->environ, &limits, &survey, err) < 0)
		return -1;
	for (size_t i = 0; i < survey.nclosed; i++)
		closed |= ab_path_within(path, survey.closed[i].path);
	ab_survey_fini(&survey);
	if (!closed)
		return 0;
	ab_fail(err, AB_EREFUSED, 0, "%s cannot be allowed: it is protected in this folder", path);
	return ab_hint(err, "change it outside, or let the command change a copy that you review: "
			    "agentbox run --review");
}

static int judge_path(struct ab_permit_job *job, const char *path, struct ab_error *err)
{
	ab_autopolicy struct ab_policy *policy = ab_permit_policy(job, err);

	if (!policy || check_place(job, policy, path, err) < 0)
		return -1;
	if (!ab_host_path_writes(&policy->fs.write, path))
		return allow_path(job, path, err);
	job->ret->path = ab_strdup(path);
	if (check_closed(job->ask->input, policy, path, err) < 0)
		return -1;
	ab_strv_addf(&job->ret->said, "%s is already writable in %s", path, job->ret->workspace);
	return 0;
}

int ab_permit_path(struct ab_permit_job *job, const char *path, bool made, struct ab_error *err)
{
	const struct ab_permit *ask = job->ask;
	ab_autofree char *real = NULL, *workspace = NULL;
	int guarded;

	if (ask->deny && ask->always) {
		int closed = ab_permit_remove(job, "filesystem.write", path, err);

		if (closed)
			return closed < 0 ? -1 : 0;
	}
	if (ask->deny) {
		ab_fail(err, AB_EUSAGE, 0, "deny takes hosts only");
		return ab_hint(err, "paths can only be denied when a run starts: "
				    "agentbox run --deny-write PATH, or "
				    "--deny-read PATH");
	}
	if (ask->for_ms)
		return ab_fail(err, AB_EUSAGE, 0,
			       "--for takes hosts only: a path is allowed for a whole run");
	if (!made && ask->run && ab_permit_find(job, ask->run, err) < 0)
		return -1;
	workspace = ab_permit_workspace(job);
	guarded = ab_permit_protected(job, workspace, path, err);
	if (guarded)
		return guarded < 0 ? -1 : 0;
	job->ret->workspace = ab_take(workspace);
	if (find_real(path, made, &real, err) < 0) {
		if (err->errnum != ENOENT || !can_be_created(job, path))
			return -1;
		*err = (struct ab_error){ 0 };
		return 0;
	}
	if (judge_path(job, real, err) == 0)
		return 0;
	/* The folder is too much, but the file alone may be fine. */
	if (err->code == AB_EREFUSED && made && access(path, F_OK) < 0) {
		ab_autofree char *line = ab_permit_flag("agentbox allow", path);

		ab_hint(err, "create it first, then:  %s", line);
	}
	return -1;
}

/* System folders, which the user may be able to write. */
static const struct {
	const char *path, *words;
} system_folders[] = {
	{ "/bin", "programs of this machine" },
	{ "/boot", "boot files of this machine" },
	{ "/etc", "settings of this machine" },
	{ "/lib", "libraries of this machine" },
	{ "/lib64", "libraries of this machine" },
	{ "/opt", "programs of this machine" },
	{ "/sbin", "programs of this machine" },
	{ "/usr", "programs and libraries of this machine" },
	{ "/var", "data of this machine's services" },
};

/* The box has its own. */
static const char *const own_folders[] = { "/dev", "/proc", "/sys" };

static int refuse_path(struct ab_error *err, const char *path, const char *why)
{
	ab_fail(err, AB_EREFUSED, 0, "%s cannot be allowed: %s", path, why);
	return ab_hint(err, "name just the folder or file that is needed");
}

static int check_protected(const struct ab_strv *names, const char *path, struct ab_error *err)
{
	static const char why[] = "protected, because programs outside the box "
				  "run or trust it (filesystem.denyWrite)";
	ab_autofree char *taken = NULL, *flag = NULL;
	bool holds;
	const char *name = ab_names_opened(names, path, &holds);

	if (!name)
		return 0;
	if (holds) {
		ab_fail(err, AB_EREFUSED, 0, "%s cannot be allowed: it contains %s, which is %s",
			path, name, why);
		return ab_hint(err, "name just the folder or file that is needed");
	}
	taken = ab_printf("!%s", name);
	flag = ab_permit_flag("--deny-write", taken);
	ab_fail(err, AB_EREFUSED, 0, "%s cannot be allowed: %s is %s", path, name, why);
	return ab_hint(err, "in a new run, if you are sure:  agentbox run %s -- ...", flag);
}

int ab_permit_place(const struct ab_place *place, const char *path, struct ab_strv *notes,
		    struct ab_error *err)
{
	const char *const ours[] = { place->state, place->config, "/etc/agentbox" };

	if (strcmp(path, "/") == 0)
		return refuse_path(err, path, "it is the whole file system");
	if (place->home && ab_path_within(place->home, path))
		return refuse_path(err, path,
				   strcmp(path, place->home) == 0 ? "it is your home folder"
								  : "your home folder is in it");
	for (size_t i = 0; i < AB_COUNT(ours); i++)
		if (ours[i] && ab_path_within(path, ours[i])) {
			ab_fail(err, AB_EREFUSED, 0, "%s cannot be allowed: it belongs to agentbox",
				path);
			return -1;
		}
	for (size_t i = 0; i < AB_COUNT(own_folders); i++)
		if (ab_path_within(path, own_folders[i]))
			return refuse_path(err, path, "a box has its own folder of that name");
	if (check_protected(place->deny_write, path, err) < 0)
		return -1;
	if (place->home && ab_path_within(path, place->home))
		return 0;
	for (size_t i = 0; i < AB_COUNT(system_folders); i++)
		if (ab_path_within(path, system_folders[i].path))
			ab_strv_addf(notes, "%s contains %s", path, system_folders[i].words);
	return 0;
}
