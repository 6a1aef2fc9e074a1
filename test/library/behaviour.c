/*
 * libagentbox from outside: only the installed header and library. Each part is a word on the
 * command line; it prints nothing and exits with 0, or says what was wrong.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <agentbox.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "descriptors.h"

#define check(cond)                                                                    \
	do {                                                                           \
		if (!(cond)) {                                                         \
			fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #cond, \
				fault.text);                                           \
			exit(1);                                                       \
		}                                                                      \
	} while (0)

static struct ab_fault fault;

static struct ab_manager *open_manager(void)
{
	struct ab_manager *m = NULL;

	check(ab_manager_new(NULL, &m, &fault) == 0);
	return m;
}

static struct ab_proc *start(struct ab_manager *m, struct ab_run_options *options)
{
	struct ab_proc *proc = NULL;

	check(ab_manager_run(m, options, &proc, &fault) == 0);
	return proc;
}

static const struct ab_outcome *end(struct ab_proc *proc)
{
	const struct ab_outcome *outcome = NULL;

	check(ab_proc_wait(proc, -1, &outcome, &fault) == 1);
	return outcome;
}

static void test_results(void)
{
	struct ab_manager *m = open_manager();
	struct ab_run_options o = AB_RUN_OPTIONS;
	struct ab_policy_options policy = AB_POLICY_OPTIONS;
	const struct ab_outcome *r;
	struct ab_proc *proc;
	const char *argv[] = { "sh", "-c", "printf 'a\\0b\\377'; echo err >&2; exit 3", NULL };
	const char *env[] = { "HELLO=there", "PATH=/usr/bin:/bin", NULL, NULL };
	struct ab_setting_value settings[] = { { "env.pass", "HELLO" } };
	char home[4096];

	o.argv = argv;
	proc = start(m, &o);
	r = end(proc);
	check(r->exit == 3 && r->out_len == 4 && memcmp(r->out, "a\0b\377", 5) == 0);
	check(strcmp(r->err, "err\n") == 0 && r->started && r->holds[0] && !*r->error &&
	      *r->run_id);
	check(ab_proc_wait(proc, 0, &r, NULL) == 1 && ab_proc_outcome(proc) == r);
	check(ab_proc_signal(proc, SIGTERM, &fault) < 0 && fault.code == AB_FAULT_NOT_FOUND);
	ab_proc_free(proc);

	snprintf(home, sizeof(home), "HOME=%s", getenv("HOME"));
	env[2] = home;
	policy.env = env;
	policy.settings = settings;
	policy.nsettings = 1;
	policy.policy = "{\"network\":{\"mode\":\"blocked\"}}";
	o = (struct ab_run_options)AB_RUN_OPTIONS;
	o.shell = "cat; echo $HELLO; head -c 100 /dev/zero";
	o.policy = &policy;
	o.input = "given ";
	o.input_len = 6;
	o.capture_max = 20;
	proc = start(m, &o);
	r = end(proc);
	check(strncmp(r->out, "given there\n", 12) == 0);
	check(r->out_truncated && r->out_len == 20 && r->out_total == 112);
	ab_proc_free(proc);

	policy.policy = "{\"network\":{\"alow\":[]}}";
	proc = start(m, &o);
	r = end(proc);
	check(r->exit == 125 && !r->started && strstr(r->error, "alow") && r->hint[0]);
	ab_proc_free(proc);
	policy.policy = "{";
	check(ab_manager_run(m, &o, &proc, &fault) < 0 && fault.code == AB_FAULT_CONFIG);
	o.argv = argv;
	check(ab_manager_run(m, &o, &proc, &fault) < 0 && fault.code == AB_FAULT_USAGE);
	ab_manager_free(m);
}

static void test_streams(void)
{
	struct ab_manager *m = open_manager();
	struct ab_run_options o = AB_RUN_OPTIONS;
	struct ab_proc *proc;
	char got[32] = "";
	int tube[2], records[2];

	check(pipe2(tube, O_CLOEXEC) == 0 && pipe2(records, O_CLOEXEC) == 0);
	o.shell = "cat; echo done";
	o.in = AB_STDIO_PIPE;
	o.out = tube[1];
	o.err = AB_STDIO_STDOUT;
	o.records_fd = records[1];
	proc = start(m, &o);
	close(tube[1]);
	close(records[1]);
	check(ab_proc_write(proc, "x\n", 2, false, &fault) == 0);
	check(ab_proc_write(proc, "", 0, true, &fault) == 0);
	check(ab_proc_write(proc, "y", 1, false, &fault) < 0);
	check(end(proc)->exit == 0);
	check(read(tube[0], got, sizeof(got) - 1) > 0 && strncmp(got, "x\n", 2) == 0);
	check(read(records[0], got, 1) == 1 && got[0] == '{');
	close(tube[0]);
	close(records[0]);
	ab_proc_free(proc);
	ab_manager_free(m);
}

/* Answered later, by another thread. */
struct asked {
	pthread_mutex_t lock;
	pthread_cond_t moved;
	struct ab_proc *proc;
	char id[64];
	enum ab_question_kind kind;
	int violations;
};

