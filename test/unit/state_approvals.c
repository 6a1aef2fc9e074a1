/*
 * Answers that are remembered, on a real file system: for whom they hold, how
 * long, what a broken or foreign store does; and programs that answer.
 */
#include "state/approvals.h"

#include <sys/wait.h>
#include <time.h>

#include "base/system/fd.h"
#include "consent/ask/approver.h"
#include "policy_help.h"
#include "tap.h"

static struct ab_session_key here, there;

static void key_of(const char *command, const char *cwd, const char *policy, char ret[65])
{
	ab_approval_key("argv", &command, 1, cwd, policy, ret);
}

static int add(const struct ab_session_key *session, const char *command, bool deny, bool always)
{
	struct ab_approval a = { .session = !always,
				 .deny = deny,
				 .command = ab_strdup(command),
				 .cwd = ab_strdup("/w"),
				 .rule = ab_strdup("git-publish") };
	int result;

	key_of(command, "/w", "p", a.key);
	result = ab_approvals_add(&input, session, &a, &error);
	ab_approval_fini(&a);
	return result;
}

static int find_in(const struct ab_session_key *session, const char *command, const char *cwd,
		   const char *policy)
{
	enum ab_memory memory = AB_MEMORY_NONE;
	char key[65], id[8];

	key_of(command, cwd, policy, key);
	return ab_approvals_find(&input, session, key, &memory, id, &error) < 0 ? -1 : (int)memory;
}

static int find(const struct ab_session_key *session, const char *command)
{
	return find_in(session, command, "/w", "p");
}

static size_t count(const struct ab_session_key *session)
{
	struct ab_approval_list list;
	size_t n;

	if (ab_approvals_list(&input, session, &list, &error) < 0)
		return SIZE_MAX;
	n = list.len;
	ab_approval_list_fini(&list);
	return n;
}

static size_t forget(enum ab_revoke where, const char *id)
{
	size_t n;

	return ab_approvals_revoke(&input, &here, where, id, &n, &error) < 0 ? SIZE_MAX : n;
}

static void test_keys(void)
{
	static const char *const ab[] = { "a", "b" };
	static const char *const one_word[] = { "a b" };
	char one[65], two[65];

	ab_approval_key("argv", ab, 2, "/w", "p", one);
	ab_approval_key("argv", one_word, 1, "/w", "p", two);
	ok(strcmp(one, two) != 0, "two words are not one with a blank");
	ab_approval_key("text", one_word, 1, "/w", "p", one);
	ok(strcmp(one, two) != 0, "a text is not a word");
	ab_approval_key("argv", one_word, 1, "/w", "p", one);
	is_str(one, two, "the same is the same");
}

static void test_session(void)
{
	ok(find(&here, "push") == AB_MEMORY_NONE, "nothing at first");
	ok(access(at("state/sessions"), F_OK) < 0, "looking makes nothing");
	ok(add(&here, "push", false, false) == 0, "an approval is kept");
	ok(find(&here, "push") == AB_MEMORY_SESSION, "and holds");
	ok(find(&there, "push") == AB_MEMORY_NONE, "not in another session");
	ok(find(&here, "push -f") == AB_MEMORY_NONE, "not for another command");
	ok(find_in(&here, "push", "/v", "p") == AB_MEMORY_NONE, "not in another folder");
	ok(find_in(&here, "push", "/w", "q") == AB_MEMORY_NONE, "not under another policy");
	ok(add(&here, "push", true, false) == 0 && find(&here, "push") == AB_MEMORY_DENIED,
	   "a later no replaces it");
	ok(add(&here, "x", false, false) == 0 && count(&here) == 2, "both are listed");
	ok(forget(AB_REVOKE_SESSION, NULL) == 2 && count(&here) == 0,
	   "all of a session can be revoked");
}

static void test_kept(void)
{
	struct ab_approval_list list = { 0 };
	struct stat st;

	ok(add(&here, "push", false, true) == 0, "an approval is kept");
	ok(find(&here, "push") == AB_MEMORY_ALWAYS && find(&there, "push") == AB_MEMORY_ALWAYS,
	   "in every session");
	ok(stat(at("state/approvals.json"), &st) == 0 && (st.st_mode & 0777) == 0600,
	   "its file is ours alone");
	ok(add(&here, "push", true, false) == 0 && find(&here, "push") == AB_MEMORY_DENIED,
	   "a no in this session is stronger");
	ok(find(&there, "push") == AB_MEMORY_ALWAYS, "not in another one");
	ok(forget(AB_REVOKE_SESSION, NULL) == 1 && find(&here, "push") == AB_MEMORY_ALWAYS,
	   "and can be taken back");
	ok(add(&here, "push", false, true) == 0 && count(&here) == 1, "twice is once");
	ok(ab_approvals_list(&input, &here, &list, &error) == 0 && list.len == 1 &&
		   list.v[0].expires - list.v[0].created == AB_ALWAYS_DAYS * 86400,
	   "for thirty days");
	ok(forget(AB_REVOKE_BOTH, "a000000") == 0 && forget(AB_REVOKE_BOTH, list.v[0].id) == 1 &&
		   find(&here, "push") == AB_MEMORY_NONE,
	   "revoked by its name");
	ab_approval_list_fini(&list);
}

