/*
 * What a layer would change, from uppers that are made by hand: every kind of change,
 * everything that a box can leave for the one who walks it, and the limits.
 */
#include "layer_help.h"

#include <sys/socket.h>
#include <sys/un.h>

#include "layer/walk/look.h"
#include "layer/walk/points.h"

static const char lower[] =
	"echo 1 >a; echo 1 >same; echo 1 >gone; mkdir d d/e; echo 1 >d/x; echo 1 >d/y;"
	"echo 1 >d/e/z; ln -s a link; echo 1 >script; chmod 644 script";

static void test_kinds(void)
{
	make_layer(lower, "");
	changes_are("", "an empty layer changes nothing");

	make_layer(lower, "echo 22 >a; echo 1 >same; w gone; mkdir d new;"
			  "echo n >d/n; w d/x; echo 2 >new/f; ln -s b link; ln -s b newlink;"
			  "echo 1 >script; chmod 755 script; echo 3 >d-e; w nothing");
	changes_are("M f>f a\n"
		    "A ->f d/n\n"
		    "D f>- d/x\n"
		    "A ->f d-e\n"
		    "D f>- gone\n"
		    "M l>l link\n"
		    "A ->d new\n"
		    "A ->f new/f\n"
		    "A ->l newlink\n"
		    "P f>f script\n",
		    "every kind of change, in order; equal files and lone whiteouts are none");

	make_layer(lower, "w d; mkdir a; echo 1 >a/f; echo 1 >link");
	changes_are("R f>d a conflict\n"
		    "A ->f a/f\n"
		    "D d>- d (4)\n"
		    "R l>f link\n",
		    "other types; a folder without the mark of a new one is a conflict");

	make_layer(lower, "mkdir d; chmod 700 d");
	changes_are("P d>d d\n", "the mode of a folder");
	make_layer(lower, "mkdir d; chmod 2755 d; echo 1 >a; chmod 4644 a");
	changes_are("P f>f a\nP d>d d\n", "set-id bits are a change of the mode");
}

static bool mark_folder(const char *name, const char *attribute, const char *value)
{
	ab_autofree char *path = ab_printf("%s/upper/%s", top, name);

	return setxattr(path, attribute, value, strlen(value), 0) == 0;
}

static void test_opaque(void)
{
	make_layer(lower, "mkdir d; echo 1 >d/x; echo n >d/n");
	if (!mark_folder("d", "user.overlay.opaque", "y")) {
		ok(errno == EOPNOTSUPP, "the reason: %s", strerror(errno));
		lacks("an opaque folder", "no user attributes in /tmp");
		return;
	}
	changes_are("D d>- d/e (1)\n"
		    "A ->f d/n\n"
		    "D f>- d/y\n",
		    "what an opaque folder lacks is deleted");
	mark_folder("d", "user.overlay.opaque", "n");
	changes_are("A ->f d/n\n", "another value is not a mark");

	make_layer(lower, "mkdir a; echo 1 >a/f");
	mark_folder("a", "user.overlay.opaque", "y");
	changes_are("R f>d a\nA ->f a/f\n", "a folder that the box put in place of a file");

	make_layer(lower, "mkdir d; echo 1 >d/n");
	mark_folder("d", "user.overlay.redirect", "/etc");
	changes_are("P d>d d [it is a folder that overlayfs redirects]\n",
		    "a redirected folder is refused");

	make_layer(lower, "truncate -s 9 m; truncate -s 9 plain");
	mark_folder("m", "user.overlay.metacopy", "");
	changes_are("A ->f m [it is a file whose data is not in the layer]\n"
		    "A ->f plain\n",
		    "a file without its data is refused, a sparse one is not");
}

