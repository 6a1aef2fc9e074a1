#include "session/stay/detach.h"

#include "base/process/helper.h"
#include "consent/request.h"

enum report_type { REPORT_SAY, REPORT_READY, REPORT_FAILED };

/* One packet. */
struct report {
	uint32_t type;
	uint32_t level;
	char id[8];
	union {
		struct ab_error error;
		char text[4096]; /* long lines are cut */
	};
};

pid_t ab_detach(int *ret_sock, struct ab_error *err)
{
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "create a socket pair");
	pid = fork();
	if (pid < 0) {
		ab_fail(err, AB_ESYSTEM, errno, "create the supervisor");
		close(pair[0]);
		close(pair[1]);
		return -1;
	}
	close(pair[pid == 0 ? 0 : 1]);
	*ret_sock = pair[pid == 0 ? 1 : 0];
	if (pid == 0 && (setsid() < 0 || ab_arrange_stdio(NULL) < 0)) {
		ab_fail(err, AB_ESYSTEM, errno, "detach from the terminal");
		ab_detach_failed(*ret_sock, err);
		_exit(125);
	}
	return pid;
}

static int send_report(int sock, const struct report *report)
{
	return ab_send_fds(sock, report, sizeof(*report), NULL, 0);
}

int ab_detach_say(int sock, enum ab_level level, const char *text)
{
	struct report report = { .type = REPORT_SAY, .level = level };

	snprintf(report.text, sizeof(report.text), "%s", text);
	return send_report(sock, &report);
}

int ab_detach_ready(int sock, const char *id)
{
	struct report report = { .type = REPORT_READY };

	snprintf(report.id, sizeof(report.id), "%s", id);
	return send_report(sock, &report);
}

void ab_detach_failed(int sock, const struct ab_error *err)
{
	(void)!send_report(sock, &(struct report){ .type = REPORT_FAILED, .error = *err });
}

int ab_detach_wait(int sock, void (*say)(void *arg, enum ab_level level, const char *text),
		   void *arg, char ret_id[8], struct ab_error *err)
{
	static struct report report;

	while (ab_recv_fds(sock, &report, sizeof(report), NULL, NULL, 0) ==
	       (ssize_t)sizeof(report)) {
		switch ((enum report_type)report.type) {
		case REPORT_SAY:
			report.text[sizeof(report.text) - 1] = '\0';
			say(arg, (enum ab_level)report.level, report.text);
			break;
		case REPORT_READY:
			memcpy(ret_id, report.id, sizeof(report.id));
			return 0;
		case REPORT_FAILED:
			*err = report.error;
			return -1;
		}
	}
	return ab_fail_step(err, "supervision", 0, "the supervisor died before the box was ready");
}
