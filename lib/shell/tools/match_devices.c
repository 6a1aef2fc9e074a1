#include "shell/tools/tool.h"

/* mkfs also covers mkfs.*. */
static const struct ab_deed deeds[] = {
	AB_PROGRAMS("cryptsetup", AB_HELP_ALONE, "luksFormat|reencrypt|erase|luksErase",
		    .rule = AB_RULE_FILESYSTEM_FORMAT),
	AB_PROGRAMS("diskutil", AB_HELP_ALONE,
		    "eraseDisk|eraseVolume|zeroDisk|secureErase|partitionDisk|reformat",
		    .rule = AB_RULE_FILESYSTEM_FORMAT),
	AB_PROGRAMS("fdisk", AB_HELP_ALONE, "",
		    .without = "-l --list -x --list-details -s --getsz -h -V",
		    .rule = AB_RULE_FILESYSTEM_FORMAT),
	AB_PROGRAMS("cfdisk lvremove mkfs mkswap pvcreate pvremove vgremove", AB_HELP_ALONE, "",
		    .rule = AB_RULE_FILESYSTEM_FORMAT),
	AB_PROGRAMS("mke2fs", AB_HELP_LONG, "", .rule = AB_RULE_FILESYSTEM_FORMAT),
	AB_PROGRAMS("gdisk", AB_HELP_ALONE, "", .without = "-l", .rule = AB_RULE_FILESYSTEM_FORMAT),
	AB_PROGRAMS("hdparm", AB_HELP_LONG, "",
		    "--security-erase* --trim-sector-ranges* --write-sector --make-bad-sector", "",
		    AB_RULE_DISK_WIPE),
	AB_PROGRAMS("mdadm", AB_HELP_ALONE, "", "--create -C --zero-superblock", "",
		    AB_RULE_FILESYSTEM_FORMAT),
	AB_PROGRAMS("nvme", AB_HELP_ALONE, "format|sanitize|write-zeroes|dsm|delete-ns",
		    .rule = AB_RULE_DISK_WIPE),
	AB_PROGRAMS("parted", AB_HELP_ALONE, "", .without = "-l --list -v --version print p help",
		    .rule = AB_RULE_FILESYSTEM_FORMAT),
	AB_PROGRAMS("zpool", AB_HELP_ALONE, "create|destroy|labelclear",
		    .rule = AB_RULE_FILESYSTEM_FORMAT),
	AB_PROGRAMS(
		"sfdisk", AB_HELP_ALONE, "",
		.without =
			"-l --list -d --dump -J --json -F --list-free -s --show-size -g -T --list-types --verify -V -h",
		.rule = AB_RULE_FILESYSTEM_FORMAT),
	AB_PROGRAMS("sgdisk", AB_HELP_LONG, "", "-Z -z -o --zap-all --zap --clear", "",
		    AB_RULE_DISK_WIPE),
	{ AB_ALSO, "", "", "-p --print -i --info -v --verify -L --list-types -b --backup -E -F",
	  AB_RULE_FILESYSTEM_FORMAT },
	AB_PROGRAMS("blkdiscard", AB_HELP_ALONE, "", .rule = AB_RULE_DISK_WIPE),
	AB_PROGRAMS("wipefs", AB_HELP_ALONE, "", "-a --all -o --offset", "-n --no-act",
		    AB_RULE_DISK_WIPE),
};

static const struct ab_toolbox toolbox = { deeds, AB_COUNT(deeds), AB_TABLE_DEVICES };

void ab_match_devices(const struct ab_scene *scene, const struct ab_simple *command,
		      struct ab_hits *hits)
{
	(void)scene;
	if (ab_text_starts(command->name, "mkfs."))
		ab_toolbox_match_as(&toolbox, ab_name_find((struct ab_text){ "mkfs", 4 }), command,
				    hits);
	else
		ab_toolbox_match(&toolbox, command, hits);
}
