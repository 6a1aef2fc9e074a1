#include "shell/match/write_targets.h"

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
	/* Options whose value is written to: "o output". With one of them, all
	 * operands of LAST are sources. */
	char to[68];
	enum operands operands;
	/* The operands are written to only with one of these; "": always. */
	char when[12];
	/* With one of these the operands are ALL. */
	char all[20];
	enum ab_write_targets how; /* if not said, their content */
	char words[32];		   /* words followed by a file, each with a dash: "-out" */
};

static const struct writer writers[] = {
	AB_PROGRAMS("7z 7za as c++ cc clang g++ gcc gcore go ld tree uudecode", "o", NONE),
	AB_PROGRAMS("aria2c", "d o dir out log", NONE),
	AB_PROGRAMS("chattr mkdir mkfifo setfacl touch", "", ALL, .how = AB_WRITTEN_ENTRY),
	AB_PROGRAMS("chgrp chmod chown", "", REST, .all = "reference", .how = AB_WRITTEN_ENTRY),
	AB_PROGRAMS("convert ffmpeg rsync scp split uniq xxd", "", LAST),
	AB_PROGRAMS("cp", "t target-directory", LAST),
	AB_PROGRAMS("csplit", "f prefix", NONE),
	AB_PROGRAMS("curl", "o D c output output-dir dump-header cookie-jar trace trace-ascii",
		    NONE),
	AB_PROGRAMS("del-cli rimraf rm rmdir trash trash-put unlink", "", ALL,
		    .how = AB_WRITTEN_GONE),
	AB_PROGRAMS("dmidecode", "dump-bin", NONE),
	AB_PROGRAMS("ed ex shred sponge tee truncate", "", ALL),
	AB_PROGRAMS("find", "", NONE, .words = "-fls -fprint -fprint0 -fprintf"),
	AB_PROGRAMS("genisoimage gpg iconv ltrace mkisofs pandoc perf sort strace time", "o output",
		    NONE),
	AB_PROGRAMS("history", "a w", NONE),
	AB_PROGRAMS("install", "t target-directory", LAST, .all = "d directory"),
	AB_PROGRAMS("ln", "t target-directory", LAST, .how = AB_WRITTEN_ENTRY),
	AB_PROGRAMS("logsave zip", "", FIRST),
	AB_PROGRAMS("mknod", "", FIRST, .how = AB_WRITTEN_ENTRY),
	AB_PROGRAMS("mv", "t target-directory", MOVED),
	AB_PROGRAMS("nasm", "o l", NONE),
	AB_PROGRAMS("openssl", "", NONE, .words = "-keyout -out"),
	AB_PROGRAMS("patch", "d o directory output", FIRST),
	AB_PROGRAMS("perl ruby", "", ALL, .when = "i"),
	AB_PROGRAMS("pip pip3", "t target prefix root", NONE),
	AB_PROGRAMS("rlwrap", "l logfile", NONE),
	AB_PROGRAMS("rustc", "o out-dir", NONE),
	AB_PROGRAMS("screen", "", NONE, .words = "-Logfile"),
	AB_PROGRAMS("script", "B I O T log-in log-io log-out log-timing", FIRST),
	AB_PROGRAMS("sed", "", REST, .when = "i in-place", .all = "e f expression file"),
	AB_PROGRAMS("tcpdump tshark", "w", NONE),
	AB_PROGRAMS("unzip", "d", NONE),
	AB_PROGRAMS("valgrind", "log-file", NONE),
	AB_PROGRAMS("wget", "O P o a output-document directory-prefix output-file append-output",
		    NONE),
	AB_PROGRAMS("yq", "", REST, .when = "i inplace"),
};

struct found {
	bool to, when, all;
	size_t operands;
};

