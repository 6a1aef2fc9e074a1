/*
 * Secrets: programs that read the files named in their arguments, and programs that
 * send them out. Most programs read, so the first table lists those that read no
 * files, or not all.
 */
#include "shell/match/closed_paths.h"
#include "shell/command/grammar.h"
#include "shell/command/named_paths.h"
#include "shell/command/rules.h"
#include "shell/command/secret_files.h"
#include "shell/match/explained.h"
#include "shell/match/write_targets.h"
#include "shell/syntax/name_table.h"
#include "shell/command/name_index.h"
#include "shell/tools/tool.h"

enum reads {
	NOTHING, /* only names, inspects or writes files, or runs a command */
	LISTS,	 /* the same, but it reads the file of an option */
	COPIES,	 /* all except the last */
	MOVES,	 /* the same, but only absolute paths */
	PATTERN, /* all except the first, which is not a file */
	CODE,	 /* also the strings in its code */
	GIT,
	SCRIPT, /* all except the script of -c, whose commands are judged by themselves */
};

static const struct reader {
	enum reads reads;
	char options[40]; /* LISTS: those whose value is a file that it reads */
} readers[] = {
	AB_PROGRAMS(
		": [ agentbox alias basename builtin busybox cd chgrp chmod chown command declare "
		"dirname doas echo env eval exec export eza fd find flock ionice local ls mkdir "
		"nice nohup pkexec printf pushd readlink readonly realpath rm rmdir run0 setsid "
		"shred stat stdbuf strace su sudo tee test time timeout touch toybox trap tree "
		"truncate type typeset unlink watch which",
		NOTHING),
	AB_PROGRAMS("ack ag awk egrep fgrep gawk grep jq rg sed yq zgrep", PATTERN),
	AB_PROGRAMS("ash bash dash fish ksh mksh sh zsh", SCRIPT),
	AB_PROGRAMS("cp install ln rsync scp", COPIES),
	AB_PROGRAMS("du", LISTS, "X exclude-from files0-from"),
	AB_PROGRAMS("file", LISTS, "f m files-from magic-file"),
	AB_PROGRAMS("git", GIT),
	AB_PROGRAMS("mv", MOVES),
	AB_PROGRAMS("node perl php python python3 ruby", CODE),
	AB_PROGRAMS("parallel xargs", LISTS, "a arg-file"),
	AB_PROGRAMS("ssh-keygen", LISTS, "D"),
};

/* Options whose value is a file to write, or a name that is left out. */
static const char no_files[] =
	"--exclude --exclude-from --ignore --out --output -O -cert-file -key-file -keyout -o "
	"-out";

/* The word, or a part of it between separators, names a secret: --file=X, f=@X,
 * HEAD:X. */
static bool word_names_secret(const struct ab_secret_folder *cwd, const struct ab_field *field,
			      const char *separators)
{
	struct ab_text word = field->text;
	uint32_t from = 0;

	if (ab_field_has(field, AB_BYTES_SLASH) && ab_field_has(field, AB_BYTES_SEPARATOR) &&
	    memmem(word.s, word.len, "://", 3) && !ab_text_starts(word, "file://"))
		return false;
	if (ab_secret_word(cwd, field))
		return true;
	if (!ab_field_has(field, AB_BYTES_SEPARATOR))
		return false;
	for (uint32_t i = 0; i <= word.len; i++) {
		if (i < word.len && (word.s[i] == AB_UNKNOWN || !strchr(separators, word.s[i])))
			continue;
		if (i > from && i - from < word.len &&
		    ab_secret_within(cwd, (struct ab_text){ word.s + from, i - from }))
			return true;
		from = i + 1;
	}
	return false;
}

/* A path in the word names a secret beyond doubt: in code, after an option, in a URL. */
static bool contains_secret(const struct ab_secret_folder *cwd, const struct ab_field *word)
{
	if (!ab_names_path(word))
		return false;
	for (struct ab_named_paths n = ab_named_begin(word->text); ab_named_next(&n);)
		if (ab_secret_for_sure(cwd, n.path))
			return true;
	return false;
}

/* After an option that names an output, only a well-known credential file counts:
 * the program may mean something else by that option. */
