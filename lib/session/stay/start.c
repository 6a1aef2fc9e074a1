/*
 * A request to start a command in a box that stays: checked, judged and recorded here, then sent to
 * a leader. What the client may choose is the command, its folder, its environment (by the rules of
 * the box's policy) and its streams; there is nothing in a request that could widen the box.
 */
#include <jansson.h>
#include <sys/epoll.h>

#include "audit/write/audit.h"
#include "audit/write/log.h"
#include "consent/consent.h"
#include "consent/request.h"
#include "guard/notify/refused_programs.h"
#include "policy/layers/environment.h"
#include "sandbox/plan/spec.h"
#include "sandbox/start/launch.h"
#include "session/control/control_socket.h"
#include "session/control/steering.h"
#include "session/stay/output.h"
#include "session/stay/start_strings.h"
#include "session/stay/stay_state.h"
#include "shell/syntax/quote.h"

enum { SOCKET, STRINGS, STREAMS }; /* the descriptors of a request */

enum {
	TEXT_SHOWN = 32 * 1024, /* of a command that needs approval */
	REFILL_MS = 10,		/* not while the command starts */
	LEADERS = 8,		/* that are tried for one command */
};

/* What a terminal or a person's language decides; it reveals nothing. */
static const char *const terminal_names[] = {
	"TERM", "COLORTERM", "LANG", "LANGUAGE", "LC_*", "NO_COLOR", "COLUMNS", "LINES",
};

static size_t get_name_len(const char *entry)
{
	return strcspn(entry, "=");
}

static void set_entry(struct ab_strv *env, const char *entry)
{
	ab_autofree char *name = ab_strndup(entry, get_name_len(entry));

	if (entry[strlen(name)] == '=')
		ab_env_set(env, name, entry + strlen(name) + 1);
}

/* Every command must have them: the proxy's address, certificates, the box's own folders. */
void ab_stay_find_ours(struct ab_stay *stay)
{
	const struct ab_strv *all = &stay->setup.run->spec->env;
	ab_autostrv struct ab_strv plain = { 0 };

	ab_environment_build(stay->setup.run->policy, stay->setup.run->request->policy.environ,
			     &plain, NULL);
	for (size_t i = 0; i < all->len; i++)
		if (!ab_strv_has(&plain, all->v[i]))
			ab_strv_add(&stay->ours, all->v[i]);
}

static bool is_terminal_name(const char *entry)
{
	ab_autofree char *name = ab_strndup(entry, get_name_len(entry));

	for (size_t i = 0; i < AB_COUNT(terminal_names); i++)
		if (ab_name_matches(terminal_names[i], name, false))
			return true;
	return false;
}

static void build_environment(const struct ab_stay *stay, const struct ab_strv *client,
			      struct ab_strv *ret)
{
	/* Not the client's: the values of secrets are with the proxy by now and could not be covered. */
	if (stay->setup.run->policy->secrets.len) {
		ab_strv_extend(ret, &stay->setup.run->spec->env);
		for (size_t i = 0; i < client->len; i++)
			if (is_terminal_name(client->v[i]))
				set_entry(ret, client->v[i]);
		return;
	}
	ab_environment_build(stay->setup.run->policy, client->v, ret, NULL);
	for (size_t i = 0; i < stay->ours.len; i++)
		set_entry(ret, stay->ours.v[i]);
}

/* Only memory that nobody can change any more. */
static int read_strings(const struct ab_control_request *rq, struct ab_start_strings *ret,
			struct ab_error *err)
{
	int fd = rq->fds->v[STRINGS], seals = fcntl(fd, F_GET_SEALS);
	ab_autofree char *data = NULL;
	struct stat st;
	size_t len = 0;
	int r;

