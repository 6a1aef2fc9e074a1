#include "shell/output/printed.h"

#include "shell/command/grammar.h"
#include "shell/command/known_files.h"
#include "shell/command/name_index.h"
#include "shell/command/secret_files.h"
#include "shell/output/output.h"
#include "shell/syntax/name_table.h"

/* The inputs of a command: its operands after some skipped ones, or stdin. */
struct inputs {
	unsigned taint;
	size_t files;
	bool changed; /* an option was given */
	bool decodes; /* -d, -D, --decode, --decompress */
};

static bool add_data(struct ab_output *out, const struct ab_data *data)
{
	if (data->none)
		return true;
	ab_output_add(out, data->text.s, data->text.len);
	out->unknown |= data->unknown;
	out->taint |= data->taint;
	return true;
}

static bool add_input(struct ab_output *out, const struct ab_simple *command)
{
	return add_data(out, &command->in);
}

/* The taint of a file that the command reads, by the word that names it. */
static unsigned get_file_taint(const struct ab_simple *command, const struct ab_field *f)
{
	unsigned taint = f->taint & ~(unsigned)AB_TAINT_GLUED;
	const struct ab_data *known = ab_files_read(command, f);

	if (known && known->taint)
		return known->taint;
	if (taint)
		return taint; /* <( ): of its output */
	return AB_TAINT_FILE | (ab_secret_path(f->text) ? AB_TAINT_SECRET : 0);
}

static bool is_stdin(const struct ab_field *f)
{
	return ab_field_is(f, "-") || ab_field_is(f, "/dev/stdin") || ab_field_is(f, "/dev/fd/0");
}

static void find_inputs(const struct ab_simple *command, size_t skip, struct inputs *ret)
{
	const struct ab_opts opts = ab_grammar_for(command);
	struct ab_opt_walk w;
	enum ab_opt what;

	*ret = (struct inputs){ 0 };
	ab_opt_begin(&w, &opts, command->argv, command->argc);
	while ((what = ab_opt_next(&w)) != AB_OPT_END) {
		if (what != AB_OPT_OPERAND) {
			ret->changed = true;
			ret->decodes |= ab_opt_is(&w, what, 'd', "decode") ||
					ab_opt_is(&w, what, 'D', "decompress") ||
					ab_opt_is(&w, what, 0, "decrypt");
		} else if (skip) {
			skip--;
		} else if (!is_stdin(&w.value)) {
			ret->files++;
			ret->taint |= get_file_taint(command, &w.value);
		} else {
			ret->taint |= command->in.taint;
		}
	}
	if (!ret->files && !command->in.none)
		ret->taint |= command->in.taint;
}

static bool print_echo(struct ab_output *out, const struct ab_simple *command)
{
	ab_print_echo(out, command);
	return true;
}

static bool print_seq(struct ab_output *out, const struct ab_simple *command)
{
	ab_print_seq(out, command);
	return true;
}

static bool print_nothing(struct ab_output *out, const struct ab_simple *command)
{
	(void)out;
	(void)command;
	return false;
}

static bool print_pwd(struct ab_output *out, const struct ab_simple *command)
{
	if (command->argc > 1 || !command->cwd.len)
		return ab_output_only(out, 0);
	ab_output_add(out, command->cwd.s, command->cwd.len);
	out->unknown |= memchr(command->cwd.s, AB_UNKNOWN, command->cwd.len) != NULL;
	ab_output_byte(out, '\n');
	return true;
}

static bool print_cat(struct ab_output *out, const struct ab_simple *command)
{
	const struct ab_data *known;
	struct inputs r;

	find_inputs(command, 0, &r);
	if (command->argc == 2 && r.files) {
		known = ab_files_read(command, &command->argv[1]);
		if (known)
			return add_data(out, known);
	}
	if (r.files || r.changed || command->argc > 2)
		return ab_output_only(out, r.taint);
	return add_input(out, command);
}

static bool print_tee(struct ab_output *out, const struct ab_simple *command)
{
	return add_input(out, command);
}

