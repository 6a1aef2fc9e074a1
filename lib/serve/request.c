#include "serve/request.h"

#include "base/text/base64.h"

enum { ID_MAX = 64, WORDS_MAX = 65536, ENTRIES_MAX = 1000 };
enum { MS_MAX = 7 * 86400 * 1000, GRACE_MS = 5000, GRACE_MAX = 600000, ASK_MS = 60000 };

struct reading {
	struct ab_serve_request *to;
	const char *name;
	const json_t *value;
	struct ab_error *err;
};

__attribute__((format(printf, 2, 3))) static int fail_member(struct reading *r, const char *fmt,
							     ...)
{
	ab_autofree char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = ab_vprintf(fmt, ap);
	va_end(ap);
	return ab_fail(r->err, AB_EUSAGE, 0, "\"%s\": %s", r->name, text);
}

static int read_number(struct reading *r, uint64_t least, uint64_t most, uint64_t *ret)
{
	json_int_t n = json_integer_value(r->value);

	if (!json_is_integer(r->value) || n < 0 || (uint64_t)n < least || (uint64_t)n > most)
		return fail_member(r, "expected a whole number from %llu to %llu",
				   (unsigned long long)least, (unsigned long long)most);
	*ret = (uint64_t)n;
	return 0;
}

static int read_flag(struct reading *r, bool *ret)
{
	if (!json_is_boolean(r->value))
		return fail_member(r, "expected true or false");
	*ret = json_is_true(r->value);
	return 0;
}

static int read_text(struct reading *r, const char **ret)
{
	return ab_serve_text(r->name, r->value, ret, r->err);
}

static int read_argv(struct reading *r)
{
	const char *word = "";
	json_t *value;
	size_t i;

	if (!json_is_array(r->value) || json_array_size(r->value) == 0 ||
	    json_array_size(r->value) > WORDS_MAX)
		return fail_member(r, "expected a list of strings, the program first");
	json_array_foreach(r->value, i, value)
	{
		if (ab_serve_text(r->name, value, &word, r->err) < 0)
			return -1;
		ab_strv_add(&r->to->argv, word);
	}
	return *r->to->argv.v[0] ? 0 : fail_member(r, "the name of the program is empty");
}

static int read_base64(struct reading *r, const json_t *value)
{
	size_t len = json_string_length(value);
	size_t n;

	if (!json_is_string(value))
		return fail_member(r, "\"base64\": expected a string");
	r->to->bytes = ab_alloc(len / 4 * 3 + 3);
	if (!ab_base64_decode(json_string_value(value), len, r->to->bytes, &n))
		return fail_member(r, "invalid base64");
	r->to->nbytes = n;
	return 0;
}

static int read_bytes(struct reading *r, const json_t *value)
{
	if (!json_is_string(value))
		return fail_member(r, "\"text\": expected a string");
	r->to->nbytes = json_string_length(value);
	r->to->bytes = ab_alloc(r->to->nbytes + 1);
	memcpy(r->to->bytes, json_string_value(value), r->to->nbytes);
	return 0;
}

static int read_index(struct reading *r, const json_t *value, size_t *ret)
{
	json_int_t n = json_integer_value(value);

	if (!json_is_integer(value) || n < 0 || n >= AB_SERVE_FDS_MAX)
		return fail_member(r, "\"fd\": expected the index of a passed descriptor");
	*ret = (size_t)n;
	return 0;
}

static const struct {
	char name[8];
	enum ab_stream_kind kind;
	unsigned streams; /* bits */
} stream_kinds[] = {
	{ "null", AB_STREAM_NULL, 7 },	      { "pipe", AB_STREAM_PIPE, 1 },
	{ "capture", AB_STREAM_CAPTURED, 6 }, { "stream", AB_STREAM_STREAMED, 6 },
	{ "stdout", AB_STREAM_SAME, 4 },
};

