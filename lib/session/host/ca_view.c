#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "base/data/strv.h"
#include "base/system/path.h"
#include "policy/values/paths.h"
#include "proxy/io/tls_java_keystore.h"
#include "sandbox/plan/spec.h"
#include "session/host/ca_store.h"
#include "session/host/etc_files.h"

enum { JVMS_MAX = 64 };

#define ALIAS "agentbox"

static const char *const in_java_home[] = { "lib/security/cacerts", "jre/lib/security/cacerts" };

/*
 * Sorted by name. What a client reads: instead of the system's certificates,
 * or besides them. Where the caller does not set a variable, the client may
 * look at another one.
 */
static const struct variable {
	const char *name, *instead;
	bool besides;
} variables[] = {
	{ "CARGO_HTTP_CAINFO", "SSL_CERT_FILE", false },
	{ "CURL_CA_BUNDLE", "SSL_CERT_FILE", false },
	{ "DENO_CERT", NULL, true },
	{ "GIT_SSL_CAINFO", NULL, false },
	{ "NODE_EXTRA_CA_CERTS", NULL, true },
	{ "PIP_CERT", "REQUESTS_CA_BUNDLE", false },
	{ "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", false },
	{ "SSL_CERT_FILE", NULL, false },
};

bool ab_ca_store_variable(const char *name)
{
	for (size_t i = 0; i < AB_COUNT(variables); i++)
		if (strcmp(variables[i].name, name) == 0)
			return true;
	return false;
}

/* Not empty, or NULL. */
static const char *value_of(char *const *env, const char *name)
{
	const char *value = ab_environ_get(env, name);

	return value && *value ? value : NULL;
}

static void end_line(struct ab_buf *b)
{
	if (b->len > 0 && b->data[b->len - 1] != '\n')
		ab_buf_puts(b, "\n");
}

/* A file of the host's that was read, and what became of it. */
struct source {
	char *real;	  /* NULL: there is none */
	size_t file;	  /* of the specification */
	const char *name; /* in our own folder; NULL: it has none yet */
};

/* The first two are always there: nothing but the authority, and the
 * machine's bundle (the same where it has none). */
enum { ALONE, SYSTEM };

struct view {
	struct ab_spec *spec;
	const char *pem;
	size_t pem_len;
	const uint8_t *der;
	size_t der_len;
	char *const *env;
	struct ab_strv *notes;
	struct source *v;
	size_t len;
	size_t named; /* how many have a name */
};

static struct source *find(const struct view *v, const char *real)
{
	for (size_t i = 0; i < v->len; i++)
		if (v->v[i].real && strcmp(v->v[i].real, real) == 0)
			return &v->v[i];
	return NULL;
}

static struct source *add_source(struct view *v, char *real, size_t file)
{
	v->v = ab_realloc(v->v, (v->len + 1) * sizeof(v->v[0]));
	v->v[v->len] = (struct source){ .real = real, .file = file };
	return &v->v[v->len++];
}

/* Where the box has the host's file, there is something to cover. */
static bool is_visible(const struct view *v, const char *real)
{
	const struct ab_mount *m = ab_plan_find(&v->spec->plan, real);

	return !m || (m->op != AB_MOUNT_MASK && m->op != AB_MOUNT_PRIVATE);
}

/* The bytes, then the authority: the bundle as the box sees it. */
static char *merge(const struct view *v, const char *data, size_t len, size_t *ret_len)
{
	bool open = len > 0 && data[len - 1] != '\n';
	char *merged = ab_alloc(len + open + v->pem_len + 1);

	if (len)
		memcpy(merged, data, len);
	if (open)
		merged[len] = '\n';
	memcpy(merged + len + open, v->pem, v->pem_len);
	*ret_len = len + open + v->pem_len;
	return merged;
}

/* A file of the host's that is seen for the first time, and that the box sees
 * too. 1, or 0: there is nothing to do. */
