#include <jansson.h>

#include "audit/read/find.h"
#include "policy/values/complaint.h"
#include "sandbox/plan/engine.h"
#include "sandbox/plan/spec.h"
#include "session/control/control_socket.h"

enum { GRACE_MS = 5000, GRACE_MOST = 600000, FOR_MOST = 7 * 86400, WORDS_MOST = 65536 };

struct reading {
	const char *run_id;
	json_t *json;
	struct ab_control_request *to;
	struct ab_error *err;
	const char *wrong; /* the first number that is not one */
};

static int fail_request(struct reading *r, const char *what)
{
	return ab_fail(r->err, AB_EUSAGE, 0, "%s", what);
}

/* The number in an id like "7kq2x-12" or "7kq2x-t1" of this run; 0: it is not one. */
static uint32_t parse_id(const char *run_id, const char *id)
{
	struct ab_denial_name name;

	if (ab_denial_parse(id, &name) < 0 || strcmp(name.run, run_id) != 0)
		return 0;
	if (name.kind == AB_DENIAL_TOOL)
		return name.number | AB_QUESTION_OF_TOOL;
	return name.kind == AB_DENIAL_NETWORK ? name.number : 0;
}

/* A whole number up to `most`; `otherwise` if it is absent or wrong, which is an error. */
static uint64_t take_number(struct reading *r, const char *key, uint64_t otherwise, uint64_t most)
{
	const json_t *value = json_object_get(r->json, key);
	json_int_t n = json_integer_value(value);

	if (!value)
		return otherwise;
	if (json_is_integer(value) && n >= 0 && (uint64_t)n <= most)
		return (uint64_t)n;
	if (!r->wrong)
		r->wrong = key;
	return otherwise;
}

static int read_answer(struct reading *r)
{
	const char *id = json_string_value(json_object_get(r->json, "id"));
	const char *answer = json_string_value(json_object_get(r->json, "answer"));

	if (!id || !answer)
		return fail_request(r, "an answer needs \"id\" and \"answer\"");
	/* The question about the whole network has the run's own id. */
	if (strcmp(id, r->run_id) != 0) {
		r->to->number = parse_id(r->run_id, id);
		if (!r->to->number)
			return fail_request(r, "this run has no question with that id");
	}
	if (!ab_word_parse(ab_choice_names, answer, &r->to->answer))
		return fail_request(r, "invalid answer; use once, run, group, project, always, no "
				       "or never");
	return 0;
}

static int read_grant(struct reading *r)
{
	const json_t *value = json_object_get(r->json, "entry");
	struct ab_host_entry entry;
	struct ab_complaint why = { 0 };

	if (!json_is_string(value))
		return fail_request(r, "missing \"entry\"");
	if (ab_host_entry_parse(json_string_value(value), json_string_length(value), &entry, &why) <
		    0 ||
	    (r->to->what == AB_DO_ALLOW && ab_host_entry_may_allow(&entry, &why) < 0))
		return ab_fail(r->err, AB_EUSAGE, 0, "%s", why.wrong);
	ab_host_entry_format(&entry, r->to->entry);
	r->to->ms = take_number(r, "for_ms", 0, FOR_MOST * 1000ull);
	return 0;
}

static int read_reload(struct reading *r)
{
	const json_t *cut = json_object_get(r->json, "cut");

	if (cut && !json_is_boolean(cut))
		return fail_request(r, "\"cut\" must be true or false");
	r->to->cut = json_is_true(cut);
	return 0;
}

static int read_stop(struct reading *r)
{
	r->to->ms = take_number(r, "grace_ms", GRACE_MS, GRACE_MOST);
	return 0;
}

static int read_streams(struct reading *r)
{
	const json_t *list = json_object_get(r->json, "streams");

	for (size_t i = 0; i < 3; i++) {
		const char *stream = json_string_value(json_array_get(list, i));

		if (!stream || strlen(stream) >= sizeof(r->to->start.streams[i]) ||
		    (strcmp(stream, AB_STREAM_PASSED) != 0 &&
		     strcmp(stream, AB_STREAM_TERMINAL) != 0 &&
		     !ab_has_word(ab_box_devices, AB_DEVICES, stream)))
			return fail_request(r, "\"streams\" must have a word for each of 0-2");
		snprintf(r->to->start.streams[i], sizeof(r->to->start.streams[i]), "%s", stream);
	}
	return 0;
}