static void test_copy(void)
{
	make_layer(lower, "cp -a ../lower/. .; rm -r gone d/e; echo 2 >a; echo n >n");
	view.copy = true;
	changes_are("M f>f a\n"
		    "D d>- d/e (1)\n"
		    "D f>- gone\n"
		    "A ->f n\n",
		    "in a full copy, a missing name is a deletion");
	make_layer(lower, "cp -a ../lower/. .; w n");
	view.copy = true;
	changes_are("A ->o n [it is a device]\n", "and a device is not a whiteout");
}

static void test_conflicts(void)
{
	struct ab_known known = { 0 };
	struct ab_look look;

	make_layer(lower, "echo 2 >a; w gone; mkdir d; echo 2 >d/x; w d/e");
	changes_are("M f>f a\nD d>- d/e (1)\nM f>f d/x\nD f>- gone\n", "the host changed nothing");

	sh("cd lower; echo 3 >a; echo 3 >gone; echo 3 >d/e/z");
	changes_are("M f>f a conflict\n"
		    "D d>- d/e (1) conflict\n"
		    "M f>f d/x\n"
		    "D f>- gone conflict\n",
		    "what the host changed after the start is a conflict");

	ab_look_at(view.lower, "a", &look);
	ab_known_add(&known, "a", look.id.ino, look.id.ctime);
	ab_known_add(&known, "gone", look.id.ino, look.id.ctime);
	ab_known_sort(&known);
	view.known = known;
	changes_are("M f>f a\n"
		    "D d>- d/e (1) conflict\n"
		    "M f>f d/x\n"
		    "D f>- gone conflict\n",
		    "unless agentbox itself left the file there, and it is that file");
	ab_known_fini(&view.known);

	make_layer(lower, "echo 2 >a");
	sh("cd lower; rm a; mkdir a; echo 1 >a/f");
	changes_are("R d>f a (1) conflict\n", "a file that became a folder");
	make_layer(lower, "mkdir d; echo 2 >d/x");
	sh("cd lower; mv d d2; ln -s d2 d");
	changes_are("R l>d d conflict\nA ->f d/x\n", "a folder that became a link");

	make_layer(lower, "");
	sh("cd lower; echo 3 >a");
	wait_for_tick();
	clock_gettime(CLOCK_REALTIME, &view.latest);
	wait_for_tick();
	sh("cd upper; echo 2 >a");
	changes_are("M f>f a\n", "a later run saw the host's change");
	view.latest = (struct timespec){ 0 };
	changes_are("M f>f a conflict\n", "and an earlier one did not");
}

static void make_socket(const char *name)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s/upper/%s", top, name);
	ok(bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0, "a socket is made");
	close(fd);
}

static void test_refusals(void)
{
	make_layer(lower, "mkfifo a p; mkdir q; mkfifo q/p; echo 1 >q/f");
	make_socket("s");
	changes_are("R f>o a [it is a FIFO]\n"
		    "A ->o p [it is a FIFO]\n"
		    "A ->d q\n"
		    "A ->f q/f\n"
		    "A ->o q/p [it is a FIFO]\n"
		    "A ->o s [it is a socket]\n",
		    "FIFOs and sockets");

	make_layer(lower, "echo 2 >a; mkdir d n; echo 1 >d/n; echo 1 >f; chmod 0 a d f n");
	if (geteuid() == 0)
		changes_are("M f>f a\nP d>d d\nA ->f d/n\nA ->f f\nA ->d n\n",
			    "root can read what is closed");
	else
		changes_are("M f>f a [it cannot be read]\n"
			    "P d>d d [it cannot be read]\n"
			    "A ->f f [it cannot be read]\n"
			    "A ->d n [it cannot be read]\n",
			    "what cannot be read is refused, not left out");

	make_layer("mkdir d; echo 1 >d/f", "mkdir d; echo 2 >d/f");
	sh("chmod 0 lower/d");
	if (geteuid() != 0)
		changes_are("P d>d d conflict\nA ->f d/f [the host's folder cannot be read]\n",
			    "a folder of the host that is closed");
	else
		changes_are("P d>d d conflict\nM f>f d/f\n", "root can read what is closed");
}

