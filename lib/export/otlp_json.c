#include "export/otlp_json.h"

#include "audit/read/details.h"
#include "audit/read/query.h"
#include "audit/read/sentences.h"

/* Numbers of the logs data model. */
enum { INFO = 9, WARN = 13, ERROR = 17 };

static const char *name_severity(int severity)
{
	return severity == ERROR ? "ERROR" : severity == WARN ? "WARN" : "INFO";
}

/* A member of a record as an attribute. All of the record is in log.record.original. */
static const struct mapped {
	const char *member, *attribute;
} mapped[] = {
	{ "run_id", "agentbox.run_id" },
	{ "kind", "agentbox.kind" },
	{ "id", "agentbox.denial_id" },
	{ "allowed", "agentbox.allowed" },
	{ "rule", "agentbox.rule" },
	{ "reason", "agentbox.reason" },
	{ "decision", "agentbox.decision" },
	{ "door", "agentbox.door" },
	{ "call", "agentbox.call" },
	{ "access", "agentbox.access" },
	{ "name", "agentbox.name" },
	{ "repeated", "agentbox.repeated" },
	{ "machine", "agentbox.machine" },
	{ "error", "error.message" },
	{ "domain", "server.address" },
	{ "port", "server.port" },
	{ "method", "http.request.method" },
	{ "bytes_up", "http.request.size" },
	{ "bytes_down", "http.response.size" },
	{ "status", NULL }, /* of an answer, or of a process */
	{ "path", NULL },   /* of a URL, or of a file */
	{ "timestamp", NULL },
};

enum { N = AB_COUNT(mapped), M_KIND = 1, M_ALLOWED = 3, M_ERROR = 13, M_DOMAIN = 14 };
enum { M_STATUS = N - 3, M_PATH = N - 2, M_TIMESTAMP = N - 1 };

void ab_otlp_open(struct ab_buf *b, const char *machine)
{
	ab_buf_jsonf(b,
		     "{'resourceLogs':[{'resource':{'attributes':["
		     "{'key':'service.name','value':{'stringValue':'agentbox'}},"
		     "{'key':'service.version','value':{'stringValue':'" AB_VERSION "'}},"
		     "{'key':'host.name','value':{'stringValue':%s}}]},"
		     "'scopeLogs':[{'scope':{'name':'agentbox','version':'" AB_VERSION
		     "'},'logRecords':[",
		     machine);
}

void ab_otlp_close(struct ab_buf *b)
{
	ab_buf_puts(b, "]}]}]}");
}

static void add_text(struct ab_buf *b, const char *key, const char *text, size_t len)
{
	ab_buf_jsonf(b, ",{'key':%s,'value':{'stringValue':%.*s}}", key, (int)len, text);
}

/* Integers are texts in this encoding. */
static void add_detail(struct ab_buf *b, const char *key, const struct ab_detail *d)
{
	ab_autobuf struct ab_buf text = { 0 };

	switch (d->kind) {
	case AB_DETAIL_TEXT:
		ab_detail_add(d, &text);
		add_text(b, key, text.len ? text.data : "", text.len);
		break;
	case AB_DETAIL_FALSE:
	case AB_DETAIL_TRUE:
		ab_buf_jsonf(b, ",{'key':%s,'value':{'boolValue':%hhd}}", key,
			     (bool)(d->kind == AB_DETAIL_TRUE));
		break;
	case AB_DETAIL_NUMBER:
		ab_buf_jsonf(b, ",{'key':%s,'value':{'intValue':'%jd'}}", key,
			     ab_detail_number(d, 0));
		break;
	case AB_DETAIL_NONE:
	case AB_DETAIL_NULL:
	case AB_DETAIL_NESTED:
		break;
	}
}

static int choose_severity(const struct ab_detail m[])
{
	if (m[M_ERROR].kind == AB_DETAIL_TEXT)
		return ERROR;
	if (m[M_ALLOWED].kind == AB_DETAIL_FALSE || ab_detail_is(&m[M_KIND], "violation") ||
	    ab_detail_is(&m[M_KIND], "refused") || ab_detail_is(&m[M_KIND], "monitor"))
		return WARN;
	return INFO;
}

static void add_attributes(struct ab_buf *b, const struct ab_detail m[], const char *line,
			   size_t len)
{
	bool answer = ab_detail_is(&m[M_KIND], "request");
	bool url = m[M_DOMAIN].kind == AB_DETAIL_TEXT;
	char kind[64] = "agentbox.";

	ab_detail_copy(&m[M_KIND], kind + strlen(kind), sizeof(kind) - strlen(kind));
	add_text(b, "event.name", kind, strlen(kind));
	for (size_t i = 0; i < N; i++)
		if (mapped[i].attribute)
			add_detail(b, mapped[i].attribute, &m[i]);
	add_detail(b, answer ? "http.response.status_code" : "process.exit.code", &m[M_STATUS]);
	add_detail(b, url ? "url.path" : "file.path", &m[M_PATH]);
	add_text(b, "log.record.original", line, len);
}

void ab_otlp_add(struct ab_buf *b, const char *line, size_t len, uint64_t observed)
{
	const char *names[N];
	struct ab_detail m[N];
	ab_autobuf struct ab_buf body = { 0 };
	char stamp[AB_STAMP_ROOM] = "";
	int64_t ms;
	int severity;

	for (size_t i = 0; i < N; i++)
		names[i] = mapped[i].member;
	if (ab_details_find(line, len, names, N, m) < 0)
		memset(m, 0, sizeof(m));
	ab_detail_copy(&m[M_TIMESTAMP], stamp, sizeof(stamp));
	ms = ab_time_ms(stamp);
	severity = choose_severity(m);
	if (!ab_sentence(&body, AB_SENTENCE, line, len) || !body.len)
		ab_detail_add(&m[M_KIND], &body);
	ab_buf_jsonf(b,
		     ",{'timeUnixNano':'%ju','observedTimeUnixNano':'%ju','severityNumber':%d,"
		     "'severityText':%s,'body':{'stringValue':%.*s},'attributes':[",
		     ms < 0 ? 0 : (uint64_t)ms * 1000000, observed, severity,
		     name_severity(severity), (int)body.len, body.len ? body.data : "");
	add_attributes(b, m, line, len);
	ab_buf_puts(b, "]}");
}
