#include "sandbox/plan/spec.h"

#include <sys/mman.h>

/* One function walks over the struct in both directions. */
struct codec {
	struct ab_buf *out;   /* encoding */
	const char *in, *end; /* decoding */
	bool broken;
};

static void code_bytes(struct codec *c, void *p, size_t n)
{
	if (c->out) {
		ab_buf_add(c->out, p, n);
	} else if (c->broken || (size_t)(c->end - c->in) < n) {
		c->broken = true;
		memset(p, 0, n);
	} else {
		memcpy(p, c->in, n);
		c->in += n;
	}
}

#define code(c, field) code_bytes(c, &(field), sizeof(field))
/* The members of *s from `first` to `last`, which have neither pointers nor gaps. */
#define code_span(c, s, first, last)                                  \
	code_bytes(c, (char *)(s) + offsetof(typeof(*(s)), first),    \
		   offsetof(typeof(*(s)), last) + sizeof((s)->last) - \
			   offsetof(typeof(*(s)), first))

static void code_data(struct codec *c, char **data, size_t *len)
{
	uint32_t n = (uint32_t)*len;

	c->broken |= n != *len;
	code(c, n);
	if (c->out) {
		ab_buf_add(c->out, *data, n);
		return;
	}
	if (c->broken || (size_t)(c->end - c->in) < n) {
		c->broken = true;
		n = 0;
	}
	*data = ab_alloc((size_t)n + 1);
	memcpy(*data, c->in, n);
	*len = n;
	c->in += n;
}

static void code_str(struct codec *c, char **s)
{
	size_t n = c->out && *s ? strlen(*s) : 0;

	code_data(c, s, &n);
}

/* Decoding: a count that is larger than the remaining bytes is invalid. */
static size_t code_count(struct codec *c, size_t len)
{
	uint32_t n = (uint32_t)len;

	code(c, n);
	if (!c->out && n > (size_t)(c->end - c->in)) {
		c->broken = true;
		n = 0;
	}
	return n;
}

static size_t code_array(struct codec *c, void **v, size_t *len, size_t size)
{
	size_t n = code_count(c, *len);

	if (!c->out) {
		*v = ab_alloc(n * size);
		*len = n;
	}
	return n;
}

/* The number of rows, which have room when it is decoded. */
#define code_rows(c, v, len) code_array(c, (void **)&(v), &(len), sizeof((v)[0]))

static void code_strv(struct codec *c, struct ab_strv *sv)
{
	size_t n = code_count(c, sv->len);

	for (size_t i = 0; i < n && !c->broken; i++) {
		char *s = c->out ? sv->v[i] : NULL;

		code_str(c, &s);
		if (!c->out)
			ab_strv_give(sv, s);
	}
}

static void code_files(struct codec *c, struct ab_spec *s)
{
	size_t n = code_rows(c, s->files, s->nfiles);

	for (size_t i = 0; i < n; i++) {
		struct ab_file *f = &s->files[i];

		code_str(c, &f->path);
		code_span(c, f, same, over_mask);
		/* It must be an earlier file that has its own bytes. */
		if (f->same > i || (f->same && s->files[f->same - 1].same))
			c->broken = true;
		if (!f->same)
			code_data(c, &f->data, &f->len);
	}
}

static void code_layers(struct codec *c, struct ab_layer_mounts *layers)
{
	size_t n = code_rows(c, layers->v, layers->len);

	c->broken |= n > AB_LAYERS_MAX;
	for (size_t i = 0; i < n && n <= AB_LAYERS_MAX; i++) {
		struct ab_layer_mount *l = &layers->v[i];
		uint8_t kept = !!l->upper + !!l->work, has = !!l->below + 2 * l->pieces;

		code_str(c, &l->path);
		code(c, kept);
		if (kept > 0)
			code_str(c, &l->upper);
		if (kept > 1)
			code_str(c, &l->work);
		code(c, has);
		if (has & 1)
			code_str(c, &l->below);
		code_strv(c, &l->parents);
		code_span(c, l, host_dev, optional);
		if (has & 2)
			code_strv(c, &l->hidden);
		code_strv(c, &l->instead);
	}
}

/* init finds the layer of an entry by its path. */
static bool lacks_layer(const struct ab_spec *s)
{
	for (size_t i = 0; i < s->plan.len; i++)
		if (s->plan.v[i].op == AB_MOUNT_LAYER &&
		    !ab_layer_mounts_find(&s->layers, s->plan.v[i].path))
			return true;
	return false;
}

