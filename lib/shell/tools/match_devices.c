#include "base/data/mem.h"
#include "shell/command/grammar.h"
#include "shell/command/name_index.h"
#include "shell/tools/tool.h"

/* Sorted by name. */
static const struct ab_deed deeds[] = {
	{ "cryptsetup", "luksFormat|reencrypt|erase|luksErase", .rule = AB_RULE_FILESYSTEM_FORMAT },
	{ "diskutil", "eraseDisk|eraseVolume|zeroDisk|secureErase|partitionDisk|reformat",
	  .rule = AB_RULE_FILESYSTEM_FORMAT },
	{ "fdisk", "", .without = "-l --list -x --list-details -s --getsz -h -V",
	  .rule = AB_RULE_FILESYSTEM_FORMAT },
	{ "format_any", "", .rule = AB_RULE_FILESYSTEM_FORMAT },
	{ "gdisk", "", .without = "-l", .rule = AB_RULE_FILESYSTEM_FORMAT },
	{ "hdparm", "", "--security-erase* --trim-sector-ranges* --write-sector --make-bad-sector",
	  "", AB_RULE_DISK_WIPE },
	{ "mdadm", "", "--create -C --zero-superblock", "", AB_RULE_FILESYSTEM_FORMAT },
	{ "nvme", "format|sanitize|write-zeroes|dsm|delete-ns", .rule = AB_RULE_DISK_WIPE },
	{ "parted", "", .without = "-l --list -v --version print p help",
	  .rule = AB_RULE_FILESYSTEM_FORMAT },
	{ "pool", "create|destroy|labelclear", .rule = AB_RULE_FILESYSTEM_FORMAT },
	{ "sfdisk", "",
	  .without =
		  "-l --list -d --dump -J --json -F --list-free -s --show-size -g -T --list-types --verify -V -h",
	  .rule = AB_RULE_FILESYSTEM_FORMAT },
	{ "sgdisk", "", "-Z -z -o --zap-all --zap --clear", "", AB_RULE_DISK_WIPE },
	{ "sgdisk", "", "", "-p --print -i --info -v --verify -L --list-types -b --backup -E -F",
	  AB_RULE_FILESYSTEM_FORMAT },
	{ "wipe_any", "", .rule = AB_RULE_DISK_WIPE },
	{ "wipefs", "", "-a --all -o --offset", "-n --no-act", AB_RULE_DISK_WIPE },
};

/* Sorted by program. mkfs also covers mkfs.*. */
static const struct ab_tool tools[] = {
	{ "blkdiscard", "wipe_any" },
	{ "cfdisk", "format_any" },
	{ "cryptsetup", "cryptsetup" },
	{ "diskutil", "diskutil" },
	{ "fdisk", "fdisk" },
	{ "gdisk", "gdisk" },
	{ "hdparm", "hdparm", AB_HELP_LONG },
	{ "lvremove", "format_any" },
	{ "mdadm", "mdadm" },
	{ "mke2fs", "format_any", AB_HELP_LONG },
	{ "mkfs", "format_any" },
	{ "mkswap", "format_any" },
	{ "nvme", "nvme" },
	{ "parted", "parted" },
	{ "pvcreate", "format_any" },
	{ "pvremove", "format_any" },
	{ "sfdisk", "sfdisk" },
	{ "sgdisk", "sgdisk", AB_HELP_LONG },
	{ "vgremove", "format_any" },
	{ "wipefs", "wipefs" },
	{ "zpool", "pool" },
};

static const struct ab_toolbox toolbox = { tools, AB_COUNT(tools), deeds, AB_COUNT(deeds),
					   AB_TABLE_DEVICES };

void ab_match_devices(const struct ab_scene *scene, const struct ab_simple *command,
		      struct ab_hits *hits)
{
	struct ab_text name = command->name;
	const struct ab_tool *tool;
	struct ab_opts opts;

	(void)scene;
	if (ab_text_starts(name, "mkfs."))
		name.len = 4;
	else if (!ab_command_in(command, AB_TABLE_DEVICES))
		return;
	tool = ab_tool_find(&toolbox, name);
	if (!tool)
		return;
	opts = ab_grammar_of(tool->program);
	ab_tool_match(&toolbox, tool, &opts, command, hits);
}
