#include "shell/match/write_targets.h"

#include "base/data/mem.h"
#include "shell/command/grammar.h"
#include "shell/command/name_index.h"
#include "shell/command/sed.h"
#include "shell/syntax/name_table.h"

enum operands {
	NONE,
	ALL,
	FIRST,
	REST,  /* all except the first */
	LAST,  /* the last of two or more */
	MOVED, /* the last; those before it are removed */
};

struct writer {
	char name[12];
	/* Options whose value is written to: "o output". With one of them, all
	 * operands of LAST are sources. */
	char to[68];
	enum operands operands;
	/* The operands are written to only with one of these; "": always. */
	char when[12];
	/* With one of these the operands are ALL. */
	char all[20];
	enum ab_write_targets how;
	char words[32]; /* words followed by a file, each with a dash: "-out" */
};

/* Sorted by name. */
static const struct writer writers[] = {
	{ "7z", "o", NONE, .how = AB_WRITTEN_CONTENT },
	{ "7za", "o", NONE, .how = AB_WRITTEN_CONTENT },
	{ "aria2c", "d o dir out log", NONE, .how = AB_WRITTEN_CONTENT },
	{ "as", "o", NONE, .how = AB_WRITTEN_CONTENT },
	{ "c++", "o", NONE, .how = AB_WRITTEN_CONTENT },
	{ "cc", "o", NONE, .how = AB_WRITTEN_CONTENT },
	{ "chattr", "", ALL, .how = AB_WRITTEN_ENTRY },
	{ "chgrp", "", REST, .all = "reference", .how = AB_WRITTEN_ENTRY },
	{ "chmod", "", REST, .all = "reference", .how = AB_WRITTEN_ENTRY },
	{ "chown", "", REST, .all = "reference", .how = AB_WRITTEN_ENTRY },
	{ "clang", "o", NONE, .how = AB_WRITTEN_CONTENT },
	{ "convert", "", LAST, .how = AB_WRITTEN_CONTENT },
	{ "cp", "t target-directory", LAST, .how = AB_WRITTEN_CONTENT },
	{ "csplit", "f prefix", NONE, .how = AB_WRITTEN_CONTENT },
	{ "curl", "o D c output output-dir dump-header cookie-jar trace trace-ascii", NONE,
	  .how = AB_WRITTEN_CONTENT },
	{ "del-cli", "", ALL, .how = AB_WRITTEN_GONE },
	{ "dmidecode", "dump-bin", NONE, .how = AB_WRITTEN_CONTENT },
	{ "ed", "", ALL, .how = AB_WRITTEN_CONTENT },
	{ "ex", "", ALL, .how = AB_WRITTEN_CONTENT },
	{ "ffmpeg", "", LAST, .how = AB_WRITTEN_CONTENT },
	{ "find", "", NONE, .how = AB_WRITTEN_CONTENT, .words = "-fls -fprint -fprint0 -fprintf" },
	{ "g++", "o", NONE, .how = AB_WRITTEN_CONTENT },
	{ "gcc", "o", NONE, .how = AB_WRITTEN_CONTENT },
	{ "gcore", "o", NONE, .how = AB_WRITTEN_CONTENT },
	{ "genisoimage", "o output", NONE, .how = AB_WRITTEN_CONTENT },
	{ "go", "o", NONE, .how = AB_WRITTEN_CONTENT },
	{ "gpg", "o output", NONE, .how = AB_WRITTEN_CONTENT },
	{ "history", "a w", NONE, .how = AB_WRITTEN_CONTENT },
	{ "iconv", "o output", NONE, .how = AB_WRITTEN_CONTENT },
	{ "install", "t target-directory", LAST, .all = "d directory", .how = AB_WRITTEN_CONTENT },
	{ "ld", "o", NONE, .how = AB_WRITTEN_CONTENT },
	{ "ln", "t target-directory", LAST, .how = AB_WRITTEN_ENTRY },
	{ "logsave", "", FIRST, .how = AB_WRITTEN_CONTENT },
	{ "ltrace", "o output", NONE, .how = AB_WRITTEN_CONTENT },
	{ "mkdir", "", ALL, .how = AB_WRITTEN_ENTRY },
	{ "mkfifo", "", ALL, .how = AB_WRITTEN_ENTRY },
	{ "mkisofs", "o output", NONE, .how = AB_WRITTEN_CONTENT },
	{ "mknod", "", FIRST, .how = AB_WRITTEN_ENTRY },
	{ "mv", "t target-directory", MOVED, .how = AB_WRITTEN_CONTENT },
	{ "nasm", "o l", NONE, .how = AB_WRITTEN_CONTENT },
	{ "openssl", "", NONE, .how = AB_WRITTEN_CONTENT, .words = "-keyout -out" },
	{ "pandoc", "o output", NONE, .how = AB_WRITTEN_CONTENT },
	{ "patch", "d o directory output", FIRST, .how = AB_WRITTEN_CONTENT },
	{ "perf", "o output", NONE, .how = AB_WRITTEN_CONTENT },
	{ "perl", "", ALL, .when = "i", .how = AB_WRITTEN_CONTENT },
	{ "pip", "t target prefix root", NONE, .how = AB_WRITTEN_CONTENT },
	{ "pip3", "t target prefix root", NONE, .how = AB_WRITTEN_CONTENT },
	{ "rimraf", "", ALL, .how = AB_WRITTEN_GONE },
	{ "rlwrap", "l logfile", NONE, .how = AB_WRITTEN_CONTENT },
	{ "rm", "", ALL, .how = AB_WRITTEN_GONE },
	{ "rmdir", "", ALL, .how = AB_WRITTEN_GONE },
	{ "rsync", "", LAST, .how = AB_WRITTEN_CONTENT },
	{ "ruby", "", ALL, .when = "i", .how = AB_WRITTEN_CONTENT },
	{ "rustc", "o out-dir", NONE, .how = AB_WRITTEN_CONTENT },
	{ "scp", "", LAST, .how = AB_WRITTEN_CONTENT },
	{ "screen", "", NONE, .how = AB_WRITTEN_CONTENT, .words = "-Logfile" },
	{ "script", "B I O T log-in log-io log-out log-timing", FIRST, .how = AB_WRITTEN_CONTENT },
	{ "sed", "", REST, .when = "i in-place", .all = "e f expression file",
	  .how = AB_WRITTEN_CONTENT },
	{ "setfacl", "", ALL, .how = AB_WRITTEN_ENTRY },
	{ "shred", "", ALL, .how = AB_WRITTEN_CONTENT },
	{ "sort", "o output", NONE, .how = AB_WRITTEN_CONTENT },
	{ "split", "", LAST, .how = AB_WRITTEN_CONTENT },
	{ "sponge", "", ALL, .how = AB_WRITTEN_CONTENT },
	{ "strace", "o output", NONE, .how = AB_WRITTEN_CONTENT },
	{ "tcpdump", "w", NONE, .how = AB_WRITTEN_CONTENT },
	{ "tee", "", ALL, .how = AB_WRITTEN_CONTENT },
	{ "time", "o output", NONE, .how = AB_WRITTEN_CONTENT },
	{ "touch", "", ALL, .how = AB_WRITTEN_ENTRY },
	{ "trash", "", ALL, .how = AB_WRITTEN_GONE },
	{ "trash-put", "", ALL, .how = AB_WRITTEN_GONE },
	{ "tree", "o", NONE, .how = AB_WRITTEN_CONTENT },
	{ "truncate", "", ALL, .how = AB_WRITTEN_CONTENT },
	{ "tshark", "w", NONE, .how = AB_WRITTEN_CONTENT },
	{ "uniq", "", LAST, .how = AB_WRITTEN_CONTENT },
	{ "unlink", "", ALL, .how = AB_WRITTEN_GONE },
	{ "unzip", "d", NONE, .how = AB_WRITTEN_CONTENT },
	{ "uudecode", "o", NONE, .how = AB_WRITTEN_CONTENT },
	{ "valgrind", "log-file", NONE, .how = AB_WRITTEN_CONTENT },
	{ "wget", "O P o a output-document directory-prefix output-file append-output", NONE,
	  .how = AB_WRITTEN_CONTENT },
	{ "xxd", "", LAST, .how = AB_WRITTEN_CONTENT },
	{ "yq", "", REST, .when = "i inplace", .how = AB_WRITTEN_CONTENT },
	{ "zip", "", FIRST, .how = AB_WRITTEN_CONTENT },
};

