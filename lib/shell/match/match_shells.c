/*
 * Programs that run their input: the source of that text decides. The walk has
 * already judged known text as a script; this file handles unknown text and text
 * from elsewhere.
 */
#include "shell/code/code.h"
#include "shell/command/grammar.h"
#include "shell/command/name_index.h"
#include "shell/command/known_files.h"
#include "shell/command/rules.h"
#include "shell/command/sed.h"
#include "shell/syntax/name_table.h"

/* The options of an interpreter. */
struct runner {
	char name[12]; /* of the program whose options it has */
	bool shell;
	char text[16]; /* options whose value is a program */
	char other[4]; /* options that name a program elsewhere */
};

/* A version may follow the name: python3.11 */
static const struct runner runners[] = {
	AB_PROGRAMS("ash bash csh dash fish ksh mksh rbash sh tcsh zsh", "sh", .shell = true),
	AB_PROGRAMS("lua", "lua", false, "e", ""),
	AB_PROGRAMS("node", "node", false, "e p eval print", ""),
	AB_PROGRAMS("osascript", "osascript", false, "e", ""),
	AB_PROGRAMS("perl", "perl", false, "e E", ""),
	AB_PROGRAMS("php", "php", false, "r B R E run", "f"),
	AB_PROGRAMS("python", "python", false, "c", "m"),
	AB_PROGRAMS("ruby", "ruby", false, "e", ""),
};

struct call {
	const struct runner *runner;
	struct ab_field text; /* the program itself; text.s NULL: none */
	struct ab_field file; /* the file that contains it */
	bool input;	      /* read from standard input */
	bool interactive;
	bool dry; /* runs nothing */
};

static bool is_input(const struct ab_field *file)
{
	return ab_listed("- /dev/stdin /dev/fd/0 /proc/self/fd/0", file->text);
}

/* A shell's -c is a flag: the program is the first operand. */
static void read_shell_call(const struct ab_simple *command, struct call *ret)
{
	struct ab_opt_walk w = ab_opt_begin_as(command, ret->runner->name);
	bool text = false, input = false;

	while (ab_opt_next(&w)) {
		text = text || ab_opt_is(&w, 'c', NULL);
		input = input || ab_opt_is(&w, 's', NULL);
		if (ab_opt_is(&w, 'i', NULL))
			ret->interactive = true;
		if (ab_opt_is(&w, 'n', NULL))
			ret->dry = true;
		if (ab_opt_is(&w, 0, "command"))
			ret->text = w.value;
		if (w.what == AB_OPT_OPERAND)
			break;
	}
	if (ret->text.text.s)
		return;
	if (w.what != AB_OPT_OPERAND)
		ret->input = !text;
	else if (text)
		ret->text = w.value;
	else if (input || is_input(&w.value))
		ret->input = true;
	else
		ret->file = w.value;
}

static void read_other_call(const struct ab_simple *command, struct call *ret)
{
	bool text = false;

	for (struct ab_opt_walk w = ab_opt_begin_as(command, ret->runner->name); ab_opt_next(&w);) {
		if (w.what == AB_OPT_OPERAND) {
			ret->input = !text && is_input(&w.value);
			*(text ? &ret->text : &ret->file) = w.value;
			return;
		}
		if (ab_opt_listed(&w, ret->runner->text)) {
			/* node -p CODE; in -pe CODE, p is a flag. */
			text = true;
			ret->text = w.value;
			if (w.value.text.s)
				return;
		}
		if (ab_opt_listed(&w, ret->runner->other))
			return;
	}
	ret->input = !text;
}

/* All of it is unknown, so the walk judged none of it. */
static bool is_all_unknown(struct ab_text t)
{
	bool unknown = false;

	for (uint32_t i = 0; i < t.len; i++) {
		if (t.s[i] == AB_UNKNOWN)
			unknown = true;
		else if (!strchr(" \t\n", t.s[i]))
			return false;
	}
	return unknown;
}

/* Judge text that will run by its source. */
static void judge_source(const struct ab_simple *command, unsigned taint, bool blank,
			 struct ab_span range, struct ab_hits *hits)
{
	bool root = command->flags & AB_SIMPLE_ROOT;

	if (taint & AB_TAINT_HISTORY)
		ab_hit_add(hits, AB_RULE_HISTORY_EXEC, range);
	else if (taint & AB_TAINT_NETWORK)
		ab_hit_because(hits, AB_RULE_PIPE_TO_SHELL, range,
			       root ? "Runs what it downloads, as root."
				    : "Runs what it downloads.");
	else if (taint & AB_TAINT_DECODED)
		ab_hit_because(hits, AB_RULE_PIPE_TO_SHELL, range,
			       root ? "Runs what it unpacks, as root."
				    : "Runs what it unpacks, unseen.");
	else if (blank && !(taint & (AB_TAINT_FILE | AB_TAINT_SETTINGS)))
		ab_hit_add(hits, AB_RULE_EVAL_EXEC, range);
}