/* Read the options first: they decide which operands are written to. */
static void read_options(const struct writer *writer, const struct ab_simple *command,
			 ab_write_targets_fn *fn, void *arg, struct found *ret)
{
	*ret = (struct found){ 0 };
	if (!writer->to[0] && !writer->when[0] && !writer->all[0] && writer->operands != LAST &&
	    writer->operands != MOVED)
		return;
	if (!ab_command_shows(command, AB_SIGN_OPTION)) {
		ret->operands = command->argc ? command->argc - 1 : 0;
		return;
	}
	for (struct ab_opt_walk w = ab_opt_begin_own(command); ab_opt_next(&w);) {
		if (w.what == AB_OPT_OPERAND) {
			ret->operands++;
			continue;
		}
		ret->when = ret->when || ab_opt_listed(&w, writer->when);
		ret->all = ret->all || ab_opt_listed(&w, writer->all);
		if (!ab_opt_listed(&w, writer->to))
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
	enum ab_write_targets how;
	size_t at = 0;

	if (writer->operands == NONE && !found->all)
		return;
	for (struct ab_opt_walk w = ab_opt_begin_own(command); ab_opt_next_operand(&w);)
		if (is_written(writer, found, at++, &how))
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

		if (ab_text_skip(&file.text, "of="))
			fn(arg, AB_WRITTEN_CONTENT, &file);
	}
}

/*
 * tar writes the archive when it creates one, and below its folder when it unpacks
 * one. Its first word may have no dash.
 */
static void report_tar_files(const struct ab_simple *command, ab_write_targets_fn *fn, void *arg)
{
	const struct ab_grammar *opts = ab_grammar_as(command, "tar");
	const struct ab_field *old;
	struct ab_field archive = { 0 }, folder = { 0 };
	bool makes = false, unpacks = false;
	size_t operand = 0;

	if (command->argc < 2)
		return;
	old = &command->argv[1];
	if (old->text.len > 0 && old->text.s[0] != '-') {
		makes = ab_text_has(old->text, 'c');
		unpacks = ab_text_has(old->text, 'x');
		if (ab_text_has(old->text, 'f') && command->argc > 2)
			archive = command->argv[2];
		operand = 1;
	}
	for (struct ab_opt_walk w =
		     ab_opt_begin(opts, command->argv + operand, command->argc - operand);
	     ab_opt_next(&w);) {
		makes = makes || ab_opt_is(&w, 'c', "create") || ab_opt_is(&w, 'r', "append");
		unpacks = unpacks || ab_opt_is(&w, 'x', "extract") || ab_opt_is(&w, 0, "get");
		if (ab_opt_is(&w, 'f', "file"))
			archive = w.value;
		if (ab_opt_is(&w, 'C', "directory"))
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
		struct ab_field word = command->argv[i];

		unsafe |= ab_field_is(&word, "--unsafe-paths");
		if (ab_field_is(&word, "--directory") && i + 1 < command->argc)
			folder = command->argv[i + 1];
		if (ab_text_skip(&word.text, "--directory="))
			folder = word;
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

static void report_sed_files(const struct ab_simple *command, ab_write_targets_fn *fn, void *arg)
{
	ab_sed_each(command, report_sed_file, &(struct callback){ fn, arg });
}

static void report_redirects(const struct ab_simple *command, ab_write_targets_fn *fn, void *arg)
{
	for (size_t i = 0; i < command->nredirects; i++)
		if (ab_redir_writes(command->redirects[i].op))
			fn(arg, AB_WRITTEN_CONTENT, &command->redirects[i].file);
}

bool ab_write_targets_known(const struct ab_simple *command)
{
	return AB_COMMAND_ROW(writers, AB_TABLE_WRITERS, command) ||
	       ab_text_is(command->name, "dd") || ab_text_is(command->name, "tar");
}

/* Programs whose files are found by code. */
static const struct {
	void (*report)(const struct ab_simple *command, ab_write_targets_fn *fn, void *arg);
} filers[] = {
	AB_PROGRAMS("dd", report_dd_file),
	AB_PROGRAMS("git", report_git_files),
	AB_PROGRAMS("sed", report_sed_files),
	AB_PROGRAMS("tar", report_tar_files),
};

void ab_write_targets_each(const struct ab_simple *command, ab_write_targets_fn *fn, void *arg)
{
	const __typeof__(filers[0]) *filer;
	const struct writer *writer;
	struct found found;

	report_redirects(command, fn, arg);
	filer = AB_COMMAND_ROW(filers, AB_TABLE_FILERS, command);
	if (filer)
		filer->report(command, fn, arg);
	writer = AB_COMMAND_ROW(writers, AB_TABLE_WRITERS, command);
	if (!writer)
		return;
	read_options(writer, command, fn, arg, &found);
	if (!writer->when[0] || found.when)
		report_operands(writer, command, &found, fn, arg);
	if (writer->words[0] && ab_command_shows(command, AB_SIGN_OPTION))
		report_after_words(writer, command, fn, arg);
}
