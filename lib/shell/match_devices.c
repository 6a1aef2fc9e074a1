#include "base/mem.h"
#include "shell/tool.h"

static const struct ab_deed format_any[] = {
	{ "", .rule = AB_RULE_FILESYSTEM_FORMAT },
};

static const struct ab_deed fdisk_deeds[] = {
	{ "", .without = "-l --list -x --list-details -s --getsz -h -V",
	  .rule = AB_RULE_FILESYSTEM_FORMAT },
};

static const struct ab_deed sfdisk_deeds[] = {
	{ "",
	  .without =
		  "-l --list -d --dump -J --json -F --list-free -s --show-size -g -T --list-types --verify -V -h",
	  .rule = AB_RULE_FILESYSTEM_FORMAT },
};

static const struct ab_deed sgdisk_deeds[] = {
	{ "", "-Z -z -o --zap-all --zap --clear", NULL, AB_RULE_DISK_WIPE },
	{ "", NULL,
	  "-p --print -i --info -v --verify -L --list-types -b --backup -E -F",
	  AB_RULE_FILESYSTEM_FORMAT },
};

static const struct ab_deed gdisk_deeds[] = {
	{ "", .without = "-l", .rule = AB_RULE_FILESYSTEM_FORMAT },
};

static const struct ab_deed parted_deeds[] = {
	{ "", .without = "-l --list -v --version print p help",
	  .rule = AB_RULE_FILESYSTEM_FORMAT },
};

static const struct ab_deed wipefs_deeds[] = {
	{ "", "-a --all -o --offset", "-n --no-act", AB_RULE_DISK_WIPE },
};

static const struct ab_deed wipe_any[] = {
	{ "", .rule = AB_RULE_DISK_WIPE },
};

static const struct ab_deed hdparm_deeds[] = {
	{ "",
	  "--security-erase* --trim-sector-ranges* --write-sector --make-bad-sector",
	  NULL, AB_RULE_DISK_WIPE },
};

static const struct ab_deed nvme_deeds[] = {
	{ "format|sanitize|write-zeroes|dsm|delete-ns",
	  .rule = AB_RULE_DISK_WIPE },
};

static const struct ab_deed cryptsetup_deeds[] = {
	{ "luksFormat|reencrypt|erase|luksErase",
	  .rule = AB_RULE_FILESYSTEM_FORMAT },
};

static const struct ab_deed pool_deeds[] = {
	{ "create|destroy|labelclear", .rule = AB_RULE_FILESYSTEM_FORMAT },
};

static const struct ab_deed mdadm_deeds[] = {
	{ "", "--create -C --zero-superblock", NULL,
	  AB_RULE_FILESYSTEM_FORMAT },
};

static const struct ab_deed diskutil_deeds[] = {
	{ "eraseDisk|eraseVolume|zeroDisk|secureErase|partitionDisk|reformat",
	  .rule = AB_RULE_FILESYSTEM_FORMAT },
};

/* Sorted by program; any mkfs.* besides. */
static const struct ab_tool tools[] = {
	{ "blkdiscard", AB_DEEDS(wipe_any), .opts = { "osl", NULL, 0 } },
	{ "cfdisk", AB_DEEDS(format_any) },
	{ "cryptsetup", AB_DEEDS(cryptsetup_deeds),
	  .opts = { "chsSdkopl", NULL, 0 } },
	{ "diskutil", AB_DEEDS(diskutil_deeds) },
	{ "fdisk", AB_DEEDS(fdisk_deeds), .opts = { "bCHStuo", NULL, 0 } },
	{ "gdisk", AB_DEEDS(gdisk_deeds) },
	{ "hdparm", AB_DEEDS(hdparm_deeds), .help = AB_HELP_LONG },
	{ "lvremove", AB_DEEDS(format_any) },
	{ "mdadm", AB_DEEDS(mdadm_deeds) },
	{ "mke2fs", AB_DEEDS(format_any), .help = AB_HELP_LONG },
	{ "mkfs", AB_DEEDS(format_any), .opts = { "t", "type=", 0 } },
	{ "mkswap", AB_DEEDS(format_any), .opts = { "LpUv", NULL, 0 } },
	{ "nvme", AB_DEEDS(nvme_deeds) },
	{ "parted", AB_DEEDS(parted_deeds), .opts = { "a", "align=", 0 } },
	{ "pvcreate", AB_DEEDS(format_any) },
	{ "pvremove", AB_DEEDS(format_any) },
	{ "sfdisk", AB_DEEDS(sfdisk_deeds), .opts = { "NoOXYwW", NULL, 0 } },
	{ "sgdisk", AB_DEEDS(sgdisk_deeds), .help = AB_HELP_LONG },
	{ "vgremove", AB_DEEDS(format_any) },
	{ "wipefs", AB_DEEDS(wipefs_deeds),
	  .opts = { "oOtp", "offset= types=", 0 } },
	{ "zpool", AB_DEEDS(pool_deeds) },
};

static const struct ab_toolbox toolbox = { tools, AB_COUNT(tools) };

void ab_match_devices(const struct ab_scene *scene,
		      const struct ab_simple *command, struct ab_hits *hits)
{
	struct ab_text name = command->name;
	const struct ab_tool *tool;

	(void)scene;
	if (ab_text_starts(name, "mkfs."))
		name.len = 4;
	tool = ab_tool_find(&toolbox, name);
	if (tool)
		ab_tool_match(tool, command, hits);
}