static void take_question(void *arg, struct ab_proc *proc, const struct ab_asked *question)
{
	struct asked *a = arg;

	/* A callback cannot wait for its own run. */
	check(ab_proc_wait(proc, 0, NULL, &fault) < 0 && fault.code == AB_FAULT_USAGE);
	pthread_mutex_lock(&a->lock);
	a->proc = proc;
	a->kind = question->kind;
	snprintf(a->id, sizeof(a->id), "%s", question->id);
	pthread_cond_signal(&a->moved);
	pthread_mutex_unlock(&a->lock);
}

static void take_violation(void *arg, struct ab_proc *proc, const char *json)
{
	struct asked *a = arg;

	(void)proc;
	a->violations += json[0] == '{';
}

static void *answer_later(void *arg)
{
	struct asked *a = arg;
	struct ab_fault own;

	pthread_mutex_lock(&a->lock);
	while (!a->proc)
		pthread_cond_wait(&a->moved, &a->lock);
	if (ab_proc_answer(a->proc, a->id, "perhaps", NULL, &own) == 0 ||
	    ab_proc_answer(a->proc, a->id, "no", "not now", &own) < 0)
		exit(2);
	a->proc = NULL;
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

static void test_questions(void)
{
	static const char *const commands[] = { "git push", "curl -sS http://files.example.com/" };
	struct ab_manager *m = open_manager();
	struct ab_callbacks callbacks = AB_CALLBACKS;
	struct asked a = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, "", 0, 0 };

	callbacks.question = take_question;
	callbacks.violation = take_violation;
	callbacks.arg = &a;
	for (size_t i = 0; i < 2; i++) {
		struct ab_run_options o = AB_RUN_OPTIONS;
		struct ab_proc *proc;
		const struct ab_outcome *r;
		pthread_t thread;

		o.shell = commands[i];
		o.callbacks = &callbacks;
		a.violations = 0;
		check(pthread_create(&thread, NULL, answer_later, &a) == 0);
		proc = start(m, &o);
		r = end(proc);
		pthread_join(thread, NULL);
		/* The host is announced again with its process: nobody waits for that one. */
		a.proc = NULL;
		check(a.kind == (i ? AB_QUESTION_ABOUT_HOST : AB_QUESTION_ABOUT_COMMAND));
		check(a.violations == 1 && r->nviolations == 1 && r->violations_total == 1);
		check(i || (r->exit == 126 && strstr(r->hint, "not now")));
		ab_proc_free(proc);
	}
	ab_manager_free(m);
}

static void test_steering(void)
{
	struct ab_manager *m = open_manager();
	struct ab_run_options o = AB_RUN_OPTIONS;
	const char *allow[] = { "a.example", NULL }, *bad[] = { "not a host", NULL };
	const char *argv[] = { "sleep", "60", NULL };
	struct ab_proc *proc;
	char *json;
	uint64_t released = 7;

	/* Without a shell: while its child runs, a shell postpones SIGINT. */
	o.argv = argv;
	proc = start(m, &o);
	check(ab_proc_wait(proc, 1, NULL, &fault) == 0 && !ab_proc_outcome(proc));
	check(ab_proc_update(proc, allow, NULL, 0, &released, &fault) == 0 && released == 0);
	check(ab_proc_update(proc, NULL, bad, 0, NULL, &fault) < 0);
	check(ab_proc_status(proc, &json, &fault) == 0 && strstr(json, "\"sleep\""));
	ab_free(json);
	check(ab_proc_signal(proc, SIGINT, &fault) == 0);
	check(end(proc)->signal == SIGINT);
	ab_proc_free(proc);
	proc = start(m, &o);
	/* The grace is long: a busy machine may take its time between the signal and the end. */
	check(ab_proc_stop(proc, 60000, &fault) == 0);
	check(end(proc)->exit == 128 + SIGTERM);
	ab_proc_free(proc);
	/* A handle that is released ends its run. */
	ab_proc_free(start(m, &o));
	ab_proc_free(NULL);
	/* And so does the manager, whose handles stay valid. */
	proc = start(m, &o);
	ab_manager_free(m);
	check(end(proc)->exit == 125 && *end(proc)->error);
	check(ab_proc_stop(proc, 0, &fault) < 0);
	ab_proc_free(proc);
}

