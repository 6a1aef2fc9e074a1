/* Lines to a shell from elsewhere: programs that connect one. */
#include "base/data/mem.h"
#include "shell/code/code.h"
#include "shell/command/grammar.h"
#include "shell/command/rules.h"
#include "shell/syntax/name_table.h"

static struct ab_text first_word(struct ab_text t)
{
	uint32_t i = 0;

	while (i < t.len && t.s[i] != ' ')
		i++;
	t.len = i;
	for (; i > 0; i--)
		if (t.s[i - 1] == '/')
			return (struct ab_text){ t.s + i, t.len - i };
	return t;
}

/* Some nc have -c for a command, others for TLS: then a host follows. */
static bool is_program(struct ab_text t)
{
	return (t.len > 0 && t.s[0] == '/') ||
	       ab_listed("ash bash cmd cmd.exe dash fish ksh powershell pwsh python python3 sh zsh",
			 first_word(t));
}

static bool nc_runs(const struct ab_simple *command)
{
	const struct ab_opts opts = ab_grammar(command->name);
	struct ab_opt_walk w;
	enum ab_opt what;

	ab_opt_begin(&w, &opts, command->argv, command->argc);
	while ((what = ab_opt_next(&w)) != AB_OPT_END) {
		if (ab_opt_is(&w, what, 'e', "exec") || ab_opt_is(&w, what, 0, "sh-exec") ||
		    ab_opt_is(&w, what, 0, "lua-exec"))
			return w.value.text.s;
		if (ab_opt_is(&w, what, 'c', NULL) && w.value.text.s && is_program(w.value.text))
			return true;
	}
	return false;
}

static bool begins_any_case(struct ab_text t, const char *s)
{
	size_t len = strlen(s);

	return t.len >= len && strncasecmp(t.s, s, len) == 0;
}

static bool socat_runs(const struct ab_simple *command)
{
	static const char nets[][8] = { "openssl", "sctp", "socks", "ssl", "tcp", "udp", "ws" };
	static const char runs[][8] = { "exec:", "shell:", "system:" };
	bool net = false, run = false;

	for (size_t i = 1; i < command->argc; i++) {
		struct ab_text t = command->argv[i].text;

		for (size_t k = 0; k < AB_COUNT(nets); k++)
			net = net || begins_any_case(t, nets[k]);
		for (size_t k = 0; k < AB_COUNT(runs); k++)
			run = run || begins_any_case(t, runs[k]);
	}
	return net && run;
}

/* A window on somebody else's screen. */
static bool xterm_shows(const struct ab_simple *command)
{
	for (size_t i = 1; i + 1 < command->argc; i++) {
		struct ab_text t = command->argv[i + 1].text;

		if (ab_field_is(&command->argv[i], "-display"))
			return t.len > 0 && t.s[0] != ':' && t.s[0] != AB_UNKNOWN;
	}
	return false;
}

static bool has(struct ab_text t, const char *s)
{
	return memmem(t.s, t.len, s, strlen(s));
}

/* awk has no sockets but files by that name. */
static bool awk_connects(const struct ab_simple *command)
{
	const struct ab_field *code = ab_code_find(command, AB_LANG_AWK);

	return code && has(code->text, "/inet/") &&
	       (has(code->text, "system(") || has(code->text, "| getline") ||
		has(code->text, "|getline"));
}

static bool code_connects(const struct ab_simple *command, enum ab_language language,
			  unsigned traits)
{
	return ((traits & AB_CODE_SOCKET) &&
		(traits & (AB_CODE_DUP | AB_CODE_PTY | AB_CODE_SHELL))) ||
	       (language == AB_LANG_AWK && awk_connects(command));
}

void ab_match_lines(const struct ab_scene *scene, const struct ab_simple *command,
		    struct ab_hits *hits)
{
	struct ab_text name = command->name;
	enum ab_language language;
	unsigned traits;
	bool hit = false;

	(void)scene;
	if (name.len < 2 || command->argc == 0)
		return;
	if (name.s[0] == 'n' && ab_listed("nc ncat netcat nc.openbsd nc.traditional", name)) {
		hit = nc_runs(command);
	} else if (ab_text_is(name, "socat")) {
		hit = socat_runs(command);
	} else if (ab_text_is(name, "xterm")) {
		hit = xterm_shows(command);
	} else if (ab_code_language(name, &language)) {
		traits = ab_code_traits(command);
		hit = code_connects(command, language, traits);
		if (traits & AB_CODE_NETWORK_EXEC)
			ab_hit_add(hits, AB_RULE_PIPE_TO_SHELL, command->range);
		if (traits & AB_CODE_UNREAD)
			ab_hit_because(hits, AB_RULE_UNPARSED, command->range,
				       "This is too long to be read to its "
				       "end.");
	}
	if (hit)
		ab_hit_add(hits, AB_RULE_REVERSE_SHELL, command->range);
}