static void test_names(void)
{
	make_layer(lower, "echo 1 >\"$(printf 'x\\nD f>- a')\"; echo 1 >\"$(printf 'e\\033[2J')\";"
			  "mkdir .GIT; echo 1 >.GIT/config; echo 1 >.agentbox-0-0");
	changes_are("A ->d .GIT\n"
		    "A ->f .GIT/config\n"
		    "A ->f .agentbox-0-0\n"
		    "A ->f e\\x1b[2J\n"
		    "A ->f x\\x0aD f>- a\n",
		    "names are bytes");
	make_layer(lower, "ln -s / root; ln -s ../lower/d d; ln -s ../../../../etc/passwd p");
	changes_are("R d>l d (4)\nA ->l p\nA ->l root\n", "links are never followed");
}

static void limited_are(const struct ab_changes_limits *limits, const char *want, const char *name)
{
	ab_autofree char *got = changes_text(limits);

	is_str(got, want, name);
}

static void test_limits(void)
{
	struct ab_changes_limits limits = ab_changes_limits_default;
	ab_autofree char *text = NULL;

	make_layer(lower,
		   "i=0; while [ $i -lt 130 ]; do mkdir d; cd d; i=$((i + 1)); done; echo 1 >f");
	text = changes_text(NULL);
	ok(strstr(text, "nested too deeply") && !strstr(text, "/f"), "depth is bounded");

	make_layer(lower, "mkdir n n/m; echo 1 >n/m/f");
	limits.depth = 1;
	limited_are(&limits, "A ->d n\nA ->d n/m [it is nested too deeply]\n",
		    "the folder that is too deep is named");
	limits.depth = 2;
	limited_are(&limits, "A ->d n\nA ->d n/m\nA ->f n/m/f\n", "and one less deep is walked");

	limits.entries = 2;
	limited_are(&limits, "A ->d n\nA ->d n/m\ncut\n", "the number of entries is bounded");

	make_layer("mkdir d; for i in 1 2 3 4; do echo 1 >d/$i; done", "w d");
	limits.entries = 5;
	limited_are(&limits, "D d>- d (4)\n", "deleted entries are counted");
	limits.entries = 4;
	free(text);
	text = changes_text(&limits);
	ok(strstr(text, "cut\n"), "and bounded too");

	limits = ab_changes_limits_default;
	limits.path = 5;
	make_layer(lower, "mkdir long long/er; echo 1 >long/er/f");
	limited_are(&limits, "A ->d long\nA ->d long/er [its path is too long]\n",
		    "a path is bounded");
}

static void test_files(void)
{
	struct ab_changes changes = { 0 };
	struct ab_error err = { 0 };
	char text[8] = "";
	const struct ab_change *c;
	struct stat st;
	int fd;

	make_layer("truncate -s 1T big; echo 1 >a", "truncate -s 1T big; echo 22 >a");
	changes_are("M f>f a\n", "sparse files of a terabyte are compared at once");
	sh("printf x | dd of=upper/big bs=1 seek=900000000000 conv=notrunc status=none");
	changes_are("M f>f a\nM f>f big\n", "and one byte in one of them is found");

	ok(ab_changes_collect(&view, NULL, &changes, &err) == 0, "collected");
	c = &changes.v[0];
	fd = ab_look_open_known(view.upper, c->path, &c->layer, &st);
	ok(fd >= 0 && read(fd, text, 2) == 2 && strcmp(text, "22") == 0, "the new file");
	close(fd);
	fd = ab_look_open_known(view.lower, c->path, &c->host, &st);
	ok(fd >= 0 && read(fd, text, 2) == 2 && memcmp(text, "1\n", 2) == 0, "the old file");
	close(fd);
	sh("mv upper/a upper/kept; ln -s /etc/passwd upper/a; rm lower/a; mkfifo lower/a");
	ok(ab_look_open_known(view.upper, c->path, &c->layer, &st) < 0 && errno == ELOOP,
	   "not through a link");
	ok(ab_look_open_known(view.lower, c->path, &c->host, &st) < 0 && errno == ESTALE,
	   "not a FIFO");
	sh("rm upper/a; echo 22 >upper/a.new; mv upper/a.new upper/a");
	ok(ab_look_open_known(view.upper, c->path, &c->layer, &st) < 0 && errno == ESTALE,
	   "not another file of the same name");
	ab_changes_fini(&changes);
}