static bool is_doubtful(const struct ab_simple *command, size_t at)
{
	struct ab_text word = command->argv[at].text, before = command->argv[at - 1].text;

	return ab_listed(no_files, before) &&
	       (ab_text_starts(before, "--ex") || ab_text_starts(before, "--ig") ||
		word.s[0] != '/' || ab_write_targets_known(command));
}

static bool is_secret_word(const struct ab_simple *command, const struct ab_secret_folder *cwd,
			   size_t at, const char *separators)
{
	const struct ab_field *word = &command->argv[at];
	bool prose;

	if ((word->text.len < 3 && !word->pattern) || ab_text_starts(word->text, "of=") ||
	    ab_text_starts(word->text, "--exclude") || ab_text_starts(word->text, "--ignore") ||
	    ab_text_starts(word->text, "--output="))
		return false;
	if (!word_names_secret(cwd, word, separators) && !contains_secret(cwd, word))
		return false;
	if (at > 1 && is_doubtful(command, at))
		return false;
	if (at > 1 && ab_listed(no_files, command->argv[at - 1].text))
		return contains_secret(cwd, word);
	prose = ab_text_has(word->text, ' ') && (ab_explains_prose(command->argv[at - 1].text) ||
						 ab_explained(command) == AB_EXPLAINED_TEXT);
	return !prose;
}

/* The first of the words [from, to) that names a secret, or 0. */
static size_t find_secret_among(const struct ab_simple *command, size_t from, size_t to,
				const char *separators)
{
	struct ab_secret_folder cwd;

	if (from >= to)
		return 0;
	cwd = ab_secret_folder(command->cwd);
	for (size_t i = from; i < to; i++)
		if (is_secret_word(command, &cwd, i, separators))
			return i;
	return 0;
}

/* -f FILE, --rawfile NAME FILE, and --anything=FILE. */
static bool reads_option_file(const struct ab_opt_walk *w)
{
	const struct ab_field *word = &w->argv[w->index];

	if (!w->value.text.s)
		return false;
	if (ab_opt_is(w, 'f', "file") || ab_opt_is(w, 0, "from-file"))
		return true;
	return w->what == AB_OPT_LONG && ab_text_has(word->text, '=') &&
	       !ab_listed("include exclude glob iglob regexp expression", w->name);
}

/* Programs of awk and sed, and the names that jq takes: `r FILE`, getline < "FILE". */
static size_t find_secret_of_script(const struct ab_simple *command)
{
	const struct ab_secret_folder cwd = ab_secret_folder(command->cwd);

	for (size_t i = 1; i < command->argc; i++)
		if (contains_secret(&cwd, &command->argv[i]))
			return i;
	return 0;
}

static size_t find_secret_of_pattern(const struct ab_simple *command)
{
	const bool is_script = ab_listed("awk gawk jq sed yq", command->name);
	const struct ab_secret_folder cwd = ab_secret_folder(command->cwd);
	bool pattern = false;

	for (struct ab_opt_walk w = ab_opt_begin_own(command); ab_opt_next(&w);) {
		if (ab_opt_is(&w, 'e', "regexp") || ab_opt_is(&w, 'f', "file") ||
		    ab_opt_is(&w, 0, "expression") || ab_opt_is(&w, 0, "from-file"))
			pattern = true;
		if (ab_opt_is(&w, 0, "include") && ab_secret_within(&cwd, w.value.text))
			return w.index;
		if (w.what != AB_OPT_OPERAND) {
			if (reads_option_file(&w) && ab_secret_within(&cwd, w.value.text))
				return w.index;
			continue;
		}
		if (pattern && ab_secret_within(&cwd, w.value.text))
			return w.index;
		pattern = true;
	}
	return is_script ? find_secret_of_script(command) : 0;
}

static size_t find_secret_of_git(const struct ab_simple *command)
{
	const struct ab_secret_folder cwd = ab_secret_folder(command->cwd);
	const struct ab_grammar *git = ab_grammar_as(command, "git");
	struct ab_operands words;

	ab_tool_operands(git, command, &words);
	for (size_t i = 1; i < command->argc; i++)
		if (command->argv[i].text.len > 1 && command->argv[i].text.s[0] == '/' &&
		    ab_secret_for_sure(&cwd, command->argv[i].text) &&
		    !ab_explains_prose(command->argv[i - 1].text))
			return i;
	for (size_t i = 0; i < words.len; i++) {
		if (ab_listed("archive blame cat-file diff show", words.v[i]->text))
			return find_secret_among(command, (size_t)(words.v[i] - command->argv) + 1,
						 command->argc, ":=");
		if (i > 0 || !words.maybe_value[i])
			break;
	}
	return 0;
}