static void test_noop(void)
{
	struct ab_manager_options options = AB_MANAGER_OPTIONS;
	struct ab_run_options o = AB_RUN_OPTIONS;
	const char *argv[] = { "touch", "made", NULL };
	struct ab_manager *m;
	struct ab_proc *proc;
	enum ab_verdict verdict;
	bool available = true;
	char **words;

	options.noop = true;
	options.noop_exit = 5;
	check(ab_manager_new(&options, &m, &fault) == 0);
	o.argv = argv;
	proc = start(m, &o);
	check(end(proc)->exit == 5 && !end(proc)->started && !end(proc)->holds[0]);
	check(access("made", F_OK) < 0);
	check(ab_manager_available(m, &available, NULL, &fault) == 0 && !available);
	check(ab_manager_check(m, argv, NULL, NULL, &verdict, NULL, &fault) == 0 &&
	      verdict == AB_VERDICT_SANDBOXED);
	check(ab_manager_wrap(m, argv, NULL, NULL, &words, &fault) == 0 &&
	      strcmp(words[1], "made") == 0 && !words[2]);
	ab_strings_free(words);
	check(ab_manager_fd(m) == -1);
	ab_proc_free(proc);
	ab_manager_free(m);
}

static void no_signal(int sig)
{
	(void)sig;
	_exit(9);
}

