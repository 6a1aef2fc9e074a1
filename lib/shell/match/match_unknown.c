/*
 * Programs that no table explains. Such a program may write every file that its words
 * name and run every program that they name, so a word that names a system file or a
 * device counts, and so does code that opens connections and runs programs.
 */
#include "shell/code/code.h"
#include "shell/code/code_suspect.h"
#include "shell/command/known_files.h"
#include "shell/command/name_index.h"
#include "shell/command/named_paths.h"
#include "shell/command/path_place.h"
#include "shell/command/secret_files.h"
#include "shell/match/explained.h"
#include "shell/match/write_targets.h"
#include "shell/syntax/name_table.h"
#include "shell/tools/tool.h"

/* Trees with settings, devices and the kernel. Programs and libraries are named
 * everywhere, so for those only an output option counts. */
static bool is_settings_tree(const struct ab_path *path)
{
	return path->anchored && path->len > 0 && ab_listed("boot dev etc proc sys", path->part[0]);
}

/* Devices that programs of developers use: terminals, cameras, sound, graphics. */
static bool is_ordinary_device(const struct ab_path *path)
{
	static const char begins[] = "tty video dri snd kvm nvidia input bus i2c spi gpio fuse "
				     "net audio serial hidraw cu. usb";

	return path->len > 1 && ab_text_is(path->part[0], "dev") &&
	       ab_starts_listed(begins, path->part[1]);
}

static bool may_harm(const struct ab_simple *command, const struct ab_field *word,
		     struct ab_text text, bool output)
{
	struct ab_field field = *word;
	struct ab_path path;

	field.text = text;
	ab_path_read(command, &field, &path);
	if (path.remote || !(output || is_settings_tree(&path)) || is_ordinary_device(&path))
		return false;
	return ab_path_system(&path) || ab_path_block_device(&path);
}

/* -o FILE, --output FILE, --output=FILE: a file that the policy protects. */
static void match_protected(const struct ab_simple *command, size_t at, struct ab_hits *hits)
{
	struct ab_field file = command->argv[at];
	uint32_t equals = ab_text_find(file.text, '=');
	struct ab_path path;

	if (file.text.len > 2 && file.text.s[0] == '-' && equals < file.text.len)
		file.text = ab_text_rest(file.text, equals + 1);
	ab_path_read(command, &file, &path);
	if (ab_write_is_protected(&path))
		ab_hit_because(hits, AB_RULE_PERSISTENCE, file.range,
			       "Writes a file that the policy protects (filesystem.denyWrite).");
}

static void match_files(const struct ab_simple *command, struct ab_hits *hits)
{
	for (size_t i = 1; i < command->argc; i++) {
		const struct ab_field *word = &command->argv[i];
		struct ab_text before = command->argv[i - 1].text;
		bool output;

		if ((!ab_names_path(word) && !ab_explains_output(before)) ||
		    (ab_explains_prose(before) && ab_text_has(word->text, ' ')))
			continue;
		output = ab_explains_output(word->text.s[0] == '-' ? word->text : before);
		if (output && command->scene->deny_write)
			match_protected(command, i, hits);
		for (struct ab_named_paths n = ab_named_begin(word->text); ab_named_next(&n);)
			if (may_harm(command, word, n.path, output)) {
				ab_hit_because(
					hits, AB_RULE_UNKNOWN_PROGRAM, word->range,
					"Names a system file or device, and agentbox does not know whether this program writes it.");
				return;
			}
	}
}

/* Code has brackets, quotes or several words. */
static bool looks_like_code(struct ab_text t)
{
	for (uint32_t i = 0; t.len > 16 && i < t.len; i++)
		if (t.s[i] == '(' || t.s[i] == '[' || t.s[i] == '|' || t.s[i] == '{')
			return true;
	return false;
}

static bool is_suspect(struct ab_text code)
{
	return looks_like_code(code) &&
	       ab_code_suspect(code) == (AB_SUSPECT_CONNECTS | AB_SUSPECT_RUNS);
}

static bool names_secret(struct ab_text code)
{
	const struct ab_secret_folder anywhere = { 0 };

	for (struct ab_named_paths n = ab_named_begin(code); ab_named_next(&n);)
		if (ab_secret_for_sure(&anywhere, n.path))
			return true;
	return false;
}

/* Code that the same command line wrote into a file, or passes as input. */
static void judge_content(const struct ab_simple *command, struct ab_text code,
			  struct ab_hits *hits)
{
	if (is_suspect(code))
		ab_hit_mild(hits, AB_RULE_REVERSE_SHELL, command->range);
	if (names_secret(code))
		ab_hit_add(hits, AB_RULE_CREDENTIAL_ACCESS, command->range);
}

/* Compilers and runners of languages that are not read here: also what their code may
 * write counts. */
static bool runs_code(struct ab_text name)
{
	return ab_listed("c++ cargo cc clang dotnet g++ gcc ghc go java javac kotlinc nim pip pip3 "
			 "rustc scala swift tcc zig",
			 name);
}

/* The content of the file, or of a file in this folder: `pip install DIR` runs its
 * setup.py. */
