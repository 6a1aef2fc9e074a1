/* The specification: the same on both sides, and nothing but whole. */
#include "sandbox/plan/spec.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "tap.h"

static void add_mount(struct ab_plan *plan, enum ab_mount_op op, enum ab_as as, const char *path)
{
	plan->v = ab_realloc(plan->v, (plan->len + 1) * sizeof(plan->v[0]));
	plan->v[plan->len++] = (struct ab_mount){ .op = op, .as = as, .path = ab_strdup(path) };
}

static void add_layers(struct ab_layer_mounts *list)
{
	struct ab_layer_mount *l = ab_layer_mounts_add(list, "/home/u");

	l->upper = ab_strdup("/state/layers/x/home/upper");
	l->work = ab_strdup("/state/layers/x/home/work");
	l->bare = true;
	l->hides = true;
	ab_strv_add(&l->parents, ".config");
	ab_strv_add(&l->parents, "a,b:c\\d\ne");
	l = ab_layer_mounts_add(list, "/home/u/.npm");
	l->optional = l->pieces = true;
	ab_strv_add(&l->instead, "npm_config_cache=/tmp/x");
}

/* Every field has a value of its own. */
static struct ab_spec full(void)
{
	struct ab_spec s = {
		.nrules = 2,
		.hidden_root = true,
		.own_net = true,
		.door = true,
		.tty = true,
		.tty_fds = 5,
		.rows = 24,
		.cols = 80,
		.landlock_abi = 7,
		.limits = { 1, 2, 3, 4, 5 },
		.require = 0x1234,
		.strict = true,
		.protected_complete = true,
		.memory_cgroup = true,
		.timing = true,
		.run_id = ab_strdup("abc23"),
		.cwd = ab_strdup("/home/u/p"),
		.readable = ab_strdup("/home/u/.pgpass"),
	};
	struct ab_file *f;

	for (size_t i = 0; i < AB_COUNT(s.host_ns); i++)
		s.host_ns[i] = 11 + i;
	add_mount(&s.plan, AB_MOUNT_PRIVATE, AB_AS_DIR, "/tmp");
	add_mount(&s.plan, AB_MOUNT_WRITE, AB_AS_DIR, "/home/u/p");
	add_mount(&s.plan, AB_MOUNT_MASK, AB_AS_FILE, "/etc/\xff\x01 x");
	add_mount(&s.plan, AB_MOUNT_SHOW, AB_AS_LINK, "/lib");
	add_mount(&s.plan, AB_MOUNT_LAYER, AB_AS_DIR, "/home/u");
	add_mount(&s.plan, AB_MOUNT_LAYER, AB_AS_DIR, "/home/u/.npm");
	add_layers(&s.layers);
	s.rules = ab_alloc(2 * sizeof(s.rules[0]));
	s.rules[0] = (struct ab_path_rule){ ab_strdup("/"), 3 };
	s.rules[1] = (struct ab_path_rule){ ab_strdup("/home/u/p"), 47 };
	/* The NUL at the end of a string serves as a byte of it. */
	ab_spec_add_file(&s, ab_strdup("/etc/hosts"), ab_strdup("a\nb"), 4);
	f = ab_spec_add_file(&s, ab_strdup("/home/u/.netrc"), NULL, 0);
	f->mode = 0600;
	f->over_mask = true;
	ab_spec_share_file(&s, ab_strdup("/dev/x"), 0);
	ab_spec_share_file(&s, ab_strdup("/dev/y"), 2);
	ab_strv_add(&s.argv, "sh");
	ab_strv_add(&s.argv, "");
	ab_strv_add(&s.argv, "a\nb\xfe");
	ab_strv_add(&s.env, "A=1");
	ab_strv_add(&s.env, "B=");
	ab_strv_add(&s.env_uncaptured, "C=3");
	ab_strv_add(&s.sockets, "/run/x");
	ab_strv_add(&s.unwritable, "/");
	ab_strv_add(&s.unwritable, "/etc");
	ab_strv_add(&s.keep_fds, "7");
	return s;
}

static char *bytes_of(int fd, size_t *ret_len)
{
	struct stat st;
	char *data;

	if (fstat(fd, &st) < 0)
		abort();
	data = ab_alloc((size_t)st.st_size + 1);
	if (pread(fd, data, (size_t)st.st_size, 0) != st.st_size)
		abort();
	*ret_len = (size_t)st.st_size;
	return data;
}

