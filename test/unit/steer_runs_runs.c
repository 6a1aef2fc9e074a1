/* Runs for people: how a list looks, whom a name means, who is signalled. */
#include "steer/runs/runs.h"

#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/write/audit.h"
#include "base/data/buf.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "session/control/control_socket.h"
#include "state/run_process.h"
#include "state/state.h"
#include "steer/client/ask_runs.h"
#include "tap.h"

static uint16_t ports[] = { 3000, 3001, 3002, 3003, 3004 };

static char *word(const char *text)
{
	return (char *)(uintptr_t)text;
}

static struct ab_run_info info(const char *id, const char *const *command)
{
	struct ab_run_info i = {
		.profile = word("default"), .cwd = word("/w"), .pid = 7, .age_ms = 250000
	};

	snprintf(i.id, sizeof(i.id), "%s", id);
	i.command.v = (char **)(uintptr_t)command;
	while (command[i.command.len])
		i.command.len++;
	return i;
}

static void test_text(void)
{
	static const char table[] =
		"BOX    NAME  AGE  PROFILE  ALLOWED  DENIED  PORTS                    ASKS       COMMAND\n"
		"7kq2m  -     4m   default      182       3  3000,3001,3002,3003,...  2 waiting  sleep '1 0'\n"
		"abcde  web   0s   default        -       -  -                                   echo ";
	static const char *const sleep_command[] = { "sleep", "1 0", NULL };
	static const char *const evil[] = { "echo", "\x1b[2J\n\xff", NULL };
	struct ab_run_info v[] = { info("7kq2m", sleep_command), info("abcde", evil) };
	struct ab_run_list list = { v, 1 }, none = { NULL, 0 };
	ab_autofree char *text = ab_run_list_text(&none, 80);
	ab_autofree char *plain = ab_run_list_text(&list, 0);
	ab_autofree char *full, *narrow, *tiny;

	is_str(text, "no active runs\n", "none");
	is_str(plain,
	       "BOX    AGE  PROFILE  ALLOWED  DENIED  PORTS  COMMAND\n"
	       "7kq2m  4m   default        -       -  -      sleep '1 0'\n",
	       "one that says nothing");
	v[0].answered = true;
	v[0].allowed = 182;
	v[0].refused = 3;
	v[0].pending = 2;
	v[0].ports = ports;
	v[0].nports = 5;
	v[1].name = word("web");
	v[1].age_ms = -5;
	list.len = 2;
	full = ab_run_list_text(&list, 0);
	ok(strncmp(full, table, strlen(table)) == 0, "all columns");
	ok(strstr(full, "\\x1b") && !strchr(full, '\x1b') && !strchr(full, '\xff'),
	   "what could move a cursor is escaped");
	narrow = ab_run_list_text(&list, 40);
	ok(strstr(narrow, "7kq2m  -     4m   default      182   ...\n"), "cut at the width");
	tiny = ab_run_list_text(&list, 1);
	ok(tiny && tiny[0] == '\n', "whatever it is");
}

static void test_json(void)
{
	static const char *const evil[] = { "echo", "\x1b\"\n", NULL };
	struct ab_run_info v[] = { info("7kq2m", evil) };
	struct ab_run_list list = { v, 1 };
	ab_autofree char *before = ab_run_list_json(&list);
	ab_autofree char *after;
	json_t *j = json_loads(before, 0, NULL);
	const json_t *o = json_array_get(j, 0);

	is_str(json_string_value(json_array_get(json_object_get(o, "command"), 1)), "\x1b\"\n",
	       "the command as it is");
	ok(json_is_null(json_object_get(o, "allowed")) &&
		   json_is_null(json_object_get(o, "ports")) &&
		   json_is_null(json_object_get(o, "name")),
	   "what is not known is null");
	json_decref(j);
	v[0].answered = v[0].heard = true;
	v[0].allowed = 5;
	v[0].ports = ports;
	v[0].nports = 2;
	after = ab_run_list_json(&list);
	j = json_loads(after, 0, NULL);
	o = json_array_get(j, 0);
	ok(json_integer_value(json_object_get(o, "allowed")) == 5 &&
		   json_array_size(json_object_get(o, "ports")) == 2,
	   "what is known is a number");
	json_decref(j);
}