/* Whole words, not bundled letters: xxd -r -p, openssl enc -d -base64. */
static bool has_word(const struct ab_simple *command, const char *word)
{
	for (size_t i = 1; i < command->argc; i++)
		if (ab_field_is(&command->argv[i], word))
			return true;
	return false;
}

typedef bool decode_fn(struct ab_output *out, struct ab_text in);

/* Decodes known input; for unknown input, sets only the taint. */
static bool decode_input(struct ab_output *out, const struct ab_simple *command,
			 const struct inputs *r, decode_fn *decoder)
{
	if (r->files || command->in.unknown)
		return ab_output_only(out, r->taint | AB_TAINT_DECODED);
	out->taint |= r->taint | AB_TAINT_DECODED;
	if (command->in.none)
		return false;
	return decoder(out, command->in.text);
}

static bool can_encode(struct ab_output *out, const struct ab_simple *command,
		       const struct inputs *r)
{
	out->taint |= r->taint;
	return !r->files && !command->in.unknown && !command->in.none;
}

static bool print_base64(struct ab_output *out, const struct ab_simple *command)
{
	struct inputs r;
	bool one_line;

	find_inputs(command, 0, &r);
	if (r.decodes)
		return decode_input(out, command, &r, ab_decode_base64);
	one_line = has_word(command, "-w0") || has_word(command, "--wrap=0") ||
		   (command->argc == 3 && has_word(command, "-w") && has_word(command, "0"));
	if ((r.changed && !one_line) || !can_encode(out, command, &r))
		return ab_output_only(out, 0);
	ab_encode_base64(out, command->in.text, !one_line);
	return true;
}

static bool print_base32(struct ab_output *out, const struct ab_simple *command)
{
	struct inputs r;

	find_inputs(command, 0, &r);
	if (r.decodes)
		return decode_input(out, command, &r, ab_decode_base32);
	return ab_output_only(out, r.taint);
}

static bool print_xxd(struct ab_output *out, const struct ab_simple *command)
{
	bool plain =
		has_word(command, "-p") || has_word(command, "-ps") || has_word(command, "-plain");
	bool reverse = has_word(command, "-r") || has_word(command, "-revert");
	struct inputs r;

	find_inputs(command, 0, &r);
	reverse |= has_word(command, "-rp") || has_word(command, "-pr");
	plain |= has_word(command, "-rp") || has_word(command, "-pr");
	if (!plain)
		return ab_output_only(out, r.taint | (reverse ? AB_TAINT_DECODED : 0));
	if (reverse)
		return decode_input(out, command, &r, ab_decode_hex);
	if (command->argc > 2 || !can_encode(out, command, &r))
		return ab_output_only(out, 0);
	ab_encode_hex(out, command->in.text);
	return true;
}

static bool print_openssl(struct ab_output *out, const struct ab_simple *command)
{
	const struct ab_field *what = command->argc > 1 ? &command->argv[1] : NULL;
	struct inputs r = { .taint = command->in.taint };
	bool base64;

	if (!what)
		return ab_output_only(out, 0);
	if (ab_field_is(what, "s_client"))
		return ab_output_only(out, AB_TAINT_NETWORK);
	base64 = ab_field_is(what, "base64");
	if (!base64 && !ab_field_is(what, "enc"))
		return ab_output_only(out, 0);
	base64 |= has_word(command, "-base64") || has_word(command, "-a");
	r.files = has_word(command, "-in");
	for (size_t i = 2; i < command->argc; i++)
		base64 &= !ab_text_starts(command->argv[i].text, "-aes") &&
			  !ab_text_starts(command->argv[i].text, "-des");
	if (!has_word(command, "-d"))
		return ab_output_only(out, r.taint);
	if (!base64)
		return ab_output_only(out, r.taint | AB_TAINT_DECODED);
	return decode_input(out, command, &r, ab_decode_base64);
}

