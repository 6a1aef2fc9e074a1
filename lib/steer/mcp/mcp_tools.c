#include "audit/read/words.h"
#include "audit/show/lines.h"
#include "consent/check.h"
#include "consent/request.h"
#include "policy/layers/layers.h"
#include "session/run/in_child.h"
#include "shell/judge/judge_report.h"
#include "steer/mcp/mcp.h"
#include "steer/runs/records.h"
#include "steer/why/why.h"

enum { LINES = 100, LINES_MAX = 1000, SECONDS_MAX = 86400 };

static const char *get_text(json_t *arguments, const char *name)
{
	return json_string_value(json_object_get(arguments, name));
}

static void add_lines(struct ab_buf *b, const char *text)
{
	for (size_t len; *text; text += len + (text[len] == '\n')) {
		len = strcspn(text, "\n");
		ab_words_safe(b, "%.*s\n", (int)len, text);
	}
}

static void fail_tool(struct ab_mcp_result *ret, const struct ab_error *err)
{
	struct ab_buf b = { 0 };

	ab_buf_puts(&b, "agentbox: ");
	add_lines(&b, err->text);
	add_lines(&b, err->hint);
	free(ret->text);
	ret->text = ab_buf_take(&b);
	ret->failed = true;
}

static char *find_real(const struct ab_policy_input *input, const char *path)
{
	ab_autofree char *clean = ab_path_resolve(path ? path : ".", input->cwd, input->home);

	return clean ? realpath(clean, NULL) : NULL;
}

/* A folder in the workspace. */
static int find_folder(const struct ab_policy_input *input, const char *cwd, char **ret,
		       struct ab_error *err)
{
	ab_autofree char *top = find_real(input, input->workspace);
	ab_autofree char *real = find_real(input, cwd ? cwd : input->workspace);
	struct stat st;

	if (!real || !top || !ab_path_within(real, top) || stat(real, &st) < 0 ||
	    !S_ISDIR(st.st_mode))
		return ab_fail(err, AB_EUSAGE, 0,
			       "cwd must be a folder in the workspace of this server");
	*ret = ab_take(real);
	return 0;
}

static void collect_message(void *arg, enum ab_level level, const char *text)
{
	struct ab_buf *b = arg;

	if (level != AB_SAY_DETAIL)
		ab_words_safe(b, "%s%s\n", text[0] == ' ' ? "" : "agentbox: ", text);
}

/* At most AB_MCP_TEXT_MAX bytes of a captured stream. */
static void add_stream(struct ab_buf *b, json_t *object, const char *name)
{
	json_t *value = json_object_get(object, name);
	size_t len = json_string_length(value), kept = len;

	if (!value) {
		ab_buf_printf(b, "--- %s is not text\n", name);
		return;
	}
	if (!len)
		return;
	if (kept > AB_MCP_TEXT_MAX) {
		kept = AB_MCP_TEXT_MAX;
		while (kept && (json_string_value(value)[kept] & 0xc0) == 0x80)
			kept--;
	}
	ab_buf_printf(b, "--- %s%s\n", name, kept < len ? " (its beginning)" : "");
	for (size_t i = 0; i < kept; i++) {
		char c = json_string_value(value)[i];

		ab_buf_add(b, c ? &c : "?", 1);
	}
	if (json_string_value(value)[kept - 1] != '\n')
		ab_buf_puts(b, "\n");
}

static void write_run(const struct ab_child_run *run, const struct ab_buf *said, int status,
		      struct ab_mcp_result *ret)
{
	ab_autobuf struct ab_buf json = { 0 };
	struct ab_buf text = { 0 };
	json_error_t why;

	ab_buf_puts(&json, run->result ? run->result : "{}");
	ab_result_add_streams(&json, &run->out, &run->err);
	ret->structured = json_loadb(json.data, json.len, JSON_ALLOW_NUL, &why);
	ab_buf_printf(&text, "exit status: %d\n", status);
	if (said->len)
		ab_buf_add(&text, said->data, said->len);
	add_stream(&text, ret->structured, "stdout");
	add_stream(&text, ret->structured, "stderr");
	/* The output is in the text. */
	json_object_del(ret->structured, "stdout");
	json_object_del(ret->structured, "stderr");
	ret->text = ab_buf_take(&text);
}

