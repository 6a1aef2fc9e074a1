#include "audit/write/audit.h"

/*
 * gmtime() first reads the machine's time zone, from files that a locked
 * supervisor may not open. So compute the date here: days are counted from
 * 0000-03-01 in eras of 400 years, which makes the leap day the last day of a
 * year.
 */
void ab_stamp(const struct timespec *at, char ret[AB_STAMP_ROOM])
{
	long long days = at->tv_sec / 86400 + 719468;
	unsigned int second = (unsigned int)(at->tv_sec % 86400);
	long long era = days / 146097;
	unsigned int doe = (unsigned int)(days - era * 146097);
	unsigned int yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	unsigned int doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	unsigned int mp = (5 * doy + 2) / 153;
	unsigned int day = doy - (153 * mp + 2) / 5 + 1;
	unsigned int month = mp < 10 ? mp + 3 : mp - 9;
	unsigned int year = (unsigned int)(yoe + era * 400) + (month <= 2);

	/* The remainders tell the compiler that it fits. */
	snprintf(ret, AB_STAMP_ROOM, "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ", year % 10000,
		 month % 100, day % 100, second / 3600 % 24, second / 60 % 60, second % 60,
		 (unsigned int)(at->tv_nsec / 1000000) % 1000);
}

void ab_record_open(struct ab_buf *line, const char *run_id, const char *kind)
{
	struct timespec now;
	char stamp[AB_STAMP_ROOM];

	clock_gettime(CLOCK_REALTIME, &now);
	ab_stamp(&now, stamp);
	ab_buf_jsonf(line, "{'timestamp':%s,'run_id':%s,'kind':%s", stamp, run_id, kind);
}

void ab_record_json(struct ab_buf *line, const char *key, const char *json)
{
	ab_buf_add(line, ",\"", 2);
	ab_buf_puts(line, key);
	ab_buf_add(line, "\":", 2);
	ab_buf_puts(line, json);
}

void ab_record_text(struct ab_buf *line, const char *key, const char *value)
{
	ab_record_json(line, key, "");
	ab_buf_json(line, value);
}

void ab_record_maybe(struct ab_buf *line, const char *key, const char *value)
{
	if (value && *value)
		ab_record_text(line, key, value);
	else
		ab_record_json(line, key, "null");
}

void ab_record_number(struct ab_buf *line, const char *key, int64_t value)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%lld", (long long)value);
	ab_record_json(line, key, digits);
}

void ab_record_list(struct ab_buf *line, const char *key, const struct ab_strv *values)
{
	ab_buf_jsonf(line, ",%s:%p", key, ab_list(values));
}