static int read_stream_object(struct reading *r, size_t stream)
{
	struct ab_stream_spec *spec = &r->to->streams[stream];
	const json_t *fd = json_object_get(r->value, "fd");
	const json_t *text = json_object_get(r->value, "text");
	const json_t *base64 = json_object_get(r->value, "base64");

	if (json_object_size(r->value) != 1 || (!fd && stream != 0))
		return fail_member(r, "expected {\"fd\": N}");
	if (fd) {
		spec->kind = AB_STREAM_FD;
		return read_index(r, fd, &spec->fd);
	}
	spec->kind = AB_STREAM_BYTES;
	if (text)
		return read_bytes(r, text);
	return base64 ? read_base64(r, base64)
		      : fail_member(r, "expected \"text\", \"base64\" or \"fd\"");
}

static int read_stream(struct reading *r)
{
	size_t stream = r->name[3] == 'i' ? 0 : r->name[3] == 'o' ? 1 : 2;
	const char *word = json_string_value(r->value);

	if (json_is_object(r->value))
		return read_stream_object(r, stream);
	for (size_t i = 0; word && i < AB_COUNT(stream_kinds); i++)
		if (strcmp(stream_kinds[i].name, word) == 0 &&
		    (stream_kinds[i].streams & 1u << stream)) {
			r->to->streams[stream].kind = stream_kinds[i].kind;
			return 0;
		}
	return fail_member(r, "invalid stream; use %s",
			   stream == 0 ? "null, pipe, {\"text\": ...} or {\"fd\": N}"
				       : "capture, stream, null or {\"fd\": N}");
}

static int read_records(struct reading *r)
{
	const json_t *fd = json_object_get(r->value, "fd");

	if (!json_is_object(r->value))
		return read_flag(r, &r->to->records);
	if (!fd || json_object_size(r->value) != 1)
		return fail_member(r, "expected true, false or {\"fd\": N}");
	r->to->records_fd = true;
	return read_index(r, fd, &r->to->records_at);
}

static int read_data(struct reading *r)
{
	if (r->to->bytes)
		return fail_member(r, "use \"text\" or \"base64\", not both");
	return strcmp(r->name, "text") == 0 ? read_bytes(r, r->value) : read_base64(r, r->value);
}

/* "INT", "SIGINT", 2. */
static int read_signal(struct reading *r)
{
	const char *name = json_string_value(r->value);

	if (name && strncmp(name, "SIG", 3) == 0)
		name += 3;
	for (int i = 1; i < SIGRTMIN; i++) {
		const char *known = sigabbrev_np(i);

		if (name ? known && strcmp(known, name) == 0 : json_integer_value(r->value) == i) {
			r->to->signal = i;
			return 0;
		}
	}
	return fail_member(r, "unknown signal");
}

static int read_entries(struct reading *r)
{
	const char *text;
	json_t *value;
	size_t i;

	if (!json_is_array(r->value) || json_array_size(r->value) > ENTRIES_MAX)
		return fail_member(r, "expected a list of at most %d hosts", ENTRIES_MAX);
	json_array_foreach(r->value, i,
			   value) if (ab_serve_text(r->name, value, &text, r->err) < 0) return -1;
	*(r->name[0] == 'a' ? &r->to->allow : &r->to->deny) = (json_t *)r->value;
	return 0;
}

static int read_shell(struct reading *r)
{
	const char *path = "";

	if (read_text(r, &path) < 0)
		return -1;
	if (path[0] != '/')
		return fail_member(r, "expected an absolute path");
	ab_strv_add(&r->to->argv, path);
	return 0;
}

#define BIT(what) (1u << AB_SERVE_##what)
#define COMMANDS (BIT(RUN) | BIT(CHECK) | BIT(WRAP))
#define ABOUT_RUN (BIT(ANSWER) | BIT(INPUT) | BIT(SIGNAL) | BIT(STOP) | BIT(UPDATE) | BIT(STATUS))