/* The script of `sh -c SCRIPT`, or 0. */
static size_t find_script(const struct ab_simple *command)
{
	bool script = false;

	for (size_t i = 1; i < command->argc; i++) {
		struct ab_text word = command->argv[i].text;
		bool option = word.len > 1 && (word.s[0] == '-' || word.s[0] == '+');

		if (option && word.s[0] == '-' && word.s[1] != '-')
			script |= ab_text_has(word, 'c');
		else if (!option && script)
			return i;
	}
	return 0;
}

static size_t find_secret_of_shell(const struct ab_simple *command, const char *separators)
{
	size_t script = find_script(command), at;

	if (!script)
		return find_secret_among(command, 1, command->argc, separators);
	at = find_secret_among(command, 1, script, separators);
	return at ? at : find_secret_among(command, script + 1, command->argc, separators);
}

/* Programs that read names, or arguments, from a file. */
static size_t find_secret_list(const struct ab_simple *command, const char *options)
{
	for (struct ab_opt_walk w = ab_opt_begin_own(command); ab_opt_next(&w);)
		if (w.value.text.s && ab_opt_listed(&w, options) &&
		    ab_secret_in(command->cwd, w.value.text))
			return w.index;
	return 0;
}

static size_t find_secret(const struct ab_simple *command, const struct reader *reader)
{
	static const char separators[] = "=@:,;";
	size_t argc = command->argc, at;

	if (!reader)
		return find_secret_among(command, 1, argc, separators);
	switch (reader->reads) {
	case NOTHING:
		return 0;
	case LISTS:
		return find_secret_list(command, reader->options);
	case COPIES:
		return argc > 2 ? find_secret_among(command, 1, argc - 1, "=") : 0;
	case MOVES:
		at = argc > 2 ? find_secret_among(command, 1, argc - 1, "=") : 0;
		return at && command->argv[at].text.s[0] == '/' ? at : 0;
	case PATTERN:
		return find_secret_of_pattern(command);
	case CODE:
		return find_secret_among(command, 1, argc, "'\"=");
	case GIT:
		return find_secret_of_git(command);
	case SCRIPT:
		return find_secret_of_shell(command, separators);
	}
	return 0;
}

/* cpio, zip -@, tar -T -: files whose names come from standard input. */
static void match_listed_files(const struct ab_simple *command, struct ab_hits *hits)
{
	struct ab_secret_folder cwd;
	struct ab_text left = command->in.text;

	if (command->in.none || command->in.unknown || left.len == 0 ||
	    !ab_listed("afio bsdtar cpio pax rsync tar zip", command->name))
		return;
	cwd = ab_secret_folder(command->cwd);
	while (left.len)
		if (ab_secret_within(&cwd, ab_text_cut(&left, '\n'))) {
			ab_hit_add(hits, AB_RULE_CREDENTIAL_ACCESS, command->range);
			return;
		}
}

/* LESSOPEN="echo /etc/shadow": the program opens the file that the text names. */
static void match_bindings(const struct ab_simple *command, struct ab_hits *hits)
{
	struct ab_secret_folder cwd = { 0 };

	for (size_t i = 0; i < command->nbindings; i++)
		if (ab_listed("BASH_ENV ENV HISTFILE INPUTRC LESSCLOSE LESSOPEN PYTHONSTARTUP",
			      command->bindings[i].name) &&
		    contains_secret(&cwd, &command->bindings[i].value))
			ab_hit_add(hits, AB_RULE_CREDENTIAL_ACCESS,
				   command->bindings[i].value.range);
}

/* `env | grep -i token`, `printenv API_KEY`. */
static bool picks_from_environment(const struct ab_simple *command)
{
	bool prints = ab_text_is(command->name, "printenv");

	if (!prints && (!(command->in.taint & AB_TAINT_SECRET) ||
			!ab_listed("ag awk egrep fgrep gawk grep rg sed", command->name)))
		return false;
	for (size_t i = 1; i < command->argc; i++)
		if (ab_contains_any_case("api auth cred key pass pwd_ secret token",
					 command->argv[i].text))
			return true;
	return false;
}