/* Judge a program in a file, given by name or as <( ). */
static void judge_file(const struct ab_simple *command, const struct ab_field *file,
		       struct ab_hits *hits)
{
	const struct ab_data *known = ab_files_read(command, file);

	judge_source(command, known ? known->taint : file->taint, false, file->range, hits);
}

/* A redirection to a network file connects a shell if the command is a shell or
 * `exec`, or duplicates a descriptor to 0. */
static const char network_files[] = "/dev/tcp/ /dev/udp/";

static bool connects_shell(const struct ab_simple *command, bool shell)
{
	bool network = false, takes = shell;

	takes = takes || ab_text_is(command->name, "exec");
	for (size_t i = 0; i < command->nredirects; i++) {
		const struct ab_redirect *r = &command->redirects[i];

		network = network || ab_starts_listed(network_files, r->file.text);
		takes = takes ||
			(r->fd == 0 && (r->op == AB_REDIR_DUP_IN || r->op == AB_REDIR_DUP_OUT));
	}
	return network && takes;
}

static void match_runner(const struct ab_simple *command, const struct runner *runner,
			 struct ab_hits *hits)
{
	struct call call = { .runner = runner };

	if (runner->shell)
		read_shell_call(command, &call);
	else
		read_other_call(command, &call);
	if (call.input && !command->in.none)
		judge_source(command, command->in.taint,
			     runner->shell && is_all_unknown(command->in.text), command->range,
			     hits);
	if (call.text.text.s)
		judge_source(command, call.text.taint,
			     runner->shell && is_all_unknown(call.text.text), call.text.range,
			     hits);
	if (call.file.text.s && !call.dry)
		judge_file(command, &call.file, hits);
	/* `bash -i | nc`: nothing else needs a prompt in a pipe. */
	if (call.interactive && call.input && (command->flags & AB_SIMPLE_PIPED))
		ab_hit_add(hits, AB_RULE_REVERSE_SHELL, command->range);
}

static void match_eval(const struct ab_simple *command, struct ab_hits *hits)
{
	unsigned taint = 0;
	bool blank = command->argc > 1;

	for (size_t i = 1; i < command->argc; i++) {
		taint |= command->argv[i].taint;
		blank = blank && is_all_unknown(command->argv[i].text);
	}
	judge_source(command, taint & ~(unsigned)AB_TAINT_FILE, blank, command->range, hits);
}

static void match_first_word(const struct ab_simple *command, struct ab_hits *hits)
{
	size_t at = 1;

	if (at < command->argc && ab_field_is(&command->argv[at], "--"))
		at++;
	if (at < command->argc)
		judge_source(command, command->argv[at].taint,
			     is_all_unknown(command->argv[at].text), command->argv[at].range, hits);
}

/* `source /dev/stdin` works like a shell without operands. */
static void match_source(const struct ab_simple *command, struct ab_hits *hits)
{
	if (command->argc > 1 && is_input(&command->argv[1]) && !command->in.none)
		judge_source(command, command->in.taint, is_all_unknown(command->in.text),
			     command->range, hits);
	else if (command->argc > 1 && ab_files_read(command, &command->argv[1]))
		judge_file(command, &command->argv[1], hits);
	else
		match_first_word(command, hits);
}

/* ./x.sh or ./x, which this command line may have downloaded. */
static void match_file(const struct ab_simple *command, struct ab_hits *hits)
{
	struct ab_text name = command->argv[0].text;
	const struct ab_data *known;

	if (!ab_text_has(name, '/'))
		return;
	if (name.len > 3 && ab_text_ends(name, ".sh")) {
		judge_file(command, &command->argv[0], hits);
		return;
	}
	known = ab_files_read(command, &command->argv[0]);
	if (known && known->taint & AB_TAINT_NETWORK)
		ab_hit_mild(hits, AB_RULE_PIPE_TO_SHELL, command->argv[0].range);
}

/* s///e runs the resulting lines of a file. */
static void check_sed_command(void *arg, enum ab_sed what, const struct ab_field *text)
{
	if (what == AB_SED_RUNS_LINE || (what == AB_SED_RUNS && !text->text.len))
		ab_hit_because(arg, AB_RULE_EVAL_EXEC, text->range,
			       "Runs lines of a file as commands.");
}

