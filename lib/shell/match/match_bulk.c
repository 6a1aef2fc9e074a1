/*
 * Secrets read in bulk: disks and memory, past the permissions of files, and whole
 * folders with credentials somewhere in them.
 */
#include "shell/command/grammar.h"
#include "shell/command/name_index.h"
#include "shell/command/named_paths.h"
#include "shell/command/path_place.h"
#include "shell/command/secret_files.h"
#include "shell/match/explained.h"
#include "shell/syntax/name_table.h"

/* Programs that describe a device without reading what is on it. Others that may
 * write it have rules of their own. */
static const char describes_device[] =
	"[ blkid cfdisk df echo fdisk file findmnt hdparm ls losetup lsblk lsof mkdir mkfs "
	"mktemp mount mountpoint nvme parted printf readlink realpath sfdisk smartctl stat "
	"stty swapoff swapon test udevadm umount wipefs";

/* The content of disks and of the memory, past the permissions of files. */
static bool is_raw_device(const struct ab_simple *command, struct ab_text name)
{
	static const char memory[] = "/dev/core /dev/kmem /dev/mem /dev/port /proc/kcore";
	const struct ab_field field = { .text = name };
	struct ab_path path;

	if (!ab_text_starts(name, "/dev/") && !ab_text_starts(name, "/proc/k"))
		return false;
	if (ab_listed(memory, name))
		return true;
	ab_path_read(command, &field, &path);
	return ab_path_block_device(&path);
}

/* May a path in the word begin with /dev/ or /proc/k? */
static bool may_name_device(const struct ab_field *word)
{
	struct ab_text text = word->text;

	if (!ab_names_path(word))
		return false;
	for (uint32_t i = 0; i + 1 < text.len; i++)
		if (text.s[i] == '/' && (text.s[i + 1] == 'd' || text.s[i + 1] == 'p'))
			return true;
	return false;
}

static void match_devices(const struct ab_simple *command, struct ab_hits *hits)
{
	static const char reason[] = "Reads a disk or the memory directly, past all permissions.";

	for (size_t i = 0; i < command->nredirects; i++)
		if (command->redirects[i].op == AB_REDIR_IN &&
		    is_raw_device(command, command->redirects[i].file.text))
			ab_hit_because(hits, AB_RULE_CREDENTIAL_ACCESS,
				       command->redirects[i].file.range, reason);
	for (size_t i = 1; i < command->argc; i++)
		if (ab_field_is(&command->argv[i], "of=/dev/null"))
			return;
	for (size_t i = 1; i < command->argc; i++) {
		if (!may_name_device(&command->argv[i]))
			continue;
		for (struct ab_named_paths n = ab_named_begin(command->argv[i].text);
		     ab_named_next(&n);)
			if (is_raw_device(command, n.path) &&
			    !ab_listed(describes_device, command->name) &&
			    ab_explained(command) < AB_EXPLAINED_TEXT) {
				ab_hit_because(hits, AB_RULE_CREDENTIAL_ACCESS,
					       command->argv[i].range, reason);
				return;
			}
	}
}

/* Programs that copy or print whole trees: with one of these options, or always. Sorted. */
static const struct {
	char name[10];
	char options[24];
	char operand[4]; /* or this first operand */
} copiers[] = {
	{ "7z", "", "a" },
	{ "bsdtar", "c create", "c" },
	{ "cp", "r R a recursive archive", "" },
	{ "diff", "r recursive", "" },
	{ "pax", "w", "" },
	{ "rclone", "", "" },
	{ "rsync", "r a recursive archive", "" },
	{ "scp", "r", "" },
	{ "tar", "c create", "c" },
	{ "zip", "r recurse-paths", "" },
};

static bool copies_trees(const struct ab_simple *command)
{
	const __typeof__(copiers[0]) *row = AB_COMMAND_ROW(copiers, AB_TABLE_COPIERS, command);

	if (!row || command->argc < 2)
		return false;
	if (!row->options[0] && !row->operand[0])
		return true;
	if (row->operand[0] && command->argv[1].text.s[0] != '-' &&
	    memchr(command->argv[1].text.s, row->operand[0], command->argv[1].text.len))
		return true;
	return ab_opt_given(ab_opt_begin_own(command), row->options);
}

static bool is_secret_tree(const struct ab_scene *scene, struct ab_text word)
{
	while (word.len > 1 && (word.s[word.len - 1] == '/' || word.s[word.len - 1] == '*' ||
				word.s[word.len - 1] == '.'))
		word.len--;
	return ab_secret_tree(word) || (scene->home && ab_text_is(word, scene->home));
}

static void match_trees(const struct ab_simple *command, struct ab_hits *hits)
{
	for (size_t i = 1; i < command->argc; i++) {
		struct ab_text word = command->argv[i].text;

		/* The folder to work in, and what is left out, are not copied. */
		if (word.len == 0 || word.s[0] != '/' || !is_secret_tree(command->scene, word) ||
		    ab_listed("-C --directory --exclude --exclude-from", command->argv[i - 1].text))
			continue;
		if (i + 1 == command->argc && ab_listed("cp rclone rsync scp", command->name))
			return;
		if (copies_trees(command))
			ab_hit_because(hits, AB_RULE_CREDENTIAL_ACCESS, command->argv[i].range,
				       "Copies a folder that contains keys or passwords.");
		return;
	}
}

void ab_match_bulk(const struct ab_simple *command, struct ab_hits *hits)
{
	match_devices(command, hits);
	if (ab_command_in(command, AB_TABLE_COPIERS))
		match_trees(command, hits);
}