static bool print_rev(struct ab_output *out, const struct ab_simple *command)
{
	struct inputs r;

	find_inputs(command, 0, &r);
	if (r.files || command->in.unknown)
		return ab_output_only(out, r.taint);
	out->taint |= r.taint;
	return command->in.none || ab_decode_rev(out, command->in.text) || ab_output_only(out, 0);
}

static bool print_tr(struct ab_output *out, const struct ab_simple *command)
{
	out->taint |= command->in.taint;
	if (command->in.none)
		return true;
	if (command->in.unknown)
		return ab_output_only(out, 0);
	return ab_decode_tr(out, command) || ab_output_only(out, 0);
}

static bool print_network(struct ab_output *out, const struct ab_simple *command)
{
	(void)command;
	return ab_output_only(out, AB_TAINT_NETWORK);
}

static bool is_stdout(const struct ab_field *f)
{
	return ab_field_is(f, "-") || ab_field_is(f, "/dev/stdout") || ab_field_is(f, "/dev/fd/1");
}

static bool print_curl(struct ab_output *out, const struct ab_simple *command)
{
	const struct ab_opts opts = ab_grammar_as(command, "curl");
	struct ab_opt_walk w;
	enum ab_opt what;

	ab_opt_begin(&w, &opts, command->argv, command->argc);
	while ((what = ab_opt_next(&w)) != AB_OPT_END) {
		if (ab_opt_is(&w, what, 'o', "output") && w.value.text.s && !is_stdout(&w.value))
			return false;
		if (ab_opt_is(&w, what, 'O', "remote-name") ||
		    ab_opt_is(&w, what, 0, "remote-name-all"))
			return false;
		if (ab_opt_is(&w, what, 'V', "version") || ab_opt_is(&w, what, 'h', "help"))
			return ab_output_only(out, 0);
	}
	return ab_output_only(out, AB_TAINT_NETWORK);
}

static bool print_wget(struct ab_output *out, const struct ab_simple *command)
{
	const struct ab_opts opts = ab_grammar_as(command, "wget");
	struct ab_opt_walk w;
	enum ab_opt what;

	ab_opt_begin(&w, &opts, command->argv, command->argc);
	while ((what = ab_opt_next(&w)) != AB_OPT_END) {
		if (ab_opt_is(&w, what, 'O', "output-document") && w.value.text.s &&
		    is_stdout(&w.value))
			return ab_output_only(out, AB_TAINT_NETWORK);
		if (ab_opt_is(&w, what, 'V', "version") || ab_opt_is(&w, what, 'h', "help"))
			return ab_output_only(out, 0);
	}
	return false;
}

static bool has_operand(const struct ab_simple *command)
{
	const struct ab_opts opts = ab_grammar_for(command);
	struct ab_opt_walk w;
	enum ab_opt what;

	ab_opt_begin(&w, &opts, command->argv, command->argc);
	do
		what = ab_opt_next(&w);
	while (what == AB_OPT_LETTER || what == AB_OPT_LONG);
	return what == AB_OPT_OPERAND;
}

/* env, set, export, declare: without operands they list all variables. */
static bool print_listing(struct ab_output *out, const struct ab_simple *command)
{
	return ab_output_only(out, has_operand(command) ? 0 : AB_TAINT_SECRET);
}

static bool print_history(struct ab_output *out, const struct ab_simple *command)
{
	(void)command;
	return ab_output_only(out, AB_TAINT_HISTORY);
}

/* A new name from the template, or in /tmp. */
static bool print_mktemp(struct ab_output *out, const struct ab_simple *command)
{
	const struct ab_opts opts = ab_grammar_as(command, "mktemp");
	struct ab_text template = { "/tmp/tmp.", 9 };
	struct ab_opt_walk w;
	enum ab_opt what;

	ab_opt_begin(&w, &opts, command->argv, command->argc);
	while ((what = ab_opt_next(&w)) != AB_OPT_END) {
		if (what != AB_OPT_OPERAND) {
			if (ab_opt_is(&w, what, 'p', "tmpdir") || ab_opt_is(&w, what, 't', NULL))
				return ab_output_only(out, 0);
			continue;
		}
		template = w.value.text;
		while (template.len && template.s[template.len - 1] == 'X')
			template.len--;
	}
	ab_output_add(out, template.s, template.len);
	ab_output_unknown(out);
	return true;
}