/* The policy is the one of the server's folder and options: paths in them do not start at the
 * agent's `cwd`, in which a box may have written files with the same names. */
static void run_command(const struct ab_policy_input *input, json_t *arguments,
			struct ab_mcp_result *ret)
{
	const char *argv[] = { access("/bin/bash", X_OK) == 0 ? "/bin/bash" : "/bin/sh", "-c",
			       get_text(arguments, "command") };
	json_t *seconds = json_object_get(arguments, "timeout_seconds");
	ab_autobuf struct ab_buf said = { 0 };
	ab_autofree char *cwd = NULL;
	struct ab_request request = { .policy = *input,
				      .argv = argv,
				      .argc = AB_COUNT(argv),
				      .script = argv[2],
				      .say = collect_message,
				      .arg = &said };
	struct ab_child_run run = { 0 };
	struct ab_error err = { 0 };
	int status = 1;

	if (seconds &&
	    (json_integer_value(seconds) < 1 || json_integer_value(seconds) > SECONDS_MAX))
		ab_fail(&err, AB_EUSAGE, 0, "timeout_seconds must be from 1 to %d", SECONDS_MAX);
	else if (find_folder(input, get_text(arguments, "cwd"), &cwd, &err) == 0) {
		request.start = cwd;
		request.time_ms = (uint64_t)json_integer_value(seconds) * 1000;
		if (ab_run_in_child(&request, AB_MCP_TEXT_MAX, &run, &status, &err) == 0)
			write_run(&run, &said, status, ret);
		ab_child_run_fini(&run);
	}
	if (err.text[0])
		fail_tool(ret, &err);
}

static void check_command(const struct ab_policy_input *input, json_t *arguments,
			  struct ab_mcp_result *ret)
{
	const char *command = get_text(arguments, "command");
	const struct ab_judgement *j;
	struct ab_error err = { 0 };
	struct ab_buf text = { 0 }, json = { 0 };
	struct ab_check *check;
	json_error_t why;

	if (ab_check_new(input, &check, NULL, &err) < 0) {
		fail_tool(ret, &err);
		return;
	}
	j = ab_check_text(check, command, strlen(command));
	ab_words_safe(&text, "%s: %s%s%s%s\n", ab_decision_names[j->decision], j->reason,
		      j->rule[0] ? " (rule " : "", j->rule, j->rule[0] ? ")" : "");
	if (j->decision >= AB_ESCALATED)
		ab_judgement_point(j, "  ", &text);
	if (j->instead && j->decision >= AB_ESCALATED)
		ab_buf_printf(&text, "  Instead: %s\n", j->instead);
	ab_judgement_json(j, &json);
	ret->structured = json_loadb(json.data, json.len, JSON_ALLOW_NUL, &why);
	ret->text = ab_buf_take(&text);
	ab_buf_fini(&json);
	ab_check_free(check);
}

static void explain_denial(const struct ab_policy_input *input, json_t *arguments,
			   struct ab_mcp_result *ret)
{
	struct ab_error err = { 0 };

	if (ab_why(input, get_text(arguments, "what"), false, &ret->text, &err) < 0)
		fail_tool(ret, &err);
}

/* The last lines, in a ring. */
static void show_log(const struct ab_policy_input *input, json_t *arguments,
		     struct ab_mcp_result *ret)
{
	json_t *wanted = json_object_get(arguments, "lines");
	json_int_t n = wanted ? json_integer_value(wanted) : LINES;
	struct ab_line_style style = { 0 };
	struct ab_records *records;
	ab_autostrv struct ab_strv lines = { 0 };
	struct ab_error err = { 0 };
	struct ab_buf b = { 0 };
	const char *line;
	size_t len, most, first = 0;
	int more;

