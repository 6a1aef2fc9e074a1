/*
 * `allow`, `deny` and `config reload` against runs that go on, and that are
 * over: what they ask of a run, and what they do without one.
 */
#include "steer/permit/permit.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "audit/write/audit.h"
#include "audit/write/log.h"
#include "base/data/buf.h"
#include "base/system/fd.h"
#include "policy_help.h"
#include "session/control/control_socket.h"
#include "state/state.h"
#include "steer/runs/reload.h"
#include "tap.h"

static struct ab_state state;

/* Freed at the end. */
static const char *keep(char *text)
{
	ab_strv_give(&texts, text);
	return text;
}

/* A run in a process of its own, which writes down what it is asked. */
struct box {
	struct ab_run run;
	struct ab_log log;
	int heard;
	pid_t pid;
};

struct server {
	struct ab_loop loop;
	const char *id;
	int tell;
};

static void asked(void *arg, struct ab_control_client *client, const struct ab_control_request *r)
{
	static const char *const names[AB_DO_COUNT] = {
		"status", "pending", "answer", "allow", "deny", "reload", "stop", "follow",
	};
	struct server *s = arg;
	ab_autofree char *id = ab_printf("%s-7", s->id);

	if (r->what != AB_DO_PENDING)
		dprintf(s->tell, "%s %u %d %s %llu %d\n", names[r->what], r->number, r->answer,
			r->entry, (unsigned long long)r->ms, r->cut);
	if (r->what == AB_DO_PENDING && r->number <= 7)
		ab_control_reply(client,
				 "'pending':[{'id':%s,'domain':'asked.example','port':8080,"
				 "'door':'connect','why':'unknown'}],'next':0",
				 id);
	else if (r->what == AB_DO_PENDING)
		ab_control_reply(client, "'pending':[],'next':0");
	else if (r->what == AB_DO_RELOAD && r->cut)
		ab_control_refuse(client, &(struct ab_error){ .code = AB_ECONFIG,
							      .text = "x.json:1: bad" });
	else
		ab_control_reply(client,
				 "'released':%d,'changes':['+ x.y allowed'],'notes':['a note']",
				 r->what == AB_DO_DENY ? 0 : 2);
}

static void serve(struct box *box, int tell)
{
	struct server s = { .id = box->run.id, .tell = tell };
	struct ab_control_watch watch = { .loop = &s.loop,
					  .dir = box->run.dir,
					  .run_id = box->run.id,
					  .asked = asked,
					  .arg = &s };
	struct ab_control *control;
	struct ab_error err = { 0 };

	if (ab_loop_init(&s.loop, &err) < 0 || ab_control_open(&control, &err) < 0)
		_exit(1);
	ab_control_attach(control, &watch);
	if (ab_control_name(control, &err) < 0)
		_exit(1);
	dprintf(tell, "up\n");
	ab_loop_run(&s.loop, &err);
	_exit(0);
}

/* What it was asked since the last time. */
static const char *hear(struct box *box)
{
	static char buf[4096];
	struct pollfd p = { .fd = box->heard, .events = POLLIN };
	ssize_t n = 0;

	if (poll(&p, 1, 60000) > 0)
		n = read(box->heard, buf, sizeof(buf) - 1);
	buf[n > 0 ? n : 0] = '\0';
	return buf;
}

/* A request is heard before it is answered, so nothing can come later. */
static bool hears_nothing(struct box *box)
{
	struct pollfd p = { .fd = box->heard, .events = POLLIN };

	return poll(&p, 1, 0) == 0;
}

static void record(struct box *box, const char *number, const char *rule, const char *domain)
{
	ab_autobuf struct ab_buf line = { 0 };
	ab_autofree char *id = ab_printf("%s-%s", box->run.id, number);

	ab_record_open(&line, box->run.id, "violation");
	ab_record_text(&line, "id", id);
	ab_record_text(&line, domain[0] == '/' ? "path" : "domain", domain);
	ab_record_number(&line, "port", 443);
	ab_record_text(&line, "rule", rule);
	ab_record_text(&line, "reason", "not on the list");
	if (ab_log_write(&box->log, &line, &error) < 0)
		abort();
}