static bool print_printenv(struct ab_output *out, const struct ab_simple *command)
{
	static const char parts[][11] = { "KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL" };
	unsigned taint = has_operand(command) ? 0 : AB_TAINT_SECRET;

	for (size_t i = 1; i < command->argc; i++) {
		struct ab_text t = command->argv[i].text;

		for (size_t j = 0; j < sizeof(parts) / sizeof(parts[0]); j++)
			if (memmem(t.s, t.len, parts[j], strlen(parts[j])))
				taint = AB_TAINT_SECRET;
	}
	return ab_output_only(out, taint);
}

/* eval "$(TOOL init bash)": only a tool's own setup code. */
static bool print_settings(struct ab_output *out, const struct ab_simple *command)
{
	static const char words[] = "activate completion env hook init path "
				    "print-alias shell.bash shell.zsh shellenv";
	bool asked =
		ab_text_is(command->name, "ssh-agent") || ab_text_is(command->name, "dircolors");

	for (size_t i = 1; i < command->argc; i++)
		asked |= ab_listed(words, command->argv[i].text);
	return ab_output_only(out, asked ? AB_TAINT_SETTINGS : 0);
}

/* Adds what the command prints; false: nothing. */
typedef bool print_fn(struct ab_output *out, const struct ab_simple *command);

enum printer {
	FILTER, /* passes on what it reads */
	BASE32,
	BASE64,
	CAT,
	CURL,
	ECHO,
	HISTORY,
	LISTING,
	MKTEMP,
	NETWORK,
	NOTHING,
	OPENSSL,
	PRINTENV,
	PRINTF,
	PWD,
	REV,
	SEQ,
	SETTINGS,
	TEE,
	TR,
	WGET,
	XXD,
};

static print_fn *const printers[] = {
	[BASE32] = print_base32,
	[BASE64] = print_base64,
	[CAT] = print_cat,
	[CURL] = print_curl,
	[ECHO] = print_echo,
	[HISTORY] = print_history,
	[LISTING] = print_listing,
	[MKTEMP] = print_mktemp,
	[NETWORK] = print_network,
	[NOTHING] = print_nothing,
	[OPENSSL] = print_openssl,
	[PRINTENV] = print_printenv,
	[PRINTF] = ab_print_printf,
	[PWD] = print_pwd,
	[REV] = print_rev,
	[SEQ] = print_seq,
	[SETTINGS] = print_settings,
	[TEE] = print_tee,
	[TR] = print_tr,
	[WGET] = print_wget,
	[XXD] = print_xxd,
};

/* `skip`: for a filter, the number of operands before its files. */
struct program {
	char name[12];
	enum printer printer;
	unsigned char skip;
	unsigned char taint; /* added to the output of a filter */
	bool decodes;	     /* adds that taint only with -d */
};

