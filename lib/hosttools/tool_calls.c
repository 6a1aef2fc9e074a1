#include "hosttools/tool_calls.h"

#include <sys/epoll.h>
#include <sys/wait.h>

#include "base/process/helper.h"
#include "host/host_command.h"
#include "hosttools/tool_git.h"
#include "hosttools/tool_wire.h"
#include "hosttools/tool_words.h"
#include "policy/model/policy.h"
#include "proxy/record/events.h"
#include "shell/syntax/quote.h"
#include "workspace/tree/dir.h"

enum {
	REQUEST_MS = 10000, /* to send the request */
	GRACE_MS = 5000,    /* between SIGTERM and SIGKILL */
	GRANTS_MAX = 256,   /* calls that are approved for the run */
	END_MS = 3000,	    /* the same when the run ends */
};

struct ab_tool_call {
	struct ab_tool_calls *calls;
	struct ab_tool_call *next;
	struct ab_source client; /* fd -1: it is gone */
	struct ab_timer timer;	 /* for the request, the answer, the end */
	struct ab_later later;
	const struct ab_host_tool *tool; /* NULL: no request yet */
	const char *rule;
	char *pattern;
	struct ab_strv argv, env;
	int fds[AB_TOOL_FDS]; /* until it runs; the last one is our own */
	uint32_t number;      /* of its question; 0: none */
	pid_t pid;	      /* 0: it does not run */
	int64_t started_ms;
	char *words, *cwd;
	bool over;
};

static void free_call(struct ab_later *later)
{
	struct ab_tool_call *c = later->owner;

	for (size_t i = 0; i < AB_TOOL_FDS; i++)
		ab_closep(&c->fds[i]);
	ab_strv_fini_all(&c->argv, &c->env);
	ab_free_all(c->pattern, c->words, c->cwd, c);
}

static void finish_call(struct ab_tool_call *c)
{
	struct ab_tool_calls *calls = c->calls;
	struct ab_tool_call **at = &calls->first;

	if (c->over)
		return;
	c->over = true;
	ab_loop_close(&c->calls->loop, &c->client);
	ab_loop_timer_stop(&calls->loop, &c->timer);
	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	calls->count--;
	c->later = (struct ab_later){ .run = free_call, .owner = c };
	ab_loop_later(&calls->loop, &c->later);
	if (calls->ending && !calls->first)
		calls->loop.stop = true;
}