/* What a program sends to other machines. */
enum sends {
	WORDS,	/* its words: a host name, an address */
	INPUT,	/* also its standard input */
	FILES,	/* its operands, if the last contains ":" */
	UPLOAD, /* files in its options, after "@" or as the value */
	STORE,	/* its operands */
};

static const struct sender {
	enum sends sends;
} senders[] = {
	AB_PROGRAMS("aws gsutil rclone", STORE),
	AB_PROGRAMS("curl http https wget xh", UPLOAD),
	AB_PROGRAMS("dig host nslookup ping", WORDS),
	AB_PROGRAMS("ftp mail mailx mutt nc ncat netcat openssl sendmail sftp socat ssh telnet",
		    INPUT),
	AB_PROGRAMS("rsync scp", FILES),
};

static bool input_is_secret(const struct ab_simple *command)
{
	if (command->in.taint & AB_TAINT_SECRET)
		return true;
	for (size_t i = 0; i < command->nredirects; i++)
		if (command->redirects[i].op == AB_REDIR_IN &&
		    ab_secret_in(command->cwd, command->redirects[i].file.text))
			return true;
	return false;
}

/* "@FILE", "name=@FILE;type=x", "name=<FILE", "-" for standard input. */
static bool payload_is_secret(const struct ab_simple *command, struct ab_text value, bool file)
{
	uint32_t at = ab_text_find(value, '@');

	if (at == value.len && ab_text_contains(value, "=<"))
		at = ab_text_find(value, '<');
	if (at < value.len) {
		value = ab_text_rest(value, at + 1);
		value = ab_text_cut(&value, ';');
	} else if (!file) {
		return false;
	}
	if (ab_text_is(value, "-"))
		return input_is_secret(command);
	return ab_secret_in(command->cwd, value);
}

static bool upload_is_secret(const struct ab_simple *command)
{
	for (struct ab_opt_walk w = ab_opt_begin_own(command); ab_opt_next(&w);) {
		bool file = ab_opt_is(&w, 'T', "upload-file") || ab_opt_is(&w, 0, "post-file") ||
			    ab_opt_is(&w, 0, "body-file");
		bool data = w.what == AB_OPT_OPERAND ? !ab_text_is(command->name, "curl")
						     : w.letter == 'd' || w.letter == 'F' ||
							       ab_text_starts(w.name, "data") ||
							       ab_text_starts(w.name, "form") ||
							       ab_text_is(w.name, "json");

		if (w.value.text.s && (file || data) &&
		    payload_is_secret(command, w.value.text, file))
			return true;
	}
	return false;
}

static bool names_secret(const struct ab_simple *command, size_t to)
{
	for (size_t i = 1; i < to; i++)
		if (ab_secret_in(command->cwd, command->argv[i].text) &&
		    !ab_listed("-i --identity-file -F", command->argv[i - 1].text))
			return true;
	return false;
}

static bool sends_secret(const struct sender *sender, const struct ab_simple *command)
{
	for (size_t i = 1; i < command->argc; i++)
		if (command->argv[i].taint & AB_TAINT_SECRET)
			return true;
	switch (sender->sends) {
	case WORDS:
		return false;
	case INPUT:
		return input_is_secret(command) &&
		       (!ab_text_is(command->name, "openssl") ||
			(command->argc > 1 && ab_field_is(&command->argv[1], "s_client")));
	case FILES:
		return command->argc > 2 &&
		       ab_text_has(command->argv[command->argc - 1].text, ':') &&
		       names_secret(command, command->argc - 1);
	case UPLOAD:
		return upload_is_secret(command);
	case STORE:
		return command->argc > 3 && names_secret(command, command->argc - 1);
	}
	return false;
}

static void match_sending(const struct ab_simple *command, struct ab_hits *hits)
{
	const struct sender *sender = AB_COMMAND_ROW(senders, AB_TABLE_SENDERS, command);

	if (sender && sends_secret(sender, command))
		ab_hit_because(hits, AB_RULE_EXFILTRATION, command->range,
			       "Sends a secret to another machine.");
}