static void begin(struct box *box, const char *id)
{
	ab_autobuf struct ab_buf line = { 0 };
	ab_autofree char *policy =
		ab_printf("{\"profile\":\"default\",\"workspace\":\"%s\"}", input.cwd);
	struct ab_log_setup setup = { .run_id = id };

	if (ab_run_create(&state, id, &box->run, &error) < 0)
		abort();
	setup.dir = box->run.dir;
	setup.run_id = box->run.id;
	if (ab_log_open(&setup, &box->log, &error) < 0)
		abort();
	ab_record_open(&line, id, "start");
	ab_record_json(&line, "command", "[\"make\",\"all of it\"]");
	ab_record_text(&line, "cwd", input.cwd);
	ab_record_json(&line, "policy", policy);
	if (ab_log_write(&box->log, &line, &error) < 0)
		abort();
	record(box, "1", "network.allow", "files.example");
	record(box, "2", "network.deny", "bad.example");
	record(box, "f1", "filesystem.write", at("home/data/new"));
}

static void go(struct box *box)
{
	int pipes[2];

	if (pipe(pipes) < 0)
		abort();
	box->heard = pipes[0];
	box->pid = fork();
	if (box->pid == 0)
		serve(box, pipes[1]);
	close(pipes[1]);
	if (strcmp(hear(box), "up\n") != 0)
		abort();
}

static void end(struct box *box)
{
	int status;

	kill(box->pid, SIGKILL);
	waitpid(box->pid, &status, 0);
	close(box->heard);
	ab_log_fini(&box->log);
	ab_run_retire(&box->run);
	ab_run_fini(&box->run);
}

static char *id_of(const struct box *box, const char *rest)
{
	ab_strv_addf(&texts, "%s-%s", box->run.id, rest);
	return texts.v[texts.len - 1];
}

/* What was said, or "! why; what instead". */
static const char *say(struct ab_permit ask)
{
	static char buf[4096];
	struct ab_permitted done;

	ask.input = &input;
	error = (struct ab_error){ 0 };
	if (ab_permit(&ask, &done, &error) < 0)
		snprintf(buf, sizeof(buf), "! %s; %s", error.text, error.hint);
	else
		snprintf(buf, sizeof(buf), "%s", joined(&done.said));
	ab_strv_fini(&notes);
	ab_strv_extend(&notes, &done.notes);
	ab_permitted_fini(&done);
	return buf;
}

#define SAY(...) say((struct ab_permit){ __VA_ARGS__ })

static void check_live(struct box *box)
{
	const char *id = box->run.id;

	is_str(SAY(.what = "x.example"),
	       keep(ab_printf("%s: x.example is allowed for this run; 2 waiting requests released",
			      id)),
	       "a host, for the only run");
	is_str(hear(box), "allow 0 0 x.example 0 0\n", "is asked of it");
	is_str(SAY(.what = "x.example:81", .run = id, .deny = true, .for_ms = 60000),
	       keep(ab_printf("%s: x.example:81 is denied for 1m", id)),
	       "a no for a minute, for the run that is named");
	is_str(hear(box), "deny 0 0 x.example:81 60000 0\n", "is asked of it");

	ok(strstr(SAY(.what = id_of(box, "1")), "files.example is allowed"),
	   "a denial that is on record");
	is_str(hear(box), "allow 0 0 files.example 0 0\n", "is lifted by the smallest rule");
	ok(strstr(SAY(.what = id_of(box, "7")), "asked.example:8080 is allowed"),
	   "a question that is open");
	is_str(hear(box), keep(ab_printf("answer 7 %d  0 0\n", AB_CHOICE_RUN)),
	       "is answered for the run");
	SAY(.what = id_of(box, "7"), .for_ms = 5);
	is_str(hear(box), "allow 0 0 asked.example:8080 5 0\n",
	       "one that is answered for a while becomes a rule");
	SAY(.what = id_of(box, "7"), .deny = true);
	is_str(hear(box), "deny 0 0 asked.example 0 0\n", "and so does a no");

	ok(strstr(SAY(.what = id_of(box, "2")), "remove it from network.deny"),
	   "what is denied is not lifted: %s", error.text);
	ok(strstr(SAY(.what = id_of(box, "9")), "has no denial"), "one that never was: %s",
	   error.text);
	ok(error.code == AB_EUSAGE, "is a mistake");
	ok(strstr(SAY(.what = id), "is a run, not a host"), "a run: %s", error.text);
	ok(strstr(SAY(.what = "x.example", .run = "nope"), "no run named nope"),
	   "a run that is not there: %s", error.text);
	SAY(.what = "@npm");
	ok(strstr(hear(box), "allow 0 0 "), "a group is its hosts");
}