	if (seals < 0 || !(seals & F_SEAL_WRITE) || fstat(fd, &st) < 0 || st.st_size < 0 ||
	    (uint64_t)st.st_size > AB_START_MOST)
		return ab_fail(err, AB_EUSAGE, 0,
			       "the command and its environment are too long, or not sealed");
	data = ab_alloc((size_t)st.st_size + 1);
	while (len < (size_t)st.st_size) {
		ssize_t n = pread(fd, data + len, (size_t)st.st_size - len, (off_t)len);

		if (n <= 0)
			break;
		len += (size_t)n;
	}
	r = ab_start_strings_read(data, len, rq->start.argc, rq->start.script, rq->start.nenv, ret,
				  err);
	explicit_bzero(data, len);
	return r;
}

/* Files, folders and devices of the host never enter a box that exists: the client copies through
 * a pipe. */
static int check_passed(const struct ab_control_request *rq, struct ab_error *err)
{
	size_t passed = 0;

	for (int fd = 0; fd < 3; fd++)
		passed += strcmp(rq->start.streams[fd], AB_STREAM_PASSED) == 0;
	if (rq->fds->len != STREAMS + passed)
		return ab_fail(err, AB_EUSAGE, 0, "a start needs %zu descriptors",
			       STREAMS + passed);
	for (size_t i = STREAMS; i < rq->fds->len; i++) {
		struct stat st;

		if (fstat(rq->fds->v[i], &st) < 0 ||
		    (!S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode)))
			return ab_fail(err, AB_EUSAGE, 0,
				       "only pipes and sockets can be passed to a box that exists");
	}
	return 0;
}

/* The client asks the person, and answers with another request. */
static void send_verdict(struct ab_control_client *client, const struct ab_judgement *j,
			 const char *key)
{
	json_auto_t *text = j->text.len <= TEXT_SHOWN ? json_stringn(j->text.s, j->text.len) : NULL;
	static const char unknown[] = "(the command is too long or not UTF-8)";

	ab_control_reply(client,
			 "'verdict':{'decision':%d,'rule':%s,'reason':%s,'instead':%s,"
			 "'user_rule':%s,'text':%.*s,'from':%u,'to':%u,'key':%s}",
			 (int)j->decision, j->rule, j->reason, j->instead, j->user_rule,
			 text ? (int)j->text.len : (int)strlen(unknown), text ? j->text.s : unknown,
			 text ? j->range.from : 0, text ? j->range.to : 0, key);
}

/* Told already: the client knows. */
static int record_refusal(struct ab_stay *stay, const struct ab_start_strings *s,
			  const struct ab_judgement *j, struct ab_error *err)
{
	static struct ab_note note;
	ab_autobuf struct ab_buf words = { 0 };
	uint64_t before = stay->hands.denials(stay->hands.arg);

	if (s->script)
		ab_buf_puts(&words, s->script);
	else
		ab_quote_argv(&words, (const char *const *)s->argv.v, s->argv.len);
	note = (struct ab_note){ .kind = AB_NOTE_EXEC, .told = 1, .decision = j->decision };
	note.cut = words.len >= sizeof(note.command);
	snprintf(note.command, sizeof(note.command), "%s", words.data ? words.data : "");
	snprintf(note.rule, sizeof(note.rule), "%s", j->rule);
	snprintf(note.reason, sizeof(note.reason), "%s", j->reason);
	if (ab_refused_programs_take(stay->hands.refusals, &note, err) < 0)
		return -1;
	stay->told += stay->hands.denials(stay->hands.arg) - before;
	return 0;
}

static void note_approval(const struct ab_consent *consent, bool yes, struct ab_guard_more *ret)
{
	*ret = (struct ab_guard_more){ .yes = yes };
	if (!consent->approved)
		return;
	snprintf(ret->rule, sizeof(ret->rule), "%s", consent->rule);
	snprintf(ret->user_rule, sizeof(ret->user_rule), "%s",
		 consent->user_rule ? consent->user_rule : "");
}