static void put_kept(const char *cwd, long expires, const char *more)
{
	char key[65], text[512];

	key_of("push", cwd, "p", key);
	snprintf(text, sizeof(text),
		 "{\"version\":1,\"approvals\":[{\"key\":\"%s\",\"answer\":"
		 "\"approve\",\"command\":\"push\",\"cwd\":\"%s\",\"rule\":\"r\","
		 "\"created\":1,\"expires\":%ld%s}]}",
		 key, cwd, expires, more);
	put_file("state/approvals.json", text);
	chmod(at("state/approvals.json"), 0600);
}

static void test_expiry(void)
{
	put_kept("/w", time(NULL) + 100, "");
	ok(find(&here, "push") == AB_MEMORY_ALWAYS, "not expired yet");
	put_kept("/w", time(NULL) - 100, "");
	ok(find(&here, "push") == AB_MEMORY_NONE && count(&here) == 0, "expired");
	ok(add(&here, "x", false, true) == 0 && count(&here) == 1, "another one can be added");
	forget(AB_REVOKE_BOTH, NULL);
}

static void test_broken(void)
{
	struct stat before, after;

	put_kept("/w", 0, "");
	ok(find(&here, "push") == -1, "one that never ends is none");
	put_kept("/w", time(NULL) + 100, ",\"x\":1");
	ok(find(&here, "push") == -1 && strstr(error.text, "broken"), "an unknown key is told");
	put_file("state/approvals.json", "{\"version\":1,\"approv");
	ok(find(&here, "push") == -1, "a cut file is told");
	stat(at("state/approvals.json"), &before);
	ok(add(&here, "x", false, true) < 0, "nothing is added to it");
	stat(at("state/approvals.json"), &after);
	ok(before.st_ino == after.st_ino && before.st_size == after.st_size,
	   "and it is left as it is");
	ok(add(&here, "x", false, false) == 0 && find(&here, "x") == AB_MEMORY_SESSION,
	   "the session has its own");
	ok(forget(AB_REVOKE_BOTH, NULL) == 1 && count(&here) == 0, "it can be removed");
	put_kept("/w", time(NULL) + 100, "");
	chmod(at("state/approvals.json"), 0666);
	ok(find(&here, "push") == -1, "a file that others can write is none");
	chmod(at("state/approvals.json"), 0600);
	ok(find(&here, "push") == AB_MEMORY_ALWAYS, "the same, closed, is one");
	forget(AB_REVOKE_BOTH, NULL);
}

static void test_at_once(void)
{
	enum { MANY = 12 };
	pid_t pids[MANY];
	bool good = true;

	fflush(stdout);
	for (int i = 0; i < MANY; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			char name[8];

			snprintf(name, sizeof(name), "c%d", i);
			_exit(add(&here, name, false, true) < 0);
		}
	}
	for (int i = 0; i < MANY; i++) {
		int status;

		good &= waitpid(pids[i], &status, 0) > 0 && status == 0;
	}
	ok(good && count(&here) == MANY, "many at once lose nothing");
	ok(forget(AB_REVOKE_BOTH, NULL) == MANY, "all revoked");
}

static void test_runtime_folder(void)
{
	const char *runtime = at("runtime");

	make_dir("runtime");
	chmod(runtime, 0700);
	set_env("XDG_RUNTIME_DIR", runtime);
	ok(add(&here, "push", false, false) == 0 &&
		   access(at("runtime/agentbox/sessions"), F_OK) == 0,
	   "sessions live in the runtime folder");
	ok(find(&here, "push") == AB_MEMORY_SESSION, "and are found there");
	chmod(runtime, 0755);
	ok(find(&here, "push") == AB_MEMORY_NONE, "not if others can enter it");
	chmod(runtime, 0700);
	chmod(at("runtime/agentbox/sessions"), 0777);
	ok(find(&here, "push") == -1, "a folder open to others is told");
	chmod(at("runtime/agentbox/sessions"), 0700);
	make_dir("runtime/agentbox/sessions/terminal-00000000-1-1");
	make_dir("runtime/agentbox/sessions/agent-x");
	chmod(at("runtime/agentbox/sessions/terminal-00000000-1-1"), 0700);
	ok(find(&here, "push") == AB_MEMORY_SESSION, "found again");
	ok(access(at("runtime/agentbox/sessions/terminal-00000000-1-1"), F_OK) < 0,
	   "a session that has ended is swept");
	ok(access(at("runtime/agentbox/sessions/agent-x"), F_OK) == 0, "one of an agent is not");
}

