#include "consent/ask/controller.h"

#include "consent/ask/approver.h"

enum { ANSWER_MAX = 64 * 1024 };

void ab_controller_ask(int sock, const char *question, size_t len, unsigned timeout_ms,
		       struct ab_approver_reply *ret)
{
	static const char done[] = "{\"ok\":true}";
	ab_autofree char *answer = ab_alloc(ANSWER_MAX);
	ab_autobuf struct ab_buf packet = { 0 };
	ssize_t n;

	ab_buf_printf(&packet, "{\"event\":\"asked\",\"id\":\"command\",\"left_ms\":%u,",
		      timeout_ms);
	/* The rest of the object. */
	ab_buf_add(&packet, question + 1, len - 1);
	if (send(sock, packet.data, packet.len, MSG_NOSIGNAL) < 0)
		return ab_approver_fail(ret, errno == EMSGSIZE ? "the question is too long"
							       : "it has left");
	/* Days at most, so it is an int. */
	if (ab_poll(sock, POLLIN, (int)timeout_ms) <= 0)
		return ab_approver_fail(ret, "the time is over");
	n = recv(sock, answer, ANSWER_MAX, 0);
	if (n <= 0)
		return ab_approver_fail(ret, "it has left");
	ab_approver_parse(answer, (size_t)n, ret);
	(void)!send(sock, done, sizeof(done) - 1, MSG_NOSIGNAL);
}