/* Two threads compare the contents of many. */
static void test_many(void)
{
	make_layer(
		"for i in $(seq 700); do echo 1 >f$i; done; mkdir -p d/e; echo 1 >d/e/g;"
		"chmod 644 f300",
		"for i in $(seq 700); do echo 1 >f$i; done; mkdir -p d/e; echo 2 >d/e/g;"
		"for i in 10 350 699; do echo 2 >f$i; done; chmod 755 f300; rm f20; w f20; echo 1 >n");
	changes_are("M f>f d/e/g\n"
		    "M f>f f10\n"
		    "D f>- f20\n"
		    "P f>f f300\n"
		    "M f>f f350\n"
		    "M f>f f699\n"
		    "A ->f n\n",
		    "those that are equal are left out, and the order stays");
}

/* Folders that agentbox made: untouched they are no change, whatever the host has there. */
static void test_points(void)
{
	static const char host[] = "mkdir same mode used real replaced way; ln -s way link";
	static const char made[] =
		"mkdir -m 755 same mode used gone link real replaced way way/in closed;"
		"echo 1 >used/x; rmdir real; echo 1 >real; chmod 700 closed";
	static const char *const names[] = { "same", "mode",	 "used", "gone",   "link",
					     "real", "replaced", "way",	 "way/in", "closed" };
	struct ab_strv *points = &view.points;

	make_layer(host, made);
	for (size_t i = 0; i < AB_COUNT(names); i++)
		ab_points_add(points, names[i], S_IFDIR | 0755);
	if (!mark_folder("replaced", "user.overlay.opaque", "y")) {
		lacks("an opaque folder", "no user attributes in /tmp");
		ab_strv_fini(points);
		return;
	}
	sh("cd lower; chmod 700 mode used; echo h >replaced/h");
	changes_are("A ->d closed\n"
		    "R d>f real\n"
		    "D f>- replaced/h conflict\n"
		    "A ->f used/x\n",
		    "only those that a box has put something in, replaced or changed");
	ab_points_tidy(points, view.upper);
	ok(sh("cd upper; test -e used/x -a -d closed -a -d replaced -a -f real &&"
	      "test ! -e same -a ! -e mode -a ! -e gone -a ! -e link -a ! -e way") == 0,
	   "these stay, and the others are removed");
	ok(points->len == 1 && strcmp(points->v[0], "755 used") == 0,
	   "of the list stays what a box has written to");
	changes_are("A ->d closed\n"
		    "R d>f real\n"
		    "D f>- replaced/h conflict\n"
		    "A ->f used/x\n",
		    "the same changes");
	/* Names that lead elsewhere. */
	sh("mkdir -m 755 out; ln -s ../out upper/way");
	ab_points_add(points, "way/in", S_IFDIR | 0755);
	ab_points_add(points, "../out", S_IFDIR | 0755);
	ab_points_add(points, "way", S_IFDIR | 0755);
	sh("mkdir -m 755 out/in");
	ab_points_tidy(points, view.upper);
	ok(sh("test -d out/in -a -L upper/way") == 0 && points->len == 1, "no link is followed");
	ab_strv_fini(points);
}

int main(void)
{
	test_kinds();
	test_opaque();
	test_copy();
	test_conflicts();
	test_refusals();
	test_names();
	test_limits();
	test_files();
	test_many();
	test_points();
	end_layer();
	return done();
}
