/* The copy below a layer of pieces: what is planned is only named, and not looked at. */
#include "sandbox/mount/pieces.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data/mem.h"
#include "base/system/fd.h"
#include "sandbox/plan/spec.h"
#include "workspace_help.h"

static struct ab_spec spec;

static void plan(enum ab_mount_op op, const char *path, enum ab_as as)
{
	*ab_append(spec.plan.v, spec.plan.len) =
		(struct ab_mount){ .op = op, .as = as, .path = ab_strdup(path) };
}

static bool is(int dir, const char *name, mode_t type, off_t size)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && (st.st_mode & S_IFMT) == type &&
	       (!S_ISREG(type) || st.st_size == size);
}

int main(void)
{
	ab_autofree char *host = NULL, *box = NULL;
	struct ab_layer_mount *l;
	int from, to;

	start();
	host = at("from");
	box = at("to");
	sh("cd $T && mkdir -p from/card/sub from/open/sub from/piece/sub to/card to/open &&"
	   "echo secret >from/card/key && echo hidden >from/masked && echo plain >from/plain &&"
	   "echo x >from/open/file && echo late >from/open/late && mkfifo from/pipe &&"
	   /* In place of a server: it is of another kind than the plan says. */
	   "mkdir from/served && ln -s plain from/link &&"
	   /* What is there is done, and what could not be shown any more is not there. */
	   "echo made >to/twice && echo x >from/twice && echo x >from/vanished");
	from = open(host, O_PATH | O_DIRECTORY | O_CLOEXEC);
	to = open(box, O_PATH | O_DIRECTORY | O_CLOEXEC);
	l = ab_layer_mounts_add(&spec.layers, "/h");
	l->pieces = true;
	ab_strv_add(&l->parents, "card");
	ab_strv_add(&l->parents, "open");
	ab_strv_add(&l->hidden, "open/late");
	plan(AB_MOUNT_LAYER, "/h", AB_AS_DIR);
	plan(AB_MOUNT_MASK, "/h/card", AB_AS_DIR);
	plan(AB_MOUNT_MASK, "/h/masked", AB_AS_FILE);
	plan(AB_MOUNT_MASK, "/h/gone", AB_AS_FILE);
	plan(AB_MOUNT_SHOW, "/h/served", AB_AS_FILE);
	plan(AB_MOUNT_SHOW, "/h/vanished", AB_AS_FILE);
	spec.plan.v[spec.plan.len - 1].may_vanish = true;

	ok(ab_pieces_copy(&spec, l, from, to) == 0, "it is copied");
	ok(is(to, "plain", S_IFREG, 6) && is(to, "link", S_IFLNK, 0) &&
		   is(to, "open/file", S_IFREG, 2),
	   "files and links, also on the way to a mount");
	ok(is(to, "piece", S_IFDIR, 0) && !is(to, "piece/sub", S_IFDIR, 0) &&
		   is(to, "open/sub", S_IFDIR, 0),
	   "of a folder only the name");
	ok(is(to, "masked", S_IFREG, 0), "of a masked file only the name");
	ok(!is(to, "gone", S_IFREG, 0), "not even that of one that is gone");
	ok(is(to, "card", S_IFDIR, 0) && !is(to, "card/key", S_IFREG, 7) &&
		   !is(to, "card/sub", S_IFDIR, 0),
	   "nothing of a folder that is masked with a mount in it");
	ok(!is(to, "open/late", S_IFREG, 5), "no hidden name");
	ok(is(to, "served", S_IFREG, 0), "a served file is what the plan says");
	ok(!is(to, "pipe", S_IFIFO, 0), "no pipe");
	ok(is(to, "twice", S_IFREG, 5), "what is there already stays");
	ok(!is(to, "vanished", S_IFREG, 0), "not the name of a file that could not be shown");

	ab_close_all(&from, &to);
	ab_plan_fini(&spec.plan);
	ab_layer_mounts_fini(&spec.layers);
	finish();
	return done();
}
