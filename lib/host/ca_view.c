#include "base/system/folder.h"
#include "host/ca_store.h"
#include "host/etc_files.h"
#include "policy/values/paths.h"
#include "proxy/io/tls_java_keystore.h"
#include "sandbox/plan/spec.h"

enum { JVMS_MAX = 64 };

#define ALIAS "agentbox"

static const char *const in_java_home[] = { "lib/security/cacerts", "jre/lib/security/cacerts" };

/* Sorted by name. What a client reads instead of the system's certificates, or in addition to them.
 * If the caller does not set a variable, the client may read another one. */
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
	return ab_find_row(variables, AB_COUNT(variables), name, name) != NULL;
}

/* Not empty, or NULL. */
static const char *get_variable(char *const *env, const char *name)
{
	const char *value = ab_environ_get(env, name);

	return value && *value ? value : NULL;
}

static void end_line(struct ab_buf *b)
{
	if (b->len > 0 && b->data[b->len - 1] != '\n')
		ab_buf_puts(b, "\n");
}

/* A host file that was read, and its copy in the box. */
struct source {
	char *real;	  /* or NULL */
	size_t file;	  /* index in the specification */
	const char *name; /* in AB_TRUSTED_DIR; NULL: not there yet */
};

/* The first two always exist: the authority alone, and the machine's bundle (the same if it has
 * none). */
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
	size_t named; /* number of sources with a name */
};

static struct source *find_source(const struct view *v, const char *real)
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

/* The bundle as the box sees it: the data, then the authority. */
static char *append_authority(const struct view *v, const char *data, size_t len, size_t *ret_len)
{
	struct ab_buf b = { 0 };

	ab_buf_add(&b, data, len);
	end_line(&b);
	ab_buf_add(&b, v->pem, v->pem_len);
	*ret_len = b.len;
	return ab_buf_take(&b);
}

/* Read a host file that is visible in the box and not read yet. 1, or 0: nothing to do. */
static int read_new(const struct view *v, const char *path, char **ret_real, char **ret_data,
		    size_t *ret_len, struct ab_error *err)
{
	ab_autofree char *real = ab_etc_follow(path);
	int r;

	if (!real || find_source(v, real) || !ab_plan_shows(&v->spec->plan, false, real))
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
	merged = append_authority(v, data, len, &len);
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

/* Its path in AB_TRUSTED_DIR, which stays valid whatever the box does to its view. */
static const char *share_source(struct view *v, struct source *s)
{
	if (!s->name)
		s->name = ab_spec_share_file(v->spec, next_name(v), s->file)->path;
	return s->name;
}

/* Copy only certificates: the user's file may also contain a key, and be where the box cannot read
 * it. */
static void keep_certificates(const char *data, size_t len, struct ab_buf *ret)
{
	const char *end = data + len;
	struct ab_pem pem;

	while (ab_pem_next(&data, end, &pem)) {
		end_line(ret);
		ab_buf_add(ret, pem.block, pem.block_len);
	}
}

/* The file that the caller's variable names; NULL: not usable. */
static int find_named(struct view *v, const char *variable, struct source **ret,
		      struct ab_error *err)
{
	const char *path = get_variable(v->env, variable);
	ab_autofree char *real = path ? realpath(path, NULL) : NULL;
	const struct ab_mount *m = real ? ab_plan_find(&v->spec->plan, real) : NULL;
	ab_autobuf struct ab_buf kept = { 0 };
	ab_autofree char *data = NULL;
	char *merged;
	size_t len;
	int r = 0;

	*ret = real ? find_source(v, real) : NULL;
	if (!path || *ret)
		return 0;
	if (real && !(m && m->op == AB_MOUNT_MASK))
		r = ab_ca_store_read(real, &data, &len, err);
	if (r < 0)
		return -1;
	if (r == 0) {
		ab_autofree char *note = ab_printf(
			"cannot read %s=%s; using the machine's certificates", variable, path);

		ab_strv_add_once(v->notes, note);
		return 0;
	}
	keep_certificates(data, len, &kept);
	merged = append_authority(v, kept.data, kept.len, &len);
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
	ab_env_set(&v->spec->env, var->name, share_source(v, s));
	return 0;
}

/* Covers all bundles; the first one is the machine's. */
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
	share_source(v, &v->v[SYSTEM]);
	return 0;
}

/* Add a certificate; or replace a keystore of an unknown format. */
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
	if (made) {
		ab_spec_add_file(v->spec, ab_strdup(real), (char *)made, len);
	} else {
		ab_autofree char *note = ab_printf(
			"cannot extend the keystore %s: Java cannot reach hosts with a secret",
			real);

		ab_strv_add_once(v->notes, note);
	}
	/* Known, either way. */
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
	ab_autodir DIR *dir = opendir(top);
	struct dirent *e;
	int r = 0;

	for (int i = 0; dir && r == 0 && i < JVMS_MAX && (e = readdir(dir)); i++) {
		ab_autofree char *home = ab_path_join(top, e->d_name);

		if (e->d_name[0] != '.')
			r = cover_java_home(v, home, err);
	}
	return r;
}

static int cover_keystores(struct view *v, struct ab_error *err)
{
	const char *home = get_variable(v->env, "JAVA_HOME");

	for (size_t i = 0; ab_ca_store_keystores[i]; i++)
		if (cover_keystore(v, ab_ca_store_keystores[i], err) < 0)
			return -1;
	if (home && *home == '/' && cover_java_home(v, home, err) < 0)
		return -1;
	return cover_installed(v, err);
}

static int fill_view(struct view *v, struct ab_error *err)
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
	int r = fill_view(&v, err);

	for (size_t i = 0; i < v.len; i++)
		free(v.v[i].real);
	free(v.v);
	return r;
}
