#include "audit/read/words.h"

#include <string.h>

#include "audit/read/details.h"
#include "base/data/buf.h"
#include "base/data/mem.h"

void ab_words_target(struct ab_buf *b, const char *host, uint16_t port)
{
	ab_buf_printf(b, strchr(host, ':') ? "[%s]" : "%s", host);
	if (port)
		ab_buf_printf(b, ":%u", port);
}

void ab_words_blocked(struct ab_buf *b, const struct ab_blocked *blocked)
{
	ab_buf_puts(b, "agentbox blocked ");
	ab_words_target(b, blocked->host, blocked->port);
	ab_buf_printf(b, ": %s (rule %s, id %s).\n", blocked->reason, blocked->rule, blocked->id);
}

enum {
	M_KIND,
	M_DOMAIN,
	M_PORT,
	M_PROTOCOL,
	M_COMMAND,
	M_PATH,
	M_DOOR,
	M_ACCESS,
	M_CALL,
	M_REASON,
	M_COUNT,
};

static const char *const members[M_COUNT] = {
	[M_KIND] = "kind",	   [M_DOMAIN] = "domain",   [M_PORT] = "port",
	[M_PROTOCOL] = "protocol", [M_COMMAND] = "command", [M_PATH] = "path",
	[M_DOOR] = "door",	   [M_ACCESS] = "access",   [M_CALL] = "call",
	[M_REASON] = "reason",
};

static void add_escaped(struct ab_buf *b, const struct ab_detail *f)
{
	ab_autofree char *text = ab_detail_dup(f);

	ab_buf_escape(b, text ? text : "");
}

static void add_program(struct ab_buf *b, const struct ab_detail m[])
{
	if (m[M_COMMAND].kind == AB_DETAIL_TEXT) {
		add_escaped(b, &m[M_COMMAND]);
	} else if (m[M_PATH].kind == AB_DETAIL_TEXT) {
		add_escaped(b, &m[M_PATH]);
	} else {
		ab_buf_puts(b, "programs");
	}
}

/* "write /etc/x"; a call that has no path is all there is to say. */
static void add_file(struct ab_buf *b, const struct ab_detail m[])
{
	bool path = m[M_PATH].kind == AB_DETAIL_TEXT;
	bool access = m[M_ACCESS].kind == AB_DETAIL_TEXT;

	if (!path && !access && m[M_CALL].kind != AB_DETAIL_TEXT) {
		ab_buf_puts(b, "files or calls");
		return;
	}
	add_escaped(b, access ? &m[M_ACCESS] : &m[M_CALL]);
	if (path)
		ab_buf_puts(b, " ");
	add_escaped(b, &m[M_PATH]);
}

static void add_host(struct ab_buf *b, const struct ab_detail m[])
{
	int64_t port = ab_detail_number(&m[M_PORT], 0);
	ab_autofree char *host = ab_detail_dup(&m[M_DOMAIN]);
	ab_autofree char *safe = host ? ab_escape(host) : NULL;

	if (safe) {
		ab_words_target(b, safe, (uint16_t)port);
	} else if (m[M_PROTOCOL].kind == AB_DETAIL_TEXT) {
		add_escaped(b, &m[M_PROTOCOL]);
		ab_buf_puts(b, " packets");
	} else {
		ab_buf_puts(b, "other hosts");
	}
}

static void add_about(struct ab_buf *b, const struct ab_detail m[])
{
	if (ab_detail_is(&m[M_KIND], "exec"))
		add_program(b, m);
	else if (ab_detail_is(&m[M_DOOR], "file") || ab_detail_is(&m[M_DOOR], "call"))
		add_file(b, m);
	else
		add_host(b, m);
}

void ab_words_about(struct ab_buf *b, const char *line, size_t len)
{
	struct ab_detail m[M_COUNT];

	if (ab_details_find(line, len, members, M_COUNT, m) == 0)
		add_about(b, m);
}

void ab_words_denial(struct ab_buf *b, const char *line, size_t len)
{
	struct ab_detail m[M_COUNT];

	if (ab_details_find(line, len, members, M_COUNT, m) < 0)
		return;
	add_about(b, m);
	if (m[M_REASON].kind == AB_DETAIL_TEXT) {
		ab_buf_puts(b, "  ");
		add_escaped(b, &m[M_REASON]);
	}
}
