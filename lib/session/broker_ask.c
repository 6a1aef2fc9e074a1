/* The supervisor's side of the broker. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/fd.h"
#include "base/mem.h"
#include "session/broker.h"
#include "session/broker_wire.h"

int ab_broker_fd(const struct ab_broker *broker)
{
	return broker->sock;
}

static int take_answer(struct ab_broker *broker, struct answer *a, int *fd,
		       size_t *ret_lines, struct ab_error *err)
{
	size_t nfds = fd ? 1 : 0;
	ssize_t n = ab_recv_fds(broker->sock, a, sizeof(*a), fd, &nfds, 0);

	if (n < (ssize_t)ANSWER_LEN(0))
		return ab_fail(err, AB_ESYSTEM, 0, "the broker has died");
	*ret_lines = (size_t)n - ANSWER_LEN(0);
	return 0;
}

static int hear(struct ab_broker *broker, struct answer *a, int *fd,
		ssize_t *ret_lines, struct ab_error *err)
{
	size_t len = 0;

	do {
		if (take_answer(broker, a, fd, &len, err) < 0)
			return -1;
		if (a->news)
			explicit_bzero(a->lines, len);
	} while (a->news);
	if (a->result < 0) {
		*err = a->error;
		return -1;
	}
	*ret_lines = (ssize_t)len;
	return 0;
}

int ab_broker_hear(struct ab_broker *broker, struct ab_broker_news *ret,
		   struct ab_error *err)
{
	static struct answer a;
	size_t len = 0;

	if (take_answer(broker, &a, NULL, &len, err) == 0) {
		if (a.news) {
			*ret = (struct ab_broker_news){
				.kind = AB_NEWS_SECRET,
				.number = a.news - 1,
				.error = a.error
			};
			if (a.result == 0) {
				ret->text = a.lines;
				ret->len = len;
			}
			return 0;
		}
		*err = a.error;
	}
	if (!err->hint[0])
		ab_hint(err, "protected names were no longer watched, so the "
			     "run was ended; run it again");
	return ab_step(err, "broker");
}

void ab_broker_forget(struct ab_broker_news *news)
{
	if (news->text)
		explicit_bzero((char *)(uintptr_t)news->text, news->len);
	news->text = NULL;
}

void ab_broker_secret(struct ab_broker *broker, size_t i)
{
	struct ask ask = { .kind = ASK_SECRET, .secret = (uint32_t)i };

	(void)send(broker->sock, &ask, ASK_LEN(secret),
		   MSG_DONTWAIT | MSG_NOSIGNAL);
}

int ab_broker_sweep(struct ab_broker *broker, struct ab_error *err)
{
	uint32_t kind = ASK_SWEEP;

	if (ab_send_fds(broker->sock, &kind, sizeof(kind), NULL, 0) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "ask the broker");
	return 0;
}

int ab_broker_swept(struct ab_broker *broker, struct ab_strv *ret,
		    struct ab_error *err)
{
	static struct answer a;
	ssize_t len;

	if (hear(broker, &a, NULL, &len, err) < 0)
		return -1;
	for (ssize_t i = 0; i < len;
	     i += (ssize_t)strnlen(a.lines + i, (size_t)(len - i)) + 1)
		ab_strv_give(ret, ab_strndup(a.lines + i, (size_t)(len - i)));
	return 0;
}

int ab_broker_config(struct ab_broker *broker, const char *path, int *ret_fd,
		     struct ab_error *err)
{
	static struct answer a;
	struct ask ask = { .kind = ASK_CONFIG };
	ssize_t len;
	int fd = -1;

	if (strlen(path) >= PATH_ROOM)
		return ab_fail(err, AB_EUSAGE, ENAMETOOLONG, "%s", path);
	memcpy(ask.path, path, strlen(path) + 1);
	if (ab_send_fds(broker->sock, &ask, ASK_LEN(path), NULL, 0) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "ask the broker");
	if (hear(broker, &a, &fd, &len, err) < 0)
		return -1;
	if (fd < 0)
		return ab_fail(err, AB_ESYSTEM, 0, "the broker sent nothing");
	*ret_fd = fd;
	return 0;
}

void ab_broker_end(struct ab_broker *broker)
{
	uint32_t kind = ASK_LEAVE;

	/* One that does not hear us would never go. */
	if (ab_send_fds(broker->sock, &kind, sizeof(kind), NULL, 0) < 0)
		kill(broker->pid, SIGKILL);
	while (waitpid(broker->pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(broker->sock);
	free(broker);
}
