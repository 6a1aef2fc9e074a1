#include "cmd.h"

/*
 * Reads commands and writes verdicts in big blocks. Before it waits for input it
 * flushes its output, so that another process can ask about one command at a
 * time. If a command is longer than the judge accepts, only its beginning is
 * kept.
 */
enum {
	BLOCK = 64 * 1024,
	KEPT = AB_SHELL_TEXT_MAX + 1,
};

struct batch {
	struct ab_check *check;
	char end;   /* the byte that ends a command */
	char *in;   /* KEPT + BLOCK bytes */
	size_t len; /* bytes in it that are not judged yet */
	struct ab_buf out;
	enum ab_decision strictest;
};

static int flush_output(struct batch *b)
{
	if (ab_write_all(STDOUT_FILENO, b->out.data, b->out.len) < 0)
		return -1;
	b->out.len = 0;
	return 0;
}

static int judge_command(struct batch *b, const char *text, size_t len)
{
	const struct ab_judgement *j = ab_check_text(b->check, text, len);

	ab_judgement_json(j, &b->out);
	ab_buf_add(&b->out, "\n", 1);
	if (j->decision > b->strictest)
		b->strictest = j->decision;
	return b->out.len >= BLOCK ? flush_output(b) : 0;
}

/* Judge the complete commands; the first `seen` bytes contain no end. */
static int judge_complete(struct batch *b, size_t seen)
{
	char *from = b->in, *end = b->in + b->len, *stop;

	while ((stop = memchr(from + seen, b->end, (size_t)(end - from) - seen))) {
		if (judge_command(b, from, (size_t)(stop - from)) < 0)
			return -1;
		from = stop + 1;
		seen = 0;
	}
	b->len = (size_t)(end - from);
	if (b->len > KEPT)
		b->len = KEPT;
	memmove(b->in, from, b->len);
	return 0;
}

/* 0 at the end of input, -1 on failure. */
static ssize_t read_more(struct batch *b)
{
	ssize_t n;

	if (b->out.len && ab_poll(STDIN_FILENO, POLLIN, 0) == 0 && flush_output(b) < 0)
		return -1;
	do
		n = read(STDIN_FILENO, b->in + b->len, BLOCK);
	while (n < 0 && errno == EINTR);
	return n;
}

static int judge_all(struct batch *b)
{
	ssize_t n;

	while ((n = read_more(b)) > 0) {
		size_t seen = b->len;

		b->len += (size_t)n;
		if (judge_complete(b, seen) < 0)
			return -1;
	}
	if (n < 0)
		return -1;
	/* The last command may lack its terminator. */
	if (b->len && judge_command(b, b->in, b->len) < 0)
		return -1;
	return flush_output(b);
}

int batch_main(struct args *args, struct ab_check *check)
{
	struct batch b = {
		.check = check,
		.end = given(args, "null") ? '\0' : '\n',
		.in = ab_alloc(KEPT + BLOCK),
	};
	int status;

	if (judge_all(&b) < 0) {
		tell("cannot read commands or write verdicts: %m");
		status = 1;
	} else {
		status = decision_status(b.strictest);
	}
	free(b.in);
	ab_buf_fini(&b.out);
	return status;
}
