/* What the single programs print. */
#include "shell/output/filters.h"

#include "shell/command/grammar.h"
#include "shell/command/known_files.h"
#include "shell/command/secret_files.h"
#include "shell/syntax/name_table.h"

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

/* A file whose content is read, by the word that names it. */
static unsigned taint_of_file(const struct ab_simple *command, const struct ab_field *f)
{
	unsigned taint = f->taint & ~(unsigned)AB_TAINT_GLUED;
	const struct ab_data *known = ab_files_read(command, f);

	if (known && known->taint)
		return known->taint;
	if (taint)
		return taint; /* <( ): what is printed there */
	return AB_TAINT_FILE | (ab_secret_path(f->text) ? AB_TAINT_SECRET : 0);
}

static bool is_stdin(const struct ab_field *f)
{
	return ab_field_is(f, "-") || ab_field_is(f, "/dev/stdin") || ab_field_is(f, "/dev/fd/0");
}

void ab_printed_reads(const struct ab_simple *command, size_t skip, struct ab_reads *ret)
{
	const struct ab_opts opts = ab_grammar(command->name);
	struct ab_opt_walk w;
	enum ab_opt what;

	*ret = (struct ab_reads){ 0 };
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
			ret->taint |= taint_of_file(command, &w.value);
		} else {
			ret->taint |= command->in.taint;
		}
	}
	if (!ret->files && !command->in.none)
		ret->taint |= command->in.taint;
}

bool ab_printed_echo(struct ab_output *out, const struct ab_simple *command)
{
	ab_print_echo(out, command);
	return true;
}

bool ab_printed_seq(struct ab_output *out, const struct ab_simple *command)
{
	ab_print_seq(out, command);
	return true;
}

bool ab_printed_nothing(struct ab_output *out, const struct ab_simple *command)
{
	(void)out;
	(void)command;
	return false;
}

bool ab_printed_pwd(struct ab_output *out, const struct ab_simple *command)
{
	if (command->argc > 1 || !command->cwd.len)
		return ab_output_only(out, 0);
	ab_output_add(out, command->cwd.s, command->cwd.len);
	out->unknown |= memchr(command->cwd.s, AB_UNKNOWN, command->cwd.len) != NULL;
	ab_output_byte(out, '\n');
	return true;
}

bool ab_printed_cat(struct ab_output *out, const struct ab_simple *command)
{
	const struct ab_data *known;
	struct ab_reads r;

	ab_printed_reads(command, 0, &r);
	if (command->argc == 2 && r.files) {
		known = ab_files_read(command, &command->argv[1]);
		if (known)
			return add_data(out, known);
	}
	if (r.files || r.changed || command->argc > 2)
		return ab_output_only(out, r.taint);
	return add_input(out, command);
}

bool ab_printed_tee(struct ab_output *out, const struct ab_simple *command)
{
	return add_input(out, command);
}

/* Words, not bundles of letters: xxd -r -p, openssl enc -d -base64. */
static bool has_word(const struct ab_simple *command, const char *word)
{
	for (size_t i = 1; i < command->argc; i++)
		if (ab_field_is(&command->argv[i], word))
			return true;
	return false;
}

typedef bool decode_fn(struct ab_output *out, struct ab_text in);

/* What comes of known input; of other only that it was decoded. */
static bool decode(struct ab_output *out, const struct ab_simple *command, const struct ab_reads *r,
		   decode_fn *decoder)
{
	if (r->files || command->in.unknown)
		return ab_output_only(out, r->taint | AB_TAINT_DECODED);
	out->taint |= r->taint | AB_TAINT_DECODED;
	if (command->in.none)
		return false;
	return decoder(out, command->in.text);
}

static bool can_encode(struct ab_output *out, const struct ab_simple *command,
		       const struct ab_reads *r)
{
	out->taint |= r->taint;
	return !r->files && !command->in.unknown && !command->in.none;
}

bool ab_printed_base64(struct ab_output *out, const struct ab_simple *command)
{
	struct ab_reads r;
	bool one_line;

	ab_printed_reads(command, 0, &r);
	if (r.decodes)
		return decode(out, command, &r, ab_decode_base64);
	one_line = has_word(command, "-w0") || has_word(command, "--wrap=0") ||
		   (command->argc == 3 && has_word(command, "-w") && has_word(command, "0"));
	if ((r.changed && !one_line) || !can_encode(out, command, &r))
		return ab_output_only(out, 0);
	ab_encode_base64(out, command->in.text, !one_line);
	return true;
}

bool ab_printed_base32(struct ab_output *out, const struct ab_simple *command)
{
	struct ab_reads r;

	ab_printed_reads(command, 0, &r);
	if (r.decodes)
		return decode(out, command, &r, ab_decode_base32);
	return ab_output_only(out, r.taint);
}