static void match_sed(const struct ab_simple *command, struct ab_hits *hits)
{
	ab_sed_each(command, check_sed_command, hits);
}

static void match_fc(const struct ab_simple *command, struct ab_hits *hits)
{
	if (!ab_opt_given(ab_opt_begin_as(command, "fc"), "l"))
		ab_hit_add(hits, AB_RULE_HISTORY_EXEC, command->range);
}

/* The last part of the path, which names the program, is unknown. */
static bool is_dynamic(const struct ab_field *word)
{
	struct ab_text t = word->text;

	if (!word->unknown && !word->pattern)
		return false;
	for (uint32_t i = t.len; i > 0; i--) {
		if (t.s[i - 1] == AB_UNKNOWN || (word->pattern && strchr("*?[", t.s[i - 1])))
			return true;
		if (t.s[i - 1] == '/')
			return i == t.len;
	}
	return word->unknown;
}

static void match_words(const struct ab_simple *command, struct ab_hits *hits)
{
	if (command->argc > 0 && is_dynamic(&command->argv[0])) {
		if (command->argv[0].taint &
		    (AB_TAINT_NETWORK | AB_TAINT_DECODED | AB_TAINT_HISTORY))
			judge_source(command, command->argv[0].taint, true, command->argv[0].range,
				     hits);
		else
			ab_hit_add(hits, AB_RULE_DYNAMIC_COMMAND, command->argv[0].range);
	}
	if (!ab_command_shows(command, AB_SIGN_GLUED))
		return;
	for (size_t i = 0; i < command->argc; i++)
		if (command->argv[i].taint & AB_TAINT_GLUED)
			ab_hit_add(hits, AB_RULE_IFS_BYPASS, command->argv[i].range);
}

/* -c of nc takes a command or, in other versions, means TLS; then a host follows. */
static bool is_program(struct ab_text t)
{
	static const char programs[] =
		"ash bash cmd cmd.exe dash fish ksh powershell pwsh python python3 sh zsh";

	return (t.len > 0 && t.s[0] == '/') ||
	       ab_listed(programs, ab_text_base(ab_text_cut(&t, ' ')));
}

static bool nc_runs(const struct ab_simple *command)
{
	for (struct ab_opt_walk w = ab_opt_begin_as(command, "nc"); ab_opt_next(&w);) {
		if (ab_opt_is(&w, 'e', "exec") || ab_opt_is(&w, 0, "sh-exec") ||
		    ab_opt_is(&w, 0, "lua-exec"))
			return w.value.text.s;
		if (ab_opt_is(&w, 'c', NULL) && w.value.text.s && is_program(w.value.text))
			return true;
	}
	return false;
}

static bool socat_runs(const struct ab_simple *command)
{
	bool net = false, run = false;

	for (size_t i = 1; i < command->argc; i++) {
		struct ab_text t = command->argv[i].text;

		net |= ab_matches_listed("openssl* sctp* socks* ssl* tcp* udp* ws*", t, true);
		run |= ab_matches_listed("exec:* shell:* system:*", t, true);
	}
	return net && run;
}

/* A window on another machine's screen. */
static bool xterm_shows(const struct ab_simple *command)
{
	for (size_t i = 1; i + 1 < command->argc; i++) {
		struct ab_text t = command->argv[i + 1].text;

		if (ab_field_is(&command->argv[i], "-display"))
			return t.len > 0 && t.s[0] != ':' && t.s[0] != AB_UNKNOWN;
	}
	return false;
}

/* s |& getline c, then c |& getline: it reads a command and runs it. */
static bool runs_answer(struct ab_text code)
{
	const char *first = memmem(code.s, code.len, "|& getline ", 11);

	return first &&
	       ab_text_contains(ab_text_rest(code, (uint32_t)(first + 1 - code.s)), "|& getline");
}

/* awk opens sockets as files below /inet/. */
static bool awk_connects(const struct ab_simple *command)
{
	const struct ab_field *code = ab_code_find(command, AB_LANG_AWK);

	return code && ab_text_contains(code->text, "/inet/") &&
	       (ab_text_contains(code->text, "system(") ||
		ab_text_contains(code->text, "| getline") ||
		ab_text_contains(code->text, "|getline") || runs_answer(code->text));
}

static bool code_connects(const struct ab_simple *command, enum ab_language language,
			  unsigned traits)
{
	return ((traits & AB_CODE_SOCKET) &&
		(traits & (AB_CODE_DUP | AB_CODE_PTY | AB_CODE_SHELL))) ||
	       (language == AB_LANG_AWK && awk_connects(command));
}

/* Programs that connect descriptors with the network, other than nc and socat: an
 * argument that is a program is run with the connection. */