	most = n < 1 ? 1 : n > LINES_MAX ? LINES_MAX : (size_t)n;
	if (ab_records_open(input, get_text(arguments, "run"), false, &records, &err) < 0) {
		fail_tool(ret, &err);
		return;
	}
	while ((more = ab_records_next(records, &line, &len, &err)) > 0) {
		struct ab_buf one = { 0 };

		ab_line_show(&one, &style, line, len);
		if (!one.len) {
			ab_buf_fini(&one);
		} else if (lines.len < most) {
			ab_strv_give(&lines, ab_buf_take(&one));
		} else {
			free(lines.v[first]);
			lines.v[first] = ab_buf_take(&one);
			first = (first + 1) % most;
		}
	}
	ab_records_close(records);
	for (size_t i = 0; i < lines.len; i++)
		ab_buf_puts(&b, lines.v[(first + i) % lines.len]);
	if (more < 0)
		fail_tool(ret, &err);
	else
		ret->text = ab_buf_take(&b);
	ab_buf_fini(&b);
}

static void call_tool(void *arg, const char *tool, json_t *arguments, struct ab_mcp_result *ret)
{
	static const struct {
		const char *name;
		void (*call)(const struct ab_policy_input *input, json_t *arguments,
			     struct ab_mcp_result *ret);
	} calls[] = {
		{ "run", run_command },
		{ "check", check_command },
		{ "why", explain_denial },
		{ "log", show_log },
	};
	const struct ab_policy_input *input = arg;

	for (size_t i = 0; i < AB_COUNT(calls); i++)
		if (strcmp(calls[i].name, tool) == 0)
			calls[i].call(input, arguments, ret);
}

/* The streams of the protocol get other numbers, so that no command of a tool reads requests or
 * writes replies. */
static int take_streams(int *ret_in, int *ret_out, struct ab_error *err)
{
	ab_autoclose int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ab_autoclose int in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	ab_autoclose int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);

	if (null < 0 || in < 0 || out < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "standard input and output");
	*ret_in = ab_take_fd(&in);
	*ret_out = ab_take_fd(&out);
	return 0;
}

static int answer_line(const struct ab_mcp_host *host, int out, const char *line, size_t len,
		       struct ab_error *err)
{
	ab_autofree char *reply = len ? ab_mcp_answer(host, line, len) : NULL;
	ab_autofree char *text = reply ? ab_printf("%s\n", reply) : NULL;

	return text && ab_write_all(out, text, strlen(text)) < 0
		       ? ab_fail(err, AB_ESYSTEM, errno, "write a reply")
		       : 0;
}

/* Answers every whole line in the buffer, and removes it. Of a line that is too long only the
 * beginning is kept: enough to refuse it. */
static int answer_lines(const struct ab_mcp_host *host, int out, struct ab_buf *b,
			struct ab_error *err)
{
	size_t from = 0;
	char *end;

	while ((end = memchr(b->data + from, '\n', b->len - from)) != NULL) {
		size_t len = (size_t)(end - b->data) - from;

		if (answer_line(host, out, b->data + from, len, err) < 0)
			return -1;
		from += len + 1;
	}
	memmove(b->data, b->data + from, b->len - from);
	b->len -= from;
	if (b->len > AB_MCP_LINE_MAX + 1)
		b->len = AB_MCP_LINE_MAX + 1;
	return 0;
}

int ab_mcp_serve(const struct ab_policy_input *input, struct ab_error *err)
{
	struct ab_mcp_host host = { call_tool, (void *)(uintptr_t)input };
	ab_autobuf struct ab_buf b = { 0 };
	ab_autoclose int in = -1, out = -1;
	char block[65536];
	ssize_t n;

	/* The terminal is the agent's: nobody is asked on it. */
	if (!isatty(STDIN_FILENO))
		setsid();
	if (take_streams(&in, &out, err) < 0)
		return -1;
	while ((n = read(in, block, sizeof(block))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ab_fail(err, AB_ESYSTEM, errno, "read a request");
		ab_buf_add(&b, block, (size_t)n);
		if (answer_lines(&host, out, &b, err) < 0)
			return -1;
	}
	return b.len ? answer_line(&host, out, b.data, b.len, err) : 0;
}
