#include "base/text/units.h"

struct unit {
	const char *name;
	uint64_t factor;
};

/* Largest first: formatting takes the first that divides. */
static const struct unit sizes[] = {
	{ "T", 1ULL << 40 }, { "G", 1ULL << 30 }, { "M", 1ULL << 20 },
	{ "K", 1ULL << 10 }, { "", 1 },
};
static const struct unit durations[] = {
	{ "d", 86400000 }, { "h", 3600000 }, { "m", 60000 }, { "s", 1000 }, { "ms", 1 },
};

bool ab_parse_digits(const char *s, size_t len, uint64_t *ret)
{
	uint64_t n = 0;

	if (len == 0 || len > 18) /* fewer than could overflow */
		return false;
	for (; len > 0; s++, len--) {
		if (!ab_is_digit(*s))
			return false;
		n = n * 10 + (uint64_t)(*s - '0');
	}
	*ret = n;
	return true;
}

static int parse_digits(const char **s, uint64_t *ret)
{
	uint64_t n = 0;
	const char *p = *s;

	for (; ab_is_digit(*p); p++)
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n))
			return -1;
	if (p == *s)
		return -1;
	*s = p;
	*ret = n;
	return 0;
}

int ab_parse_size(const char *s, uint64_t *ret_bytes)
{
	uint64_t n;

	if (parse_digits(&s, &n) < 0)
		return -1;
	for (size_t i = 0; i < AB_COUNT(sizes); i++) {
		const struct unit *u = &sizes[i];

		/* "4G", "4GiB": the same. */
		if (strncmp(s, u->name, strlen(u->name)) != 0)
			continue;
		s += strlen(u->name);
		if (u->factor > 1 && strcmp(s, "iB") == 0)
			s += 2;
		if (*s || __builtin_mul_overflow(n, u->factor, &n))
			return -1;
		*ret_bytes = n;
		return 0;
	}
	return -1;
}

int ab_parse_duration(const char *s, uint64_t *ret_ms)
{
	uint64_t total = 0, last = UINT64_MAX;

	do {
		const struct unit *u = NULL;
		uint64_t n;
		size_t len;

		if (parse_digits(&s, &n) < 0)
			return -1;
		len = strcspn(s, "0123456789");
		for (size_t i = 0; i < AB_COUNT(durations); i++)
			if (strlen(durations[i].name) == len &&
			    strncmp(durations[i].name, s, len) == 0)
				u = &durations[i];
		if (len == 0 && last == UINT64_MAX)
			u = &durations[3]; /* a bare number: seconds */
		if (!u || u->factor >= last || __builtin_mul_overflow(n, u->factor, &n) ||
		    __builtin_add_overflow(total, n, &total))
			return -1;
		last = u->factor;
		s += len;
	} while (*s);
	*ret_ms = total;
	return 0;
}

const char *ab_format_size(uint64_t bytes, char buf[24])
{
	size_t i = 0;

	while (bytes % sizes[i].factor || (bytes == 0 && sizes[i].factor > 1))
		i++;
	snprintf(buf, 24, "%llu%s", (unsigned long long)(bytes / sizes[i].factor), sizes[i].name);
	return buf;
}

const char *ab_round_size(uint64_t bytes, char buf[24])
{
	uint64_t unit = 1;

	while (bytes / unit >= 10 * 1024)
		unit *= 1024;
	return ab_format_size(bytes - bytes % unit, buf);
}

const char *ab_format_duration(uint64_t ms, char buf[48])
{
	size_t n = 0;

	if (ms == 0)
		snprintf(buf, 48, "0s");
	for (size_t i = 0; i < AB_COUNT(durations) && ms; i++) {
		uint64_t count = ms / durations[i].factor;

		if (count)
			n += (size_t)snprintf(buf + n, 48 - n, "%llu%s", (unsigned long long)count,
					      durations[i].name);
		ms %= durations[i].factor;
	}
	return buf;
}