static int read_start(struct reading *r)
{
	static const char *const approvals[] = { "once", "session",  "always",
						 "yes",	 "approver", "no" };
	const char *approved = json_string_value(json_object_get(r->json, "approved"));

	r->to->start.argc = (size_t)take_number(r, "argc", 0, WORDS_MOST);
	r->to->start.nenv = (size_t)take_number(r, "env", 0, WORDS_MOST);
	if (r->wrong || read_streams(r) < 0)
		return -1;
	r->to->start.script = json_is_true(json_object_get(r->json, "script"));
	r->to->start.shell = json_is_true(json_object_get(r->json, "shell"));
	r->to->start.behind = json_is_true(json_object_get(r->json, "behind"));
	for (size_t i = 0; approved && i < AB_COUNT(approvals); i++)
		if (strcmp(approved, approvals[i]) == 0)
			r->to->start.approved = approvals[i];
	return approved && !r->to->start.approved ? fail_request(r, "unknown approval") : 0;
}

static int read_publish(struct reading *r)
{
	r->to->port = (uint16_t)take_number(r, "port", 0, UINT16_MAX);
	r->to->host_port = (uint16_t)take_number(r, "host", 0, UINT16_MAX);
	if (!r->wrong && (!r->to->port || !r->to->host_port))
		return fail_request(r, "a port to publish needs \"port\" and \"host\"");
	return 0;
}

static const struct request {
	const char *name;
	int (*read)(struct reading *r); /* its further members; or NULL */
	const char *number;		/* the member that is to->number; or NULL */
} requests[AB_DO_COUNT] = {
	[AB_DO_STATUS] = { "status", NULL, NULL },
	[AB_DO_PENDING] = { "pending", NULL, "from" },
	[AB_DO_ANSWER] = { "answer", read_answer, NULL },
	[AB_DO_ALLOW] = { "allow", read_grant, NULL },
	[AB_DO_DENY] = { "deny", read_grant, NULL },
	[AB_DO_RELOAD] = { "reload", read_reload, NULL },
	[AB_DO_STOP] = { "stop", read_stop, NULL },
	[AB_DO_FOLLOW] = { "follow", NULL, NULL },
	[AB_DO_START] = { "start", read_start, NULL },
	[AB_DO_ATTACH] = { "attach", NULL, "number" },
	[AB_DO_PUBLISH] = { "publish", read_publish, NULL },
};

static int read_request(struct reading *r)
{
	const char *what = json_string_value(json_object_get(r->json, "do"));
	const json_t *version = json_object_get(r->json, "v");
	const struct request *row;

	if (json_integer_value(version) != AB_CONTROL_VERSION) {
		fail_request(r, "this run uses another protocol version");
		return ab_hint(r->err, "another version of agentbox started it; use that one");
	}
	row = what ? ab_find_row(requests, AB_DO_COUNT, name, what) : NULL;
	if (!row)
		return fail_request(r, "unknown request");
	r->to->what = (enum ab_control_do)(row - requests);
	if (row->number)
		r->to->number = (uint32_t)take_number(r, row->number, 0, UINT32_MAX);
	return row->read ? row->read(r) : 0;
}

int ab_control_parse(const char *run_id, const char *text, size_t len,
		     struct ab_control_request *ret, struct ab_error *err)
{
	json_auto_t *json = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	struct reading r = { .run_id = run_id, .json = json, .to = ret, .err = err };
	int result;

	*ret = (struct ab_control_request){ 0 };
	result = json_is_object(json) ? read_request(&r)
				      : fail_request(&r, "expected a JSON object");
	if (r.wrong)
		return ab_fail(err, AB_EUSAGE, 0, "invalid value for \"%s\"", r.wrong);
	return result;
}
