#include "shell/output/printed.h"

#include "shell/output/filters.h"
#include "shell/syntax/name_table.h"

enum run {
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

static ab_printed_fn *const runs[] = {
	[BASE32] = ab_printed_base32,
	[BASE64] = ab_printed_base64,
	[CAT] = ab_printed_cat,
	[CURL] = ab_printed_curl,
	[ECHO] = ab_printed_echo,
	[HISTORY] = ab_printed_history,
	[LISTING] = ab_printed_listing,
	[MKTEMP] = ab_printed_mktemp,
	[NETWORK] = ab_printed_network,
	[NOTHING] = ab_printed_nothing,
	[OPENSSL] = ab_printed_openssl,
	[PRINTENV] = ab_printed_printenv,
	[PRINTF] = ab_print_printf,
	[PWD] = ab_printed_pwd,
	[REV] = ab_printed_rev,
	[SEQ] = ab_printed_seq,
	[SETTINGS] = ab_printed_settings,
	[TEE] = ab_printed_tee,
	[TR] = ab_printed_tr,
	[WGET] = ab_printed_wget,
	[XXD] = ab_printed_xxd,
};

/* A program by its name. `skip` is the number of operands that are not files,
 * for a program that reads files or standard input. */
struct program {
	char name[12];
	enum run run;
	unsigned char skip;
	unsigned char taint; /* of what a filter prints, in addition */
	bool decodes;	     /* only with -d it has that taint */
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

static bool run_filter(struct ab_output *out, const struct ab_simple *command,
		       const struct program *p)
{
	struct ab_reads r;

	ab_printed_reads(command, p->skip, &r);
	if (r.decodes || !p->decodes)
		r.taint |= p->taint;
	/* It is no longer the file as it is. */
	r.taint &= ~(unsigned)AB_TAINT_FILE;
	return ab_output_only(out, r.taint);
}

/* Whether standard output goes somewhere else than where it would. */
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
				away = !ab_printed_is_stdout(&r->file);
			break;
		case AB_REDIR_BOTH:
		case AB_REDIR_BOTH_APPEND:
			away = !ab_printed_is_stdout(&r->file);
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

/* `echo TEXT` prints the bytes that stand there, and then a newline: that has
 * no place in the text, but nothing points to it either. */
static uint32_t verbatim_of(const struct ab_simple *command, const struct ab_output *out)
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
	const struct program *p = AB_LOOKUP(programs, command->name);
	bool prints;

	if (is_redirected(command) || (!command->argc && !command->name.len))
		prints = false;
	else if (!p)
		prints = ab_output_only(&out, 0);
	else if (p->run == FILTER)
		prints = run_filter(&out, command, p);
	else
		prints = runs[p->run](&out, command);

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
	ret->verbatim = out.len ? verbatim_of(command, &out) : AB_NOT_VERBATIM;
}