/* Sorted by name, each once. */
static const struct program programs[] = {
	{ ":", NOTHING },
	{ "aria2c", NETWORK },
	{ "awk", FILTER, 1 },
	{ "base32", BASE32 },
	{ "base64", BASE64 },
	{ "bat", FILTER },
	{ "brew", SETTINGS },
	{ "brotli", FILTER, 0, AB_TAINT_DECODED, true },
	{ "bunzip2", FILTER, 0, AB_TAINT_DECODED },
	{ "bzcat", FILTER, 0, AB_TAINT_DECODED },
	{ "bzip2", FILTER, 0, AB_TAINT_DECODED, true },
	{ "cat", CAT },
	{ "cd", NOTHING },
	{ "column", FILTER },
	{ "conda", SETTINGS },
	{ "curl", CURL },
	{ "cut", FILTER },
	{ "declare", LISTING },
	{ "dig", NETWORK },
	{ "dircolors", SETTINGS },
	{ "direnv", SETTINGS },
	{ "drill", NETWORK },
	{ "echo", ECHO },
	{ "egrep", FILTER, 1 },
	{ "elinks", NETWORK },
	{ "env", LISTING },
	{ "expand", FILTER },
	{ "export", LISTING },
	{ "false", NOTHING },
	{ "fc", HISTORY },
	{ "fetch", NETWORK },
	{ "fgrep", FILTER, 1 },
	{ "fmt", FILTER },
	{ "fnm", SETTINGS },
	{ "fold", FILTER },
	{ "ftp", NETWORK },
	{ "gawk", FILTER, 1 },
	{ "gpg", FILTER, 0, AB_TAINT_DECODED, true },
	{ "gpg2", FILTER, 0, AB_TAINT_DECODED, true },
	{ "grep", FILTER, 1 },
	{ "gunzip", FILTER, 0, AB_TAINT_DECODED },
	{ "gzip", FILTER, 0, AB_TAINT_DECODED, true },
	{ "head", FILTER },
	{ "hexdump", FILTER },
	{ "history", HISTORY },
	{ "host", NETWORK },
	{ "http", NETWORK },
	{ "https", NETWORK },
	{ "iconv", FILTER },
	{ "jq", FILTER, 1 },
	{ "less", FILTER },
	{ "links", NETWORK },
	{ "luarocks", SETTINGS },
	{ "lynx", NETWORK },
	{ "lz4", FILTER, 0, AB_TAINT_DECODED, true },
	{ "lz4cat", FILTER, 0, AB_TAINT_DECODED },
	{ "lzcat", FILTER, 0, AB_TAINT_DECODED },
	{ "lzma", FILTER, 0, AB_TAINT_DECODED, true },
	{ "mawk", FILTER, 1 },
	{ "mise", SETTINGS },
	{ "mktemp", MKTEMP },
	{ "more", FILTER },
	{ "nawk", FILTER, 1 },
	{ "nc", NETWORK },
	{ "ncat", NETWORK },
	{ "netcat", NETWORK },
	{ "nl", FILTER },
	{ "nodenv", SETTINGS },
	{ "nslookup", NETWORK },
	{ "od", FILTER },
	{ "opam", SETTINGS },
	{ "openssl", OPENSSL },
	{ "paste", FILTER },
	{ "perl", FILTER },
	{ "printenv", PRINTENV },
	{ "printf", PRINTF },
	{ "pv", FILTER },
	{ "pwd", PWD },
	{ "pyenv", SETTINGS },
	{ "python", FILTER },
	{ "python3", FILTER },
	{ "rbenv", SETTINGS },
	{ "rev", REV },
	{ "rg", FILTER, 1 },
	{ "ruby", FILTER },
	{ "sed", FILTER, 1 },
	{ "seq", SEQ },
	{ "set", LISTING },
	{ "shuf", FILTER },
	{ "socat", NETWORK },
	{ "sort", FILTER },
	{ "sponge", FILTER },
	{ "ssh", NETWORK },
	{ "ssh-agent", SETTINGS },
	{ "starship", SETTINGS },
	{ "strings", FILTER },
	{ "tac", FILTER },
	{ "tail", FILTER },
	{ "tee", TEE },
	{ "telnet", NETWORK },
	{ "tftp", NETWORK },
	{ "tr", TR },
	{ "true", NOTHING },
	{ "unexpand", FILTER },
	{ "uniq", FILTER },
	{ "unlzma", FILTER, 0, AB_TAINT_DECODED },
	{ "unxz", FILTER, 0, AB_TAINT_DECODED },
	{ "unzip", FILTER, 0, AB_TAINT_DECODED },
	{ "unzstd", FILTER, 0, AB_TAINT_DECODED },
	{ "uudecode", FILTER, 0, AB_TAINT_DECODED },
	{ "w3m", NETWORK },
	{ "wget", WGET },
	{ "whois", NETWORK },
	{ "xh", NETWORK },
	{ "xmllint", FILTER },
	{ "xxd", XXD },
	{ "xz", FILTER, 0, AB_TAINT_DECODED, true },
	{ "xzcat", FILTER, 0, AB_TAINT_DECODED },
	{ "yq", FILTER, 1 },
	{ "zcat", FILTER, 0, AB_TAINT_DECODED },
	{ "zgrep", FILTER, 1, AB_TAINT_DECODED },
	{ "zoxide", SETTINGS },
	{ "zstd", FILTER, 0, AB_TAINT_DECODED, true },
	{ "zstdcat", FILTER, 0, AB_TAINT_DECODED },
};