static const struct ab_data *find_content(const struct ab_simple *command,
					  const struct ab_field *word)
{
	const struct ab_data *known = ab_files_read(command, word);
	char clean[AB_FILE_NAME_MAX];
	uint32_t len;

	if (known || word->text.len == 0 || word->text.s[0] == '-')
		return known;
	len = ab_files_clean(command->cwd, word->text, clean);
	for (const struct ab_file *f = command->files; len && f; f = f->next)
		if (f->name.len > len + 1 && f->name.s[len] == '/' &&
		    memcmp(f->name.s, clean, len) == 0)
			return &f->data;
	return NULL;
}

static void match_content(const struct ab_simple *command, bool reads, struct ab_hits *hits)
{
	for (size_t i = 1; command->files && i < command->argc; i++) {
		const struct ab_field *word = &command->argv[i];
		const struct ab_data *known = find_content(command, word);
		struct ab_named_paths named;

		if (!known || ab_data_unread(known))
			continue;
		judge_content(command, known->text, hits);
		named = ab_named_begin(known->text);
		while (!reads && ab_named_next(&named))
			if (may_harm(command, word, named.path, false)) {
				ab_hit_because(
					hits, AB_RULE_UNKNOWN_PROGRAM, word->range,
					"Runs code that names a system file, and agentbox does not know what it does with it.");
				break;
			}
	}
}

static void match_code(const struct ab_simple *command, struct ab_hits *hits)
{
	for (size_t i = 1; i < command->argc; i++)
		if (is_suspect(command->argv[i].text)) {
			ab_hit_mild(hits, AB_RULE_REVERSE_SHELL, command->range);
			return;
		}
	if (!command->in.none && looks_like_code(command->in.text))
		judge_content(command, command->in.text, hits);
}

/* Files of the system that run by themselves or grant rights: code has little reason to
 * name them, except to change them. "*" matches any rest of a name. */
static const char autostart[] =
	"etc/cron* etc/environment etc/init.d etc/inittab etc/ld.so.conf* etc/ld.so.preload "
	"etc/pam.d etc/profile etc/profile.d etc/rc* etc/sudoers* etc/systemd etc/udev "
	"etc/xdg/autostart var/spool/cron";

static void match_autostart(const struct ab_simple *command, struct ab_hits *hits)
{
	for (size_t i = 1; i < command->argc; i++) {
		struct ab_field field = command->argv[i];
		struct ab_path path;

		if (!looks_like_code(field.text))
			continue;
		for (struct ab_named_paths n = ab_named_begin(field.text); ab_named_next(&n);) {
			field.text = n.path;
			ab_path_read(command, &field, &path);
			if (path.anchored && ab_path_has_listed(&path, 0, autostart)) {
				ab_hit_because(
					hits, AB_RULE_PERSISTENCE, command->range,
					"Runs code that names a system file which runs by itself later.");
				return;
			}
		}
	}
}

/* s/etc/cron.d/x: the letter of a command for a pager or an editor, then a file. No
 * program has such a name. */
static void match_glued_name(const struct ab_simple *command, struct ab_hits *hits)
{
	struct ab_text word = command->argv[0].text;
	uint32_t at = ab_text_find(word, '/');

	if (at == 0 || at > 2 || at == word.len || word.s[0] == '.' || word.s[0] == '~')
		return;
	if (may_harm(command, &command->argv[0], ab_text_rest(word, at), false))
		ab_hit_because(
			hits, AB_RULE_UNKNOWN_PROGRAM, command->argv[0].range,
			"Looks like a command for a pager or an editor that writes a system file.");
}

/* Is there anything to look at: a path, code, or content of a known file? */
static bool says_much(const struct ab_simple *command)
{
	if (command->files || (!command->in.none && looks_like_code(command->in.text)))
		return true;
	for (size_t i = 1; i < command->argc; i++)
		if (ab_names_path(&command->argv[i]) ||
		    (command->argv[i].text.len && command->argv[i].text.s[0] == '-' &&
		     ab_explains_output(command->argv[i].text)) ||
		    (ab_field_has(&command->argv[i], AB_BYTES_CODE) &&
		     looks_like_code(command->argv[i].text)))
			return true;
	return false;
}

/* No table explains the program, or it reads only without the options given here. */
static bool is_unexplained(const struct ab_simple *command)
{
	struct ab_hits safe = { 0 };

	if (!ab_toolbox_find(&ab_tools_reads, command))
		return ab_explained(command) == AB_EXPLAINED_NOT;
	if (ab_write_targets_known(command) || ab_explained(command) != AB_EXPLAINED_FILES)
		return false;
	ab_toolbox_match(&ab_tools_reads, command, &safe);
	return safe.len == 0;
}

void ab_match_unknown(const struct ab_simple *command, struct ab_hits *hits)
{
	enum ab_language language;
	bool reads, runs;

	if (command->argc == 0 || command->name.len == 0)
		return;
	match_glued_name(command, hits);
	if (!says_much(command))
		return;
	reads = ab_command_in(command, AB_TABLE_LANGUAGES) &&
		ab_code_language(command->name, &language);
	runs = !reads && runs_code(command->name);
	if (!reads && !runs && (command->flags & AB_SIMPLE_WRAPS || !is_unexplained(command)))
		return;
	if (reads)
		match_autostart(command, hits);
	else if (!runs || ab_explained(command) == AB_EXPLAINED_NOT)
		match_files(command, hits);
	match_code(command, hits);
	match_content(command, reads, hits);
}
