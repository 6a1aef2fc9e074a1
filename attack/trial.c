#include "attack/trial.h"

#include <sys/file.h>
#include <sys/prctl.h>

#include "base/process/helper.h"
#include "base/system/folder.h"
#include "base/text/words.h"
#include "consent/request.h"
#include "attack/attack.h"
#include "policy/values/paths.h"
#include "sandbox/mount/furniture.h"
#include "session/run/run.h"
#include "state/state.h"
#include "workspace/tree/remove_tree.h"

#define PREFIX "trial-"

/* Remove trials whose owner is dead: their folder is no longer locked. */
static void remove_dead_trials(int parent)
{
	ab_autodir DIR *list = ab_folder_list(parent, ".");
	const char *name;

	while ((name = ab_folder_next(list)) != NULL) {
		ab_autoclose int dir = -1;

		if (strncmp(name, PREFIX, strlen(PREFIX)) != 0)
			continue;
		dir = openat(parent, name, OPEN_DIR);
		if (dir < 0 || flock(dir, LOCK_EX | LOCK_NB) < 0)
			continue;
		ab_remove_tree(parent, name);
	}
}

/* The caller's environment, with the folders of the trial. */
static void fill_environment(struct ab_trial *t, char *const *caller)
{
	static const char *const ours[] = {
		"AGENTBOX_",
		"XDG_",
		"HOME=",
		"SSH_AUTH_SOCK=",
	};

	for (; *caller; caller++) {
		bool skip = false;

		for (size_t i = 0; i < AB_COUNT(ours); i++)
			if (strncmp(*caller, ours[i], strlen(ours[i])) == 0)
				skip = true;
		if (!skip)
			ab_strv_add(&t->env, *caller);
	}
	ab_env_set(&t->env, "HOME", t->home);
	ab_env_set(&t->env, "AGENTBOX_STATE", t->state);
}

static int make_folders(struct ab_trial *t, const char *state, struct ab_error *err)
{
	static const char *const folders[] = { "home", "home/project", "outside", "state" };

	for (int tries = 0; t->dir < 0 && tries < 8; tries++) {
		char id[8];

		if (ab_run_pick_id(id, err) < 0)
			return -1;
		snprintf(t->name, sizeof(t->name), PREFIX "%s", id);
		if (mkdirat(t->parent, t->name, 0700) == 0)
			t->dir = openat(t->parent, t->name, OPEN_DIR);
		else if (errno != EEXIST)
			break;
	}
	if (t->dir < 0 || flock(t->dir, LOCK_EX | LOCK_NB) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "create a folder for the trial in %s",
			       state);
	for (size_t i = 0; i < AB_COUNT(folders); i++)
		if (mkdirat(t->dir, folders[i], 0700) < 0)
			return ab_fail(err, AB_ESYSTEM, errno, "create %s/%s/%s", state, t->name,
				       folders[i]);
	t->base = ab_printf("%s/%s", state, t->name);
	t->state = ab_printf("%s/state", t->base);
	t->home = ab_printf("%s/home", t->base);
	t->project = ab_printf("%s/project", t->home);
	return 0;
}

static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

