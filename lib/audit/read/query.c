#include "audit/read/query.h"

#include <strings.h>

#include "audit/read/details.h"
#include "base/text/units.h"

/* Read exactly n digits. Returns the end, or NULL. */
static const char *take_digits(const char *p, int n, int *ret)
{
	*ret = 0;
	for (; n > 0; n--, p++) {
		if (*p < '0' || *p > '9')
			return NULL;
		*ret = *ret * 10 + (*p - '0');
	}
	return p;
}

static int count_days(int year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return month == 2 && leap ? 29 : days[month - 1];
}

struct moment {
	struct tm tm;
	int ms;
	bool zoned;  /* it has a time zone; else local time */
	int minutes; /* east of Greenwich */
};

static const char *take_date(const char *p, struct tm *ret)
{
	int year, month, day;

	p = take_digits(p, 4, &year);
	p = p && *p == '-' ? take_digits(p + 1, 2, &month) : NULL;
	p = p && *p == '-' ? take_digits(p + 1, 2, &day) : NULL;
	if (!p || year < 1970 || month < 1 || month > 12 || day < 1 ||
	    day > count_days(year, month))
		return NULL;
	*ret = (struct tm){
		.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day, .tm_isdst = -1
	};
	return p;
}

/* "12:00", "12:00:00", "12:00:00.123" */
static const char *take_clock(const char *p, struct moment *ret)
{
	p = take_digits(p, 2, &ret->tm.tm_hour);
	p = p && *p == ':' ? take_digits(p + 1, 2, &ret->tm.tm_min) : NULL;
	if (!p || ret->tm.tm_hour > 23 || ret->tm.tm_min > 59)
		return NULL;
	if (*p != ':')
		return p;
	p = take_digits(p + 1, 2, &ret->tm.tm_sec);
	if (!p || ret->tm.tm_sec > 60)
		return NULL;
	if (*p != '.')
		return p;
	if (*++p < '0' || *p > '9')
		return NULL;
	for (int unit = 100; *p >= '0' && *p <= '9'; p++, unit /= 10)
		ret->ms += (*p - '0') * unit;
	return p;
}

static const char *take_zone(const char *p, struct moment *ret)
{
	int hours, minutes, sign = *p == '-' ? -1 : 1;

	ret->zoned = *p != '\0';
	if (*p == '\0')
		return p;
	if (*p == 'Z' || *p == 'z')
		return p + 1;
	if (*p != '+' && *p != '-')
		return NULL;
	p = take_digits(p + 1, 2, &hours);
	p = p && *p == ':' ? take_digits(p + 1, 2, &minutes) : NULL;
	if (!p || hours > 23 || minutes > 59)
		return NULL;
	ret->minutes = sign * (hours * 60 + minutes);
	return p;
}

static int parse_date(const char *text, struct timespec *ret)
{
	struct moment m = { 0 };
	const char *p = take_date(text, &m.tm);

	if (p && *p && (strchr("Tt ", *p) == NULL))
		return -1;
	if (p && *p)
		p = take_clock(p + 1, &m);
	if (p)
		p = take_zone(p, &m);
	if (!p || *p)
		return -1;
	ret->tv_sec = m.zoned ? timegm(&m.tm) - 60L * m.minutes : mktime(&m.tm);
	ret->tv_nsec = m.ms * 1000000L;
	return ret->tv_sec < 0 ? -1 : 0;
}

int ab_time_parse(const char *text, const struct timespec *now, char ret[AB_STAMP_ROOM])
{
	struct timespec at = *now;
	uint64_t ms;

	if (ab_parse_duration(text, &ms) == 0) {
		uint64_t then = (uint64_t)now->tv_sec * 1000 + (uint64_t)now->tv_nsec / 1000000;

		then = ms < then ? then - ms : 0;
		at.tv_sec = (time_t)(then / 1000);
		at.tv_nsec = (long)(then % 1000) * 1000000;
	} else if (parse_date(text, &at) < 0) {
		return -1;
	}
	ab_stamp(&at, ret);
	return 0;
}

int64_t ab_time_ms(const char *stamp)
{
	struct timespec at;

	if (strlen(stamp) != 24 || stamp[10] != 'T' || stamp[23] != 'Z' ||
	    parse_date(stamp, &at) < 0)
		return -1;
	return (int64_t)at.tv_sec * 1000 + at.tv_nsec / 1000000;
}

const char *ab_time_local(const char *stamp, char ret[AB_LOCAL_ROOM])
{
	int64_t ms = ab_time_ms(stamp);
	time_t t = (time_t)(ms / 1000);
	struct tm tm;

	if (ms < 0 || !localtime_r(&t, &tm) ||
	    !strftime(ret, AB_LOCAL_ROOM, "%Y-%m-%d %H:%M:%S", &tm))
		snprintf(ret, AB_LOCAL_ROOM, "%-19s", "(no time)");
	return ret;
}

/* clang-format off */
#define WANTED(X) \
	X(TIMESTAMP, "timestamp") X(KIND, "kind") X(ALLOWED, "allowed") X(DOMAIN, "domain") \
	X(ENTRY, "entry")
/* clang-format on */
AB_MEMBERS(WANTED)

/* A grant has no domain but an entry, "x.y:443". */
static bool is_host(const char *wanted, const struct ab_detail m[])
{
	bool entry = m[M_DOMAIN].kind != AB_DETAIL_TEXT;
	char host[512], *port;
	size_t len = ab_detail_copy(&m[entry ? M_ENTRY : M_DOMAIN], host, sizeof(host));
	size_t tail;

	port = entry ? strrchr(host, ':') : NULL;
	if (port) {
		*port = '\0';
		len = (size_t)(port - host);
	}
	if (strncmp(wanted, "*.", 2) != 0)
		return strcasecmp(wanted, host) == 0;
	tail = strlen(wanted + 1);
	return len > tail && strcasecmp(host + len - tail, wanted + 1) == 0;
}

/* Records without a verdict match neither. */
static bool has_verdict(enum ab_query_verdict verdict, const struct ab_detail *f)
{
	return verdict == AB_QUERY_ANY ||
	       f->kind == (verdict == AB_QUERY_ALLOWED ? AB_DETAIL_TRUE : AB_DETAIL_FALSE);
}

bool ab_query_empty(const struct ab_query *query)
{
	return query->verdict == AB_QUERY_ANY && !query->host && !query->kind && !query->since[0] &&
	       !query->until[0];
}

int ab_query_matches(const struct ab_query *query, const char *line, size_t len)
{
	struct ab_detail m[M_COUNT];
	char stamp[AB_STAMP_ROOM];

	if (ab_details_find(line, len, members, M_COUNT, m) < 0)
		return -1;
	ab_detail_copy(&m[M_TIMESTAMP], stamp, sizeof(stamp));
	return (!query->since[0] || strcmp(stamp, query->since) >= 0) &&
	       (!query->until[0] || strcmp(stamp, query->until) < 0) &&
	       (!query->kind || ab_detail_is(&m[M_KIND], query->kind)) &&
	       has_verdict(query->verdict, &m[M_ALLOWED]) &&
	       (!query->host || is_host(query->host, m));
}