/* False: the client has its answer. */
static bool get_consent(struct ab_stay *stay, struct ab_control_client *client,
			const struct ab_control_request *rq, const struct ab_start_strings *s,
			struct ab_consent *ret, struct ab_guard_more *ret_more)
{
	struct ab_command command = { .policy = stay->setup.run->policy,
				      .cwd = s->cwd,
				      .argv = (const char *const *)s->argv.v,
				      .argc = s->argv.len,
				      .script = s->script };
	struct ab_arena arena = { 0 };
	struct ab_judgement j;
	struct ab_error err = { 0 };
	const char *approved = rq->start.approved;
	bool refused = approved && strcmp(approved, "no") == 0, given;

	ab_consent_judge(&arena, &command, &j);
	given = !refused &&
		(j.decision <= AB_SANDBOXED || (j.decision == AB_ESCALATED && approved));
	if (refused && record_refusal(stay, s, &j, &err) < 0)
		stay->hands.fail(stay->hands.arg, &err);
	if (!given) {
		char key[65];

		ab_consent_key(&command, key);
		send_verdict(client, &j, key);
	}
	*ret = (struct ab_consent){ .decision = j.decision,
				    .rule = j.rule,
				    .user_rule = j.user_rule };
	if (j.decision == AB_ESCALATED)
		ret->approved = approved;
	note_approval(ret, ret->approved && strcmp(ret->approved, "yes") == 0, ret_more);
	ab_arena_fini(&arena);
	return given;
}

static int record_start(struct ab_stay *stay, uint32_t number, const struct ab_strv *argv,
			const char *cwd, const struct ab_consent *consent, struct ab_error *err)
{
	ab_autobuf struct ab_buf line = { 0 };

	ab_record_open(&line, stay->setup.run->run_id, "command");
	ab_buf_jsonf(&line, ",'number':%u,'command':%p,'cwd':%s", number, ab_list(argv), cwd);
	if (consent)
		ab_buf_jsonf(&line, ",'decision':%s,'rule':%s?,'approved':%s",
			     ab_decision_names[consent->decision], consent->rule,
			     consent->approved);
	return ab_log_write(stay->setup.run->log, &line, err);
}

/* Returns our end of its socket. */
static int order_leader(const struct ab_stay *stay, struct ab_error *err)
{
	struct ab_msg msg = { .type = AB_MSG_LEADER };
	ab_autoclose int ours = -1, leaders = -1;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "create a socket pair");
	ours = pair[0];
	leaders = pair[1];
	if (ab_poll(stay->hands.box->sock, POLLOUT, 0) <= 0)
		return ab_fail(err, AB_ESYSTEM, 0, "the box has too many requests to answer");
	if (ab_send_fds(stay->hands.box->sock, &msg, AB_MSG_LEN(0), &leaders, 1) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "start a command in the box");
	return ab_take_fd(&ours);
}

/* If it fails, the next start asks init itself, and reports why. */
void ab_stay_refill(struct ab_stay *stay)
{
	struct ab_error err;

	ab_loop_timer_stop(stay->hands.loop, &stay->refill);
	if (stay->spare < 0 && !stay->ending && !stay->ended)
		stay->spare = order_leader(stay, &err);
}

/* A leader has nothing to say before its command: if there is something to read, it has failed, or a
 * process of the box has killed it. */
static int take_leader(struct ab_stay *stay, struct ab_error *err)
{
	ab_autoclose int leader = ab_take_fd(&stay->spare);

	if (!stay->ending)
		ab_loop_timer(stay->hands.loop, &stay->refill, REFILL_MS);
	if (leader >= 0 && ab_poll(leader, POLLIN, 0) == 0)
		return ab_take_fd(&leader);
	return order_leader(stay, err);
}

