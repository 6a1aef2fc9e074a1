/*
 * A request to start a command in a box that stays: checked, judged and recorded here, then sent to
 * a leader. What the client may choose is the command, its folder, its environment (by the rules of
 * the box's policy) and its streams; there is nothing in a request that could widen the box.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/write/audit.h"
#include "audit/write/log.h"
#include "base/data/arena.h"
#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "policy/layers/environment.h"
#include "policy/model/policy.h"
#include "sandbox/plan/spec.h"
#include "sandbox/start/launch.h"
#include "session/consent/consent.h"
#include "session/control/control_socket.h"
#include "session/stay/output.h"
#include "session/stay/start_strings.h"
#include "session/stay/stay_state.h"
#include "shell/syntax/quote.h"

enum { SOCKET, STRINGS, STREAMS }; /* the descriptors of a request */

enum {
	TEXT_SHOWN = 32 * 1024, /* of a command that needs approval */
	REFILL_MS = 10,		/* not while the command starts */
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
	const struct ab_strv *all = &stay->setup.spec->env;
	ab_autostrv struct ab_strv plain = { 0 };

	ab_environment_build(stay->setup.policy, stay->setup.environ, &plain, NULL);
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
	if (stay->setup.secrets) {
		ab_strv_extend(ret, &stay->setup.spec->env);
		for (size_t i = 0; i < client->len; i++)
			if (is_terminal_name(client->v[i]))
				set_entry(ret, client->v[i]);
		return;
	}
	ab_environment_build(stay->setup.policy, client->v, ret, NULL);
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
	json_t *text = j->text.len <= TEXT_SHOWN ? json_stringn(j->text.s, j->text.len) : NULL;
	struct ab_span range = j->range;

	if (!text) {
		text = json_string("(the command is too long or not UTF-8)");
		range = (struct ab_span){ 0, 0 };
	}
	ab_control_reply(client,
			 json_pack("{s:{s:i,s:s,s:s,s:s?,s:s?,s:o,s:I,s:I,s:s}}", "verdict",
				   "decision", (int)j->decision, "rule", j->rule, "reason",
				   j->reason, "instead", j->instead, "user_rule", j->user_rule,
				   "text", text, "from", (json_int_t)range.from, "to",
				   (json_int_t)range.to, "key", key));
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
	if (stay->hands.refused(stay->hands.arg, &note, err) < 0)
		return -1;
	stay->told += stay->hands.denials(stay->hands.arg) - before;
	return 0;
}

/* False: the client has its answer. */
static bool get_consent(struct ab_stay *stay, struct ab_control_client *client,
			const struct ab_control_request *rq, const struct ab_start_strings *s,
			struct ab_consent *ret, struct ab_judge_more *ret_more)
{
	struct ab_command command = { .policy = stay->setup.policy,
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
	*ret = (struct ab_consent){ .decision = j.decision, .rule = j.rule };
	if (j.decision == AB_ESCALATED)
		ret->approved = rq->start.approved;
	*ret_more =
		(struct ab_judge_more){ .yes = ret->approved && strcmp(ret->approved, "yes") == 0 };
	if (ret->approved) {
		snprintf(ret_more->rule, sizeof(ret_more->rule), "%s", j.rule);
		snprintf(ret_more->user_rule, sizeof(ret_more->user_rule), "%s",
			 j.user_rule ? j.user_rule : "");
	}
	ab_arena_fini(&arena);
	return given;
}

static int record_start(struct ab_stay *stay, uint32_t number, const struct ab_strv *argv,
			const char *cwd, const struct ab_consent *consent, struct ab_error *err)
{
	ab_autobuf struct ab_buf line = { 0 };

	ab_record_open(&line, stay->setup.run_id, "command");
	ab_record_number(&line, "number", number);
	ab_record_list(&line, "command", argv);
	ab_record_text(&line, "cwd", cwd);
	if (consent) {
		ab_record_text(&line, "decision", ab_decision_names[consent->decision]);
		ab_record_text(&line, "rule", consent->rule);
		if (consent->approved)
			ab_record_text(&line, "approved", consent->approved);
	}
	return ab_log_write(stay->setup.log, &line, err);
}

static void fill_spec(const struct ab_stay_start *start, struct ab_spec *ret)
{
	*ret = (struct ab_spec){ .cwd = ab_strdup(start->cwd), .tty_behind = start->behind };
	ab_strv_extend(&ret->argv, start->argv);
	ab_strv_extend(&ret->env, start->env);
	for (int fd = 0; fd < 3; fd++) {
		ab_strv_add(&ret->streams, start->streams[fd]);
		if (strcmp(start->streams[fd], AB_STREAM_TERMINAL) == 0)
			ret->tty_fds |= 1u << fd;
	}
	ret->tty = ret->tty_fds != 0;
}

/* Returns our end of its socket. */
static int order_leader(const struct ab_stay *stay, struct ab_error *err)
{
	struct ab_msg msg = { .type = AB_MSG_LEADER };
	struct pollfd room = { .fd = stay->hands.box->sock, .events = POLLOUT };
	ab_autoclose int ours = -1, leaders = -1;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "create a socket pair");
	ours = pair[0];
	leaders = pair[1];
	if (poll(&room, 1, 0) <= 0)
		return ab_fail(err, AB_ESYSTEM, 0, "the box has too many requests to answer");
	if (ab_send_fds(room.fd, &msg, AB_MSG_LEN(0), &leaders, 1) < 0)
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
	struct pollfd spare = { .fd = stay->spare, .events = POLLIN };
	ab_autoclose int leader = ab_take_fd(&stay->spare);

