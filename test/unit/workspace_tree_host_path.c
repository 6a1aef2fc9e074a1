/* Where paths lead to, and who could have led them there. */
#include "workspace/tree/host_path.h"

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
		real = ab_host_path_follow(&writable, path, &led);
		ok((real && want ? strcmp(real, want) == 0 : real == want) && led == ways[i].led,
		   "%s", ways[i].path);
		if (!real)
			continue;
		ok(ab_host_path_writes(&writable, real) == (strncmp(ways[i].real, "box", 3) == 0),
		   "%s: whose", ways[i].path);
	}
}

/* Links that a box could have made, and paths that it could. */
static const struct {
	const char *path, *stray; /* NULL: no link leads out of its folder */
	bool open;
} links[] = {
	{ "host/file", NULL, false },
	{ "host/link", NULL, false },
	{ "host/into/file", NULL, true },
	{ "box/file", NULL, true },
	{ "box/link", "box/link", true },
	{ "box/dir/file", "box/dir", true },
	{ "box/near", NULL, true },
	{ "host/over", "box/link", true },
	{ "box/later", NULL, true },
	{ "box/later/more", NULL, true },
	{ "box/dangling", "box/dangling", true },
	{ "host/none", NULL, false },
	{ "box/in/out", "box/in/out", true },
};

static void check_links(void)
{
	ab_autostrv struct ab_strv roots = { 0 };

	ab_strv_addf(&roots, "%s/writable", top);
	ab_strv_addf(&roots, "%s/box/in", top);
	for (size_t i = 0; i < AB_COUNT(links); i++) {
		ab_autofree char *path = ab_printf("%s/%s", top, links[i].path);
		ab_autofree char *want = NULL, *stray = NULL, *real = NULL;

		if (links[i].stray)
			want = ab_printf("%s/%s", top, links[i].stray);
		real = ab_host_path_resolve(&roots, path, &stray);
		ok(stray && want ? strcmp(stray, want) == 0 : stray == want, "%s: link",
		   links[i].path);
		ok(ab_host_path_is_open(&roots, path) == links[i].open, "%s: open", links[i].path);
	}
}

static void check_open(void)
{
	ab_autofree char *file = ab_printf("%s/host/file", top);
	ab_autofree char *link = ab_printf("%s/host/link", top);
	int fd = ab_host_path_open(file);

	ok(fd >= 0, "what was found is opened");
	close(fd);
	ok(ab_host_path_open(link) < 0, "a link is not");
}

int main(void)
{
	ab_autofree char *clean = NULL;

	if (!mkdtemp(top) || chdir(top) < 0 ||
	    system("mkdir host box && echo x >host/file && echo x >box/file &&"
		   "ln -s box writable && ln -s file host/link &&"
		   "ln -s ../box host/into && ln -s ../host/file box/link &&"
		   "ln -s ../host box/dir && ln -s file box/near &&"
		   "ln -s ../box/link host/over && ln -s loop host/loop &&"
		   "ln -s ../host/none box/dangling && mkdir box/in && ln -s ../file box/in/out") !=
		    0)
		return 1;
	check_ways();
	check_links();
	check_open();
	clean = ab_printf("rm -rf %s", top);
	if (chdir("/") < 0 || system(clean) != 0)
		return 1;
	return done();
}
