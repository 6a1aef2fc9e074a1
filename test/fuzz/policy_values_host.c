/*
 * Any bytes as a host, an entry, a range and a proxy's URL: what is accepted is canonical
 * (parses to itself) and holds no byte that another parser could read
 * differently; what is refused says why without a control character.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "policy/values/cidr.h"
#include "policy/values/complaint.h"
#include "policy/values/host.h"
#include "policy/values/proxy_url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_why(const struct ab_complaint *why)
{
	const char *texts[] = { why->wrong, why->right };

	for (int i = 0; i < 2; i++)
		for (const char *p = texts[i]; *p; p++)
			if ((unsigned char)*p < 0x20 || *p == 0x7f)
				abort();
}

static void check_host(const char *s, size_t n)
{
	struct ab_complaint why = { .right = "" };
	struct ab_host h, again;

	if (ab_host_parse(s, n, &h, &why) < 0) {
		check_why(&why);
		return;
	}
	if (strlen(h.text) > 253 ||
	    strspn(h.text, "abcdefghijklmnopqrstuvwxyz0123456789-_.:") != strlen(h.text))
		abort();
	if (ab_host_parse(h.text, strlen(h.text), &again, NULL) < 0 || again.kind != h.kind ||
	    strcmp(again.text, h.text) != 0 || memcmp(again.addr, h.addr, 16) != 0)
		abort();
}

static void check_entry(const char *s, size_t n)
{
	char a[AB_HOST_ENTRY_TEXT], b[AB_HOST_ENTRY_TEXT];
	struct ab_complaint why = { .right = "" };
	struct ab_host_entry e, again;
	char *list[] = { a };

	if (ab_host_entry_parse(s, n, &e, &why) < 0) {
		check_why(&why);
		return;
	}
	ab_host_entry_format(&e, a);
	if (ab_host_entry_parse(a, strlen(a), &again, NULL) < 0)
		abort();
	ab_host_entry_format(&again, b);
	if (strcmp(a, b) != 0 || !ab_hosts_cover(list, 1, a, false) ||
	    !ab_hosts_cover(list, 1, a, true))
		abort();
}

static void check_range(const char *s, size_t n)
{
	struct ab_complaint why = { .right = "" };
	char a[AB_CIDR_TEXT], b[AB_CIDR_TEXT];
	char *list[] = { a };
	struct ab_cidr c, again;

	if (ab_cidr_parse(s, n, &c, &why) < 0) {
		check_why(&why);
		return;
	}
	ab_cidr_format(&c, a);
	if (ab_cidr_parse(a, strlen(a), &again, NULL) < 0)
		abort();
	ab_cidr_format(&again, b);
	if (strcmp(a, b) != 0 || !ab_hosts_cover(list, 1, b, true))
		abort();
}

static void check_url(const char *s, size_t n)
{
	struct ab_complaint why = { .right = "" };
	struct ab_proxy_url url, again;
	char *a, *b, *shown;

	if (ab_proxy_url_parse(s, n, &url, &why) < 0) {
		check_why(&why);
		return;
	}
	a = ab_proxy_url_format(&url);
	if (ab_proxy_url_parse(a, strlen(a), &again, NULL) < 0)
		abort();
	b = ab_proxy_url_format(&again);
	shown = ab_proxy_url_redact(a);
	if (strcmp(a, b) != 0 || !strstr(shown, "***@") != !url.user_len ||
	    strchr(shown, '@') != strrchr(shown, '@'))
		abort();
	free(a);
	free(b);
	free(shown);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A copy of exactly this size: reading past it is seen. */
	char *s = malloc(size ? size : 1);

	if (size)
		memcpy(s, data, size);
	check_host(s, size);
	check_entry(s, size);
	check_range(s, size);
	check_url(s, size);
	free(s);
	return 0;
}