static int read_new(const struct view *v, const char *path, char **ret_real, char **ret_data,
		    size_t *ret_len, struct ab_error *err)
{
	ab_autofree char *real = ab_etc_follow(path);
	int r;

	if (!real || find(v, real) || !is_visible(v, real))
		return 0;
	r = ab_ca_store_read(real, ret_data, ret_len, err);
	if (r > 0)
		*ret_real = ab_take(real);
	return r;
}

static int cover_bundle(struct view *v, const char *path, struct ab_error *err)
{
	ab_autofree char *data = NULL;
	char *real, *merged;
	size_t len;
	int r = read_new(v, path, &real, &data, &len, err);

	if (r <= 0)
		return r;
	merged = merge(v, data, len, &len);
	ab_spec_add_file(v->spec, ab_strdup(real), merged, len);
	add_source(v, real, v->spec->nfiles - 1);
	return 0;
}

static char *next_name(struct view *v)
{
	if (v->named++ == 0)
		return ab_strdup(AB_TRUSTED_DIR "/ca-bundle.pem");
	return ab_printf(AB_TRUSTED_DIR "/ca-bundle-%zu.pem", v->named);
}

/* Its path in our own folder: there it is whatever the box does to the rest of
 * its view. */
static const char *name_of(struct view *v, struct source *s)
{
	if (!s->name)
		s->name = ab_spec_share_file(v->spec, next_name(v), s->file)->path;
	return s->name;
}

/* Only certificates: a file of one's own may have a key beside them, and lie
 * where the box could not read it. */
static void keep_certificates(const char *data, size_t len, struct ab_buf *ret)
{
	const char *end = data + len;
	struct ab_pem pem;

	while (ab_pem_next(&data, end, &pem)) {
		end_line(ret);
		ab_buf_add(ret, pem.block, pem.block_len);
	}
}

static void tell_once(struct view *v, char *note)
{
	if (ab_strv_has(v->notes, note))
		free(note);
	else
		ab_strv_give(v->notes, note);
}

/* The file that the caller's variable names; NULL: none that can be used. */
static int find_named(struct view *v, const char *variable, struct source **ret,
		      struct ab_error *err)
{
	const char *path = value_of(v->env, variable);
	ab_autofree char *real = path ? realpath(path, NULL) : NULL;
	const struct ab_mount *m = real ? ab_plan_find(&v->spec->plan, real) : NULL;
	ab_autobuf struct ab_buf kept = { 0 };
	ab_autofree char *data = NULL;
	char *merged;
	size_t len;
	int r = 0;

	*ret = real ? find(v, real) : NULL;
	if (!path || *ret)
		return 0;
	if (real && !(m && m->op == AB_MOUNT_MASK))
		r = ab_ca_store_read(real, &data, &len, err);
	if (r < 0)
		return -1;
	if (r == 0) {
		tell_once(v, ab_printf("%s=%s cannot be read; the box gets the "
				       "machine's certificates instead",
				       variable, path));
		return 0;
	}
	keep_certificates(data, len, &kept);
	merged = merge(v, kept.data, kept.len, &len);
	ab_spec_add_file(v->spec, next_name(v), merged, len);
	*ret = add_source(v, ab_take(real), v->spec->nfiles - 1);
	(*ret)->name = v->spec->files[v->spec->nfiles - 1].path;
	return 0;
}

static int set_variable(struct view *v, const struct variable *var, struct ab_error *err)
{
	struct source *s = NULL;

	if (find_named(v, var->name, &s, err) < 0)
		return -1;
	if (!s && var->instead && find_named(v, var->instead, &s, err) < 0)
		return -1;
	if (!s)
		s = &v->v[var->besides ? ALONE : SYSTEM];
	ab_env_set(&v->spec->env, var->name, name_of(v, s));
	return 0;
}