#define AT(member) offsetof(struct ab_serve_request, member)
#define TEXT(member) .form = MEMBER_TEXT, .at = AT(member)
#define FLAG(member) .form = MEMBER_FLAG, .at = AT(member)
#define NUMBER(member, from, to) .form = MEMBER_NUMBER, .at = AT(member), .least = from, .most = to

/* Besides those of every request and those about the policy. Order decides nothing. Texts are in
 * place: a pointer would have to be relocated at every start of the program. */
static const struct member {
	char name[16];
	unsigned requests; /* bits */
	enum { MEMBER_OTHER, MEMBER_TEXT, MEMBER_FLAG, MEMBER_NUMBER } form;
	size_t at; /* of a const char *, a bool, a uint64_t */
	uint64_t least, most;
	int (*read)(struct reading *r); /* MEMBER_OTHER */
} members[] = {
	{ "protocol", BIT(HELLO), NUMBER(protocol, 0, INT32_MAX) },
	{ "client", BIT(HELLO), TEXT(client) },
	{ "argv", COMMANDS, .read = read_argv },
	{ "shell", COMMANDS, TEXT(script) },
	{ "shell_path", COMMANDS, .read = read_shell },
	{ "name", BIT(RUN) | BIT(WRAP), TEXT(name) },
	{ "yes", BIT(RUN) | BIT(WRAP), FLAG(yes) },
	{ "deadline_ms", BIT(RUN), NUMBER(deadline_ms, 0, MS_MAX) },
	{ "stdin", BIT(RUN), .read = read_stream },
	{ "stdout", BIT(RUN), .read = read_stream },
	{ "stderr", BIT(RUN), .read = read_stream },
	{ "capture_max", BIT(RUN), NUMBER(capture, 0, AB_SERVE_CAPTURE_MAX) },
	{ "ask", BIT(RUN), FLAG(ask) },
	{ "ask_ms", BIT(RUN), NUMBER(ask_ms, 0, MS_MAX) },
	{ "records", BIT(RUN), .read = read_records },
	{ "messages", BIT(RUN), FLAG(messages) },
	{ "require_covered", BIT(RUN), FLAG(require_covered) },
	{ "trace_denials", BIT(RUN), FLAG(trace_denials) },
	{ "run", ABOUT_RUN, NUMBER(run, 0, INT64_MAX) },
	/* Not 0, as if there were none: the policy would be another one. */
	{ "pool", BIT(RUN) | BIT(CLOSE) | BIT(STATUS), NUMBER(pool, 1, INT64_MAX) },
	{ "size", BIT(POOL), NUMBER(size, 1, AB_SERVE_BOXES_MAX) },
	{ "question", BIT(ANSWER), TEXT(question) },
	{ "answer", BIT(ANSWER), TEXT(answer) },
	{ "reason", BIT(ANSWER), TEXT(reason) },
	{ "text", BIT(INPUT), .read = read_data },
	{ "base64", BIT(INPUT), .read = read_data },
	{ "eof", BIT(INPUT), FLAG(eof) },
	{ "signal", BIT(SIGNAL), .read = read_signal },
	{ "grace_ms", BIT(STOP), NUMBER(ms, 0, GRACE_MAX) },
	{ "allow", BIT(UPDATE), .read = read_entries },
	{ "deny", BIT(UPDATE), .read = read_entries },
	{ "for_ms", BIT(UPDATE), NUMBER(ms, 0, MS_MAX) },
};

static const char names[AB_SERVE_DO_COUNT][8] = {
	[AB_SERVE_HELLO] = "hello",   [AB_SERVE_RUN] = "run",	    [AB_SERVE_CHECK] = "check",
	[AB_SERVE_DOCTOR] = "doctor", [AB_SERVE_WRAP] = "wrap",	    [AB_SERVE_ANSWER] = "answer",
	[AB_SERVE_INPUT] = "input",   [AB_SERVE_SIGNAL] = "signal", [AB_SERVE_STOP] = "stop",
	[AB_SERVE_UPDATE] = "update", [AB_SERVE_STATUS] = "status", [AB_SERVE_POOL] = "pool",
	[AB_SERVE_CLOSE] = "close",
};