static void tell_client(struct ab_tool_call *c, enum ab_tool_event event, int status,
			const char *text)
{
	struct ab_tool_reply reply = { .event = event, .status = status };

	snprintf(reply.text, sizeof(reply.text), "%s", text ? text : "");
	if (c->client.fd >= 0)
		(void)send(c->client.fd, &reply, sizeof(reply), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static int tell_supervisor(struct ab_tool_call *c, enum ab_tool_news news, const char *why,
			   int status)
{
	struct ab_tool_note note = { .news = news,
				     .number = c->number,
				     .status = status,
				     .unconfined = c->tool && c->tool->unconfined };

	if (c->started_ms)
		note.ms = (uint64_t)(ab_now_ms() - c->started_ms);
	snprintf(note.tool, sizeof(note.tool), "%s", c->tool ? c->tool->name : "");
	snprintf(note.words, sizeof(note.words), "%s", c->words ? c->words : "");
	snprintf(note.cwd, sizeof(note.cwd), "%s", c->cwd ? c->cwd : "");
	snprintf(note.rule, sizeof(note.rule), "%s", c->rule ? c->rule : "tools");
	snprintf(note.why, sizeof(note.why), "%s", why ? why : "");
	return ab_send_fds(c->calls->supervisor.fd, &note, sizeof(note), NULL, 0);
}

/* The same denial has the same number. */
static uint32_t number_denial(struct ab_tool_calls *calls, const char *row)
{
	for (unsigned i = 0; i < calls->nrows; i++)
		if (strcmp(calls->rows[i].text, row) == 0)
			return calls->rows[i].number;
	if (calls->nrows < AB_TOOL_ROWS) {
		calls->rows[calls->nrows].number = ++calls->numbers;
		snprintf(calls->rows[calls->nrows].text, sizeof(calls->rows[0].text), "%s", row);
		return calls->rows[calls->nrows++].number;
	}
	return ++calls->numbers;
}

static void deny_call(struct ab_tool_call *c, const char *why)
{
	ab_autofree char *text = NULL, *row = NULL;

	row = ab_printf("%s: %.100s: %s", c->rule ? c->rule : "tools", why,
			c->words ? c->words : "");
	if (!c->number)
		c->number = number_denial(c->calls, row);
	text = ab_printf("%s: denied: %s; agentbox why %s-t%u", c->tool ? c->tool->name : "tool",
			 why, c->calls->setup->run, c->number);
	if (tell_supervisor(c, AB_TOOL_NEWS_DENIED, why, 0) == 0)
		tell_client(c, AB_TOOL_REFUSED, 126, text);
	finish_call(c);
}

/* Refused because of a mistake or a failure, not because of the words. */
__attribute__((format(printf, 2, 3))) static void refuse_call(struct ab_tool_call *c,
							      const char *fmt, ...)
{
	ab_autofree char *why = NULL;
	va_list ap;

	va_start(ap, fmt);
	why = ab_vprintf(fmt, ap);
	va_end(ap);
	c->rule = "tools";
	deny_call(c, why);
}

struct start {
	const struct ab_tool_call *call;
	int settings;
};

/* Start our own binary as the run of the tool. It gets the settings of its box in a sealed file. */
static int become_tool(int sock, void *arg)
{
	const struct start *start = arg;
	const struct ab_tool_call *c = start->call;
	int settings = start->settings;

	(void)sock;
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	if (fchdir(c->fds[AB_TOOL_FD_CWD]) < 0 || close(c->fds[AB_TOOL_FD_CWD]) < 0 ||
	    (settings >= 0 && fcntl(settings, F_SETFD, 0) < 0))
		return 125;
	execve(settings >= 0 ? "/proc/self/exe" : c->tool->program, c->argv.v, c->env.v);
	return errno == ENOENT ? 127 : 126;
}

/* It keeps no descriptor but the streams of the box, and ends with us, also if we are killed. */
static int fork_tool(struct ab_tool_call *c, int settings)
{
	struct start start = { .call = c, .settings = settings };
	const int keep[] = { settings, c->fds[AB_TOOL_FD_CWD] };
	sigset_t none;
	const struct ab_helper_setup setup = {
		.what = "the tool",
		.keep = keep,
		.nkeep = AB_COUNT(keep),
		.stdio = c->fds,
		.signals = AB_HELPER_MASK,
		.mask = &none,
		.end_signal = SIGKILL,
		.group = true,
		.serve = become_tool,
		.arg = &start,
	};
	struct ab_helper helper;
	struct ab_error err;

	sigemptyset(&none);
	if (ab_helper_start(&setup, &helper, &err) < 0)
		return -1;
	c->pid = helper.pid;
	return 0;
}

/* "agentbox-tool", the settings, the workspace, our run, the program; and its words. */
static void wrap_words(struct ab_tool_call *c, int settings)
{
	struct ab_strv argv = { 0 };

	ab_strv_add(&argv, AB_TOOL_RUN_NAME);
	ab_strv_addf(&argv, "%d", settings);
	ab_strv_add(&argv, c->calls->workspace);
	ab_strv_add(&argv, c->calls->setup->run);
	ab_strv_add(&argv, c->tool->program);
	for (size_t i = 1; i < c->argv.len; i++)
		ab_strv_add(&argv, c->argv.v[i]);
	ab_strv_fini(&c->argv);
	c->argv = argv;
}

static void start_tool(struct ab_tool_call *c)
{
	struct ab_tool_calls *calls = c->calls;
	ab_autoclose int settings = -1;

	if (calls->running == AB_TOOL_RUNS_MAX)
		return refuse_call(c, "too many tools run at the same time");
	if (!c->tool->unconfined) {
		settings = ab_memfd_sealed("agentbox-tool", c->tool->box, strlen(c->tool->box));
		if (settings < 0)
			return refuse_call(c, "its settings cannot be handed over");
		wrap_words(c, settings);
	}
	/* First the record. */
	if (tell_supervisor(c, AB_TOOL_NEWS_STARTED, c->pattern, 0) < 0)
		return finish_call(c);
	if (fork_tool(c, settings) < 0)
		return refuse_call(c, "it cannot be started");
	c->started_ms = ab_now_ms();
	calls->running++;
	for (size_t i = 0; i < AB_TOOL_FDS; i++)
		close(ab_take_fd(&c->fds[i]));
}

/* A run gets the signal; a program without one, with its children. */
static void signal_tool(const struct ab_tool_call *c, int sig)
{
	if (c->pid)
		kill(c->tool->unconfined ? -c->pid : c->pid, sig);
}

static void end_tool(struct ab_tool_call *c, unsigned grace)
{
	signal_tool(c, SIGTERM);
	signal_tool(c, SIGCONT);
	ab_loop_timer(&c->calls->loop, &c->timer, grace);
}

static void settle_question(struct ab_tool_call *c, enum ab_settled how)
{
	(void)tell_supervisor(c, AB_TOOL_NEWS_SETTLED, NULL, (int)how);
}

/* Nobody can approve what is not shown. */
static void ask_about(struct ab_tool_call *c)
{
	ab_autofree char *shown = ab_escape(c->words);

	if (strlen(shown) > AB_TOOL_ASKED_MAX)
		return deny_call(c, "it needs approval, and is too long to be shown");
	c->number = ++c->calls->numbers;
	if (tell_supervisor(c, AB_TOOL_NEWS_WAITS, c->pattern, 0) < 0)
		finish_call(c);
	else
		ab_loop_timer(&c->calls->loop, &c->timer, AB_ASK_MS);
}

/* What an approval is about: the words, which are quoted, so no others look the same, and the folder. */
static char *name_call(const struct ab_tool_call *c)
{
	struct ab_buf b = { 0 };

	ab_quote_argv(&b, (const char *const *)c->argv.v, c->argv.len);
	ab_buf_printf(&b, " in %s", c->cwd);
	return ab_buf_take(&b);
}

void ab_tool_calls_answer(struct ab_tool_calls *calls, uint32_t number, uint32_t answer)
{
	struct ab_tool_call *c = calls->first;
	ab_autofree char *name = NULL;

	while (c && (c->number != number || c->pid))
		c = c->next;
	if (!c)
		return;
	ab_loop_timer_stop(&calls->loop, &c->timer);
	settle_question(c, AB_SETTLED_ANSWERED);
	name = name_call(c);
	if (answer == AB_HOST_ANSWER_RUN && calls->granted.len < GRANTS_MAX)
		ab_strv_add_once(&calls->granted, name);
	if (answer == AB_HOST_ANSWER_NO)
		deny_call(c, "you answered no");
	else
		start_tool(c);
}

static void call_timed_out(struct ab_timer *timer)
{
	struct ab_tool_call *c = timer->owner;

	if (c->pid) {
		signal_tool(c, SIGKILL);
	} else if (c->tool) {
		settle_question(c, AB_SETTLED_TIME);
		deny_call(c, "nobody answered in time");
	} else {
		finish_call(c);
	}
}

static const struct ab_host_tool *find_tool(const struct ab_policy *policy, const char *name)
{
	for (size_t i = 0; i < policy->host_tools.len; i++)
		if (strcmp(policy->host_tools.v[i]->name, name) == 0)
			return policy->host_tools.v[i];
	return NULL;
}

/* The folder on the host, only below the workspace and without links. */
static int open_folder(const struct ab_tool_calls *calls, const char *path)
{
	const char *rest = path + strlen(calls->workspace);

	if (!ab_path_within(path, calls->workspace))
		return -1;
	while (*rest == '/')
		rest++;
	return ab_open_beneath(calls->root, *rest ? rest : ".", O_PATH | O_DIRECTORY);
}

static bool has_variable(const struct ab_strv *variables, const char *text, size_t name_len)
{
	for (size_t i = 0; i < variables->len; i++)
		if (strncmp(variables->v[i], text, name_len) == 0 &&
		    variables->v[i][name_len] == '=')
			return true;
	return false;
}

/*
 * The caller's environment, without what a box could have made; its own settings for agentbox do not
 * apply to the tool. The box decides only about the terminal and the language.
 */
static void fill_environment(struct ab_tool_call *c, const struct ab_tool_request *request)
{
	const struct ab_tool_broker_setup *setup = c->calls->setup;
	ab_autostrv struct ab_strv fixed = { 0 };
	ab_autofree char *path = NULL;
	ab_autofree char **base =
		ab_host_command_environ(&setup->policy->fs.touched, setup->env, &path);

	ab_tool_fixed_variables(&fixed);
	for (size_t i = 0; base[i]; i++) {
		size_t n = strcspn(base[i], "=");
		bool own = strncmp(base[i], "AGENTBOX", 8) == 0 &&
			   strncmp(base[i], "AGENTBOX_STATE=", 15) != 0;

		if (!own && !ab_tool_variable(base[i], n) && strncmp(base[i], "GIT_", 4) != 0 &&
		    strncmp(base[i], "PWD=", 4) != 0 && !has_variable(&fixed, base[i], n))
			ab_strv_add(&c->env, base[i]);
	}
	for (size_t i = 0; i < request->nenv; i++)
		ab_strv_add(&c->env, request->env[i]);
	/* A boxed tool has them as settings: its box would not pass them on. */
	for (size_t i = 0; c->tool->unconfined && i < fixed.len; i++)
		ab_strv_add(&c->env, fixed.v[i]);
}

static void judge_call(struct ab_tool_call *c)
{
	const char *const *words = (const char *const *)c->argv.v + 1;
	ab_autofree char *name = name_call(c), *why = NULL;
	struct ab_tool_judgement j;

	ab_tool_judge(c->tool, words, c->argv.len - 1, &j);
	c->rule = j.rule;
	c->pattern = ab_strdup(j.pattern ? j.pattern : "");
	switch (j.ruling) {
	case AB_TOOL_DENIED:
		why = j.word ? ab_printf("%.100s: %s", j.word, j.why) : ab_strdup(j.why);
		deny_call(c, why);
		break;
	case AB_TOOL_ASKED:
		if (ab_strv_has(&c->calls->granted, name))
			start_tool(c);
		else
			ask_about(c);
		break;
	case AB_TOOL_ALLOWED:
		start_tool(c);
		break;
	}
}

static void take_request(struct ab_tool_call *c, const struct ab_tool_request *request)
{
	ab_autobuf struct ab_buf words = { 0 };
	const char *wrong = NULL;
	int folder;

	for (size_t i = 0; i < request->argc; i++)
		ab_strv_add(&c->argv, request->argv[i]);
	ab_quote_argv(&words, request->argv, request->argc);
	c->words = ab_printf("%.500s%s", words.data, words.len > 500 ? " ..." : "");
	c->cwd = ab_strdup(request->cwd);
	c->tool = find_tool(c->calls->setup->policy, request->argv[0]);
	if (!c->tool)
		return refuse_call(c, "there is no such tool in the settings");
	for (int fd = 0; fd < 3 && !wrong; fd++)
		wrong = ab_tool_stream_check(c->fds[fd]);
	if (wrong)
		return refuse_call(c, "a stream of the caller: %s", wrong);
	folder = open_folder(c->calls, request->cwd);
	wrong = folder < 0 ? "the current folder is not in the workspace"
			   : ab_tool_cwd_check(c->fds[AB_TOOL_FD_CWD], folder);
	ab_closep(&c->fds[AB_TOOL_FD_CWD]);
	c->fds[AB_TOOL_FD_CWD] = folder;
	if (wrong)
		return refuse_call(c, "%s", wrong);
	fill_environment(c, request);
	judge_call(c);
}

static void hear_request(struct ab_tool_call *c)
{
	static char data[AB_TOOL_REQUEST_MAX + 1];
	static const char *room[AB_TOOL_WORDS_MAX + AB_TOOL_ENV_MAX];
	struct ab_tool_request request;
	struct ab_fds fds = { .len = AB_FDS_MAX };
	const char *wrong;
	ssize_t n = ab_recv_fds(c->client.fd, data, sizeof(data), fds.v, &fds.len, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	ab_loop_timer_stop(&c->calls->loop, &c->timer);
	if (n <= 0)
		return finish_call(c);
	if (fds.len != AB_TOOL_FDS) {
		ab_fds_close(&fds);
		return refuse_call(c,
				   "the request is malformed: it does not have four descriptors");
	}
	memcpy(c->fds, fds.v, sizeof(c->fds));
	wrong = ab_tool_request_parse(data, (size_t)n, room, &request);
	if (wrong)
		return refuse_call(c, "the request is malformed: %s", wrong);
	take_request(c, &request);
}

/* Nothing runs yet: the call ends as the program would. */
static void cancel_call(struct ab_tool_call *c, int sig)
{
	settle_question(c, AB_SETTLED_GONE);
	tell_client(c, AB_TOOL_KILLED, sig, NULL);
	finish_call(c);
}

static void hear_signal(struct ab_tool_call *c)
{
	static const int ending[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };
	static const int passed[] = { SIGHUP,  SIGINT,	SIGQUIT, SIGTERM, SIGUSR1,
				      SIGUSR2, SIGCONT, SIGTSTP, SIGWINCH };
	struct ab_tool_signal message;
	struct ab_fds fds = { .len = AB_FDS_MAX };
	ssize_t n =
		ab_recv_fds(c->client.fd, &message, sizeof(message), fds.v, &fds.len, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		ab_fds_close(&fds);
	if (n <= 0 && c->pid) { /* the client was killed: so is what it stands for */
		ab_loop_close(&c->calls->loop, &c->client);
		end_tool(c, GRACE_MS);
		return;
	}
	if (n <= 0) {
		settle_question(c, AB_SETTLED_GONE);
		finish_call(c);
		return;
	}
	if (n != (ssize_t)sizeof(message))
		return;
	for (size_t i = 0; !c->pid && i < AB_COUNT(ending); i++)
		if (message.signal == ending[i])
			return cancel_call(c, ending[i]);
	for (size_t i = 0; i < AB_COUNT(passed); i++)
		if (message.signal == passed[i])
			signal_tool(c, passed[i]);
}

static void client_ready(struct ab_source *source, uint32_t events)
{
	struct ab_tool_call *c = source->owner;

	(void)events;
	if (c->tool)
		hear_signal(c);
	else
		hear_request(c);
}

static void accept_calls(struct ab_source *source, uint32_t events)
{
	struct ab_tool_calls *calls = source->owner;
	int fd = accept4(source->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct ab_tool_call *c;
	struct ab_error err;

	(void)events;
	if (fd < 0)
		return;
	if (calls->ending || calls->count == AB_TOOL_CALLS_MAX) {
		close(fd);
		return;
	}
	c = ab_alloc(sizeof(*c));
	*c = (struct ab_tool_call){ .calls = calls,
				    .next = calls->first,
				    .client = { .fd = fd, .ready = client_ready },
				    .timer = { .fire = call_timed_out } };
	memset(c->fds, -1, sizeof(c->fds));
	c->client.owner = c->timer.owner = c;
	calls->first = c;
	calls->count++;
	if (ab_loop_add(&calls->loop, &c->client, EPOLLIN, &err) < 0)
		finish_call(c);
	else
		ab_loop_timer(&calls->loop, &c->timer, REQUEST_MS);
}

int ab_tool_calls_listen(struct ab_tool_calls *calls, int fd, struct ab_error *err)
{
	if (calls->listener.fd >= 0) {
		close(fd);
		return 0;
	}
	return ab_loop_watch(&calls->loop, &calls->listener, fd, accept_calls, calls, err);
}

static struct ab_tool_call *find_process(const struct ab_tool_calls *calls, pid_t pid)
{
	struct ab_tool_call *c = calls->first;

	while (c && c->pid != pid)
		c = c->next;
	return c;
}

void ab_tool_calls_reap(struct ab_tool_calls *calls)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
		struct ab_tool_call *c = find_process(calls, pid);

		if (WIFSTOPPED(status)) {
			if (c)
				tell_client(c, AB_TOOL_STOPPED, WSTOPSIG(status), NULL);
			continue;
		}
		calls->running--;
		if (!c)
			continue;
		c->pid = 0;
		(void)tell_supervisor(c, AB_TOOL_NEWS_ENDED, NULL,
				      WIFSIGNALED(status) ? -WTERMSIG(status)
							  : WEXITSTATUS(status));
		if (WIFSIGNALED(status))
			tell_client(c, AB_TOOL_KILLED, WTERMSIG(status), NULL);
		else
			tell_client(c, AB_TOOL_ENDED, WEXITSTATUS(status), NULL);
		finish_call(c);
	}
}

static void kill_rest(struct ab_timer *timer)
{
	const struct ab_tool_calls *calls = timer->owner;

	for (const struct ab_tool_call *c = calls->first; c; c = c->next)
		signal_tool(c, SIGKILL);
}

void ab_tool_calls_end(struct ab_tool_calls *calls)
{
	struct ab_tool_call *next;

	calls->ending = true;
	if (calls->listener.fd >= 0)
		ab_loop_remove(&calls->loop, &calls->listener);
	for (struct ab_tool_call *c = calls->first; c; c = next) {
		next = c->next;
		if (c->pid)
			end_tool(c, END_MS);
		else
			finish_call(c);
	}
	calls->end = (struct ab_timer){ .fire = kill_rest, .owner = calls };
	ab_loop_timer(&calls->loop, &calls->end, END_MS);
	if (!calls->first)
		calls->loop.stop = true;
}