static void check_always(struct box *box)
{
	put_file(USER_FILE, "{\n  \"network\": {\n    \"allow\": [\n"
			    "      \"a.example\"\n    ]\n  }\n}\n");
	ok(strstr(SAY(.what = id_of(box, "1"), .always = true),
		  "files.example is allowed in every run from now on"),
	   "for ever: %s", error.text);
	is_str(hear(box), "allow 0 0 files.example 0 0\n", "and for the run that goes on");
	{
		ab_autofree char *text = NULL;
		size_t len;

		ab_policy_read_file(&input, at(USER_FILE), &text, &len, &error);
		is_str(text,
		       "{\n  \"network\": {\n    \"allow\": [\n"
		       "      \"a.example\",\n      \"files.example\"\n    ]\n"
		       "  }\n}\n",
		       "the file, and nothing else in it");
	}
	ok(strstr(SAY(.what = "files.example", .always = true), "already"),
	   "a second time it is there");
	hear(box);
	put_file(USER_FILE, "{ broken");
	ok(strstr(SAY(.what = "y.example", .always = true), "!") &&
		   strstr(error.text, "config.json:1"),
	   "a file that is wrong stays as it is: %s", error.text);
	ok(hears_nothing(box), "and the run is not asked");
	remove_file(USER_FILE);
	put_file(PROJECT_FILE, "{\"network\":{\"deny\":[\"z.example\"]}}");
	SAY(.what = "z.example", .always = true);
	ok(strstr(joined(&notes), "z.example is in network.deny "
				  "(.agentbox.json:1), which overrides network.allow"),
	   "what has no effect is said: %s", joined(&notes));
	hear(box);
	remove_file(PROJECT_FILE);
	remove_file(USER_FILE);
}

static void check_paths(struct box *box)
{
	make_dir("home/data");
	is_str(SAY(.what = at("home/data")),
	       keep(ab_printf(
		       "%s is writable in the next run in %s; a running box cannot be given more access",
		       at("home/data"), input.cwd)),
	       "a path is for the next run");
	ok(strstr(SAY(.what = id_of(box, "f1")), "home/data is writable in the next run"),
	   "a file that is to be made: its folder: %s", error.text);
	ok(strstr(SAY(.what = at("home/none")), "create it first"), "a path that is not there");
	ok(strstr(SAY(.what = "./sub"), "is already writable"), "one that is open");
	SAY(.what = at("home/data"), .deny = true);
	ok(error.code == AB_EUSAGE, "deny is for hosts: %s", error.text);
	SAY(.what = at("home/data"), .for_ms = 5);
	ok(error.code == AB_EUSAGE, "and so is --for: %s", error.text);
	ok(strstr(SAY(.what = "~"), "it is your home folder"), "not the home folder");
	ok(strstr(SAY(.what = at("state")), "belongs to agentbox"), "not our own");
	if (symlink(at("home"), at("home/work/link")) == 0)
		ok(strstr(SAY(.what = "./link"), "it is your home folder"),
		   "nor by a link in the project");
	ok(strstr(SAY(.what = at("home/data"), .always = true), "is writable in every run"),
	   "always: %s", error.text);
	{
		ab_autofree char *text = NULL, *want = NULL;
		size_t len;

		want = ab_printf("{\n  \"filesystem\": {\n    \"write\": [\"%s\"]\n  }\n}\n",
				 at("home/data"));
		ab_policy_read_file(&input, at(USER_FILE), &text, &len, &error);
		is_str(text, want, "the new list has nothing of the profile's");
	}
	remove_file(USER_FILE);
}