bool ab_printed_xxd(struct ab_output *out, const struct ab_simple *command)
{
	bool plain =
		has_word(command, "-p") || has_word(command, "-ps") || has_word(command, "-plain");
	bool reverse = has_word(command, "-r") || has_word(command, "-revert");
	struct ab_reads r;

	ab_printed_reads(command, 0, &r);
	reverse |= has_word(command, "-rp") || has_word(command, "-pr");
	plain |= has_word(command, "-rp") || has_word(command, "-pr");
	if (!plain)
		return ab_output_only(out, r.taint | (reverse ? AB_TAINT_DECODED : 0));
	if (reverse)
		return decode(out, command, &r, ab_decode_hex);
	if (command->argc > 2 || !can_encode(out, command, &r))
		return ab_output_only(out, 0);
	ab_encode_hex(out, command->in.text);
	return true;
}

bool ab_printed_openssl(struct ab_output *out, const struct ab_simple *command)
{
	const struct ab_field *what = command->argc > 1 ? &command->argv[1] : NULL;
	struct ab_reads r = { .taint = command->in.taint };
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
	return decode(out, command, &r, ab_decode_base64);
}

bool ab_printed_rev(struct ab_output *out, const struct ab_simple *command)
{
	struct ab_reads r;

	ab_printed_reads(command, 0, &r);
	if (r.files || command->in.unknown)
		return ab_output_only(out, r.taint);
	out->taint |= r.taint;
	return command->in.none || ab_decode_rev(out, command->in.text) || ab_output_only(out, 0);
}

bool ab_printed_tr(struct ab_output *out, const struct ab_simple *command)
{
	out->taint |= command->in.taint;
	if (command->in.none)
		return true;
	if (command->in.unknown)
		return ab_output_only(out, 0);
	return ab_decode_tr(out, command) || ab_output_only(out, 0);
}

bool ab_printed_network(struct ab_output *out, const struct ab_simple *command)
{
	(void)command;
	return ab_output_only(out, AB_TAINT_NETWORK);
}

bool ab_printed_is_stdout(const struct ab_field *f)
{
	return ab_field_is(f, "-") || ab_field_is(f, "/dev/stdout") || ab_field_is(f, "/dev/fd/1");
}

bool ab_printed_curl(struct ab_output *out, const struct ab_simple *command)
{
	const struct ab_opts opts = ab_grammar_of("curl");
	struct ab_opt_walk w;
	enum ab_opt what;

	ab_opt_begin(&w, &opts, command->argv, command->argc);
	while ((what = ab_opt_next(&w)) != AB_OPT_END) {
		if (ab_opt_is(&w, what, 'o', "output") && w.value.text.s &&
		    !ab_printed_is_stdout(&w.value))
			return false;
		if (ab_opt_is(&w, what, 'O', "remote-name") ||
		    ab_opt_is(&w, what, 0, "remote-name-all"))
			return false;
		if (ab_opt_is(&w, what, 'V', "version") || ab_opt_is(&w, what, 'h', "help"))
			return ab_output_only(out, 0);
	}
	return ab_output_only(out, AB_TAINT_NETWORK);
}

bool ab_printed_wget(struct ab_output *out, const struct ab_simple *command)
{
	const struct ab_opts opts = ab_grammar_of("wget");
	struct ab_opt_walk w;
	enum ab_opt what;

	ab_opt_begin(&w, &opts, command->argv, command->argc);
	while ((what = ab_opt_next(&w)) != AB_OPT_END) {
		if (ab_opt_is(&w, what, 'O', "output-document") && w.value.text.s &&
		    ab_printed_is_stdout(&w.value))
			return ab_output_only(out, AB_TAINT_NETWORK);
		if (ab_opt_is(&w, what, 'V', "version") || ab_opt_is(&w, what, 'h', "help"))
			return ab_output_only(out, 0);
	}
	return false;
}

static bool has_operand(const struct ab_simple *command)
{
	const struct ab_opts opts = ab_grammar(command->name);
	struct ab_opt_walk w;
	enum ab_opt what;

	ab_opt_begin(&w, &opts, command->argv, command->argc);
	do
		what = ab_opt_next(&w);
	while (what == AB_OPT_LETTER || what == AB_OPT_LONG);
	return what == AB_OPT_OPERAND;
}

/* env, set, export, declare: with nothing but options they list all. */
bool ab_printed_listing(struct ab_output *out, const struct ab_simple *command)
{
	return ab_output_only(out, has_operand(command) ? 0 : AB_TAINT_SECRET);
}

bool ab_printed_history(struct ab_output *out, const struct ab_simple *command)
{
	(void)command;
	return ab_output_only(out, AB_TAINT_HISTORY);
}

/* A new name where the template says; else in the folder for such names. */
bool ab_printed_mktemp(struct ab_output *out, const struct ab_simple *command)
{
	const struct ab_opts opts = ab_grammar_of("mktemp");
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

bool ab_printed_printenv(struct ab_output *out, const struct ab_simple *command)
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

/* eval "$(TOOL init bash)": what the tool says to do, and that only. */
bool ab_printed_settings(struct ab_output *out, const struct ab_simple *command)
{
	static const char words[] = "activate completion env hook init path "
				    "print-alias shell.bash shell.zsh shellenv";
	bool asked =
		ab_text_is(command->name, "ssh-agent") || ab_text_is(command->name, "dircolors");

	for (size_t i = 1; i < command->argc; i++)
		asked |= ab_listed(words, command->argv[i].text);
	return ab_output_only(out, asked ? AB_TAINT_SETTINGS : 0);
}
