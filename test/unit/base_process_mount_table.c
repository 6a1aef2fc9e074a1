/* What is mounted where, by the text of mountinfo. */
#include "base/process/mount_table.h"

#include "base/base.h"
#include "tap.h"

static const char text[] = "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
			   "21 20 8:2 / /home rw,nosuid shared:3 - ext4 /dev/sda2 rw\n"
			   "22 20 8:2 /u /mnt/u rw - ext4 /dev/sda2 rw\n"
			   "23 20 8:2 /u/.gnupg/private /mnt/a\\040b rw - ext4 /dev/sda2 rw\n"
			   "24 20 8:1 /etc /srv/etc rw - ext4 /dev/sda1 rw\n"
			   "25 20 0:5 / /proc rw - proc proc rw\n"
			   "garbage\n"
			   "26 20 0:4 net:[4026531840] /run/netns/x rw - nsfs nsfs rw\n"
			   "27 20 8:3 / nowhere rw - ext4 /dev/sda3 rw\n"
			   "28 20 8:5 / /odd\\134\\12\\777\\0x\\ rw - ext4 /dev/sda5 rw\n"
			   "29 20 8:4 / /cut";

static const struct {
	const char *path;
	bool folder;
	const char *want; /* "own=other ..." */
} cases[] = {
	{ "/home/u/.netrc", false, "/home/u/.netrc=/mnt/u/.netrc" },
	{ "/mnt/u/.netrc", false, "/mnt/u/.netrc=/home/u/.netrc" },
	{ "/home/v/.netrc", false, "" },
	{ "/home/u/.gnupg", true, "/home/u/.gnupg=/mnt/u/.gnupg /home/u/.gnupg/private=/mnt/a b" },
	{ "/home/u/.gnupg", false, "/home/u/.gnupg=/mnt/u/.gnupg" },
	{ "/home/u/.gnupg/private/key", false,
	  "/home/u/.gnupg/private/key=/mnt/u/.gnupg/private/key "
	  "/home/u/.gnupg/private/key=/mnt/a b/key" },
	{ "/etc/shadow", false, "/etc/shadow=/srv/etc/shadow" },
	{ "/etc", true, "/etc=/srv/etc" },
	{ "/srv/etc/shadow", false, "/srv/etc/shadow=/etc/shadow" },
	{ "/home/u", true, "/home/u=/mnt/u /home/u/.gnupg/private=/mnt/a b" },
	{ "/home", true, "/home/u=/mnt/u /home/u/.gnupg/private=/mnt/a b" },
	{ "/proc/kcore", false, "" },
	{ "/x/file", false, "" },
	{ "/run/netns/x", false, "" },
};

static const struct {
	const char *path;
	bool below;
} places[] = {
	{ "/", true },		{ "/mnt", true },	{ "/mnt/u", false },
	{ "/mnt/a b", false },	{ "/mnt/a", false },	{ "/home/u", false },
	{ "/run/netns", true }, { "/run/netn", false }, { "/cut", false },
};

/* Only three digits below 0400 are a byte, and a line may end anywhere. */
static void check_text(const struct ab_mount_table *table)
{
	size_t most = 0, wrong = 0;

	is_str(table->v[table->n - 1].path, "/odd\\\\12\\777\\0x\\", "what looks like an escape");
	for (size_t len = 0; len <= strlen(text); len++) {
		ab_autofree char *cut = ab_strndup(text, len);
		struct ab_mount_table part;

		ab_mount_table_parse(cut, &part);
		wrong += part.n < most || part.n > table->n;
		most = part.n;
		ab_mount_table_fini(&part);
	}
	ok(!wrong && most == table->n, "cut at every byte it has the lines before");
}

static void check_own(void)
{
	ab_auto(ab_mount_table_fini) struct ab_mount_table own;

	ok(ab_mount_table_read(&own) == 0 && ab_find_row(own.v, own.n, path, "/proc"),
	   "the mounts of this process");
}

int main(void)
{
	struct ab_mount_table table;

	ab_mount_table_parse(text, &table);
	ok(table.n == 8, "%zu mounts", table.n);
	check_text(&table);
	check_own();
	for (size_t i = 0; i < AB_COUNT(places); i++)
		ok(ab_mount_table_has_below(&table, places[i].path) == places[i].below,
		   "%s mounted below %s", places[i].below ? "something is" : "nothing is",
		   places[i].path);
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		struct ab_strv own = { 0 }, other = { 0 };
		struct ab_buf b = { 0 };

		ab_mount_table_others(&table, cases[i].path, cases[i].folder, &own, &other);
		for (size_t k = 0; k < own.len; k++)
			ab_buf_printf(&b, "%s%s=%s", k ? " " : "", own.v[k], other.v[k]);
		is_str(b.data ? b.data : "", cases[i].want, cases[i].path);
		ab_buf_fini(&b);
		ab_strv_fini_all(&own, &other);
	}
	ab_mount_table_fini(&table);
	ab_mount_table_parse("", &table);
	ok(table.n == 0, "nothing is mounted");
	ab_mount_table_fini(&table);
	return done();
}
