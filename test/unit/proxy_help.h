#ifndef AB_TEST_PROXY_HELP_H
#define AB_TEST_PROXY_HELP_H
/*
 * A proxy with a door on the machine's own loopback, clients that knock there,
 * an origin that they may reach, and what the proxy has to tell.
 */
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "audit/write/log.h"
#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "netns/own.h"
#include "policy/model/policy.h"
#include "proxy/filter/filter.h"
#include "proxy/filter/budgets.h"
#include "proxy/thread/proxy.h"
#include "tap.h"

enum { TOLD_MAX = 4096 };

/* What the thread said, for who asks in another one. */
static struct {
	pthread_mutex_t lock;
	struct ab_host_question wanted[TOLD_MAX];
	size_t nwanted;
	struct {
		uint32_t number;
		enum ab_settled how;
		uint32_t released;
	} settled[TOLD_MAX];
	size_t nsettled;
	struct ab_threshold_alarm alarm; /* the last one */
	size_t nalarms;
	char *survey;
} told = { .lock = PTHREAD_MUTEX_INITIALIZER };

static char top[] = "/tmp/agentbox-proxy.XXXXXX";
static int folder;
static struct ab_log log_file = AB_LOG_NONE;
static uint16_t door, origin, dns;
static int origin_fd;

static inline int bind_somewhere(int type, uint16_t *ret_port)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    (type == SOCK_STREAM && listen(fd, 4096) < 0) ||
	    getsockname(fd, (struct sockaddr *)&at, &len) < 0)
		abort();
	*ret_port = ntohs(at.sin_port);
	return fd;
}

static inline int knock(uint16_t port)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_port = htons(port),
				  .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct timeval patience = { .tv_sec = 60 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static inline void say(int fd, const char *text)
{
	if (send(fd, text, strlen(text), MSG_NOSIGNAL) != (ssize_t)strlen(text))
		perror("send");
}

/* The first `len` bytes that come. */
static inline const char *hear(int fd, size_t len)
{
	static char text[8192];
	size_t have = 0;
	ssize_t n = 1;

	while (have < len && n > 0) {
		n = recv(fd, text + have, len - have, 0);
		if (n > 0)
			have += (size_t)n;
	}
	text[have] = '\0';
	return text;
}

static inline bool readable(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) == 1;
}

/* CONNECT there, through the door. */
static inline int ask_for(const char *host, uint16_t port)
{
	char words[400];
	int fd = knock(door);

	snprintf(words, sizeof(words), "CONNECT %s:%u HTTP/1.1\r\n\r\n", host, port);
	say(fd, words);
	return fd;
}

static inline void note_wanted(void *arg, const struct ab_host_question *wanted)
{
	(void)arg;
	pthread_mutex_lock(&told.lock);
	if (told.nwanted < TOLD_MAX)
		told.wanted[told.nwanted++] = *wanted;
	pthread_mutex_unlock(&told.lock);
}

static inline void note_settled(void *arg, uint32_t number, enum ab_settled how, uint32_t released)
{
	(void)arg;
	pthread_mutex_lock(&told.lock);
	if (told.nsettled < TOLD_MAX) {
		told.settled[told.nsettled].number = number;
		told.settled[told.nsettled].how = how;
		told.settled[told.nsettled++].released = released;
	}
	pthread_mutex_unlock(&told.lock);
}

static inline void note_crossed(void *arg, const struct ab_threshold_alarm *alarm)
{
	(void)arg;
	pthread_mutex_lock(&told.lock);
	told.alarm = *alarm;
	told.nalarms++;
	pthread_mutex_unlock(&told.lock);
}

static inline void note_survey(void *arg, char *json)
{
	(void)arg;
	pthread_mutex_lock(&told.lock);
	free(told.survey);
	told.survey = json;
	pthread_mutex_unlock(&told.lock);
}

/* Wait until so many were asked about, or settled. */
static inline bool reached(const size_t *count, size_t n)
{
	bool there = false;

	for (int i = 0; i < 6000 && !there; i++) {
		pthread_mutex_lock(&told.lock);
		there = *count >= n;
		pthread_mutex_unlock(&told.lock);
		if (!there)
			usleep(10000);
	}
	return there;
}