	if (!stay->ending)
		ab_loop_timer(stay->hands.loop, &stay->refill, REFILL_MS);
	if (leader >= 0 && poll(&spare, 1, 0) == 0)
		return ab_take_fd(&leader);
	return order_leader(stay, err);
}

static int seal_command(const struct ab_stay_start *start, struct ab_error *err)
{
	struct ab_spec spec;
	int fd;

	fill_spec(start, &spec);
	fd = ab_spec_seal(&spec, err);
	ab_spec_fini(&spec);
	return fd;
}

/* `spec`: from seal_command(). */
static int send_command(int leader, int spec, const struct ab_stay_start *start,
			struct ab_error *err)
{
	struct ab_msg msg = { .type = AB_MSG_COMMAND, .value = start->report };
	int fds[4] = { spec };

	for (size_t i = 0; i < start->npassed; i++)
		fds[1 + i] = start->passed[i];
	if (ab_send_fds(leader, &msg, AB_MSG_LEN(0), fds, 1 + start->npassed) == 0)
		return 0;
	ab_fail(err, AB_ESYSTEM, errno, "start a command in the box");
	return ab_step(err, "start");
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
	int type, flags = fcntl(fd, F_GETFL);
	socklen_t len = sizeof(type);

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) < 0 || type != SOCK_SEQPACKET ||
	    flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return ab_fail(err, AB_EUSAGE, 0,
			       "the first descriptor is not the client's socket");
	return 0;
}

static bool has_terminal(const struct ab_control_request *rq)
{
	for (int fd = 0; fd < 3; fd++)
		if (strcmp(rq->start.streams[fd], AB_STREAM_TERMINAL) == 0)
			return true;
	return false;
}

static void refuse_start(struct ab_control_client *client, struct ab_error *err)
{
	if (err->errnum == EMFILE || err->errnum == ENFILE)
		ab_hint(err,
			"raise the limit of open files (ulimit -n) before you start the box, or "
			"end other commands in it");
	ab_control_refuse(client, err);
}

static void fill_start(const struct ab_control_request *rq, const struct ab_start_strings *s,
		       const struct ab_strv *env, struct ab_stay_start *ret)
{
	*ret = (struct ab_stay_start){ .argv = &s->argv,
				       .env = env,
				       .cwd = s->cwd,
				       .behind = rq->start.behind,
				       .passed = rq->fds->v + STREAMS,
				       .npassed = rq->fds->len - STREAMS };
	for (int fd = 0; fd < 3; fd++)
		ret->streams[fd] = rq->start.streams[fd];
}