static int read_bytes(const char *data, size_t len, struct ab_spec *ret)
{
	struct ab_error err = { 0 };
	ab_autoclose int fd = memfd_create("test", MFD_CLOEXEC);

	if (fd < 0 || ab_write_all(fd, data, len) < 0)
		abort();
	return ab_spec_read(fd, ret, &err);
}

static bool same_file(const struct ab_file *a, const struct ab_file *b)
{
	return strcmp(a->path, b->path) == 0 && a->len == b->len &&
	       (a->len == 0 || memcmp(a->data, b->data, a->len) == 0) && a->same == b->same &&
	       a->mode == b->mode && a->over_mask == b->over_mask;
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_layer(const struct ab_layer_mount *a, const struct ab_layer_mount *b)
{
	return same_text(a->path, b->path) && same_text(a->upper, b->upper) &&
	       same_text(a->work, b->work) && ab_strv_same(&a->parents, &b->parents) &&
	       a->hides == b->hides && ab_strv_same(&a->instead, &b->instead) &&
	       a->bare == b->bare && a->optional == b->optional && a->pieces == b->pieces;
}

static void check_same(const struct ab_spec *a, const struct ab_spec *b)
{
	bool layers = a->layers.len == b->layers.len;
	bool mounts = a->plan.len == b->plan.len;
	bool rules = a->nrules == b->nrules;
	bool files = a->nfiles == b->nfiles;

	for (size_t i = 0; mounts && i < a->plan.len; i++)
		mounts = a->plan.v[i].op == b->plan.v[i].op && a->plan.v[i].as == b->plan.v[i].as &&
			 strcmp(a->plan.v[i].path, b->plan.v[i].path) == 0;
	for (size_t i = 0; rules && i < a->nrules; i++)
		rules = a->rules[i].rights == b->rules[i].rights &&
			strcmp(a->rules[i].path, b->rules[i].path) == 0;
	for (size_t i = 0; files && i < a->nfiles; i++)
		files = same_file(&a->files[i], &b->files[i]);
	for (size_t i = 0; layers && i < a->layers.len; i++)
		layers = same_layer(&a->layers.v[i], &b->layers.v[i]);
	ok(layers, "layers");
	ok(mounts, "mounts");
	ok(files, "files");
	ok(rules, "rules");
	ok(a->hidden_root == b->hidden_root && a->own_net == b->own_net && a->door == b->door &&
		   a->tty == b->tty && a->nested == b->nested && a->no_sockets == b->no_sockets &&
		   a->strict == b->strict && a->protected_complete == b->protected_complete &&
		   a->memory_cgroup == b->memory_cgroup && a->pids_cgroup == b->pids_cgroup &&
		   a->uncounted == b->uncounted && a->timing == b->timing,
	   "flags");
	ok(a->tty_fds == b->tty_fds && a->rows == b->rows && a->cols == b->cols &&
		   a->landlock_abi == b->landlock_abi && a->require == b->require,
	   "numbers");
	ok(memcmp(&a->limits, &b->limits, sizeof(a->limits)) == 0 &&
		   memcmp(a->host_ns, b->host_ns, sizeof(a->host_ns)) == 0,
	   "limits and namespaces");
	is_str(b->run_id, a->run_id, "run id");
	is_str(b->cwd, a->cwd, "folder");
	ok(ab_strv_same(&a->argv, &b->argv), "arguments");
	ok(ab_strv_same(&a->env, &b->env), "environment");
	ok(ab_strv_same(&a->env_uncaptured, &b->env_uncaptured), "environment without capture");
	ok(ab_strv_same(&a->sockets, &b->sockets), "sockets");
	ok(ab_strv_same(&a->unwritable, &b->unwritable), "unwritable");
	ok(ab_strv_same(&a->keep_fds, &b->keep_fds), "descriptors");
}

static void check_round_trip(void)
{
	struct ab_spec spec = full(), back = { 0 };
	struct ab_error err = { 0 };
	ab_autoclose int fd = ab_spec_seal(&spec, &err);
	ab_autoclose int again = -1;
	ab_autofree char *a = NULL, *b = NULL;
	size_t na, nb;

	ok(fd >= 0, "sealed %s", err.text);
	ok(fcntl(fd, F_GET_SEALS) == (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE),
	   "nobody can change it");
	ok(pwrite(fd, "x", 1, 0) < 0, "not even by trying");
	ok(ab_spec_read(fd, &back, &err) == 0, "read %s", err.text);
	check_same(&spec, &back);
	again = ab_spec_seal(&back, &err);
	a = bytes_of(fd, &na);
	b = bytes_of(again, &nb);
	ok(na == nb && memcmp(a, b, na) == 0, "written again it is the same");
	ab_spec_fini(&back);
	ab_spec_fini(&spec);
}

static void check_damage(void)
{
	struct ab_spec spec = full(), back;
	struct ab_error err = { 0 };
	ab_autoclose int fd = ab_spec_seal(&spec, &err);
	ab_autofree char *data = NULL, *longer = NULL;
	size_t len, taken = 0, flips = 0;

	data = bytes_of(fd, &len);
	for (size_t n = 0; n < len; n++)
		if (read_bytes(data, n, &back) == 0) {
			ab_spec_fini(&back);
			taken++;
		}
	ok(taken == 0, "cut at none of %zu bytes it is whole", len);
	longer = ab_alloc(len + 1);
	memcpy(longer, data, len);
	longer[len] = 0;
	ok(read_bytes(longer, len + 1, &back) < 0, "a byte more is too much");
	/* Any byte may be anything: no crash, and what is taken can be freed. */
	for (size_t n = 0; n < len; n++) {
		for (int bit = 0; bit < 8; bit += 7) {
			data[n] = (char)(data[n] ^ (1 << bit));
			if (read_bytes(data, len, &back) == 0)
				ab_spec_fini(&back);
			data[n] = (char)(data[n] ^ (1 << bit));
			flips++;
		}
	}
	ok(flips == 2 * len, "%zu damaged ones do no harm", flips);
	ok(read_bytes(data, len, &back) == 0, "undamaged it is read again");
	ab_spec_fini(&back);
	ab_spec_fini(&spec);
}

static void check_shared(void)
{
	/* One that has none, itself, a later one, none at all. */
	static const uint32_t wrong[] = { 3, 4, 5, UINT32_MAX };
	struct ab_spec spec = full(), back;
	size_t refused = 0;

	ok(spec.files[2].same == 1 && spec.files[3].same == 1,
	   "one that has another's bytes leads to the one that has them");
	for (size_t i = 0; i < AB_COUNT(wrong); i++) {
		struct ab_error err = { 0 };
		ab_autoclose int fd = -1;

		spec.files[3].same = wrong[i];
		fd = ab_spec_seal(&spec, &err);
		if (ab_spec_read(fd, &back, &err) < 0)
			refused++;
		else
			ab_spec_fini(&back);
	}
	ok(refused == AB_COUNT(wrong), "and to nothing else");
	ab_spec_fini(&spec);
}

static void check_layers(void)
{
	struct ab_spec spec = full();
	struct ab_error err = { 0 };

	add_mount(&spec.plan, AB_MOUNT_LAYER, AB_AS_DIR, "/srv");
	ok(ab_spec_seal(&spec, &err) < 0 && err.code == AB_ESYSTEM,
	   "an entry of the plan without its layer is refused");
	while (spec.layers.len <= AB_LAYERS_MAX)
		ab_layer_mounts_add(&spec.layers, "/srv");
	ok(ab_spec_seal(&spec, &err) < 0, "and so are too many");
	spec.layers.len--;
	free(spec.layers.v[spec.layers.len].path);
	ok(close(ab_spec_seal(&spec, &err)) == 0, "but not as many as there may be");
	ab_spec_fini(&spec);
}

static void check_empty(void)
{
	struct ab_spec spec = { 0 }, back = { .rows = 7 };
	struct ab_error err = { 0 };
	ab_autoclose int fd = ab_spec_seal(&spec, &err);

	ok(ab_spec_read(fd, &back, &err) < 0, "without a command it is none");
	ok(err.code == AB_ESYSTEM && err.text[0], "and that is said");
	ok(back.rows == 7, "nothing is written on failure");
	ab_spec_fini(&spec);
	ok(ab_spec_read(-1, &back, &err) < 0, "no descriptor, no specification");
}

int main(void)
{
	check_round_trip();
	check_damage();
	check_shared();
	check_layers();
	check_empty();
	return done();
}
