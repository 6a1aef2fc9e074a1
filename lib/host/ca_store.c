#include "host/ca_store.h"

#include "policy/model/policy.h"
#include "policy/values/paths.h"
#include "workspace/tree/host_path.h"

enum { BUNDLE_MAX = 16 * 1024 * 1024 };

/* No path twice. The first that exists is the machine's own: the current path of each distribution
 * comes first, compatibility paths last. */
const char *const ab_ca_store_bundles[] = {
	"/etc/ssl/certs/ca-certificates.crt",		     /* Debian, Alpine, Arch */
	"/etc/pki/tls/certs/ca-bundle.crt",		     /* Fedora, RHEL */
	"/etc/ssl/ca-bundle.pem",			     /* SUSE */
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* RHEL 7 on */
	"/etc/ca-certificates/extracted/tls-ca-bundle.pem",  /* Arch */
	"/var/lib/ca-certificates/ca-bundle.pem",	     /* SUSE */
	"/etc/ssl/cert.pem",				     /* Alpine */
	"/etc/pki/tls/cert.pem",			     /* OpenSSL on Fedora */
	"/etc/pki/tls/cacert.pem",			     /* OpenELEC */
	"/etc/ssl/certs/ca-bundle.crt",			     /* NixOS */
	"/usr/lib/ssl/cert.pem",			     /* OpenSSL on Debian */
	"/usr/local/ssl/cert.pem",			     /* OpenSSL, built by hand */
	"/usr/share/ssl/certs/ca-bundle.crt",		     /* old Red Hat */
	NULL,
};

/* No path twice; order does not matter. */
const char *const ab_ca_store_keystores[] = {
	"/etc/ssl/certs/java/cacerts",		    /* Debian */
	"/etc/pki/ca-trust/extracted/java/cacerts", /* Fedora */
	"/etc/pki/java/cacerts",
	"/var/lib/ca-certificates/java-cacerts",	   /* SUSE */
	"/etc/ca-certificates/extracted/java-cacerts.jks", /* Arch */
	NULL,
};

int ab_ca_store_read(const char *path, char **ret, size_t *ret_len, struct ab_error *err)
{
	ab_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	if (ab_read_all(fd, BUNDLE_MAX, ret, ret_len) == 0)
		return 1;
	return ab_fail(err, AB_ESYSTEM, errno, "read certificates from %s", path);
}

static int add_root(const char *path, struct ab_buf *b, struct ab_error *err)
{
	ab_autofree char *data = NULL;
	size_t len;
	int r = ab_ca_store_read(path, &data, &len, err);

	if (r <= 0)
		return r;
	if (len > BUNDLE_MAX - b->len)
		return ab_fail(err, AB_ESYSTEM, EFBIG, "read certificates from %s", path);
	ab_buf_add(b, data, len);
	ab_buf_puts(b, "\n");
	return 1;
}

static int add_system_roots(char *const *env, struct ab_buf *b, struct ab_error *err)
{
	const char *own = ab_environ_get(env, "SSL_CERT_FILE");
	int r = own ? add_root(own, b, err) : 0;

	for (size_t i = 0; r == 0 && ab_ca_store_bundles[i]; i++)
		r = add_root(ab_ca_store_bundles[i], b, err);
	return r;
}

/* A box must not choose which file of the host's certificates are read from. */
static int refuse_link(const char *path, struct ab_error *err)
{
	ab_fail(err, AB_ECONFIG, 0,
		"network.roots: %s leads through a link that a box could have created", path);
	return ab_hint(err, "name the file itself");
}

int ab_ca_store_roots(const struct ab_policy *policy, char *const *env, char **ret_pem,
		      size_t *ret_len, struct ab_error *err)
{
	const struct ab_strv *more = &policy->net.roots;
	ab_autobuf struct ab_buf b = { 0 };

	if (add_system_roots(env, &b, err) < 0)
		return -1;
	for (size_t i = 0; i < more->len; i++) {
		bool led;
		ab_autofree char *real = ab_host_path_follow(&policy->fs.touched, more->v[i], &led);
		int r = led ? refuse_link(more->v[i], err)
			    : add_root(real ? real : more->v[i], &b, err);

		if (r == 0)
			ab_fail(err, AB_ECONFIG, 0, "network.roots: cannot read %s", more->v[i]);
		if (r <= 0)
			return -1;
	}
	if (b.len == 0) {
		ab_fail(err, AB_ESYSTEM, 0,
			"this machine has no CA certificates to check servers with");
		return ab_hint(err, "install the package ca-certificates, or name a PEM file in "
				    "network.roots");
	}
	*ret_len = b.len;
	*ret_pem = ab_buf_take(&b);
	return 0;
}