/* A start record about a child of ours, as if we were its supervisor. */
static json_t *record_of(pid_t init, pid_t supervisor)
{
	ab_autobuf struct ab_buf line = { 0 };

	ab_record_open(&line, "7kq2m", "start");
	ab_record_number(&line, "pid", supervisor);
	ab_run_process_note(&line, init);
	ab_buf_puts(&line, "}");
	return json_loads(line.data, 0, NULL);
}

static bool holds(const json_t *start)
{
	struct ab_ends ends;

	if (ab_ends_open(start, &ends) < 0)
		return false;
	ab_ends_fini(&ends);
	return true;
}

static void test_ends(void)
{
	pid_t child = fork(), other;
	json_t *right, *wrong;

	if (child == 0) {
		pause();
		_exit(0);
	}
	other = fork();
	if (other == 0) {
		pause();
		_exit(0);
	}
	right = record_of(child, getpid());
	ok(holds(right), "init and its parent, as the record says");
	wrong = json_deep_copy(right);
	json_object_set_new(
		wrong, "init_started",
		json_integer(json_integer_value(json_object_get(right, "init_started")) + 1));
	ok(!holds(wrong), "a pid that another process has by now");
	json_object_del(wrong, "init_started");
	ok(!holds(wrong), "a record without the time");
	json_decref(wrong);
	wrong = record_of(child, other);
	ok(!holds(wrong), "a supervisor that is not its parent");
	json_decref(wrong);
	wrong = json_deep_copy(right);
	json_object_set_new(wrong, "init", json_integer(1));
	ok(!holds(wrong), "nobody's init but that of the box");
	json_object_set_new(wrong, "init", json_integer(-1));
	ok(!holds(wrong) && !holds(NULL), "nor all processes");
	json_decref(wrong);
	kill(child, SIGKILL);
	kill(other, SIGKILL);
	while (wait(NULL) > 0)
		;
	ok(!holds(right), "one that is gone");
	json_decref(right);
}

static int listen_at(int dir)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "/proc/self/fd/%d/" AB_CONTROL_NAME, dir);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(fd, 1) < 0)
		abort();
	return fd;
}

/* Answers one request, and ends. */
static pid_t serve(int fd, const char *answer)
{
	pid_t pid = fork();
	char request[256];
	ssize_t n;
	int peer;

	if (pid)
		return pid;
	peer = accept(fd, NULL, NULL);
	n = recv(peer, request, sizeof(request) - 1, 0);
	if (n > 0 && send(peer, answer, strlen(answer), MSG_NOSIGNAL) < 0)
		_exit(1);
	_exit(0);
}

static void test_knock(void)
{
	static const char *const answers[] = {
		"{\"ok\":true,\"pending\":3}",
		"{\"ok\":false}",
		"not JSON",
		NULL, /* listens and never answers */
		NULL, /* does not even listen */
	};
	char path[] = "/tmp/agentbox-unit.XXXXXX";
	struct ab_ask_runs v[AB_COUNT(answers)] = { 0 };
	int fds[AB_COUNT(answers)];

	if (!mkdtemp(path))
		abort();
	for (size_t i = 0; i < AB_COUNT(v); i++) {
		ab_autofree char *dir = ab_printf("%s/%zu", path, i);

		mkdir(dir, 0700);
		v[i].dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		fds[i] = i + 1 < AB_COUNT(v) ? listen_at(v[i].dir) : -1;
		if (answers[i])
			serve(fds[i], answers[i]);
	}
	ab_ask_runs(v, AB_COUNT(v), "{\"v\":1,\"do\":\"status\"}", 300);
	ok(json_integer_value(json_object_get(v[0].answer, "pending")) == 3, "one answers");
	for (size_t i = 1; i < AB_COUNT(v); i++)
		ok(!v[i].answer, "one does not");
	ab_ask_runs_fini(v, AB_COUNT(v));
	for (size_t i = 0; i < AB_COUNT(v); i++) {
		unlinkat(v[i].dir, AB_CONTROL_NAME, 0);
		close(v[i].dir);
		close(fds[i]);
	}
	for (size_t i = 0; i < AB_COUNT(v); i++) {
		ab_autofree char *dir = ab_printf("%s/%zu", path, i);

		rmdir(dir);
	}
	rmdir(path);
	while (wait(NULL) > 0)
		;
}

int main(void)
{
	test_text();
	test_json();
	test_ends();
	test_knock();
	return done();
}
