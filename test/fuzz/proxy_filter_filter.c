/*
 * Any text as lists and hosts: lines that begin with + are allowed, with -
 * denied, with ~ private ranges that are lifted; others are hosts, with a port
 * behind a space. Decisions are those of walking the lists, and whatever is
 * asked, an answer comes.
 */
#include "../unit/proxy_filter_walk.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/data/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct ab_addr own_address[] = { { false, { 198, 51, 100, 9 } } };
static const struct ab_own own = { .v = own_address, .len = 1 };

static void add(struct ab_policy *p, const char *line, size_t len)
{
	struct ab_strv *to = line[0] == '+'   ? &p->net.allow
			     : line[0] == '-' ? &p->net.deny
					      : &p->net.allow_private;
	char text[AB_HOST_ENTRY_TEXT];
	struct ab_host_entry e;
	struct ab_cidr c;

	if (line[0] == '~') {
		if (ab_cidr_parse(line + 1, len - 1, &c, NULL) < 0)
			return;
		ab_cidr_format(&c, text);
	} else {
		if (ab_host_entry_parse(line + 1, len - 1, &e, NULL) < 0)
			return;
		ab_host_entry_format(&e, text);
	}
	ab_strv_add(to, text);
}

static void judge(const struct ab_policy *p, const struct ab_filter *f, const char *line,
		  size_t len)
{
	const char *space = memchr(line, ' ', len);
	size_t n = space ? (size_t)(space - line) : len;
	struct ab_verdict v, r;
	enum ab_access access;
	enum ab_basis basis;
	uint16_t port = 443;
	struct ab_host h;

	if (ab_host_parse(line, n, &h, NULL) < 0)
		return;
	if (space)
		ab_port_parse(space + 1, len - n - 1, &port);
	access = walk_all(p, &own, &h, port, &basis);
	ab_filter_judge(f, &own, &h, port, &v);
	if (v.access != access || v.basis != basis || !v.entry)
		abort();
	if (h.kind == AB_HOST_NAME && access != AB_ACCESS_DENY && !ab_filter_resolvable(f, &h, &r))
		abort();
	if (ab_filter_address(f, &own, &h, port, &r) !=
	    (h.kind != AB_HOST_NAME && basis != AB_BASIS_RANGE && basis != AB_BASIS_OWN &&
	     basis != AB_BASIS_DENY))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ab_policy p = { .profile = "" };
	struct ab_filter *f = NULL;
	const char *s = (const char *)data, *end = s + size;

	/* First the lists, then the hosts. */
	for (int hosts = 0; hosts < 2; hosts++) {
		for (const char *line = s; line < end;) {
			const char *next = memchr(line, '\n', (size_t)(end - line));
			size_t len = (size_t)((next ? next : end) - line);
			bool entry = len > 0 && strchr("+-~", line[0]) && line[0];

			if (entry && !hosts)
				add(&p, line, len);
			else if (!entry && hosts)
				judge(&p, f, line, len);
			line += len + 1;
		}
		if (!hosts) {
			p.net.unknown = size % 2 ? AB_UNKNOWN_ASK : AB_UNKNOWN_DENY;
			f = ab_filter_new(&p);
		}
	}
	ab_filter_free(f);
	ab_strv_fini(&p.net.allow);
	ab_strv_fini(&p.net.deny);
	ab_strv_fini(&p.net.allow_private);
	return 0;
}
