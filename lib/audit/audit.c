#include "audit/audit.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"

void ab_record_open(struct ab_buf *line, const char *run_id, const char *kind)
{
	struct timespec now;
	struct tm tm;
	char stamp[40];

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S", &tm);
	ab_buf_printf(line, "{\"timestamp\":\"%s.%03ldZ\"", stamp,
		      now.tv_nsec / 1000000);
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
