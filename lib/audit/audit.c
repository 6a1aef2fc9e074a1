#include "audit/audit.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"

/*
 * By hand and not by gmtime(): that one reads the machine's time zone first,
 * from files that a locked supervisor may not open. Days since the epoch to a
 * date: counted from 0000-03-01 in eras of 400 years, so that the leap day is
 * the last one of a year.
 */
void ab_stamp(const struct timespec *at, char ret[AB_STAMP_ROOM])
{
	long long days = at->tv_sec / 86400 + 719468;
	unsigned int second = (unsigned int)(at->tv_sec % 86400);
	long long era = days / 146097;
	unsigned int doe = (unsigned int)(days - era * 146097);
	unsigned int yoe =
		(doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	unsigned int doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	unsigned int mp = (5 * doy + 2) / 153;
	unsigned int day = doy - (153 * mp + 2) / 5 + 1;
	unsigned int month = mp < 10 ? mp + 3 : mp - 9;
	long long year = (long long)yoe + era * 400 + (month <= 2);

	snprintf(ret, AB_STAMP_ROOM, "%04lld-%02u-%02uT%02u:%02u:%02u.%03ldZ",
		 year, month, day, second / 3600, second / 60 % 60,
		 second % 60, at->tv_nsec / 1000000);
}

void ab_record_open(struct ab_buf *line, const char *run_id, const char *kind)
{
	struct timespec now;
	char stamp[AB_STAMP_ROOM];

	clock_gettime(CLOCK_REALTIME, &now);
	ab_stamp(&now, stamp);
	ab_buf_printf(line, "{\"timestamp\":\"%s\"", stamp);
	ab_record_text(line, "run_id", run_id);
	ab_record_text(line, "kind", kind);
}

void ab_record_json(struct ab_buf *line, const char *key, const char *json)
{
	ab_buf_printf(line, ",\"%s\":%s", key, json);
}

void ab_record_text(struct ab_buf *line, const char *key, const char *value)
{
	ab_record_json(line, key, "");
	ab_buf_json(line, value);
}

void ab_record_number(struct ab_buf *line, const char *key, int64_t value)
{
	ab_buf_printf(line, ",\"%s\":%lld", key, (long long)value);
}

void ab_record_list(struct ab_buf *line, const char *key,
		    const struct ab_strv *values)
{
	ab_record_json(line, key, "[");
	for (size_t i = 0; i < values->len; i++) {
		if (i)
			ab_buf_puts(line, ",");
		ab_buf_json(line, values->v[i]);
	}
	ab_buf_puts(line, "]");
}

int ab_record_write(int fd, struct ab_buf *line, struct ab_error *err)
{
	ssize_t n;
	size_t len;

	ab_buf_puts(line, "}\n");
	len = line->len;
	do {
		n = write(fd, line->data, len);
	} while (n < 0 && errno == EINTR);
	ab_buf_fini(line);
	if (n == (ssize_t)len)
		return 0;
	return ab_fail(err, AB_ESYSTEM, n < 0 ? errno : ENOSPC,
		       "write the record of the run");
}
