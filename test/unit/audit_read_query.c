/*
 * Which records are meant, and what people write for a time.
 */
#include "audit/read/query.h"

#include <stdlib.h>
#include <string.h>

#include "base/data/mem.h"
#include "tap.h"

static const struct timespec now = { .tv_sec = 1769860800, .tv_nsec = 250000000 };

static void check_times(void)
{
	static const struct {
		const char *text, *stamp; /* NULL: no time */
	} cases[] = {
		{ "0", "2026-01-31T12:00:00.250Z" },
		{ "10m", "2026-01-31T11:50:00.250Z" },
		{ "1h30m", "2026-01-31T10:30:00.250Z" },
		{ "500ms", "2026-01-31T11:59:59.750Z" },
		{ "99999d", "1970-01-01T00:00:00.000Z" },
		{ "2026-01-31T12:00:00Z", "2026-01-31T12:00:00.000Z" },
		{ "2026-01-31t12:00:00.5z", "2026-01-31T12:00:00.500Z" },
		{ "2026-01-31T12:00:00.123456Z", "2026-01-31T12:00:00.123Z" },
		{ "2026-01-31T12:00:00+02:00", "2026-01-31T10:00:00.000Z" },
		{ "2026-01-31T12:00:00-05:30", "2026-01-31T17:30:00.000Z" },
		/* Here is an hour east of Greenwich. */
		{ "2026-01-31 12:00", "2026-01-31T11:00:00.000Z" },
		{ "2026-01-31", "2026-01-30T23:00:00.000Z" },
		{ "2024-02-29", "2024-02-28T23:00:00.000Z" },
		{ "2026-02-29", NULL },
		{ "2026-13-01", NULL },
		{ "2026-00-01", NULL },
		{ "2026-01-00", NULL },
		{ "2026-01-31 24:00", NULL },
		{ "2026-01-31 12:60", NULL },
		{ "2026-01-31 12", NULL },
		{ "2026-01-31 12:00 ", NULL },
		{ "2026-01-31T12:00:00.Z", NULL },
		{ "2026-01-31T12:00:00+2", NULL },
		{ "2026-01-31x", NULL },
		{ "1969-01-01T00:00:00Z", NULL },
		{ "yesterday", NULL },
		{ "10x", NULL },
		{ "", NULL },
		{ "-10m", NULL },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		char stamp[AB_STAMP_ROOM];
		int r = ab_time_parse(cases[i].text, &now, stamp);

		is_str(r == 0 ? stamp : NULL, cases[i].stamp, cases[i].text);
	}
}

static void check_local(void)
{
	char text[AB_LOCAL_ROOM];

	is_str(ab_time_local("2026-01-31T12:00:00.250Z", text), "2026-01-31 13:00:00",
	       "a stamp by this machine's clock");
	ok(strlen(ab_time_local("2026\033", text)) == 19, "what is no stamp is not shown");
	ok(ab_time_ms("1970-01-01T00:00:01.005Z") == 1005, "milliseconds");
	ok(ab_time_ms("1970-01-01T00:00:01Z") == -1 && ab_time_ms("") == -1 &&
		   ab_time_ms("1970-01-01T00:00:01.005+") == -1,
	   "of what is spelled like a stamp only");
}

#define LINE(kind, more) \
	"{\"timestamp\":\"2026-01-31T12:00:00.000Z\",\"kind\":\"" kind "\"" more "}"

static void check_queries(void)
{
	static const char request[] = LINE("request", ",\"domain\":\"a.x.y\",\"allowed\":true");
	static const char violation[] = LINE("violation", ",\"domain\":\"x.y\",\"allowed\":false");
	static const char grant[] = LINE("grant", ",\"entry\":\"x.y:443\",\"allowed\":true");
	static const char start[] = LINE("start", "");
	static const struct {
		struct ab_query query;
		bool request, violation, grant, start;
	} cases[] = {
		{ { 0 }, true, true, true, true },
		{ { .verdict = AB_QUERY_ALLOWED }, true, false, true, false },
		{ { .verdict = AB_QUERY_DENIED }, false, true, false, false },
		{ { .host = "x.y" }, false, true, true, false },
		{ { .host = "X.Y" }, false, true, true, false },
		{ { .host = "*.x.y" }, true, false, false, false },
		{ { .host = "*.y" }, true, true, true, false },
		{ { .host = ".y" }, false, false, false, false },
		{ { .host = "" }, false, false, false, true },
		{ { .kind = "start" }, false, false, false, true },
		{ { .since = "2026-01-31T12:00:00.000Z" }, true, true, true, true },
		{ { .since = "2026-01-31T12:00:00.001Z" }, false, false, false, false },
		{ { .until = "2026-01-31T12:00:00.000Z" }, false, false, false, false },
		{ { .until = "2026-01-31T12:00:00.001Z" }, true, true, true, true },
		{ { .host = "x.y", .verdict = AB_QUERY_DENIED }, false, true, false, false },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		const struct ab_query *q = &cases[i].query;

		ok(ab_query_matches(q, request, strlen(request)) == cases[i].request &&
			   ab_query_matches(q, violation, strlen(violation)) ==
				   cases[i].violation &&
			   ab_query_matches(q, grant, strlen(grant)) == cases[i].grant &&
			   ab_query_matches(q, start, strlen(start)) == cases[i].start,
		   "query %zu", i);
		ok(ab_query_empty(q) == (i == 0), "is it everything?");
	}
	ok(ab_query_matches(&cases[0].query, "{\"torn", 6) == -1, "what is no record");
}

int main(void)
{
	setenv("TZ", "XXX-1", 1);
	check_times();
	check_local();
	check_queries();
	return done();
}
