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

static void find_inputs(const struct ab_simple *command, size_t skip, struct inputs *ret)
{
	*ret = (struct inputs){ 0 };
	for (struct ab_opt_walk w = ab_opt_begin_own(command); ab_opt_next(&w);) {
		if (w.what != AB_OPT_OPERAND) {
			ret->changed = true;
			ret->decodes |= ab_opt_is(&w, 'd', "decode") ||
					ab_opt_is(&w, 'D', "decompress") ||
					ab_opt_is(&w, 0, "decrypt");
		} else if (skip) {
			skip--;
		} else if (!ab_listed("- /dev/stdin /dev/fd/0", w.value.text)) {
			ret->files++;
			ret->taint |= get_file_taint(command, &w.value);
		} else {
			ret->taint |= command->in.taint;
		}
	}
	if (!ret->files && !command->in.none)
		ret->taint |= command->in.taint;
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
	out->unknown |= ab_text_has(command->cwd, AB_UNKNOWN);
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

/* Whole words, not bundled letters: xxd -r -p, openssl enc -d -base64. */
static bool has_word(const struct ab_simple *command, const char *list)
{
	for (size_t i = 1; i < command->argc; i++)
		if (ab_listed(list, command->argv[i].text))
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
	one_line = has_word(command, "-w0 --wrap=0") ||
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
	bool plain = has_word(command, "-p -ps -plain -rp -pr");
	bool reverse = has_word(command, "-r -revert -rp -pr");
	struct inputs r;

	find_inputs(command, 0, &r);
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
	base64 |= has_word(command, "-base64 -a");
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

static bool is_stdout(const struct ab_field *f)
{
	return ab_field_is(f, "-") || ab_field_is(f, "/dev/stdout") || ab_field_is(f, "/dev/fd/1");
}

static bool print_curl(struct ab_output *out, const struct ab_simple *command)
{
	for (struct ab_opt_walk w = ab_opt_begin_as(command, "curl"); ab_opt_next(&w);) {
		if (ab_opt_is(&w, 'o', "output") && w.value.text.s && !is_stdout(&w.value))
			return false;
		if (ab_opt_is(&w, 'O', "remote-name") || ab_opt_is(&w, 0, "remote-name-all"))
			return false;
		if (ab_opt_is(&w, 'V', "version") || ab_opt_is(&w, 'h', "help"))
			return ab_output_only(out, 0);
	}
	return ab_output_only(out, AB_TAINT_NETWORK);
}

static bool print_wget(struct ab_output *out, const struct ab_simple *command)
{
	for (struct ab_opt_walk w = ab_opt_begin_as(command, "wget"); ab_opt_next(&w);) {
		if (ab_opt_is(&w, 'O', "output-document") && w.value.text.s && is_stdout(&w.value))
			return ab_output_only(out, AB_TAINT_NETWORK);
		if (ab_opt_is(&w, 'V', "version") || ab_opt_is(&w, 'h', "help"))
			return ab_output_only(out, 0);
	}
	return false;
}

static bool has_operand(const struct ab_simple *command)
{
	struct ab_opt_walk w = ab_opt_begin_own(command);

	return ab_opt_next_operand(&w);
}

/* env, set, export, declare: without operands they list all variables. */
static bool print_listing(struct ab_output *out, const struct ab_simple *command)
{
	return ab_output_only(out, has_operand(command) ? 0 : AB_TAINT_SECRET);
}

/* A new name from the template, or in /tmp. */
static bool print_mktemp(struct ab_output *out, const struct ab_simple *command)
{
	struct ab_text pattern = { "/tmp/tmp.", 9 };

	for (struct ab_opt_walk w = ab_opt_begin_as(command, "mktemp"); ab_opt_next(&w);) {
		if (w.what != AB_OPT_OPERAND) {
			if (ab_opt_is(&w, 'p', "tmpdir") || ab_opt_is(&w, 't', NULL))
				return ab_output_only(out, 0);
			continue;
		}
		pattern = ab_text_trim(w.value.text, "X");
	}
	ab_output_add(out, pattern.s, pattern.len);
	ab_output_unknown(out);
	return true;
}

static bool print_printenv(struct ab_output *out, const struct ab_simple *command)
{
	unsigned taint = has_operand(command) ? 0 : AB_TAINT_SECRET;

	for (size_t i = 1; i < command->argc; i++)
		if (ab_contains_listed("KEY TOKEN SECRET PASS CREDENTIAL", command->argv[i].text))
			taint = AB_TAINT_SECRET;
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

struct program {
	print_fn *print;     /* NULL: a filter, which passes on what it reads */
	unsigned char skip;  /* the number of operands before the files of a filter */
	unsigned char taint; /* added to the output of a filter */
	bool decodes;	     /* adds that taint only with -d */
	bool fixed;	     /* no filter: prints what is not known and has that taint */
};

static const struct program programs[] = {
	AB_PROGRAMS(": cd false true", print_nothing),
	AB_PROGRAMS("aria2c dig drill elinks fetch ftp host http https links lynx nc ncat netcat "
		    "nslookup socat ssh telnet tftp w3m whois xh",
		    .taint = AB_TAINT_NETWORK, .fixed = true),
	AB_PROGRAMS("awk egrep fgrep gawk grep jq mawk nawk rg sed yq", NULL, 1),
	AB_PROGRAMS("base32", print_base32),
	AB_PROGRAMS("base64", print_base64),
	AB_PROGRAMS(
		"bat column cut expand fmt fold head hexdump iconv less more nl od paste perl pv "
		"python python3 ruby shuf sort sponge strings tac tail unexpand uniq xmllint",
		NULL),
	AB_PROGRAMS(
		"brew conda dircolors direnv fnm luarocks mise nodenv opam pyenv rbenv ssh-agent "
		"starship zoxide",
		print_settings),
	AB_PROGRAMS("brotli bzip2 gpg gpg2 gzip lz4 lzma xz zstd", NULL, 0, AB_TAINT_DECODED, true),
	AB_PROGRAMS("bunzip2 bzcat gunzip lz4cat lzcat unlzma unxz unzip unzstd uudecode xzcat zcat "
		    "zstdcat",
		    NULL, 0, AB_TAINT_DECODED),
	AB_PROGRAMS("cat", print_cat),
	AB_PROGRAMS("curl", print_curl),
	AB_PROGRAMS("declare env export set", print_listing),
	AB_PROGRAMS("echo", ab_print_echo),
	AB_PROGRAMS("fc history", .taint = AB_TAINT_HISTORY, .fixed = true),
	AB_PROGRAMS("mktemp", print_mktemp),
	AB_PROGRAMS("openssl", print_openssl),
	AB_PROGRAMS("printenv", print_printenv),
	AB_PROGRAMS("printf", ab_print_printf),
	AB_PROGRAMS("pwd", print_pwd),
	AB_PROGRAMS("rev", print_rev),
	AB_PROGRAMS("seq", ab_print_seq),
	AB_PROGRAMS("tee", add_input),
	AB_PROGRAMS("tr", print_tr),
	AB_PROGRAMS("wget", print_wget),
	AB_PROGRAMS("xxd", print_xxd),
	AB_PROGRAMS("zgrep", NULL, 1, AB_TAINT_DECODED),
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

		if (ab_redir_is_both(r->op) ||
		    (r->fd == 1 && r->op != AB_REDIR_READ_WRITE &&
		     (ab_redir_writes(r->op) || r->op == AB_REDIR_DUP_OUT)))
			away = !is_stdout(&r->file);
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
	else if (!p || p->fixed)
		prints = ab_output_only(&out, p ? p->taint : 0);
	else if (!p->print)
		prints = print_filter(&out, command, p);
	else
		prints = p->print(&out, command);

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
