#pragma once
/*
 * Makes the box's connections in its place, so that no socket file of the host is reached.
 *
 * A pathname socket crosses every namespace and every read-only mount. Those that exist at the
 * start are masked; one that is made later is found here. The address is copied once, the socket
 * file is opened once, and both the verdict and the connection are about that open file: what
 * another thread changes meanwhile has no effect. For the same reason every connection of the box
 * is made here and none is passed on to the kernel unseen, whatever its family: another thread
 * could exchange the descriptor after the look.
 *
 * A box on the host's network is the exception: there connections may take minutes and its signals
 * must interrupt them, so only addresses of files are held, and `ipc-fence-late` is not claimed.
 *
 * A datagram needs no connection, and the file it goes to can be named in memory. So the box gets
 * no Unix datagram socket at all, unless the policy says otherwise.
 */

#include "base/base.h"

struct ab_call_handler;
struct ab_connects;
struct ab_guard;
struct ab_held;
struct ab_plan;
struct ab_reply;

struct ab_connect_terms {
	const struct ab_plan *plan;
	const struct stat *movable; /* hidden ones that no mount holds in their place */
	size_t nmovable;
	const struct ab_strv *allowed; /* socket files of the host that the box may use */
	bool own_mounts;	       /* private folders and layers are the box's own */
	bool own_net;		       /* the box has a network of its own */
	bool datagrams;		       /* Unix datagram sockets are allowed */
};

enum ab_connect_step {
	AB_CONNECT_PASS,  /* let the kernel do it */
	AB_CONNECT_DONE,  /* answer with `errnum`; 0: connected */
	AB_CONNECT_WAITS, /* the answer comes later */
};

struct ab_connect_result {
	enum ab_connect_step step;
	int errnum;
	const char *denied; /* the path of a host's socket, or NULL */
	int fd;		    /* if it waits: ready for writing when it has ended; or -1 */
};

enum { AB_CONNECTS_MAX = 256 }; /* that wait at the same time */

/* The network of a socket. 0: it is no socket, or the kernel cannot tell (before Linux 5.14). */
uint64_t ab_connect_network(int fd);

/* A box with a network of its own may not connect sockets of the network `host_net`; 0: unknown. */
struct ab_connects *ab_connects_new(const struct ab_connect_terms *terms, uint64_t host_net);

/* `waits` says whether the caller of a held call still does; `ended` hears of each one that is over,
 * before its `fd` is closed. */
struct ab_connect_events {
	bool (*waits)(void *arg, uint64_t id);
	void (*ended)(void *arg, uint64_t id, int fd, int errnum);
	void *arg;
};

/* The hidden sockets in writable folders: without mounts the box can rename them. The caller frees
 * *ret. */
size_t ab_connect_find_movable(const struct ab_plan *plan, struct stat **ret);

/* The address that a call has in its second and third argument: 0, or the errno to answer with. */
int ab_connect_address(const struct ab_held *call, struct sockaddr_storage *ret,
		       socklen_t *ret_len);

/* A call of connect(). */
struct ab_connect_result ab_connects_begin(struct ab_connects *connects,
					   const struct ab_connect_events *events,
					   const struct ab_held *call);

/* The same with a copy of the caller's socket, which is taken over, and a copy of the address. */
struct ab_connect_result ab_connects_with(struct ab_connects *connects,
					  const struct ab_connect_events *events,
					  const struct ab_held *call, int fd,
					  const struct sockaddr_storage *to, socklen_t len);

/* Look at those that wait. */
void ab_connects_look(struct ab_connects *connects, const struct ab_connect_events *events);
/* After how many milliseconds to look again, whatever is ready; 0: not at all. */
uint64_t ab_connects_next_look(const struct ab_connects *connects);

/* Pure: may the box connect to the socket file at this real path? */
bool ab_connect_permitted(const struct ab_connect_terms *terms, const char *path);

enum { AB_ALARM_MS = 10 };

/* With an open desk: from now on SIGALRM interrupts calls every AB_ALARM_MS, or no longer. */
void ab_connects_heed_alarm(bool on);

/* A timer of timerfd_create(): once, or 0: not at all. */
void ab_connects_set_timer(int timer, uint64_t ms);

/* The connections that a handler of the guard makes: those that wait are looked at when their socket
 * or the timer is ready. */
struct ab_connect_desk {
	struct ab_guard *guard;
	const struct ab_connect_terms *terms;
	struct ab_connects *connects;
	int timer;
	struct ab_connect_events hears;
	/* One that has waited is connected; called before `fd` is closed. Or NULL. */
	void (*connected)(struct ab_connect_desk *desk, int fd);
};

/* The terms live longer; host_net as above. Exits on failure. */
void ab_connect_desk_open(struct ab_connect_desk *desk, struct ab_guard *guard,
			  const struct ab_connect_terms *terms, uint64_t host_net);
/* Report a denial, and answer the call now or later. */
struct ab_reply ab_connect_desk_reply(struct ab_connect_desk *desk, const struct ab_held *call,
				      const struct ab_connect_result *result);
/* Answer a call that makes a Unix datagram socket. */
struct ab_reply ab_connect_desk_datagrams(struct ab_connect_desk *desk, const struct ab_held *call);

/* The guard's handler for connect(), and for socket() and socketpair() of Unix datagrams. The terms
 * live longer. */
struct ab_call_handler ab_connect_handler(const struct ab_connect_terms *terms);