/* `command` has its words, environment and folder; 0-2 are added. */
static int seal_command(struct ab_spec *command, const char *const streams[3], struct ab_error *err)
{
	ab_autostrv struct ab_strv words = { 0 };

	for (int fd = 0; fd < 3; fd++) {
		ab_strv_add(&words, streams[fd]);
		if (strcmp(streams[fd], AB_STREAM_TERMINAL) == 0)
			command->tty_fds |= 1u << fd;
	}
	command->tty = command->tty_fds != 0;
	command->streams = words;
	return ab_spec_seal(command, err);
}

void ab_stay_order_fini(struct ab_stay_order *order)
{
	while (order->nfds)
		close(order->fds[--order->nfds]);
}

static int send_command(int leader, const struct ab_stay_order *order, struct ab_error *err)
{
	struct ab_msg msg = { .type = AB_MSG_COMMAND, .value = order->report };

	if (ab_send_fds(leader, &msg, AB_MSG_LEN(0), order->fds, order->nfds) == 0)
		return 0;
	return ab_fail_step(err, "start", errno, "start a command in the box");
}

/* One that was killed, with the signal still on its way, takes nothing. */
static int find_leader(struct ab_stay *stay, struct ab_stay_order *order, struct ab_error *err)
{
	while (order->leaders++ < LEADERS) {
		ab_autoclose int leader = take_leader(stay, err);

		if (leader < 0)
			return -1;
		if (send_command(leader, order, err) == 0)
			return ab_take_fd(&leader);
		if (err->errnum != EPIPE && err->errnum != ECONNRESET)
			return -1;
	}
	return -1;
}

bool ab_stay_start_again(struct ab_stay_command *c)
{
	struct ab_stay *stay = c->stay;
	struct ab_error err = { 0 };
	int leader = c->order.nfds && !stay->ending ? find_leader(stay, &c->order, &err) : -1;

	if (leader < 0)
		return false;
	ab_loop_close(stay->hands.loop, &c->leader);
	c->leader.fd = leader;
	if (ab_loop_add(stay->hands.loop, &c->leader, EPOLLIN, &err) < 0)
		return false;
	if (c->went) {
		c->went = false;
		ab_stay_go(c);
	}
	return true;
}

static int check_room(const struct ab_stay *stay, struct ab_error *err)
{
	if (stay->ended)
		return ab_fail(err, AB_ESYSTEM, 0, "the box is ending");
	if (stay->ncommands < AB_COMMANDS_MAX)
		return 0;
	ab_fail(err, AB_ESYSTEM, 0, "the box has %d commands whose processes still run",
		AB_COMMANDS_MAX);
	return ab_hint(err, "end some of them, or start another box");
}

static int set_nonblocking(int fd, struct ab_error *err)
{
	socklen_t len = sizeof(int);
	int type;

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) < 0 || type != SOCK_SEQPACKET ||
	    ab_set_nonblocking(fd) < 0)
		return ab_fail(err, AB_EUSAGE, 0,
			       "the first descriptor is not the client's socket");
	return 0;
}

static void refuse_start(struct ab_control_client *client, struct ab_error *err)
{
	if (err->errnum == EMFILE || err->errnum == ENFILE)
		ab_hint(err,
			"raise the limit of open files (ulimit -n) before you start the box, or "
			"end other commands in it");
	ab_control_refuse(client, err);
}

/* The leader proves the walls while the judge works; nothing is executed before `go`, and without it
 * the leader ends. */
static int start_ahead(struct ab_stay *stay, const struct ab_control_request *rq,
		       const struct ab_start_strings *s, struct ab_stay_order *ret,
		       struct ab_error *err)
{
	const char *const streams[] = { rq->start.streams[0], rq->start.streams[1],
					rq->start.streams[2] };
	/* What is not the command's is the box's; strings are borrowed. */
	struct ab_spec command = { .argv = s->argv, .cwd = s->cwd, .tty_behind = rq->start.behind };
	ab_autostrv struct ab_strv env = { 0 };
	int spec;