static void check_over(struct box *box)
{
	is_str(SAY(.what = id_of(box, "1")),
	       keep(ab_printf("! run %s has ended; nothing was changed; in a new "
			      "run:  agentbox run --allow files.example -- make 'all "
			      "of it'\n"
			      "in every run:  agentbox allow %s-1 --always",
			      box->run.id, box->run.id)),
	       "a run that is over");
	is_str(SAY(.what = "x.example"),
	       "! no active runs; in a new run:  agentbox run --allow "
	       "x.example -- ...\n"
	       "in every run:  agentbox allow x.example --always",
	       "no run at all");
	is_str(SAY(.what = "x.example", .always = true),
	       "x.example is allowed in every run from now on", "for ever it takes none");
	remove_file(USER_FILE);
}

/* What was told of each run, in turn. */
static void note_reloaded(void *arg, const struct ab_reloaded *run)
{
	struct ab_strv *told = arg;

	ab_strv_add(told, joined(&run->changes));
	ab_strv_add(told, joined(&run->notes));
	ab_strv_add(told, run->error.text);
}

static void check_reload(struct box *a, struct box *b)
{
	struct ab_strv told = { 0 };

	ok(ab_reload(&input, NULL, false, note_reloaded, &told, &error) == 0 && told.len == 6,
	   "all runs read their settings again");
	is_str(told.v[0], "+ x.y allowed", "and say what for");
	is_str(told.v[1], "a note", "and what not");
	ab_strv_fini(&told);
	is_str(hear(a), "reload 0 0  0 0\n", "one");
	is_str(hear(b), "reload 0 0  0 0\n", "and the other");
	ok(ab_reload(&input, b->run.id, true, note_reloaded, &told, &error) == 0 && told.len == 3,
	   "or the one that is named");
	is_str(told.v[2], "x.json:1: bad", "which may refuse");
	is_str(hear(b), "reload 0 0  0 1\n", "with its option");
	ab_strv_fini(&told);
	ok(ab_reload(&input, "nope", false, note_reloaded, &told, &error) < 0 && told.len == 0,
	   "one that is not there: %s", error.text);
	ok(strstr(SAY(.what = "x.example"), "more than one run is active"),
	   "and of several one must be named: %s", error.text);
	ok(strstr(SAY(.what = "x.example", .always = true), "every run") &&
		   strstr(joined(&notes), "several runs are active"),
	   "unless it is for ever");
	SAY(.what = "x.example", .run = b->run.id);
	is_str(hear(b), "allow 0 0 x.example 0 0\n", "which is then asked");
	/* By the record of another one. */
	SAY(.what = id_of(a, "1"), .run = b->run.id);
	is_str(hear(b), "allow 0 0 files.example 0 0\n", "also about what another was refused");
	remove_file(USER_FILE);
}

int main(void)
{
	static struct box a, b;

	world_init();
	set_env("AGENTBOX_STATE", at("state"));
	if (ab_state_open(at("state"), &state, &error) < 0)
		return 1;
	begin(&a, "abcde");
	go(&a);
	check_live(&a);
	check_always(&a);
	check_paths(&a);
	begin(&b, "fghij");
	go(&b);
	check_reload(&a, &b);
	end(&b);
	end(&a);
	check_over(&a);
	ab_state_fini(&state);
	world_fini();
	return done();
}
