/* The inside of the attack: runs each attempt of the tables in its own process. */
#include <sys/prctl.h>
#include <sys/wait.h>

#include "attack/attack.h"
#include "base/process/helper.h"
#include "sandbox/mount/furniture.h"

#define TRY_SECONDS 10

/* By wall; attempts keep the order of their table. */
static const struct ab_tries *const walls[] = {
	&ab_tries_files,       &ab_tries_names,	    &ab_tries_machine,	  &ab_tries_home,
	&ab_tries_mounts,      &ab_tries_processes, &ab_tries_users,	  &ab_tries_net,
	&ab_tries_ipc,	       &ab_tries_calls,	    &ab_tries_terminal,	  &ab_tries_limits,
	&ab_tries_environment, &ab_tries_secrets,   &ab_tries_containers,
};

const struct ab_try *ab_try_at(size_t index, const struct ab_tries **ret)
{
	for (size_t i = 0; i < AB_COUNT(walls); i++) {
		*ret = walls[i];
		if (index < walls[i]->len)
			return &walls[i]->v[index];
		index -= walls[i]->len;
	}
	return NULL;
}

enum ab_hold ab_result(struct ab_attacker *a, enum ab_hold hold, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(a->seen, sizeof(a->seen), fmt, ap);
	va_end(ap);
	return hold;
}

enum ab_hold ab_refused(struct ab_attacker *a, long r)
{
	return r < 0 ? ab_held(a, "%s", strerror(errno)) : ab_broken(a, "it worked");
}

enum ab_hold ab_refused_fd(struct ab_attacker *a, int fd)
{
	enum ab_hold hold = ab_refused(a, fd);

	ab_closep(&fd);
	return hold;
}

const char *ab_attacker_path(struct ab_attacker *a, const char *arg)
{
	switch (arg[0]) {
	case '~':
		snprintf(a->path, sizeof(a->path), "%s/home%s", a->base, arg + 1);
		break;
	case '@':
		snprintf(a->path, sizeof(a->path), "%s/%s", a->base, arg + 1);
		break;
	case '.':
		snprintf(a->path, sizeof(a->path), "%s/home/project%s", a->base, arg + 1);
		break;
	case '!':
		snprintf(a->path, sizeof(a->path), "%s", a->home);
		break;
	default:
		snprintf(a->path, sizeof(a->path), "%s", arg);
	}
	return a->path;
}

static void run_attempt(struct ab_attacker *a, const struct ab_try *t, struct ab_report *r)
{
	const char *why;

	a->seen[0] = '\0';
	r->hold = t->run(a, t);
	memcpy(r->seen, a->seen, sizeof(r->seen));
	if (r->hold != AB_HOLD_HELD || !t->twin)
		return;
	why = t->twin(a);
	if (!why)
		return;
	r->hold = AB_HOLD_BROKEN;
	snprintf(r->seen, sizeof(r->seen), "something allowed fails: %.60s: %.60s", why,
		 strerror(errno));
}

/* Judge an attempt that did not report by how it ended. */
static void judge_end(int status, struct ab_report *r)
{
	int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	/* The filter's reaction to a foreign call. */
	r->hold = sig == SIGSYS || sig == SIGILL ? AB_HOLD_HELD : AB_HOLD_UNTRIED;
	if (sig == SIGALRM)
		snprintf(r->seen, sizeof(r->seen), "no result in %d s", TRY_SECONDS);
	else if (sig)
		snprintf(r->seen, sizeof(r->seen), "killed by signal %d", sig);
	else
		snprintf(r->seen, sizeof(r->seen), "ended with status %d", WEXITSTATUS(status));
}

static void fork_attempt(struct ab_attacker *a, const struct ab_try *t, struct ab_report *r)
{
	int ends[2], status;
	ssize_t n;
	pid_t pid;

	r->hold = AB_HOLD_UNTRIED;
	snprintf(r->seen, sizeof(r->seen), "cannot create a process for it");
	if (pipe2(ends, O_CLOEXEC) < 0)
		return;
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		/* Its own group, so that everything it starts can be killed. */
		setpgid(0, 0);
		alarm(TRY_SECONDS);
		run_attempt(a, t, r);
		_exit(ab_write_all(ends[1], r, sizeof(*r)) < 0);
	}
	close(ends[1]);
	if (pid > 0) {
		n = ab_read_full(ends[0], r, sizeof(*r));
		kill(-pid, SIGKILL);
		status = ab_await(pid);
		if (n != (ssize_t)sizeof(*r))
			judge_end(status, r);
	}
	close(ends[0]);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

const char *ab_attacker_tmp(void)
{
	const char *tmp = getenv("TMPDIR");

	return tmp ? tmp : "/tmp";
}

_Noreturn void ab_attack_inside(int argc, char **argv)
{
	static struct ab_attacker a;
	char name[16];
	const struct ab_tries *wall;
	const struct ab_try *t;
	ab_autoclose int word = -1;

	/* Do nothing outside a box. */
	if (argc != AB_ATTACKER_WORDS || !ab_furniture_boxed() ||
	    sscanf(argv[3], AB_ATTACKER_NUMBERS, &a.victim, &a.port, &a.key, &a.stray) != 4)
		_exit(2);
	a.base = argv[0];
	a.home = argv[1];
	a.tag = argv[2];
	word = open(ab_attacker_path(&a, "./" AB_WORD_FILE), O_RDONLY | O_CLOEXEC);
	(void)!read(word, a.word, sizeof(a.word) - 1);
	snprintf(name, sizeof(name), AB_ATTACKER_NAME "%s", a.tag);
	prctl(PR_SET_NAME, name);
	for (size_t i = 0; (t = ab_try_at(i, &wall)) != NULL; i++) {
		struct ab_report r = { 0 };

		fork_attempt(&a, t, &r);
		r.index = (uint32_t)i;
		if (ab_write_all(1, &r, sizeof(r)) < 0)
			_exit(1);
	}
	_exit(0);
}