static bool is_option_listed(const char *list, enum ab_opt what, const struct ab_opt_walk *w)
{
	struct ab_text name = w->name;

	if (what == AB_OPT_LETTER)
		name = (struct ab_text){ &w->letter, 1 };
	return ab_listed(list, name);
}

struct found {
	bool to, when, all;
	size_t operands;
};

/* Read the options first: they decide which operands are written to. */
static void read_options(const struct writer *writer, const struct ab_simple *command,
			 ab_write_targets_fn *fn, void *arg, struct found *ret)
{
	const struct ab_opts opts = ab_grammar_for(command);
	struct ab_opt_walk w;
	enum ab_opt what;

	*ret = (struct found){ 0 };
	if (!writer->to[0] && !writer->when[0] && !writer->all[0] && writer->operands != LAST &&
	    writer->operands != MOVED)
		return;
	if (!ab_command_shows(command, AB_SIGN_OPTION)) {
		ret->operands = command->argc ? command->argc - 1 : 0;
		return;
	}
	ab_opt_begin(&w, &opts, command->argv, command->argc);
	while ((what = ab_opt_next(&w)) != AB_OPT_END) {
		if (what == AB_OPT_OPERAND) {
			ret->operands++;
			continue;
		}
		ret->when = ret->when || is_option_listed(writer->when, what, &w);
		ret->all = ret->all || is_option_listed(writer->all, what, &w);
		if (!is_option_listed(writer->to, what, &w))
			continue;
		/* A program without a grammar: the value follows. */
		if (!w.value.text.s && !w.inside && w.next < command->argc)
			w.value = command->argv[w.next];
		if (w.value.text.s) {
			ret->to = true;
			fn(arg, writer->how, &w.value);
		}
	}
}

