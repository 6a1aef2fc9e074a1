/* The machine's certificates, and the box's view of them. */
#include "host/ca_store.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/data/strv.h"
#include "base/system/fd.h"
#include "policy/model/policy.h"
#include "proxy/io/tls_java_keystore.h"
#include "sandbox/plan/spec.h"
#include "tap.h"

#define PEM(body) "-----BEGIN CERTIFICATE-----\n" body "\n-----END CERTIFICATE-----\n"
#define OURS PEM("MAMCAQk=")
#define CORP PEM("MAMCAQE=")
#define KEY "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n"

static const uint8_t der[] = { 0x30, 3, 2, 1, 9 };
static char dir[] = "/tmp/agentbox-trusted.XXXXXX";

static void write_file(const char *name, const void *data, size_t len)
{
	ab_autoclose int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || ab_write_all(fd, data, len) < 0)
		abort();
}

static void check_table(const char *const *table, const char *name)
{
	size_t wrong = 0;

	for (size_t i = 0; table[i]; i++) {
		wrong += table[i][0] != '/';
		for (size_t k = 0; k < i; k++)
			wrong += strcmp(table[i], table[k]) == 0;
	}
	ok(wrong == 0, "%s: whole paths, none twice", name);
}

static int roots(const char *const *env, const char *more, char **ret)
{
	struct ab_policy policy = { 0 };
	struct ab_error err = { 0 };
	size_t len;
	int r;

	if (more)
		ab_strv_add(&policy.net.roots, more);
	r = ab_ca_store_roots(&policy, (char *const *)env, ret, &len, &err);
	ok(r == 0 ? strlen(*ret) == len : err.text[0] != '\0', "%s", r == 0 ? "read" : err.text);
	ab_strv_fini(&policy.net.roots);
	return r;
}

static void check_roots(void)
{
	const char *const own[] = { "SSL_CERT_FILE=corp.pem", NULL };
	const char *const wrong[] = { "SSL_CERT_FILE=none.pem", NULL };
	const char *const none[] = { "X=1", NULL };
	ab_autofree char *a = NULL, *b = NULL, *c = NULL, *d = NULL;

	ok(roots(own, NULL, &a) == 0, "a file of one's own");
	is_str(a, CORP KEY "\n", "is all of it");
	ok(roots(own, "more.pem", &b) == 0, "with more");
	is_str(b, CORP KEY "\n" OURS "\n", "behind it");
	ok(roots(own, "none.pem", &c) < 0 && !c, "what is named must be there");
	ok(roots(none, "more.pem", &c) == 0 && strstr(c, OURS), "what is named is enough");
	ok(roots(wrong, "more.pem", &d) == 0, "a variable need not be right");
	is_str(d, c, "it is then as if it were not set");
}

static const struct ab_file *file_at(const struct ab_spec *s, const char *path)
{
	for (size_t i = 0; path && i < s->nfiles; i++)
		if (strcmp(s->files[i].path, path) == 0) {
			uint32_t same = s->files[i].same;

			return &s->files[same ? same - 1 : i];
		}
	return NULL;
}

static const char *text_of(const struct ab_spec *s, const char *variable)
{
	const struct ab_file *f = file_at(s, ab_env_get(&s->env, variable));

	return f ? f->data : NULL;
}

static const char *const names[] = {
	"CARGO_HTTP_CAINFO",   "CURL_CA_BUNDLE", "DENO_CERT",	       "GIT_SSL_CAINFO",
	"NODE_EXTRA_CA_CERTS", "PIP_CERT",	 "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE",
};

static size_t fill(struct ab_spec *s, const char *const *env)
{
	struct ab_error err = { 0 };
	ab_autostrv struct ab_strv notes = { 0 };
	size_t good = 0, twice = 0;

	ok(ab_ca_store_fill(OURS, der, sizeof(der), (char *const *)env, s, &notes, &err) == 0,
	   "filled %s", err.text);
	for (size_t i = 0; i < AB_COUNT(names); i++) {
		const char *path = ab_env_get(&s->env, names[i]);
		const char *text = text_of(s, names[i]);

		good += path && text && strstr(text, OURS) &&
			strncmp(path, AB_TRUSTED_DIR "/", 20) == 0;
	}
	ok(good == AB_COUNT(names), "each variable names a file that has ours");
	for (size_t i = 0; i < s->nfiles; i++)
		for (size_t k = 0; k < i; k++)
			twice += strcmp(s->files[i].path, s->files[k].path) == 0;
	ok(twice == 0, "no path twice");
	return notes.len;
}

