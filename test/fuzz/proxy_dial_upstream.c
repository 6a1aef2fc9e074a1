/*
 * The first byte chooses: an upstream proxy's answer, its URL, or a NO_PROXY.
 * A head that is taken is the same however it arrives; a URL that is taken
 * gives a request without stray line ends; what is refused is not quoted.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "proxy/dial/upstream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_reply(const char *s, size_t len)
{
	int status = 0, again = 0;
	ssize_t n = ab_upstream_reply(s, len, &status);

	if (n > (ssize_t)len || n > AB_UPSTREAM_HEAD)
		abort();
	if (n > 0 && (status < 100 || status > 999 || memcmp(s + n - 2, "\r\n", 2) != 0 ||
		      ab_upstream_reply(s, (size_t)n, &again) != n || again != status ||
		      ab_upstream_reply(s, (size_t)n - 1, &again) != 0))
		abort();
}

static void check_url(const char *url)
{
	struct ab_upstream *u = NULL;
	struct ab_error err = { .code = AB_ENONE };
	char *request;
	int lines = 0;

	if (ab_upstream_parse(url, &u, &err) < 0) {
		if (u || !err.text[0])
			abort();
		return;
	}
	request = ab_upstream_request(u, &u->host, u->port);
	for (char *p = strchr(request, '\n'); p; p = strchr(p + 1, '\n'))
		lines++;
	if (!u->port || lines != (u->credentials ? 4 : 3))
		abort();
	free(request);
	ab_upstream_free(u);
}

static void check_bypass(char *text)
{
	static const char *const hosts[] = { "a.b", "10.0.0.1", "fd00::1" };
	struct ab_upstream u = { .bypass = text };

	for (size_t i = 0; i < AB_COUNT(hosts); i++) {
		struct ab_host host;

		if (ab_host_parse(hosts[i], strlen(hosts[i]), &host, NULL) < 0)
			abort();
		ab_upstream_bypasses(&u, &host, 443);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *s;

	if (size == 0)
		return 0;
	/* A copy of exactly this size: reading past it is seen. */
	if (data[0] % 3 == 0) {
		s = malloc(size);
		memcpy(s, data + 1, size - 1);
		s = realloc(s, size > 1 ? size - 1 : 1);
		check_reply(s, size - 1);
	} else {
		s = ab_strndup((const char *)data + 1, size - 1);
		if (data[0] % 3 == 1)
			check_url(s);
		else
			check_bypass(s);
	}
	free(s);
	return 0;
}