static bool is_written(const struct writer *writer, const struct found *found, size_t at,
		       enum ab_write_targets *how)
{
	*how = writer->how;
	switch (found->all ? ALL : writer->operands) {
	case NONE:
		return false;
	case ALL:
		return true;
	case FIRST:
		return at == 0;
	case REST:
		return at > 0;
	case MOVED:
		if (found->to || at + 1 < found->operands)
			*how = AB_WRITTEN_GONE;
		return true;
	case LAST:
		return !found->to && at > 0 && at + 1 == found->operands;
	}
	return false;
}

static void report_operands(const struct writer *writer, const struct ab_simple *command,
			    const struct found *found, ab_write_targets_fn *fn, void *arg)
{
	const struct ab_opts opts = ab_grammar_for(command);
	struct ab_opt_walk w;
	enum ab_opt what;
	enum ab_write_targets how;
	size_t at = 0;

	if (writer->operands == NONE && !found->all)
		return;
	ab_opt_begin(&w, &opts, command->argv, command->argc);
	while ((what = ab_opt_next(&w)) != AB_OPT_END)
		if (what == AB_OPT_OPERAND && is_written(writer, found, at++, &how))
			fn(arg, how, &command->argv[w.index]);
}

static void report_after_words(const struct writer *writer, const struct ab_simple *command,
			       ab_write_targets_fn *fn, void *arg)
{
	for (size_t i = 1; i + 1 < command->argc; i++)
		if (command->argv[i].text.len > 1 && command->argv[i].text.s[0] == '-' &&
		    ab_listed(writer->words, command->argv[i].text))
			fn(arg, writer->how, &command->argv[i + 1]);
}

static void report_dd_file(const struct ab_simple *command, ab_write_targets_fn *fn, void *arg)
{
	for (size_t i = 1; i < command->argc; i++) {
		struct ab_field file = command->argv[i];

		if (!ab_text_starts(file.text, "of="))
			continue;
		file.text.s += 3;
		file.text.len -= 3;
		fn(arg, AB_WRITTEN_CONTENT, &file);
	}
}

/*
 * tar writes the archive when it creates one, and below its folder when it unpacks
 * one. Its first word may have no dash.
 */
static void report_tar_files(const struct ab_simple *command, ab_write_targets_fn *fn, void *arg)
{
	const struct ab_opts opts = ab_grammar_as(command, "tar");
	struct ab_opt_walk w;
	const struct ab_field *old;
	struct ab_field archive = { 0 }, folder = { 0 };
	bool makes = false, unpacks = false;
	enum ab_opt what;
	size_t operand = 0;

	if (command->argc < 2)
		return;
	old = &command->argv[1];
	if (old->text.len > 0 && old->text.s[0] != '-') {
		makes = memchr(old->text.s, 'c', old->text.len);
		unpacks = memchr(old->text.s, 'x', old->text.len);
		if (memchr(old->text.s, 'f', old->text.len) && command->argc > 2)
			archive = command->argv[2];
		operand = 1;
	}
	ab_opt_begin(&w, &opts, command->argv + operand, command->argc - operand);
	while ((what = ab_opt_next(&w)) != AB_OPT_END) {
		makes = makes || ab_opt_is(&w, what, 'c', "create") ||
			ab_opt_is(&w, what, 'r', "append");
		unpacks = unpacks || ab_opt_is(&w, what, 'x', "extract") ||
			  ab_opt_is(&w, what, 0, "get");
		if (ab_opt_is(&w, what, 'f', "file"))
			archive = w.value;
		if (ab_opt_is(&w, what, 'C', "directory"))
			folder = w.value;
	}
	if (makes && archive.text.s)
		fn(arg, AB_WRITTEN_CONTENT, &archive);
	if (unpacks && folder.text.s)
		fn(arg, AB_WRITTEN_CONTENT, &folder);
}

