#include "shell/flow.h"

#include "shell/flow_tools.h"
#include "shell/lookup.h"

/* A program by its name. `values` are the letters that take one, `skip` the
 * operands that are no files: for those who read files or standard input. */
struct program {
	const char *name;
	ab_flow_fn *run;		/* NULL: a filter */
	const char *values;
	unsigned char skip;
	unsigned char taint;	/* of what a filter prints, in addition */
	bool decodes;		/* only with -d it has that taint */
};

/* Sorted by name, each once. */
static const struct program programs[] = {
	{ ":", ab_flow_nothing },
	{ "aria2c", ab_flow_network },
	{ "awk", NULL, "fFv", 1 },
	{ "base32", ab_flow_base32 },
	{ "base64", ab_flow_base64 },
	{ "bat", NULL, "lHr" },
	{ "brew", ab_flow_settings },
	{ "brotli", NULL, "qwo", 0, AB_TAINT_DECODED, true },
	{ "bunzip2", NULL, NULL, 0, AB_TAINT_DECODED },
	{ "bzcat", NULL, NULL, 0, AB_TAINT_DECODED },
	{ "bzip2", NULL, NULL, 0, AB_TAINT_DECODED, true },
	{ "cat", ab_flow_cat },
	{ "cd", ab_flow_nothing },
	{ "column", NULL, "sotcNH" },
	{ "conda", ab_flow_settings },
	{ "curl", ab_flow_curl },
	{ "cut", NULL, "bcdf" },
	{ "declare", ab_flow_listing },
	{ "dig", ab_flow_network },
	{ "dircolors", ab_flow_settings },
	{ "direnv", ab_flow_settings },
	{ "drill", ab_flow_network },
	{ "echo", ab_flow_echo },
	{ "egrep", NULL, "efmABCD", 1 },
	{ "elinks", ab_flow_network },
	{ "env", ab_flow_listing },
	{ "expand", NULL, "t" },
	{ "export", ab_flow_listing },
	{ "false", ab_flow_nothing },
	{ "fc", ab_flow_history },
	{ "fetch", ab_flow_network },
	{ "fgrep", NULL, "efmABCD", 1 },
	{ "fmt", NULL, "wpg" },
	{ "fnm", ab_flow_settings },
	{ "fold", NULL, "w" },
	{ "ftp", ab_flow_network },
	{ "gawk", NULL, "fFv", 1 },
	{ "gpg", NULL, "oru", 0, AB_TAINT_DECODED, true },
	{ "gpg2", NULL, "oru", 0, AB_TAINT_DECODED, true },
	{ "grep", NULL, "efmABCD", 1 },
	{ "gunzip", NULL, "S", 0, AB_TAINT_DECODED },
	{ "gzip", NULL, "S", 0, AB_TAINT_DECODED, true },
	{ "head", NULL, "nc" },
	{ "hexdump", NULL, "efns" },
	{ "history", ab_flow_history },
	{ "host", ab_flow_network },
	{ "http", ab_flow_network },
	{ "https", ab_flow_network },
	{ "iconv", NULL, "ft" },
	{ "jq", NULL, "fL", 1 },
	{ "less", NULL, "bhjkoPptxyz" },
	{ "links", ab_flow_network },
	{ "luarocks", ab_flow_settings },
	{ "lynx", ab_flow_network },
	{ "lz4", NULL, NULL, 0, AB_TAINT_DECODED, true },
	{ "lz4cat", NULL, NULL, 0, AB_TAINT_DECODED },
	{ "lzcat", NULL, NULL, 0, AB_TAINT_DECODED },
	{ "lzma", NULL, NULL, 0, AB_TAINT_DECODED, true },
	{ "mawk", NULL, "fFv", 1 },
	{ "mise", ab_flow_settings },
	{ "mktemp", ab_flow_mktemp },
	{ "more", NULL, "n" },
	{ "nawk", NULL, "fFv", 1 },
	{ "nc", ab_flow_network },
	{ "ncat", ab_flow_network },
	{ "netcat", ab_flow_network },
	{ "nl", NULL, "bdfhilnsvw" },
	{ "nodenv", ab_flow_settings },
	{ "nslookup", ab_flow_network },
	{ "od", NULL, "AjNStw" },
	{ "opam", ab_flow_settings },
	{ "openssl", ab_flow_openssl },
	{ "paste", NULL, "d" },
	{ "perl", NULL, "eEIMm" },
	{ "printenv", ab_flow_printenv },
	{ "printf", ab_print_printf },
	{ "pv", NULL, "LBsN" },
	{ "pwd", ab_flow_pwd },
	{ "pyenv", ab_flow_settings },
	{ "python", NULL, "cm" },
	{ "python3", NULL, "cm" },
	{ "rbenv", ab_flow_settings },
	{ "rev", ab_flow_rev },
	{ "rg", NULL, "efmABCgtTjM", 1 },
	{ "ruby", NULL, "erI" },
	{ "sed", NULL, "efl", 1 },
	{ "seq", ab_flow_seq },
	{ "set", ab_flow_listing },
	{ "shuf", NULL, "nio" },
	{ "socat", ab_flow_network },
	{ "sort", NULL, "kotTS" },
	{ "sponge", NULL, NULL },
	{ "ssh", ab_flow_network },
	{ "ssh-agent", ab_flow_settings },
	{ "starship", ab_flow_settings },
	{ "strings", NULL, "net" },
	{ "tac", NULL, "s" },
	{ "tail", NULL, "ncs" },
	{ "tee", ab_flow_tee },
	{ "telnet", ab_flow_network },
	{ "tftp", ab_flow_network },
	{ "tr", ab_flow_tr },
	{ "true", ab_flow_nothing },
	{ "unexpand", NULL, "t" },
	{ "uniq", NULL, "fsw" },
	{ "unlzma", NULL, NULL, 0, AB_TAINT_DECODED },
	{ "unxz", NULL, NULL, 0, AB_TAINT_DECODED },
	{ "unzip", NULL, "dx", 0, AB_TAINT_DECODED },
	{ "unzstd", NULL, NULL, 0, AB_TAINT_DECODED },
	{ "uudecode", NULL, "o", 0, AB_TAINT_DECODED },
	{ "w3m", ab_flow_network },
	{ "wget", ab_flow_wget },
	{ "whois", ab_flow_network },
	{ "xh", ab_flow_network },
	{ "xmllint", NULL, NULL },
	{ "xxd", ab_flow_xxd },
	{ "xz", NULL, "TSFC", 0, AB_TAINT_DECODED, true },
	{ "xzcat", NULL, NULL, 0, AB_TAINT_DECODED },
	{ "yq", NULL, NULL, 1 },
	{ "zcat", NULL, NULL, 0, AB_TAINT_DECODED },
	{ "zgrep", NULL, "efmABCD", 1, AB_TAINT_DECODED },
	{ "zoxide", ab_flow_settings },
	{ "zstd", NULL, "oTM", 0, AB_TAINT_DECODED, true },
	{ "zstdcat", NULL, NULL, 0, AB_TAINT_DECODED },
};