static inline bool wanted(size_t n)
{
	return reached(&told.nwanted, n);
}

static inline bool settled(size_t n)
{
	return reached(&told.nsettled, n);
}

static inline void forget_told(void)
{
	told.nwanted = told.nsettled = 0;
	told.nalarms = 0;
	free(ab_take(told.survey));
}

static inline int dial_nobody(void *arg, uint16_t port)
{
	(void)arg;
	(void)port;
	return -1;
}

static inline int dial_host(int port, int *ret_fd)
{
	(void)port;
	(void)ret_fd;
	return ECONNREFUSED;
}

static inline void fill_policy(struct ab_policy *policy, const char *allow, enum ab_unknown unknown)
{
	*policy = (struct ab_policy){
		.net = { .mode = AB_NET_FILTERED, .upstream = "none", .unknown = unknown }
	};
	ab_strv_add(&policy->net.allow, allow);
	ab_strv_add(&policy->net.allow_private, "127.0.0.0/8");
}

static inline void free_policy(struct ab_policy *policy)
{
	ab_strv_fini(&policy->net.allow);
	ab_strv_fini(&policy->net.deny);
	ab_strv_fini(&policy->net.allow_private);
}

static inline struct ab_proxy_setup setup_of(const struct ab_policy *policy)
{
	return (struct ab_proxy_setup){ .run_id = "7kq2x",
					.policy = policy,
					.log = &log_file,
					.strict = true,
					.asked = note_wanted,
					.settled = note_settled,
					.crossed = note_crossed,
					.surveyed = note_survey,
					.dial_inside = dial_nobody,
					.dial_host = dial_host };
}

static inline struct ab_proxy *make_proxy(struct ab_proxy_setup *setup)
{
	struct ab_proxy *proxy;
	struct ab_error err;

	forget_told();
	setup->own = ab_own_open(&err);
	setup->network.capture = AB_CAPTURE_NONE;
	setup->network.n = 2;
	setup->network.listeners[0] =
		(struct ab_listener){ .kind = AB_LISTENER_DOOR,
				      .fd = bind_somewhere(SOCK_STREAM, &door) };
	setup->network.listeners[1] =
		(struct ab_listener){ .kind = AB_LISTENER_DNS_TCP,
				      .fd = bind_somewhere(SOCK_STREAM, &dns) };
	if (ab_proxy_new(setup, &proxy, &err) < 0)
		abort();
	return proxy;
}

static inline struct ab_proxy *start_proxy(struct ab_proxy_setup *setup)
{
	struct ab_proxy *proxy = make_proxy(setup);
	struct ab_error err;

	if (ab_proxy_start(proxy, &err) < 0)
		abort();
	return proxy;
}

static inline struct ab_proxy_report stop_proxy(struct ab_proxy *proxy)
{
	struct ab_proxy_report report;
	struct ab_error err = { 0 };

	ok(ab_proxy_stop(proxy, &report, &err) == 0, "it stops %s", err.text);
	return report;
}

/* All records that hold this text, a line each. */
static inline char *records_with(const char *text)
{
	struct ab_buf all = { 0 };
	char *line = NULL;
	size_t room = 0;
	FILE *f = fdopen(openat(folder, AB_LOG_NAME, O_RDONLY), "r");

	while (f && getline(&line, &room, f) > 0)
		if (strstr(line, text))
			ab_buf_puts(&all, line);
	free(line);
	if (f)
		fclose(f);
	return ab_buf_take(&all);
}

static inline void world_init(void)
{
	struct ab_log_setup setup = { .run_id = "7kq2x" };
	struct ab_error err;

	signal(SIGPIPE, SIG_IGN);
	if (!mkdtemp(top))
		abort();
	folder = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	setup.dir = folder;
	if (ab_log_open(&setup, &log_file, &err) < 0)
		abort();
	origin_fd = bind_somewhere(SOCK_STREAM, &origin);
}

static inline void world_fini(void)
{
	forget_told();
	ab_log_fini(&log_file);
	unlinkat(folder, AB_LOG_NAME, 0);
	close(folder);
	rmdir(top);
}

#endif