/* The caller's signals, children and descriptors are its own. */
static void test_caller(void)
{
	struct ab_run_options o = AB_RUN_OPTIONS;
	struct ab_manager_options options = AB_MANAGER_OPTIONS;
	struct ab_manager *m;
	struct ab_proc *proc;
	struct sigaction before, after;
	sigset_t mask, mask_after;
	int fds = count_fds();

	signal(SIGCHLD, no_signal);
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	sigaction(SIGCHLD, NULL, &before);
	m = open_manager();
	o.shell = "kill -USR1 $$; echo not reached";
	proc = start(m, &o);
	/* The mask of the caller is not the command's. */
	check(end(proc)->signal == SIGUSR1);
	check(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
	ab_proc_free(proc);
	ab_manager_free(m);
	sigaction(SIGCHLD, NULL, &after);
	sigprocmask(SIG_SETMASK, NULL, &mask_after);
	check(before.sa_handler == after.sa_handler && memcmp(&mask, &mask_after, 8) == 0);
	check(count_fds() == fds);
	options.program = "/none/such";
	check(ab_manager_new(&options, &m, &fault) < 0 && fault.errnum == ENOENT);
	check(waitpid(-1, NULL, WNOHANG) < 0 && count_fds() == fds);
}

static bool has_text(int fd, const char *want)
{
	char got[64] = "";

	return read(fd, got, sizeof(got) - 1) > 0 && strcmp(got, want) == 0;
}

/* What is refused, and that it changes nothing for the next run. */
static void test_refused(void)
{
	struct ab_manager *m = open_manager();
	struct ab_run_options o = AB_RUN_OPTIONS;
	struct ab_policy_options unsized = { 0 };
	char *large = malloc(5 << 20);
	struct ab_proc *proc, *other;
	int wrong[2], right[2];

	check(pipe2(wrong, O_CLOEXEC | O_NONBLOCK) == 0 && pipe2(right, O_CLOEXEC) == 0);
	o.shell = "echo here";
	o.out = wrong[1];
	o.capture_max = (size_t)1 << 40;
	check(ab_manager_run(m, &o, &proc, &fault) < 0 && fault.code == AB_FAULT_USAGE);
	o.capture_max = 0;
	o.out = right[1];
	proc = start(m, &o);
	check(end(proc)->exit == 0);
	check(has_text(right[0], "here\n") && !has_text(wrong[0], "here\n"));
	ab_proc_free(proc);
	o.policy = &unsized;
	check(ab_manager_run(m, &o, &proc, &fault) < 0 && fault.code == AB_FAULT_USAGE);
	o.policy = NULL;
	o.name = "\xff";
	check(ab_manager_run(m, &o, &proc, &fault) < 0 && fault.code == AB_FAULT_USAGE);

	/* Too large for a request: the others go on. */
	o = (struct ab_run_options)AB_RUN_OPTIONS;
	o.shell = "cat";
	o.in = AB_STDIO_PIPE;
	other = start(m, &o);
	check(large != NULL);
	memset(large, 'a', 5 << 20);
	large[(5 << 20) - 1] = '\0';
	o.shell = large;
	check(ab_manager_run(m, &o, &proc, &fault) < 0 && fault.code == AB_FAULT_USAGE);
	check(ab_proc_write(other, "still", 5, true, &fault) == 0);
	check(strcmp(end(other)->out, "still") == 0);
	ab_proc_free(other);
	free(large);
	for (int i = 0; i < 2; i++) {
		close(wrong[i]);
		close(right[i]);
	}
	ab_manager_free(m);
}

/* The descriptor tells of events that were read with the reply to another request. */
static void test_descriptor(void)
{
	struct ab_manager *m = open_manager();
	struct ab_run_options o = AB_RUN_OPTIONS;
	struct pollfd p = { .fd = ab_manager_fd(m), .events = POLLIN };
	struct ab_proc *proc;
	char *status = NULL;

	o.shell = "exit 4";
	proc = start(m, &o);
	/* When the run is unknown, its last event has been sent, and read with this reply. */
	while (ab_proc_status(proc, &status, &fault) == 0 || fault.code != AB_FAULT_NOT_FOUND) {
		ab_free(status);
		status = NULL;
	}
	check(poll(&p, 1, 10000) == 1);
	check(ab_manager_dispatch(m, 0, &fault) > 0 && ab_proc_outcome(proc)->exit == 4);
	while (poll(&p, 1, 0) == 1)
		check(ab_manager_dispatch(m, 0, &fault) >= 0);
	ab_proc_free(proc);
	ab_manager_free(m);
}

/* With 0-2 closed by the caller, none of ours gets their numbers. */
static void test_closed(void)
{
	struct ab_run_options o = AB_RUN_OPTIONS;
	struct ab_manager *m;
	struct ab_proc *proc;
	int saved[3];

	for (int fd = 0; fd < 3; fd++) {
		saved[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 10);
		close(fd);
	}
	m = open_manager();
	for (int fd = 0; fd < 3; fd++)
		check(fcntl(fd, F_GETFD) < 0);
	o.shell = "echo x";
	o.out = 1;
	check(ab_manager_run(m, &o, &proc, &fault) < 0);
	o.out = 0;
	proc = start(m, &o);
	check(strcmp(end(proc)->out, "x\n") == 0);
	ab_proc_free(proc);
	ab_manager_free(m);
	for (int fd = 0; fd < 3; fd++) {
		dup2(saved[fd], fd);
		close(saved[fd]);
	}
}

/* Threads with runs of their own on one manager. */
static void *run_some(void *arg)
{
	struct ab_manager *m = arg;

	for (int i = 0; i < 5; i++) {
		struct ab_run_options o = AB_RUN_OPTIONS;
		const struct ab_outcome *r = NULL;
		struct ab_proc *proc;
		char text[32];

		snprintf(text, sizeof(text), "echo %d; exit %d", i, i);
		o.shell = text;
		if (ab_manager_run(m, &o, &proc, NULL) < 0 ||
		    ab_proc_wait(proc, -1, &r, NULL) != 1 || r->exit != i || r->out[0] != '0' + i)
			exit(3);
		ab_proc_free(proc);
	}
	return NULL;
}

static void test_threads(void)
{
	struct ab_manager *m = open_manager();
	pthread_t threads[4];

	for (size_t i = 0; i < 4; i++)
		check(pthread_create(&threads[i], NULL, run_some, m) == 0);
	for (size_t i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	ab_manager_free(m);
}

/* Pages that are ours alone: those of files come when their code runs for the first time. */
static long resident(void)
{
	long pages = 0, shared = 0, skip;
	FILE *f = fopen("/proc/self/statm", "r");

	if (!f || fscanf(f, "%ld %ld %ld", &skip, &pages, &shared) != 3)
		exit(4);
	fclose(f);
	return pages - shared;
}

static struct ab_pool *open_pool(struct ab_manager *m, size_t boxes)
{
	struct ab_pool_options o = AB_POOL_OPTIONS;
	struct ab_pool *pool = NULL;

	o.boxes = boxes;
	check(ab_pool_new(m, &o, &pool, &fault) == 0);
	return pool;
}

static void test_pool(void)
{
	struct ab_manager *m = open_manager(), *other = open_manager();
	struct ab_run_options o = AB_RUN_OPTIONS;
	struct ab_pool_options p = AB_POOL_OPTIONS;
	struct ab_policy_options policy = AB_POLICY_OPTIONS;
	struct ab_pool *pool = open_pool(m, 2), *none = NULL;
	struct ab_proc *procs[4], *refused;
	const struct ab_outcome *r;

	o.pool = pool;
	o.shell = "cat; pwd";
	o.input = "in\n";
	o.input_len = 3;
	policy.cwd = "/usr";
	o.policy = &policy;
	for (size_t i = 0; i < 4; i++)
		procs[i] = start(m, &o);
	for (size_t i = 0; i < 4; i++) {
		r = end(procs[i]);
		check(r->exit == 0 && r->started && r->holds[0] && *r->run_id);
		check(strcmp(r->out, "in\n/usr\n") == 0);
		ab_proc_free(procs[i]);
	}
	/* What the pool decides. */
	policy.profile = "default";
	check(ab_manager_run(m, &o, &refused, &fault) < 0 && fault.code == AB_FAULT_USAGE);
	policy.profile = NULL;
	o.trace_denials = true;
	check(ab_manager_run(m, &o, &refused, &fault) < 0 && fault.code == AB_FAULT_USAGE);
	o.trace_denials = false;
	check(ab_manager_run(other, &o, &refused, &fault) < 0 && fault.code == AB_FAULT_USAGE);
	check(ab_pool_new(m, NULL, &none, &fault) < 0 && fault.code == AB_FAULT_USAGE);
	p.boxes = 65;
	check(ab_pool_new(m, &p, &none, &fault) < 0 && strstr(fault.text, "64"));
	/* Its runs continue without it. */
	o.shell = "sleep 0.2; echo still";
	procs[0] = start(m, &o);
	ab_pool_free(pool);
	check(strcmp(end(procs[0])->out, "still\n") == 0);
	ab_proc_free(procs[0]);
	pool = open_pool(m, 1);
	ab_manager_free(m);
	ab_pool_free(pool);
	ab_pool_free(NULL);
	ab_manager_free(other);
}

/* Runs leave nothing behind: no descriptor, thread or memory. */
static void test_loop(int n, bool pooled)
{
	struct ab_manager *m = open_manager();
	struct ab_pool *pool = pooled ? open_pool(m, 2) : NULL;
	struct ab_run_options o = AB_RUN_OPTIONS;
	long pages = 0;
	int fds = 0;

	o.shell = ":";
	o.pool = pool;
	for (int i = 0; i < n; i++) {
		struct ab_proc *proc = start(m, &o);

		check(end(proc)->exit == 0);
		ab_proc_free(proc);
		if (i == n / 10) {
			pages = resident();
			fds = count_fds();
		}
	}
	check(count_fds() == fds);
	/* Half a kilobyte of each run. */
	if (n >= 100 && resident() > pages + n / 8) {
		fprintf(stderr, "%ld pages, then %ld\n", pages, resident());
		exit(1);
	}
	ab_pool_free(pool);
	ab_manager_free(m);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*test)(void);
	} tests[] = {
		{ "results", test_results },	 { "streams", test_streams },
		{ "questions", test_questions }, { "steering", test_steering },
		{ "noop", test_noop },		 { "caller", test_caller },
		{ "threads", test_threads },	 { "pool", test_pool },
		{ "refused", test_refused },	 { "descriptor", test_descriptor },
		{ "closed", test_closed },
	};

	for (int k = 1; k < argc; k++) {
		if (strncmp(argv[k], "loop=", 5) == 0)
			test_loop(atoi(argv[k] + 5), false);
		if (strncmp(argv[k], "pooled=", 7) == 0)
			test_loop(atoi(argv[k] + 7), true);
		for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
			if (strcmp(tests[i].name, argv[k]) == 0)
				tests[i].test();
	}
	return 0;
}