/* git apply --unsafe-paths --directory=DIR writes outside the repository. */
static void report_git_files(const struct ab_simple *command, ab_write_targets_fn *fn, void *arg)
{
	struct ab_field folder = { 0 };
	bool unsafe = false;

	for (size_t i = 1; i < command->argc; i++) {
		const struct ab_field *word = &command->argv[i];

		unsafe |= ab_field_is(word, "--unsafe-paths");
		if (ab_field_is(word, "--directory") && i + 1 < command->argc)
			folder = command->argv[i + 1];
		if (!ab_text_starts(word->text, "--directory="))
			continue;
		folder = *word;
		folder.text.s += 12;
		folder.text.len -= 12;
	}
	if (unsafe && folder.text.s)
		fn(arg, AB_WRITTEN_CONTENT, &folder);
}

struct callback {
	ab_write_targets_fn *fn;
	void *arg;
};

static void report_sed_file(void *arg, enum ab_sed what, const struct ab_field *text)
{
	const struct callback *callback = arg;

	if (what == AB_SED_WRITES)
		callback->fn(callback->arg, AB_WRITTEN_CONTENT, text);
}

static void report_redirects(const struct ab_simple *command, ab_write_targets_fn *fn, void *arg)
{
	for (size_t i = 0; i < command->nredirects; i++) {
		const struct ab_redirect *r = &command->redirects[i];

		switch (r->op) {
		case AB_REDIR_OUT:
		case AB_REDIR_APPEND:
		case AB_REDIR_CLOBBER:
		case AB_REDIR_READ_WRITE:
		case AB_REDIR_BOTH:
		case AB_REDIR_BOTH_APPEND:
			fn(arg, AB_WRITTEN_CONTENT, &r->file);
			break;
		case AB_REDIR_IN:
		case AB_REDIR_DUP_IN:
		case AB_REDIR_DUP_OUT:
		case AB_REDIR_HEREDOC:
		case AB_REDIR_HERESTRING:
			break;
		}
	}
}

bool ab_write_targets_known(const struct ab_simple *command)
{
	return AB_COMMAND_ROW(writers, AB_TABLE_WRITERS, command) ||
	       ab_text_is(command->name, "dd") || ab_text_is(command->name, "tar");
}

/* Sorted by name. Programs whose files are found by code. */
static const struct {
	char name[4];
	enum { DD, GIT, SED, TAR } files;
} filers[] = {
	{ "dd", DD },
	{ "git", GIT },
	{ "sed", SED },
	{ "tar", TAR },
};

static void report_own_files(const struct ab_simple *command, ab_write_targets_fn *fn, void *arg)
{
	const __typeof__(filers[0]) *row = AB_COMMAND_ROW(filers, AB_TABLE_FILERS, command);

	if (!row)
		return;
	switch (row->files) {
	case DD:
		report_dd_file(command, fn, arg);
		break;
	case GIT:
		report_git_files(command, fn, arg);
		break;
	case SED:
		ab_sed_each(command, report_sed_file, &(struct callback){ fn, arg });
		break;
	case TAR:
		report_tar_files(command, fn, arg);
		break;
	}
}

void ab_write_targets_each(const struct ab_simple *command, ab_write_targets_fn *fn, void *arg)
{
	const struct writer *writer;
	struct found found;

	report_redirects(command, fn, arg);
	report_own_files(command, fn, arg);
	writer = AB_COMMAND_ROW(writers, AB_TABLE_WRITERS, command);
	if (!writer)
		return;
	read_options(writer, command, fn, arg, &found);
	if (!writer->when[0] || found.when)
		report_operands(writer, command, &found, fn, arg);
	if (writer->words[0] && ab_command_shows(command, AB_SIGN_OPTION))
		report_after_words(writer, command, fn, arg);
}