static void check_plain(void)
{
	const char *const env[] = { "X=1", NULL };
	struct ab_spec s = { 0 };

	ok(fill(&s, env) == 0, "nothing to say");
	is_str(text_of(&s, "NODE_EXTRA_CA_CERTS"), OURS, "ours alone for what reads it besides");
	is_str(ab_env_get(&s.env, "SSL_CERT_FILE"), AB_TRUSTED_DIR "/ca-bundle.pem", "one bundle");
	is_str(ab_env_get(&s.env, "PIP_CERT"), AB_TRUSTED_DIR "/ca-bundle.pem", "for everybody");
	for (size_t i = 0; ab_ca_store_bundles[i]; i++) {
		ab_autofree char *real = realpath(ab_ca_store_bundles[i], NULL);
		const struct ab_file *f = file_at(&s, real);
		ab_autofree char *host = NULL;
		struct ab_error err;
		size_t len;

		if (!real || ab_ca_store_read(real, &host, &len, &err) != 1)
			continue;
		ok(f && f->len >= len && memcmp(f->data, host, len) == 0 &&
			   strcmp(f->data + f->len - strlen(OURS), OURS) == 0,
		   "%s, and ours behind it", real);
	}
	for (size_t i = 0; ab_ca_store_keystores[i]; i++) {
		ab_autofree char *real = realpath(ab_ca_store_keystores[i], NULL);
		const struct ab_file *f = file_at(&s, real);

		if (real)
			ok(f && memmem(f->data, f->len, "\0\10agentbox", 10), "%s has it too",
			   real);
	}
	ab_spec_fini(&s);
}

static void check_own(void)
{
	ab_autofree char *ssl = ab_printf("SSL_CERT_FILE=%s/corp.pem", dir);
	ab_autofree char *java = ab_printf("JAVA_HOME=%s/jvm", dir);
	ab_autofree char *store = ab_printf("%s/real", dir);
	const char *const env[] = { ssl,
				    "REQUESTS_CA_BUNDLE=corp-link.pem",
				    "NODE_EXTRA_CA_CERTS=corp.pem",
				    "GIT_SSL_CAINFO=none.pem",
				    java,
				    NULL };
	struct ab_spec s = { 0 };

	ok(fill(&s, env) == 1, "one that cannot be read is said");
	is_str(text_of(&s, "SSL_CERT_FILE"), CORP OURS, "one's own and ours, and no key");
	is_str(text_of(&s, "CURL_CA_BUNDLE"), CORP OURS, "also for curl");
	is_str(ab_env_get(&s.env, "REQUESTS_CA_BUNDLE"), ab_env_get(&s.env, "SSL_CERT_FILE"),
	       "a link is the same file");
	is_str(ab_env_get(&s.env, "PIP_CERT"), ab_env_get(&s.env, "SSL_CERT_FILE"),
	       "pip as requests");
	is_str(text_of(&s, "NODE_EXTRA_CA_CERTS"), CORP OURS, "node keeps it");
	is_str(text_of(&s, "DENO_CERT"), OURS, "deno had none");
	is_str(ab_env_get(&s.env, "GIT_SSL_CAINFO"), AB_TRUSTED_DIR "/ca-bundle.pem",
	       "git gets the machine's");
	ok(file_at(&s, store) != NULL, "a keystore behind a link");
	ab_spec_fini(&s);
}

static void check_masked(void)
{
	ab_autofree char *ssl = ab_printf("SSL_CERT_FILE=%s/corp.pem", dir);
	const char *const env[] = { ssl, NULL };
	struct ab_spec s = { 0 };
	size_t covered = 0;

	/* All of it is denied. */
	s.plan.v = ab_alloc(sizeof(s.plan.v[0]));
	s.plan.v[0] =
		(struct ab_mount){ .op = AB_MOUNT_MASK, .as = AB_AS_DIR, .path = ab_strdup("/") };
	s.plan.len = 1;
	ok(fill(&s, env) == 1, "what is denied is not read");
	for (size_t i = 0; i < s.nfiles; i++)
		covered += strncmp(s.files[i].path, "/dev/", 5) != 0;
	ok(covered == 0, "nor covered");
	is_str(text_of(&s, "SSL_CERT_FILE"), OURS, "ours is all there is");
	ab_spec_fini(&s);
}

int main(void)
{
	ab_autofree char *command = NULL;
	ab_autofree uint8_t *store = NULL;
	size_t len, ours = 0;

	if (!mkdtemp(dir) || chdir(dir) < 0 || mkdir("jvm", 0700) < 0 ||
	    mkdir("jvm/lib", 0700) < 0 || mkdir("jvm/lib/security", 0700) < 0 ||
	    symlink("corp.pem", "corp-link.pem") < 0 ||
	    symlink("../../../real", "jvm/lib/security/cacerts") < 0)
		abort();
	store = ab_keystore_new("", 0, "x", der, sizeof(der), &len);
	write_file("corp.pem", CORP KEY, strlen(CORP KEY));
	write_file("more.pem", OURS, strlen(OURS));
	write_file("real", store, len);
	check_table(ab_ca_store_bundles, "bundles");
	check_table(ab_ca_store_keystores, "keystores");
	for (size_t i = 0; i < AB_COUNT(names); i++)
		ours += ab_ca_store_variable(names[i]);
	ok(ours == AB_COUNT(names) && !ab_ca_store_variable("SSL_CERT_DIR") &&
		   !ab_ca_store_variable(""),
	   "variables of ours");
	check_roots();
	check_plain();
	check_own();
	check_masked();
	command = ab_printf("rm -rf %s", dir);
	ok(system(command) == 0, "clean up");
	return done();
}
