#include "policy/layers/layers.h"
#include "steer/mcp/mcp.h"

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
	struct ab_mcp_host host = { ab_mcp_call, (void *)(uintptr_t)input };
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