static void test_names(void)
{
	struct ab_session_key again, other;
	pid_t pid;
	int status;

	ab_session_of_caller(&again);
	is_str(again.name, here.name, "the session has one name");
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		setsid();
		ab_session_of_caller(&other);
		_exit(strcmp(other.name, here.name) == 0);
	}
	ok(waitpid(pid, &status, 0) == pid && status == 0, "another session another one");
	ab_session_of_agent("../../x", &again);
	ok(!strchr(again.name, '/'), "an agent cannot leave the folder");
	ab_session_of_agent("../../y", &other);
	ok(strcmp(again.name, other.name) != 0, "agents are told apart");
}

static const struct {
	const char *name, *command;
	unsigned ms;
	enum ab_answer answer;
	const char *why; /* a part of it; "": there is none */
} approvers[] = {
	{ "once", "echo '{\"answer\":\"once\"}'", 5000, AB_ANSWER_ONCE, "" },
	{ "always", "echo '{\"answer\":\"always\"}'", 5000, AB_ANSWER_ALWAYS, "" },
	{ "a reason", "echo '{\"answer\":\"no\",\"reason\":\"not now\"}'", 5000, AB_ANSWER_NO,
	  "not now" },
	{ "it reads the question", "grep -q '\"ask\":1' && echo '{\"answer\":\"session\"}'", 5000,
	  AB_ANSWER_SESSION, "" },
	{ "it need not", "echo '{\"answer\":\"once\"}'; exec >&-; sleep 0.1", 5000, AB_ANSWER_ONCE,
	  "" },
	{ "what it leaves behind does not count", "sleep 100 & echo '{\"answer\":\"once\"}'", 5000,
	  AB_ANSWER_ONCE, "" },
	{ "a bad status", "echo '{\"answer\":\"once\"}'; exit 3", 5000, AB_ANSWER_NO, "status 3" },
	{ "a crash", "echo '{\"answer\":\"once\"}'; kill -SEGV $$", 5000, AB_ANSWER_NO,
	  "signal 11" },
	{ "no such program", "/no/such/program 2>/dev/null", 5000, AB_ANSWER_NO, "status 127" },
	{ "silence", ":", 5000, AB_ANSWER_NO, "printed nothing" },
	{ "garbage", "echo yes", 5000, AB_ANSWER_NO, "not JSON" },
	{ "another object", "echo '{\"x\":1}'", 5000, AB_ANSWER_NO, "malformed" },
	{ "another type", "echo '{\"answer\":true}'", 5000, AB_ANSWER_NO, "malformed" },
	{ "an unknown answer", "echo '{\"answer\":\"yes\"}'", 5000, AB_ANSWER_NO,
	  "\"yes\" is not an answer" },
	{ "two answers", "echo '{\"answer\":\"no\",\"answer\":\"once\"}'", 5000, AB_ANSWER_NO,
	  "not JSON" },
	{ "more behind it", "echo '{\"answer\":\"once\"} {}'", 5000, AB_ANSWER_NO, "not JSON" },
	{ "too much", "head -c 70000 /dev/zero", 5000, AB_ANSWER_NO, "more than 64 KiB" },
	{ "too late", "sleep 100; echo '{\"answer\":\"once\"}'", 100, AB_ANSWER_NO,
	  "no answer in 0.1 s" },
};

static void test_approvers(void)
{
	static const char request[] = "{\"ask\":1}";

	for (size_t i = 0; i < AB_COUNT(approvers); i++) {
		struct ab_approver_reply reply;

		ab_approver_ask(approvers[i].command, &(struct ab_strv){ 0 }, request,
				strlen(request), approvers[i].ms, &reply);
		ok(reply.answer == approvers[i].answer && strstr(reply.why, approvers[i].why) &&
			   (approvers[i].why[0] || !reply.why[0]),
		   "approver: %s (%s)", approvers[i].name, reply.why);
	}
	ok(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "none of them is left");
}

int main(void)
{
	/* The first process of ours may be outside of our pid namespace. */
	setsid();
	world_init();
	set_env("AGENTBOX_STATE", at("state"));
	ab_session_of_caller(&here);
	ab_session_of_agent("another", &there);
	test_keys();
	test_session();
	test_kept();
	test_expiry();
	test_broken();
	test_at_once();
	test_runtime_folder();
	test_names();
	test_approvers();
	world_fini();
	return done();
}