static int find_request(const json_t *line, enum ab_serve_do *ret, struct ab_error *err)
{
	const char *what = json_string_value(json_object_get(line, "do"));

	if (ab_word_parse(names, what, ret))
		return 0;
	return ab_fail(err, AB_EUSAGE, 0, what ? "unknown request \"%.40s\"" : "missing \"do\"%s",
		       what ? what : "");
}

static int read_known(struct reading *r, const struct member *m)
{
	void *to = (char *)r->to + m->at;

	switch (m->form) {
	case MEMBER_TEXT:
		return read_text(r, to);
	case MEMBER_FLAG:
		return read_flag(r, to);
	case MEMBER_NUMBER:
		return read_number(r, m->least, m->most, to);
	case MEMBER_OTHER:
		break;
	}
	return m->read(r);
}

static int read_member(struct reading *r)
{
	unsigned bit = 1u << r->to->what;
	int known;

	if (strcmp(r->name, "id") == 0 || strcmp(r->name, "do") == 0 || strcmp(r->name, "fds") == 0)
		return 0;
	for (size_t i = 0; i < AB_COUNT(members); i++)
		if ((members[i].requests & bit) && strcmp(members[i].name, r->name) == 0)
			return read_known(r, &members[i]);
	known = bit & (COMMANDS | BIT(POOL))
			? ab_serve_policy_member(&r->to->policy, r->name, r->value, r->err)
			: 1;
	return known <= 0 ? known
			  : ab_fail(r->err, AB_EUSAGE, 0, "\"%s\" has no member \"%.40s\"",
				    names[r->to->what], r->name);
}

/* First: whatever else is wrong, they belong to this request and not to the next one. */
static int read_fds(struct reading *r)
{
	uint64_t n = 0;

	r->name = "fds";
	r->value = json_object_get(r->to->line, r->name);
	if (r->value && read_number(r, 0, AB_SERVE_FDS_MAX, &n) < 0)
		return -1;
	r->to->nfds = (size_t)n;
	return 0;
}

static int check_command(struct ab_serve_request *r, const json_t *line, struct ab_error *err)
{
	bool argv = json_object_get(line, "argv") != NULL;

	if (argv == (r->script != NULL))
		return ab_fail(err, AB_EUSAGE, 0, "give exactly one of \"argv\" and \"shell\"");
	if (argv && json_object_get(line, "shell_path"))
		return ab_fail(err, AB_EUSAGE, 0, "\"shell_path\" needs \"shell\"");
	if (argv)
		return 0;
	if (!r->argv.len)
		ab_strv_add(&r->argv, "/bin/sh");
	ab_strv_add(&r->argv, "-c");
	ab_strv_add(&r->argv, r->script);
	return 0;
}

static int check_descriptors(const struct ab_serve_request *r, struct ab_error *err)
{
	bool missing = r->records_fd && r->records_at >= r->nfds;

	for (size_t i = 0; i < 3; i++)
		missing |= r->streams[i].kind == AB_STREAM_FD && r->streams[i].fd >= r->nfds;
	return missing ? ab_fail(err, AB_EUSAGE, 0,
				 "a descriptor is used that does not belong to the request: "
				 "\"fds\" says how many do")
		       : 0;
}

/* What the boxes of a pool were prepared for. */
static int check_fixed(const struct ab_serve_request *r, const json_t *line, struct ab_error *err)
{
	static const char *const fixed[] = { "policy",	"policy_file", "profile",      "workspace",
					     "project", "options",     "trace_denials" };

	for (size_t i = 0; r->pool && i < AB_COUNT(fixed); i++)
		if (json_object_get(line, fixed[i])) {
			ab_fail(err, AB_EUSAGE, 0,
				"\"%s\" cannot be given with \"pool\": the boxes of a pool are "
				"prepared for one policy",
				fixed[i]);
			return ab_hint(err, "give it to the request \"pool\", or run the command "
					    "without one");
		}
	return 0;
}

