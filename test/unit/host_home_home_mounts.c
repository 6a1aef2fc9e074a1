/* Mounts below the home folder, by the text of mountinfo. */
#include "host/home/home_mounts.h"

#include "base/process/mount_table.h"
#include "tap.h"

#define HOME_LINE "20 1 8:1 / /home/u rw - ext4 /dev/sda1 rw\n"
#define BELOW "something is mounted below your home folder "
#define RO "; read-only, because of the file system: "
#define PIECES ", so each folder in it has a layer of its own and cannot be renamed"

static const struct {
	const char *text;
	const char *all;  /* "|" between them */
	const char *line; /* NULL: nothing is different */
} cases[] = {
	{ HOME_LINE, "", NULL },
	{ HOME_LINE "21 1 8:2 / /home/us/tm rw - ext4 /dev/sda2 rw\n", "", NULL },
	{ HOME_LINE "21 20 0:5 / /home/u/tm rw,nosuid shared:3 - tmpfs none rw\n", "/home/u/tm",
	  BELOW "(~/tm)" PIECES },
	{ HOME_LINE "21 20 0:5 / /home/u/a\\040b\\012c rw - xfs /dev/sdc rw\n", "/home/u/a b\nc",
	  BELOW "(~/a b\\x0ac)" PIECES },
	/* What nobody has heard of, or is not told, could be a server. */
	{ HOME_LINE "21 20 0:5 / /home/u/a rw\n22 20 0:6 / /home/u/b rw - quantumfs none rw\n",
	  "/home/u/b|/home/u/a", BELOW "(~/b, ~/a)" PIECES RO "~/b, ~/a" },
	{ HOME_LINE
	  "21 20 0:5 / /home/u/m rw - hfsplus /dev/sdb rw\n"
	  "22 20 0:6 / /home/u/v rw - vboxsf v rw\n23 20 0:7 / /home/u/w rw - virtiofs w rw\n",
	  "/home/u/w|/home/u/v|/home/u/m", BELOW "(~/w, ~/v, ~/m)" PIECES RO "~/w, ~/v, ~/m" },
	{ HOME_LINE "21 20 0:5 / /home/u/s rw - fuse.sshfs u@h:/ rw\n", "/home/u/s",
	  BELOW "(~/s)" PIECES RO "~/s" },
	/* What is in a served one is a part of it. */
	{ HOME_LINE "21 20 0:5 / /home/u/n rw - nfs4 h:/ rw\n"
		    "22 21 0:6 / /home/u/n/x rw - tmpfs none rw\n"
		    "23 20 0:7 / /home/u/nn rw - cifs //h/x rw\n",
	  "/home/u/nn|/home/u/n", BELOW "(~/nn, ~/n)" PIECES RO "~/nn, ~/n" },
	/* The last one in a place covers the others. */
	{ HOME_LINE "21 20 0:5 / /home/u/n rw - nfs h:/ rw\n"
		    "22 21 0:6 / /home/u/n rw - fuseblk none rw\n",
	  "/home/u/n", BELOW "(~/n)" PIECES },
	{ HOME_LINE "21 20 0:6 / /home/u/n rw - tmpfs none rw\n"
		    "22 21 0:5 / /home/u/n rw - fuse none rw\n",
	  "/home/u/n", BELOW "(~/n)" PIECES RO "~/n" },
	{ HOME_LINE
	  "21 20 0:1 / /home/u/a rw - ext4 a rw\n22 20 0:2 / /home/u/b rw - ext4 a rw\n"
	  "23 20 0:3 / /home/u/c rw - ext4 a rw\n24 20 0:4 / /home/u/d/e rw - ext4 a rw\n",
	  "/home/u/d/e|/home/u/c|/home/u/b|/home/u/a", BELOW "(~/d/e, ~/c, ~/b, ...)" PIECES },
	{ HOME_LINE "21 20 8:9 / /home/u/card rw - vfat /dev/sdb1 rw\n", "/home/u/card",
	  BELOW "(~/card)" PIECES RO "~/card" },
};

/* Of these mounts; NULL: it may be looked at. */
static const struct {
	const char *path, *mount;
} looks[] = {
	{ "/home/u", NULL },
	{ "/home/u/x", NULL },
	{ "/home/u/n", "/home/u/n" },
	{ "/home/u/n/x/y", "/home/u/n" },
	{ "/home/u/nn", NULL },
	/* Something else is mounted in a served one: the way there is through it. */
	{ "/home/u/n/t/x", "/home/u/n" },
	{ "/data", "/data" },
	{ "/data/x", "/data" },
	/* An automount that has happened. */
	{ "/home/u/auto/x", NULL },
};

static void check_served(void)
{
	ab_auto(ab_mount_table_fini) struct ab_mount_table table = { 0 };

	/* The home itself is on a server: nothing about it can be left out. */
	ab_mount_table_parse("20 1 0:4 / /home rw - nfs4 h:/home rw\n"
			     "21 20 0:5 / /home/u/n rw - nfs h:/ rw\n"
			     "22 21 0:6 / /home/u/n/t rw - tmpfs none rw\n"
			     "23 1 0:7 / /data rw - fuse.sshfs u@h:/ rw\n"
			     "24 20 0:8 / /home/u/auto rw - autofs systemd-1 rw\n"
			     "25 24 8:1 / /home/u/auto rw - ext4 /dev/sda1 rw\n",
			     &table);
	for (size_t i = 0; i < AB_COUNT(looks); i++)
		is_str(ab_home_mounts_served(&table, "/home/u", looks[i].path), looks[i].mount,
		       looks[i].path);
}

int main(void)
{
	check_served();
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		ab_auto(ab_mount_table_fini) struct ab_mount_table table = { 0 };
		ab_auto(ab_home_mounts_fini) struct ab_home_mounts mounts = { 0 };
		ab_autofree char *all = NULL, *line = NULL;

		ab_mount_table_parse(cases[i].text, &table);
		ab_home_mounts_find(&table, "/home/u", &mounts);
		all = ab_strv_join(&mounts.all, "|");
		line = ab_home_mounts_line(&mounts, "/home/u");
		is_str(all, cases[i].all, cases[i].all);
		is_str(line, cases[i].line, cases[i].line ? cases[i].line : "nothing");
	}
	return done();
}