/* Those that the caller ignores, as nohup does, stay ignored. */
static void block_signals(sigset_t *ret_mask)
{
	struct sigaction old;
	sigset_t block;

	sigemptyset(&block);
	for (size_t i = 0; i < AB_COUNT(ending); i++)
		if (sigaction(ending[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaddset(&block, ending[i]);
	sigprocmask(SIG_BLOCK, &block, ret_mask);
}

int ab_trial_open(const struct ab_policy_input *input, struct ab_trial *ret, struct ab_error *err)
{
	ab_autofree char *path = ab_state_dir(input->environ, input->home, input->cwd);
	struct ab_trial t = { .parent = -1, .dir = -1 };
	struct ab_state state;
	int result;

	if (!path)
		return ab_fail(err, AB_EUSAGE, 0, "no home folder to keep records in");
	if (ab_state_open(path, &state, err) < 0)
		return -1;
	block_signals(&t.mask);
	t.parent = fcntl(state.root, F_DUPFD_CLOEXEC, 3);
	remove_dead_trials(state.root);
	result = make_folders(&t, state.path, err);
	ab_state_fini(&state);
	if (result < 0) {
		ab_trial_fini(&t);
		return -1;
	}
	fill_environment(&t, input->environ);
	*ret = t;
	return 0;
}

void ab_trial_fini(struct ab_trial *t)
{
	if (t->dir >= 0)
		ab_remove_tree(t->parent, t->name);
	ab_close_all(&t->dir, &t->parent);
	ab_free_all(t->base, t->state, t->home, t->project, t->config);
	ab_strv_fini(&t->env);
	sigprocmask(SIG_SETMASK, &t->mask, NULL);
	*t = (struct ab_trial){ .parent = -1, .dir = -1 };
}

void ab_trial_program(struct ab_strv *words)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[n > 0 ? n : 0] = '\0';
	/*
	 * The box shows the file even if a private folder covers it, but not in its own /dev. The
	 * link works wherever the program is; it leads to the host's mount, which is not read-only.
	 */
	ab_strv_add(words, !ab_path_within(path, "/dev") && access(path, X_OK) == 0
				   ? path
				   : "/proc/self/exe");
}

static void record_message(void *arg, enum ab_level level, const char *text)
{
	struct ab_trial_outcome *outcome = arg;
	const char *holds = strstr(text, AB_RUN_GUARANTEES), *engine = strstr(text, AB_RUN_ENGINE);

	if (level == AB_SAY_DETAIL && strncmp(text, "box ", 4) == 0 && holds && engine) {
		engine += strlen(AB_RUN_ENGINE);
		snprintf(outcome->engine, sizeof(outcome->engine), "%.*s",
			 (int)strcspn(engine, ","), engine);
		snprintf(outcome->holds, sizeof(outcome->holds), "%s",
			 holds + strlen(AB_RUN_GUARANTEES));
	}
	if (level == AB_SAY_WARNING)
		snprintf(outcome->missing, sizeof(outcome->missing), "%s", text);
}

/* A root without /dev can run boxes, too: then a socket whose other end is closed. */
static int open_nothing(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC), pair[2];

	if (fd >= 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return fd;
	close(pair[1]);
	return pair[0];
}

/* Run the trial's box as its supervisor. */
static _Noreturn void supervise(const struct ab_trial *t, struct ab_request *request, int out,
				int stray, int pipe)
{
	struct ab_trial_outcome outcome = { .result = -1 };
	ab_autoclose int null = open_nothing();

	request->arg = &outcome;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	/* Without the caller's terminal: otherwise the box would get its own,
	 * and the caller's would be set to raw mode needlessly. */
	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 2) < 0 ||
	    dup2(out >= 0 ? out : null, 1) < 0)
		ab_fail(&outcome.error, AB_ESYSTEM, errno, "open /dev/null");
	else if (chdir(t->project) < 0)
		ab_fail(&outcome.error, AB_ESYSTEM, errno, "enter %s", t->project);
	else if (stray >= 0 && fcntl(stray, F_SETFD, 0) < 0)
		ab_fail(&outcome.error, AB_ESYSTEM, errno, "keep a file descriptor open");
	else
		outcome.result = ab_run(request, &outcome.status, &outcome.error);
	ab_write_all(pipe, &outcome, sizeof(outcome));
	_exit(0);
}

int ab_trial_start(const struct ab_trial *t, const struct ab_setting *settings, size_t nsettings,
		   const struct ab_strv *words, int out, int stray, struct ab_trial_run *ret,
		   struct ab_error *err)
{
	struct ab_request request = {
		.yes = true,
		.policy = { .cwd = t->project,
			    .home = t->home,
			    .environ = t->env.v,
			    .profile = "default",
			    .config = t->config,
			    .settings = settings,
			    .nsettings = nsettings },
		.argv = (const char *const *)words->v,
		.argc = words->len,
		.verbose = 1,
		.say = record_message,
	};
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "create a pipe");
	ret->trial = t;
	ret->pid = fork();
	if (ret->pid == 0)
		supervise(t, &request, out, stray, ends[1]);
	close(ends[1]);
	ret->pipe = ends[0];
	if (ret->pid < 0) {
		close(ends[0]);
		return ab_fail(err, AB_ESYSTEM, errno, "create a process");
	}
	return 0;
}

void ab_trial_await(struct ab_trial_run *run, int fd)
{
	sigset_t pending;

	do {
		sigpending(&pending);
		for (size_t i = 0; i < AB_COUNT(ending); i++)
			if (sigismember(&pending, ending[i]) &&
			    !sigismember(&run->trial->mask, ending[i]))
				kill(run->pid, SIGTERM);
	} while (ab_poll(fd, POLLIN, 50) == 0);
}

void ab_trial_wait(struct ab_trial_run *run, struct ab_trial_outcome *ret)
{
	ssize_t n = ab_read_full(run->pipe, ret, sizeof(*ret));
	int status;

	close(run->pipe);
	status = ab_await(run->pid);
	if (n == (ssize_t)sizeof(*ret))
		return;
	*ret = (struct ab_trial_outcome){ .result = -1 };
	ab_fail(&ret->error, AB_ESYSTEM, 0,
		"the supervisor of the trial ended early (wait status %d)", status);
}

uint32_t ab_properties_parse(const char *text)
{
	uint32_t bits = 0;

	for (size_t i = 0; i < AB_PROP_COUNT; i++)
		if (ab_word_listed(text, ab_property_names[i], strlen(ab_property_names[i])))
			bits |= AB_PROP_BIT(i);
	return bits;
}

/*
 * Any program that contains this library becomes the inside of a trial if it is
 * executed in a box with one of these arguments. Elsewhere this does nothing.
 */
__attribute__((constructor)) static void become_trial(int argc, char **argv)
{
	if (argc < 2 || strncmp(argv[1], "agentbox-trial-", 15) != 0 || !ab_furniture_boxed())
		return;
	if (strcmp(argv[1], AB_TRIAL_NOTHING) == 0)
		_exit(0);
	if (strcmp(argv[1], AB_TRIAL_ATTACK) == 0)
		ab_attack_inside(argc - 2, argv + 2);
}
