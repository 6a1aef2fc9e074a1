/* Where paths lead to, and who could have led them there. */
#include "session/host/writable_links.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/data/mem.h"
#include "base/data/strv.h"
#include "tap.h"

static char top[] = "/tmp/agentbox-reach-XXXXXX";

/* Below `top`, of which box/ is writable. */
static const struct {
	const char *path, *real; /* NULL: nowhere */
	bool led;
} ways[] = {
	{ "host/file", "host/file", false },   { "host/./../host//file", "host/file", false },
	{ "host/link", "host/file", false },   { "host/into/file", "box/file", false },
	{ "box/file", "box/file", false },     { "box/link", "host/file", true },
	{ "box/dir/file", "host/file", true }, { "box/near", "box/file", true },
	{ "host/over", "host/file", true },    { "host/none", NULL, false },
	{ "host/file/x", NULL, false },	       { "host/loop", NULL, false },
};

static void check_ways(void)
{
	ab_autostrv struct ab_strv writable = { 0 };

	ab_strv_addf(&writable, "%s/writable", top);
	for (size_t i = 0; i < AB_COUNT(ways); i++) {
		ab_autofree char *path = ab_printf("%s/%s", top, ways[i].path);
		ab_autofree char *want = NULL, *real = NULL;
		bool led;

		if (ways[i].real)
			want = ab_printf("%s/%s", top, ways[i].real);
		real = ab_writable_links_follow(&writable, path, &led);
		ok((real && want ? strcmp(real, want) == 0 : real == want) && led == ways[i].led,
		   "%s", ways[i].path);
		if (!real)
			continue;
		ok(ab_writable_links_writes(&writable, real) ==
			   (strncmp(ways[i].real, "box", 3) == 0),
		   "%s: whose", ways[i].path);
	}
}

static void check_open(void)
{
	ab_autofree char *file = ab_printf("%s/host/file", top);
	ab_autofree char *link = ab_printf("%s/host/link", top);
	int fd = ab_writable_links_open(file);

	ok(fd >= 0, "what was found is opened");
	close(fd);
	ok(ab_writable_links_open(link) < 0, "a link is not");
}

int main(void)
{
	ab_autofree char *clean = NULL;

	if (!mkdtemp(top) || chdir(top) < 0 ||
	    system("mkdir host box && echo x >host/file && echo x >box/file &&"
		   "ln -s box writable && ln -s file host/link &&"
		   "ln -s ../box host/into && ln -s ../host/file box/link &&"
		   "ln -s ../host box/dir && ln -s file box/near &&"
		   "ln -s ../box/link host/over && ln -s loop host/loop") != 0)
		return 1;
	check_ways();
	check_open();
	clean = ab_printf("rm -rf %s", top);
	if (chdir("/") < 0 || system(clean) != 0)
		return 1;
	return done();
}