/* Covers all that there are; the first one is the machine's. */
static int cover_bundles(struct view *v, struct ab_error *err)
{
	struct source *alone;

	ab_spec_add_file(v->spec, ab_strdup(AB_TRUSTED_DIR "/ca.pem"),
			 ab_strndup(v->pem, v->pem_len), v->pem_len);
	alone = add_source(v, NULL, v->spec->nfiles - 1);
	alone->name = v->spec->files[alone->file].path;
	for (size_t i = 0; ab_ca_store_bundles[i]; i++)
		if (cover_bundle(v, ab_ca_store_bundles[i], err) < 0)
			return -1;
	if (v->len == SYSTEM)
		add_source(v, NULL, v->v[ALONE].file);
	name_of(v, &v->v[SYSTEM]);
	return 0;
}

/* With one more; or, where it is of another kind, a new one in its place. */
static uint8_t *make_keystore(const struct view *v, const char *data, size_t len, size_t *ret_len)
{
	const struct ab_file *f = &v->spec->files[v->v[SYSTEM].file];
	uint8_t *made =
		ab_keystore_add((const uint8_t *)data, len, ALIAS, v->der, v->der_len, ret_len);

	if (made || !v->v[SYSTEM].real)
		return made;
	return ab_keystore_new(f->data, f->len - v->pem_len, ALIAS, v->der, v->der_len, ret_len);
}

static int cover_keystore(struct view *v, const char *path, struct ab_error *err)
{
	ab_autofree char *data = NULL;
	uint8_t *made;
	char *real;
	size_t len;
	int r = read_new(v, path, &real, &data, &len, err);

	if (r <= 0)
		return r;
	made = make_keystore(v, data, len, &len);
	if (made)
		ab_spec_add_file(v->spec, ab_strdup(real), (char *)made, len);
	else
		tell_once(v, ab_printf("the keystore %s stays as it is: Java "
				       "will not reach hosts that have a "
				       "secret",
				       real));
	/* Seen, either way. */
	add_source(v, real, v->spec->nfiles - 1);
	return 0;
}

static int cover_java_home(struct view *v, const char *home, struct ab_error *err)
{
	for (size_t i = 0; i < AB_COUNT(in_java_home); i++) {
		ab_autofree char *path = ab_path_join(home, in_java_home[i]);

		if (cover_keystore(v, path, err) < 0)
			return -1;
	}
	return 0;
}

static int cover_installed(struct view *v, struct ab_error *err)
{
	static const char top[] = "/usr/lib/jvm";
	DIR *dir = opendir(top);
	struct dirent *e;
	int r = 0;

	for (int i = 0; dir && r == 0 && i < JVMS_MAX && (e = readdir(dir)); i++) {
		ab_autofree char *home = ab_path_join(top, e->d_name);

		if (e->d_name[0] != '.')
			r = cover_java_home(v, home, err);
	}
	if (dir)
		closedir(dir);
	return r;
}

static int cover_keystores(struct view *v, struct ab_error *err)
{
	const char *home = value_of(v->env, "JAVA_HOME");

	for (size_t i = 0; ab_ca_store_keystores[i]; i++)
		if (cover_keystore(v, ab_ca_store_keystores[i], err) < 0)
			return -1;
	if (home && *home == '/' && cover_java_home(v, home, err) < 0)
		return -1;
	return cover_installed(v, err);
}

static int fill(struct view *v, struct ab_error *err)
{
	if (cover_bundles(v, err) < 0)
		return -1;
	for (size_t i = 0; i < AB_COUNT(variables); i++)
		if (set_variable(v, &variables[i], err) < 0)
			return -1;
	return cover_keystores(v, err);
}

int ab_ca_store_fill(const char *pem, const uint8_t *der, size_t der_len, char *const *env,
		     struct ab_spec *spec, struct ab_strv *ret_notes, struct ab_error *err)
{
	struct view v = { .spec = spec,
			  .pem = pem,
			  .pem_len = strlen(pem),
			  .der = der,
			  .der_len = der_len,
			  .env = env,
			  .notes = ret_notes };
	int r = fill(&v, err);

	for (size_t i = 0; i < v.len; i++)
		free(v.v[i].real);
	free(v.v);
	return r;
}