	build_environment(stay, &s->env, &env);
	if (rq->start.shell)
		ab_environment_mark_shell(&env, s->argv.v[0]);
	command.env = env;
	spec = seal_command(&command, streams, err);
	if (spec < 0)
		return -1;
	ret->fds[ret->nfds++] = spec;
	for (size_t i = STREAMS; i < rq->fds->len; i++)
		ret->fds[ret->nfds++] = ab_take_fd(&rq->fds->v[i]);
	return find_leader(stay, ret, err);
}

static int begin_command(struct ab_stay *stay, struct ab_control_client *client,
			 const struct ab_control_request *rq, const struct ab_start_strings *s,
			 struct ab_stay_order *order, struct ab_error *err)
{
	ab_autoclose int leader = start_ahead(stay, rq, s, order, err);
	struct ab_guard_more more;
	struct ab_consent consent;
	struct ab_stay_command *c;

	if (leader < 0)
		return -1;
	if (!get_consent(stay, client, rq, s, &consent, &more))
		return 0;
	if (record_start(stay, stay->number + 1, &s->argv, s->cwd, &consent, err) < 0)
		return -1;
	c = ab_stay_add(stay, ab_take_fd(&leader), ab_take_fd(&rq->fds->v[SOCKET]), &s->argv, err);
	if (!c)
		return -1;
	c->order = *order;
	order->nfds = 0;
	c->approved = more;
	ab_stay_answer_later(c, client);
	if (!ab_has_word(rq->start.streams, 3, AB_STREAM_TERMINAL))
		ab_stay_go(c);
	return 0;
}

void ab_stay_start(struct ab_stay *stay, struct ab_control_client *client,
		   const struct ab_control_request *rq)
{
	struct ab_start_strings s = { 0 };
	struct ab_stay_order order = { .nfds = 0 };
	struct ab_error err = { 0 };

	if (check_room(stay, &err) < 0 || check_passed(rq, &err) < 0 ||
	    set_nonblocking(rq->fds->v[SOCKET], &err) < 0 || read_strings(rq, &s, &err) < 0 ||
	    begin_command(stay, client, rq, &s, &order, &err) < 0)
		refuse_start(client, &err);
	ab_stay_order_fini(&order);
	ab_start_strings_fini(&s);
}

static void lose_output(void *arg, const struct ab_error *err)
{
	struct ab_stay *stay = arg;

	stay->hands.found(stay->hands.arg, err->text);
}

int ab_stay_start_detached(struct ab_stay *stay, struct ab_error *err)
{
	const struct ab_spec *spec = stay->setup.run->spec;
	uint64_t most = stay->setup.run->policy->limits.output;
	struct ab_output_setup output = { .loop = stay->hands.loop,
					  .dir = stay->setup.run->dir,
					  .most = most ? most : AB_OUTPUT_MOST,
					  .rows = stay->setup.rows,
					  .cols = stay->setup.cols,
					  .failed = lose_output,
					  .arg = stay };
	static const char *const streams[] = { AB_STREAM_TERMINAL, AB_STREAM_TERMINAL,
					       AB_STREAM_TERMINAL };
	struct ab_spec command = { .argv = spec->argv, .env = spec->env, .cwd = spec->cwd };
	struct ab_stay_order order = { .report = true };
	struct ab_stay_command *c;
	int leader;

	if (record_start(stay, stay->number + 1, &spec->argv, spec->cwd, NULL, err) < 0)
		return -1;
	order.fds[0] = seal_command(&command, streams, err);
	order.nfds = order.fds[0] >= 0;
	leader = order.nfds ? find_leader(stay, &order, err) : -1;
	c = leader < 0 ? NULL : ab_stay_add(stay, leader, -1, &spec->argv, err);
	if (!c) {
		ab_stay_order_fini(&order);
		return -1;
	}
	c->order = order;
	c->main = !stay->setup.run->request->keep;
	note_approval(stay->setup.consent, stay->setup.run->request->yes, &c->approved);
	c->output = ab_output_new(&output);
	return 0;
}
