#include "audit/read/words.h"

#include <ctype.h>

#include "audit/read/details.h"

void ab_words_target(struct ab_buf *b, const char *host, uint16_t port)
{
	ab_buf_printf(b, strchr(host, ':') ? "[%s]" : "%s", host);
	if (port)
		ab_buf_printf(b, ":%u", port);
}

void ab_words_denied(struct ab_buf *b, const char *about, const char *reason, const char *rule,
		     const char *id)
{
	ab_buf_printf(b, "agentbox denied %s%s%s (rule %s, id %s).\n", about, *reason ? ": " : "",
		      reason, rule, id);
}

void ab_words_safe(struct ab_buf *b, const char *fmt, ...)
{
	ab_autofree char *text = NULL;
	size_t len;
	va_list ap;

	va_start(ap, fmt);
	text = ab_vprintf(fmt, ap);
	va_end(ap);
	len = strlen(text) - (fmt[strlen(fmt) - 1] == '\n');
	ab_buf_escape_n(b, text, len);
	ab_buf_puts(b, text + len);
}

void ab_words_clause(struct ab_buf *b, const char *sentence)
{
	size_t at = b->len;

	ab_buf_escape(b, sentence);
	if (b->len > at + 1 && b->data[b->len - 1] == '.')
		b->data[--b->len] = '\0';
	if (b->len > at + 1 && isupper((unsigned char)b->data[at]) &&
	    !isupper((unsigned char)b->data[at + 1]))
		b->data[at] = (char)tolower((unsigned char)b->data[at]);
}

void ab_words_short(struct ab_buf *b, const char *text, size_t most)
{
	ab_autofree char *safe = ab_escape(text);
	size_t n = 0, step;

	if (strlen(safe) <= most) {
		ab_buf_puts(b, safe);
		return;
	}
	while ((step = ab_printable(safe + n, strlen(safe + n))) > 0 && n + step <= most - 3)
		n += step;
	ab_buf_add(b, safe, n);
	ab_buf_puts(b, "...");
}

size_t ab_words_chain(struct ab_buf *b, const struct ab_detail *chain, size_t most)
{
	static const char *const names[] = { "pid", "exe" };
	struct ab_detail one, f[AB_COUNT(names)];
	size_t at = 0, n = 0;

	while (n < most && ab_detail_next(chain, &at, &one)) {
		ab_autofree char *exe = NULL;

		if (ab_details_find(one.at, one.len, names, AB_COUNT(names), f) < 0)
			break;
		exe = ab_detail_dup(&f[1]);
		if (!exe || !*exe)
			break;
		ab_buf_puts(b, n++ ? ", started by " : "");
		ab_buf_escape(b, ab_path_name(exe));
		if (ab_detail_number(&f[0], 0) > 0)
			ab_buf_printf(b, ", pid %lld", (long long)ab_detail_number(&f[0], 0));
	}
	return n;
}

const char *ab_words_size(uint64_t bytes, char ret[AB_AMOUNT_ROOM])
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	uint64_t tenths = bytes * 10;
	size_t unit = 0;

	if (bytes > UINT64_MAX / 10) {
		snprintf(ret, AB_AMOUNT_ROOM, "%.1f EiB", (double)bytes / (1ull << 60));
		return ret;
	}
	/* 1023.96 KiB would be written 1024.0. */
	for (; tenths >= 10235 && unit + 1 < AB_COUNT(units); unit++)
		tenths = (tenths + 512) / 1024;
	if (unit == 0 || tenths >= 100)
		snprintf(ret, AB_AMOUNT_ROOM, "%llu %s", (unsigned long long)(tenths + 5) / 10,
			 units[unit]);
	else
		snprintf(ret, AB_AMOUNT_ROOM, "%llu.%llu %s", (unsigned long long)tenths / 10,
			 (unsigned long long)tenths % 10, units[unit]);
	return ret;
}

/* "4m 10s", "4m" */
static void put_two(char ret[AB_AMOUNT_ROOM], unsigned long long a, char unit, unsigned long long b,
		    char smaller)
{
	if (b)
		snprintf(ret, AB_AMOUNT_ROOM, "%llu%c %llu%c", a, unit, b, smaller);
	else
		snprintf(ret, AB_AMOUNT_ROOM, "%llu%c", a, unit);
}

const char *ab_words_time(uint64_t ms, char ret[AB_AMOUNT_ROOM])
{
	unsigned long long s = ms / 1000;

	if (ms < 1000)
		snprintf(ret, AB_AMOUNT_ROOM, "%llu ms", (unsigned long long)ms);
	else if (s < 60)
		snprintf(ret, AB_AMOUNT_ROOM, "%llu.%llu s", s, (unsigned long long)ms / 100 % 10);
	else if (s < 3600)
		put_two(ret, s / 60, 'm', s % 60, 's');
	else if (s < 2 * 86400)
		put_two(ret, s / 3600, 'h', s / 60 % 60, 'm');
	else
		put_two(ret, s / 86400, 'd', s / 3600 % 24, 'h');
	return ret;
}