/* The leader proves the walls while the judge works; nothing is executed before `go`, and without it
 * the leader ends. */
static int start_ahead(struct ab_stay *stay, const struct ab_control_request *rq,
		       const struct ab_start_strings *s, struct ab_error *err)
{
	ab_autostrv struct ab_strv env = { 0 };
	ab_autoclose int spec = -1, leader = -1;
	struct ab_stay_start start;

	build_environment(stay, &s->env, &env);
	if (rq->start.shell)
		ab_environment_mark_shell(&env, s->argv.v[0]);
	fill_start(rq, s, &env, &start);
	spec = seal_command(&start, err);
	if (spec < 0)
		return -1;
	leader = take_leader(stay, err);
	if (leader < 0 || send_command(leader, spec, &start, err) < 0)
		return -1;
	return ab_take_fd(&leader);
}

static int begin_command(struct ab_stay *stay, struct ab_control_client *client,
			 const struct ab_control_request *rq, const struct ab_start_strings *s,
			 struct ab_error *err)
{
	ab_autoclose int leader = start_ahead(stay, rq, s, err);
	struct ab_judge_more more;
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
	c->approved = more;
	ab_stay_answer_later(c, client);
	if (!has_terminal(rq))
		ab_stay_go(c);
	return 0;
}

void ab_stay_start(struct ab_stay *stay, struct ab_control_client *client,
		   const struct ab_control_request *rq)
{
	struct ab_start_strings s = { 0 };
	struct ab_error err = { 0 };

	if (check_room(stay, &err) < 0 || check_passed(rq, &err) < 0 ||
	    set_nonblocking(rq->fds->v[SOCKET], &err) < 0 || read_strings(rq, &s, &err) < 0 ||
	    begin_command(stay, client, rq, &s, &err) < 0)
		refuse_start(client, &err);
	ab_start_strings_fini(&s);
}

static void lose_output(void *arg, const struct ab_error *err)
{
	struct ab_stay *stay = arg;
	ab_autobuf struct ab_buf line = { 0 };
	struct ab_error late = { 0 };

	stay->hands.say(stay->hands.arg, err->text);
	ab_record_open(&line, stay->setup.run_id, "finding");
	ab_record_text(&line, "reason", err->text);
	if (ab_log_write(stay->setup.log, &line, &late) < 0)
		stay->hands.fail(stay->hands.arg, &late);
}

int ab_stay_start_detached(struct ab_stay *stay, struct ab_error *err)
{
	const struct ab_spec *spec = stay->setup.spec;
	uint64_t most = stay->setup.policy->limits.output;
	struct ab_output_setup output = { .loop = stay->hands.loop,
					  .dir = stay->setup.dir,
					  .most = most ? most : AB_OUTPUT_MOST,
					  .rows = stay->setup.rows,
					  .cols = stay->setup.cols,
					  .failed = lose_output,
					  .arg = stay };
	struct ab_stay_start start = {
		.argv = &spec->argv, .env = &spec->env, .cwd = spec->cwd, .report = true
	};
	ab_autoclose int sealed = -1;
	struct ab_stay_command *c;
	int leader;

	for (int fd = 0; fd < 3; fd++)
		start.streams[fd] = AB_STREAM_TERMINAL;
	if (record_start(stay, stay->number + 1, start.argv, start.cwd, NULL, err) < 0)
		return -1;
	sealed = seal_command(&start, err);
	leader = sealed < 0 ? -1 : take_leader(stay, err);
	c = leader < 0 ? NULL : ab_stay_add(stay, leader, -1, start.argv, err);
	if (!c || send_command(leader, sealed, &start, err) < 0)
		return -1;
	c->main = !stay->setup.keep;
	c->approved.yes = stay->setup.yes;
	snprintf(c->approved.rule, sizeof(c->approved.rule), "%s",
		 stay->setup.approved ? stay->setup.approved : "");
	snprintf(c->approved.user_rule, sizeof(c->approved.user_rule), "%s",
		 stay->setup.approved_user ? stay->setup.approved_user : "");
	c->output = ab_output_new(&output);
	return 0;
}
