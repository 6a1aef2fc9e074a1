/* The box's own files in the staging folder. */
#include "sandbox/mount/staged.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "sandbox/plan/spec.h"
#include "tap.h"

static void add_mask(struct ab_spec *s, enum ab_as as, const char *path)
{
	struct ab_plan *p = &s->plan;

	p->v = ab_realloc(p->v, (p->len + 1) * sizeof(p->v[0]));
	p->v[p->len++] =
		(struct ab_mount){ .op = AB_MOUNT_MASK, .as = as, .path = ab_strdup(path) };
}

static void is_mask(const struct ab_spec *s, size_t i, const char *want)
{
	char name[AB_STAGED_NAME];

	ab_staged_mask(s, i, name);
	is_str(name, want, s->plan.v[i].path);
}

static void is_text(int dir, const char *path, const char *want)
{
	ab_autoclose int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	ab_autofree char *text = NULL;
	size_t len;

	if (fd < 0 || ab_read_all(fd, 100, &text, &len) < 0)
		text = NULL;
	is_str(text, want, path);
}

static mode_t mode_of(int dir, const char *path)
{
	struct stat st;

	return fstatat(dir, path, &st, 0) < 0 ? 0 : st.st_mode & 07777;
}

int main(void)
{
	char path[] = "/tmp/agentbox-staged.XXXXXX";
	ab_autofree char *command = NULL;
	struct ab_error err = { 0 };
	struct ab_spec s = { 0 };
	struct ab_file *f;
	ab_autoclose int dir = -1;

	umask(0);
	if (!mkdtemp(path) || chdir(path) < 0 || mkdir("dev", 0755) < 0)
		abort();
	dir = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	add_mask(&s, AB_AS_DIR, "/h/.aws");
	add_mask(&s, AB_AS_DIR, "/h/.kube");
	add_mask(&s, AB_AS_FILE, "/h/.netrc");
	ab_spec_add_file(&s, ab_strdup("/etc/hosts"), ab_strdup("hosts"), 5);
	f = ab_spec_add_file(&s, ab_strdup("/h/.kube/a/b"), ab_strdup("k"), 1);
	f->over_mask = true;
	f->mode = 0600;
	ab_spec_share_file(&s, ab_strdup("/h/.kube/a/c"), 1)->over_mask = true;
	ab_spec_share_file(&s, ab_strdup("/h/.netrc"), 1)->over_mask = true;
	ab_spec_share_file(&s, ab_strdup("/dev/x/y"), 0);
	ab_spec_add_file(&s, ab_strdup("/h/.aws/z"), ab_strdup("z"), 1);
	ok(ab_staged_make(&s, dir, &err) == 0, "made %s", err.text);
	is_mask(&s, 0, "d");
	is_mask(&s, 1, "m1");
	is_mask(&s, 2, "f");
	is_text(dir, "e0", "hosts");
	is_text(dir, "m1/a/b", "k");
	is_text(dir, "m1/a/c", "k");
	is_text(dir, "dev/x/y", "hosts");
	is_text(dir, "e3", NULL);
	is_text(dir, "m0/z", NULL);
	ok(mode_of(dir, "m1") == 0311 && mode_of(dir, "m1/a") == 0311,
	   "a masked folder still cannot be listed");
	ok(mode_of(dir, "dev/x") == 0755 && mode_of(dir, "e0") == 0444 &&
		   mode_of(dir, "m1/a/b") == 0600,
	   "modes");
	ok(!ab_staged_in_place(&s, 0) && ab_staged_in_place(&s, 1) && ab_staged_in_place(&s, 2) &&
		   !ab_staged_in_place(&s, 3) && ab_staged_in_place(&s, 4) &&
		   !ab_staged_in_place(&s, 5),
	   "which are mounted, and which come with a folder");
	ab_spec_fini(&s);
	command = ab_printf("chmod -R u+r %s; rm -rf %s", path, path);
	ok(system(command) == 0, "clean up");
	return done();
}
