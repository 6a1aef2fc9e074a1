#include "shell/match/write_targets.c" /* its tables */

#include "shell_simple.h"

static const struct {
	const char *text, *files; /* "+" into, "." made or changed, "-" gone */
} cases[] = {
	{ "cat x", "" },
	{ "cat x >y 2>z <w", "+y+z" },
	{ "tee -a a b", "+a+b" },
	{ "cp a b c", "+c" },
	{ "cp -t d a b", "+d" },
	{ "cp --target=d a", "+d" },
	{ "cp a", "" },
	{ "mv a b", "-a+b" },
	{ "mv -t d a b", "+d-a-b" },
	{ "ln -s a b", ".b" },
	{ "sed s/a/b/ x", "" },
	{ "sed -i s/a/b/ x y", "+x+y" },
	{ "sed -i -e s/a/b/ x", "+x" },
	{ "perl -pi -e s/a/b/ x", "+x" },
	{ "perl -pe s/a/b/ x", "" },
	{ "dd if=a of=b", "+b" },
	{ "sort -o a b", "+a" },
	{ "sort -oa b", "+a" },
	{ "sort --out=a b", "+a" },
	{ "tar czf a b", "+a" },
	{ "tar -xf a -C b", "+b" },
	{ "tar cf a -C b .", "+a" },
	{ "tar tf a", "" },
	{ "chmod 644 a b", ".a.b" },
	{ "chmod --reference=c a", ".a" },
	{ "rm -rf -- a b", "-a-b" },
	{ "uniq a", "" },
	{ "uniq a b", "+b" },
	{ "openssl req -out a -keyout b", "+a+b" },
};

struct seen {
	char s[256];
};

static void add(void *arg, enum ab_write_targets how, const struct ab_field *file)
{
	struct seen *seen = arg;
	size_t len = strlen(seen->s);

	snprintf(seen->s + len, sizeof(seen->s) - len, "%c%.*s", "+.-"[how], (int)file -> text.len,
		 file->text.s);
}

int main(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		struct test_command c;
		struct seen seen = { "" };

		test_parse(&c, cases[i].text);
		ab_write_targets_each(&c.simple, add, &seen);
		is_str(seen.s, cases[i].files, cases[i].text);
		ab_arena_fini(&c.arena);
	}
	return done();
}