static bool print_filter(struct ab_output *out, const struct ab_simple *command,
			 const struct program *p)
{
	struct inputs r;

	find_inputs(command, p->skip, &r);
	if (r.decodes || !p->decodes)
		r.taint |= p->taint;
	/* The output is not the unchanged file. */
	r.taint &= ~(unsigned)AB_TAINT_FILE;
	return ab_output_only(out, r.taint);
}

/* Is standard output redirected? */
static bool is_redirected(const struct ab_simple *command)
{
	bool away = false;

	for (size_t i = 0; i < command->nredirects; i++) {
		const struct ab_redirect *r = &command->redirects[i];

		switch (r->op) {
		case AB_REDIR_OUT:
		case AB_REDIR_APPEND:
		case AB_REDIR_CLOBBER:
		case AB_REDIR_DUP_OUT:
			if (r->fd == 1)
				away = !is_stdout(&r->file);
			break;
		case AB_REDIR_BOTH:
		case AB_REDIR_BOTH_APPEND:
			away = !is_stdout(&r->file);
			break;
		case AB_REDIR_IN:
		case AB_REDIR_READ_WRITE:
		case AB_REDIR_DUP_IN:
		case AB_REDIR_HEREDOC:
		case AB_REDIR_HERESTRING:
			break;
		}
	}
	return away;
}

/* `echo TEXT` prints its bytes and a newline. The newline is not in the text,
 * but no range refers to it. */
static uint32_t find_verbatim(const struct ab_simple *command, const struct ab_output *out)
{
	const struct ab_field *last;

	if (ab_text_is(command->name, "echo") && command->argc > 1) {
		last = &command->argv[command->argc - 1];
		if (last->text.len && out->len >= last->text.len &&
		    out->len <= last->text.len + 1 && !out->unknown &&
		    memcmp(out->s, last->text.s, last->text.len) == 0)
			return last->verbatim;
	}
	if ((ab_text_is(command->name, "cat") || ab_text_is(command->name, "tee")) &&
	    !command->in.none && out->len == command->in.text.len &&
	    memcmp(out->s, command->in.text.s, out->len) == 0)
		return command->in.verbatim;
	return AB_NOT_VERBATIM;
}

void ab_printed_output(struct ab_arena *arena, const struct ab_simple *command, struct ab_data *ret)
{
	struct ab_output out = { .arena = arena };
	const struct program *p = AB_COMMAND_ROW(programs, AB_TABLE_PRINTERS, command);
	bool prints;

	if (is_redirected(command) || (!command->argc && !command->name.len))
		prints = false;
	else if (!p)
		prints = ab_output_only(&out, 0);
	else if (p->printer == FILTER)
		prints = print_filter(&out, command, p);
	else
		prints = printers[p->printer](&out, command);

	*ret = (struct ab_data){ .none = !prints,
				 .text = { "", 0 },
				 .range = command->range,
				 .verbatim = AB_NOT_VERBATIM };
	if (!prints)
		return;
	if (out.len)
		ret->text = (struct ab_text){ out.s, out.len };
	ret->unknown = out.unknown;
	ret->taint = out.taint;
	ret->verbatim = out.len ? find_verbatim(command, &out) : AB_NOT_VERBATIM;
}