static bool run_filter(struct ab_output *out, const struct ab_simple *command,
		       const struct program *p)
{
	struct ab_reads r;

	ab_flow_reads(command, p->values, p->skip, &r);
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
				away = !ab_flow_is_stdout(&r->file);
			break;
		case AB_REDIR_BOTH:
		case AB_REDIR_BOTH_APPEND:
			away = !ab_flow_is_stdout(&r->file);
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
static uint32_t verbatim_of(const struct ab_simple *command,
			    const struct ab_output *out)
{
	const struct ab_field *last;

	if (ab_text_is(command->name, "echo") && command->argc > 1) {
		last = &command->argv[command->argc - 1];
		if (last->text.len && out->len >= last->text.len &&
		    out->len <= last->text.len + 1 && !out->unknown &&
		    memcmp(out->s, last->text.s, last->text.len) == 0)
			return last->verbatim;
	}
	if ((ab_text_is(command->name, "cat") ||
	     ab_text_is(command->name, "tee")) &&
	    !command->in.none && out->len == command->in.text.len &&
	    memcmp(out->s, command->in.text.s, out->len) == 0)
		return command->in.verbatim;
	return AB_NOT_VERBATIM;
}

void ab_flow_output(struct ab_arena *arena, const struct ab_simple *command,
		    struct ab_data *ret)
{
	struct ab_output out = { .arena = arena };
	const struct program *p = AB_LOOKUP(programs, command->name);
	bool prints;

	if (is_redirected(command) || (!command->argc && !command->name.len))
		prints = false;
	else if (!p)
		prints = ab_output_only(&out, 0);
	else if (p->run)
		prints = p->run(&out, command);
	else
		prints = run_filter(&out, command, p);

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