static void code_spec(struct codec *c, struct ab_spec *s)
{
	size_t n = code_rows(c, s->plan.v, s->plan.len);

	for (size_t i = 0; i < n; i++) {
		code_span(c, &s->plan.v[i], op, may_vanish);
		code_str(c, &s->plan.v[i].path);
	}
	code_layers(c, &s->layers);
	c->broken = c->broken || lacks_layer(s);
	n = code_rows(c, s->rules, s->nrules);
	for (size_t i = 0; i < n; i++) {
		code_str(c, &s->rules[i].path);
		code(c, s->rules[i].rights);
	}
	code_files(c, s);
	code_span(c, s, host_ns, waits);
	code_str(c, &s->run_id);
	code_str(c, &s->cwd);
	code_str(c, &s->readable);
	code_str(c, &s->listen);
	code_strv(c, &s->tools);
	code_strv(c, &s->argv);
	code_strv(c, &s->env);
	code_strv(c, &s->env_uncaptured);
	code_strv(c, &s->sockets);
	code_strv(c, &s->unwritable);
	code_strv(c, &s->keep_fds);
	code_strv(c, &s->streams);
}

struct ab_file *ab_spec_add_file(struct ab_spec *spec, char *path, char *data, size_t len)
{
	struct ab_file *f = ab_append(spec->files, spec->nfiles);

	*f = (struct ab_file){ .path = path, .data = data, .len = len };
	return f;
}

bool ab_spec_has_file(const struct ab_spec *spec, const char *path)
{
	return ab_find_row(spec->files, spec->nfiles, path, path) != NULL;
}

struct ab_file *ab_spec_share_file(struct ab_spec *spec, char *path, size_t of)
{
	struct ab_file *f = ab_append(spec->files, spec->nfiles);
	uint32_t same = spec->files[of].same;

	*f = (struct ab_file){ .path = path, .same = same ? same : (uint32_t)of + 1 };
	return f;
}

int ab_spec_write(struct ab_spec *spec, struct ab_buf *ret, struct ab_error *err)
{
	struct codec c = { .out = ret };

	code_spec(&c, spec);
	if (c.broken)
		return ab_fail(err, AB_ESYSTEM, 0, "the specification cannot hold its layers");
	return 0;
}

int ab_spec_seal(struct ab_spec *spec, struct ab_error *err)
{
	ab_autobuf struct ab_buf buf = { 0 };

	return ab_spec_write(spec, &buf, err) < 0 ? -1 : ab_spec_seal_text(buf.data, buf.len, err);
}

int ab_spec_seal_text(const char *text, size_t len, struct ab_error *err)
{
	int fd = ab_memfd_sealed("agentbox-spec", text, len);

	if (fd < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "seal the specification");
	return fd;
}

int ab_spec_parse(const char *text, size_t len, struct ab_spec *ret, struct ab_error *err)
{
	struct ab_spec spec = { 0 };
	struct codec c = { .in = text, .end = text + len };

	code_spec(&c, &spec);
	if (c.broken || c.in != c.end || spec.argv.len == 0) {
		ab_spec_fini(&spec);
		return ab_fail(err, AB_ESYSTEM, 0, "the specification is damaged");
	}
	*ret = spec;
	return 0;
}

int ab_spec_read(int fd, struct ab_spec *ret, struct ab_error *err)
{
	struct stat st;
	char *map;
	int r;

	if (fstat(fd, &st) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "read the specification");
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return ab_fail(err, AB_ESYSTEM, errno, "map the specification");
	r = ab_spec_parse(map, (size_t)st.st_size, ret, err);
	munmap(map, (size_t)st.st_size);
	return r;
}

void ab_spec_fini(struct ab_spec *spec)
{
	ab_free_rows(spec->rules, spec->nrules, path);
	for (size_t i = 0; i < spec->nfiles; i++)
		ab_free_all(spec->files[i].path, spec->files[i].data);
	ab_free_all(spec->files, spec->run_id, spec->cwd, spec->readable, spec->listen);
	ab_strv_fini(&spec->tools);
	ab_plan_fini(&spec->plan);
	ab_layer_mounts_fini(&spec->layers);
	ab_strv_fini_all(&spec->argv, &spec->env, &spec->env_uncaptured, &spec->sockets,
			 &spec->unwritable, &spec->keep_fds, &spec->blocked, &spec->streams);
	*spec = (struct ab_spec){ 0 };
}