static void match_redirects(const struct ab_simple *command, struct ab_hits *hits)
{
	for (size_t i = 0; i < command->nredirects; i++) {
		const struct ab_redirect *r = &command->redirects[i];

		if ((r->op == AB_REDIR_IN || r->op == AB_REDIR_READ_WRITE) &&
		    ab_secret_in(command->cwd, r->file.text))
			ab_hit_add(hits, AB_RULE_CREDENTIAL_ACCESS, r->file.range);
	}
}

static bool is_closed(const struct ab_simple *command, const struct ab_field *word,
		      struct ab_text name)
{
	struct ab_field field = *word;
	struct ab_path path;

	field.text = name;
	ab_path_read(command, &field, &path);
	return ab_closed_has(command->scene->closed, &path);
}

static bool names_closed(const struct ab_simple *command, const struct ab_field *word)
{
	const uint32_t equals = ab_text_find(word->text, '=');

	if (word->text.len == 0)
		return false;
	if (word->text.s[0] != '-' && is_closed(command, word, word->text))
		return true;
	if (equals < word->text.len &&
	    is_closed(command, word, ab_text_rest(word->text, equals + 1)))
		return true;
	for (struct ab_named_paths n = ab_named_begin(word->text); ab_named_next(&n);)
		if (n.path.s != word->text.s && is_closed(command, word, n.path))
			return true;
	return false;
}

/* Can the word name something that is not below the current folder? */
static bool leaves_folder(const struct ab_field *field)
{
	struct ab_text word = field->text;
	char before = ' ';

	if (!ab_field_has(field, AB_BYTES_SLASH | AB_BYTES_UP))
		return false;
	for (uint32_t i = 0; i < word.len; before = word.s[i++])
		if (word.s[i] == '~' || (word.s[i] == '.' && before == '.') || word.s[i] == '/')
			return true;
	return false;
}

/* Files that the policy closes cannot be read in the box. */
static void match_closed(const struct ab_simple *command, const struct reader *reader,
			 struct ab_hits *hits)
{
	static const char reason[] = "Reads a file that the policy closes (filesystem.denyRead).";
	bool below;

	for (size_t i = 0; i < command->nredirects; i++)
		if (command->redirects[i].op == AB_REDIR_IN &&
		    names_closed(command, &command->redirects[i].file))
			ab_hit_because(hits, AB_RULE_CREDENTIAL_ACCESS,
				       command->redirects[i].file.range, reason);
	/* Programs that need no permission to read what they name. */
	if (reader && (reader->reads == NOTHING || reader->reads == SCRIPT))
		return;
	below = ab_closed_below(command->scene->closed, command->cwd);
	if (!below && !ab_command_shows(command, AB_SIGN_SLASH | AB_SIGN_UP))
		return;
	for (size_t i = 1; i < command->argc; i++)
		if ((below || leaves_folder(&command->argv[i])) &&
		    names_closed(command, &command->argv[i]) &&
		    !(ab_explains_prose(command->argv[i - 1].text) &&
		      ab_text_has(command->argv[i].text, ' '))) {
			ab_hit_because(hits, AB_RULE_CREDENTIAL_ACCESS, command->argv[i].range,
				       reason);
			return;
		}
}

void ab_match_secrets(const struct ab_simple *command, struct ab_hits *hits)
{
	const struct reader *reader = AB_COMMAND_ROW(readers, AB_TABLE_READERS, command);
	size_t at;

	match_sending(command, hits);
	match_redirects(command, hits);
	match_bindings(command, hits);
	match_listed_files(command, hits);
	at = find_secret(command, reader);
	/* Sending includes reading: report only that. */
	if (at && !ab_hits_have(hits, AB_RULE_EXFILTRATION))
		ab_hit_add(hits, AB_RULE_CREDENTIAL_ACCESS, command->argv[at].range);
	if (command->scene->closed && !ab_hits_have(hits, AB_RULE_CREDENTIAL_ACCESS))
		match_closed(command, reader, hits);
	if (picks_from_environment(command))
		ab_hit_because(hits, AB_RULE_CREDENTIAL_ACCESS, command->range,
			       "Searches the environment for keys or passwords.");
	ab_toolbox_match(&ab_tools_keyrings, command, hits);
}