static bool connector_runs(const struct ab_simple *command)
{
	for (size_t i = 1; i < command->argc; i++)
		if (is_program(command->argv[i].text))
			return true;
	return false;
}

static void match_network_files(const struct ab_simple *command, struct ab_hits *hits)
{
	/* `: >/dev/tcp/h/22` looks whether a port is open, and sends nothing. */
	if (command->argc == 0 || (command->argc == 1 && ab_listed(": echo true", command->name)))
		return;
	for (size_t i = 0; i < command->nredirects; i++) {
		const struct ab_redirect *r = &command->redirects[i];

		/* The machine's connections with itself are allowed: is a port open? */
		if (ab_starts_listed(network_files, r->file.text) &&
		    !ab_starts_listed("localhost/ 127. ::1/ 0.0.0.0/",
				      ab_text_rest(r->file.text, 9)))
			ab_hit_because(hits, AB_RULE_FILE_TRANSFER, r->file.range,
				       "Opens a network connection from the shell.");
	}
}

/* Programs that connect descriptors with the network. */
static const struct connector {
	/* Does it hand over a shell? NULL: it only connects. */
	bool (*runs)(const struct ab_simple *command);
} connectors[] = {
	AB_PROGRAMS("cryptcat dbd in.telnetd pwncat rcat sbd socket telnetd utelnetd",
		    connector_runs),
	AB_PROGRAMS("nc nc.openbsd nc.traditional ncat netcat", nc_runs),
	AB_PROGRAMS("socat", socat_runs),
	AB_PROGRAMS("xterm", xterm_shows),
	AB_PROGRAMS("ztcp", NULL),
};

static void match_connector(const struct ab_simple *command, struct ab_hits *hits)
{
	const struct connector *connector =
		AB_COMMAND_ROW(connectors, AB_TABLE_CONNECTORS, command);

	if (!connector)
		return;
	if (!connector->runs && command->argc > 2)
		ab_hit_because(hits, AB_RULE_FILE_TRANSFER, command->range,
			       "Opens a network connection from the shell.");
	if (connector->runs && connector->runs(command))
		ab_hit_add(hits, AB_RULE_REVERSE_SHELL, command->range);
}

static void match_language(const struct ab_simple *command, struct ab_hits *hits)
{
	struct ab_arena arena = { 0 };
	struct ab_oneliner code;
	enum ab_language language;
	unsigned traits;

	if (!ab_code_language(command->name, &language))
		return;
	ab_code_of(&arena, command, &code);
	traits = code.traits;
	ab_arena_fini(&arena);
	if (traits & AB_CODE_NETWORK_EXEC)
		ab_hit_add(hits, AB_RULE_PIPE_TO_SHELL, command->range);
	if (traits & AB_CODE_DECODED_EXEC)
		ab_hit_because(hits, AB_RULE_EVAL_EXEC, command->range,
			       "Runs text that it decodes, unseen.");
	if (traits & AB_CODE_UNREAD)
		ab_hit_because(hits, AB_RULE_UNPARSED, command->range,
			       "Too long to analyse completely.");
	if (code_connects(command, language, traits))
		ab_hit_add(hits, AB_RULE_REVERSE_SHELL, command->range);
}

/* Commands of the shell, and sed, that run a text or what they read. */
static const struct {
	ab_matcher *match;
} scripts[] = {
	AB_PROGRAMS(". source", match_source), AB_PROGRAMS("eval", match_eval),
	AB_PROGRAMS("fc", match_fc),	       AB_PROGRAMS("sed", match_sed),
	AB_PROGRAMS("trap", match_first_word),
};

static void match_script(const struct ab_simple *command, struct ab_hits *hits)
{
	const __typeof__(scripts[0]) *row = AB_COMMAND_ROW(scripts, AB_TABLE_SCRIPTS, command);

	if (row)
		row->match(command, hits);
	else if (command->files && command->argc > 0)
		match_file(command, hits);
}

void ab_match_shells(const struct ab_simple *command, struct ab_hits *hits)
{
	const struct runner *runner = AB_SLOT_ROW(runners, AB_TABLE_RUNNERS, command->bare_slot);

	match_words(command, hits);
	if (command->nredirects > 0) {
		if (connects_shell(command, runner != NULL))
			ab_hit_add(hits, AB_RULE_REVERSE_SHELL, command->range);
		match_network_files(command, hits);
	}
	if (runner)
		match_runner(command, runner, hits);
	else
		match_script(command, hits);
	if (command->argc == 0)
		return;
	match_connector(command, hits);
	if (ab_command_in(command, AB_TABLE_LANGUAGES) && command->name.len > 1)
		match_language(command, hits);
}