/* Members that must be there. */
static const char *find_missing(const struct ab_serve_request *r)
{
	/* The first that applies counts. Of a pool the size is missing: its bound is told, too. */
	const struct {
		unsigned requests; /* bits */
		bool there;
		const char *text;
	} needs[] = {
		{ BIT(HELLO), r->protocol, "missing \"protocol\"" },
		{ BIT(CLOSE), r->pool, "missing \"pool\"" },
		{ BIT(ANSWER), r->question && r->answer,
		  "an answer needs \"question\" and \"answer\"" },
		{ BIT(SIGNAL), r->signal, "missing \"signal\"" },
		{ BIT(INPUT), r->bytes || r->eof, "missing \"text\", \"base64\" or \"eof\"" },
		{ ABOUT_RUN, r->run || (r->pool && r->what == AB_SERVE_STATUS), "missing \"run\"" },
	};

	for (size_t i = 0; i < AB_COUNT(needs); i++)
		if ((needs[i].requests & 1u << r->what) && !needs[i].there)
			return needs[i].text;
	return NULL;
}

static int check_whole(struct ab_serve_request *r, const json_t *line, struct ab_error *err)
{
	const char *missing = find_missing(r);

	if (missing)
		return ab_fail(err, AB_EUSAGE, 0, "%s", missing);
	if (r->what == AB_SERVE_POOL && !r->size)
		return ab_fail(err, AB_EUSAGE, 0,
			       "missing \"size\": the number of boxes, from 1 to %d",
			       AB_SERVE_BOXES_MAX);
	if (!(COMMANDS & 1u << r->what))
		return 0;
	return check_fixed(r, line, err) < 0 || check_command(r, line, err) < 0
		       ? -1
		       : check_descriptors(r, err);
}

static int read_line(struct ab_serve_request *to, struct ab_error *err)
{
	struct reading r = { .to = to, .err = err };
	json_t *value;

	if (!json_is_object(to->line))
		return ab_fail(err, AB_EUSAGE, 0, "a request is a JSON object");
	if (read_fds(&r) < 0)
		return -1;
	to->id = json_object_get(to->line, "id");
	if (!json_is_integer(to->id) &&
	    !(json_is_string(to->id) && json_string_length(to->id) <= ID_MAX)) {
		to->id = NULL;
		return ab_fail(err, AB_EUSAGE, 0,
			       "\"id\" must be an integer, or a string of at most %d bytes",
			       ID_MAX);
	}
	if (find_request(to->line, &to->what, err) < 0)
		return -1;
	if (to->what == AB_SERVE_STOP)
		to->ms = GRACE_MS;
	json_object_foreach(to->line, r.name, value)
	{
		r.value = value;
		if (read_member(&r) < 0)
			return -1;
	}
	return check_whole(to, to->line, err);
}

int ab_serve_request_parse(const char *line, size_t len, struct ab_serve_request *ret,
			   struct ab_error *err)
{
	json_error_t wrong;

	*ret = (struct ab_serve_request){ .streams = { { AB_STREAM_NULL, 0 },
						       { AB_STREAM_CAPTURED, 0 },
						       { AB_STREAM_CAPTURED, 0 } },
					  .ask_ms = ASK_MS,
					  .capture = AB_SERVE_CAPTURE };
	ret->text = line;
	ret->text_len = len;
	ret->line = json_loadb(line, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &wrong);
	if (!ret->line)
		return ab_fail(err, AB_EUSAGE, 0, "not JSON: %s", wrong.text);
	return read_line(ret, err);
}

void ab_serve_request_fini(struct ab_serve_request *r)
{
	ab_strv_fini(&r->argv);
	ab_serve_policy_fini(&r->policy);
	free(r->bytes);
	json_decref(r->line);
	*r = (struct ab_serve_request){ 0 };
}
