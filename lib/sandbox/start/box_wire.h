#pragma once
/*
 * The messages between the supervisor and the box's init, over one SOCK_SEQPACKET
 * pair. One struct per datagram; the receiver checks type and length. After `go`
 * only init has the inner end: the command never gets it.
 */
#include "base/base.h"
#include "netns/listeners.h"
#include "sandbox/plan/plan.h"

enum ab_msg_type {
	/* from init */
	AB_MSG_FAILED = 1, /* error: the launch ends here */
	AB_MSG_NETWORK,	   /* network and its fds, see
				 * netns/listeners.h; a second one after
				 * AB_CAPTURE_PORTS */
	AB_MSG_TTY,	   /* one fd: the master of the box's terminal */
	AB_MSG_INPUT,	   /* one fd: standard input, if it is a file */
	AB_MSG_LISTENER,   /* one fd: the socket of spec.listen */
	AB_MSG_TOOLS,	   /* one fd: the socket AB_TOOLS_SOCKET */
	AB_MSG_ASKS,	   /* holds: only the layers; one fd: the listener of a
				 * traced run, needed before the proof */
	AB_MSG_HOLDS,	   /* holds: the command is about to start; one fd
				 * if its programs are judged */
	AB_MSG_AGENT,	   /* one fd: the listener of the box's ssh agent */
	AB_MSG_STOPPED,	   /* value: signal that stopped the command */
	AB_MSG_UNROUTED,   /* before STATUS: the command tried to use a blocked network */
	AB_MSG_CROWDED,	   /* before STATUS: it failed, and the box was at its limit of processes */
	AB_MSG_STATUS,	   /* value: wait status of the command */
	AB_MSG_LAST,	   /* the same, and no process but init is left in the box */
	AB_MSG_DIALED,	   /* value: errno, or 0 and one fd */
	AB_MSG_WALLS,	   /* fds of ab_mounts_apply(), once the command runs */
	AB_MSG_RUNS,	   /* from a leader, if COMMAND asks for it: the command was executed */
	AB_MSG_READY,	   /* holds: a box that waits is proved, send COMMAND. Fds: "mountinfo",
				 * with which poll() tells that a mount has ended; the listener
				 * of HOLDS, which does not come then */
	/* to init */
	AB_MSG_BEGIN,	/* begin: what it needs before it gets the specification */
	AB_MSG_SPEC,	/* struct ab_spec_msg; or one fd: the specification, sealed */
	AB_MSG_CAPTURE, /* value: enum ab_capture; if the box has a proxy */
	AB_MSG_GO,	/* the supervisor has confined itself: start */
	AB_MSG_SIGNAL,	/* value: signal for the command */
	AB_MSG_RESUME,	/* continue after a stop; value: 1 in the
				 * foreground, 0 in the background */
	AB_MSG_DIAL,	/* value: port */
	/* to the init of a box that stays (sandbox/start/init.h) */
	AB_MSG_LEADER, /* one fd: its socket; it waits for its command */
	AB_MSG_END,    /* TERM to every process; the box ends with the last */
	/* to a leader, or after READY; once */
	AB_MSG_COMMAND, /* value: 1 to report RUNS; fds: the specification of the command, and
				 * those of 0-2 that are passed on. After READY a short
				 * specification follows as in SPEC, and value is 1 if not; the
				 * last fd is an eventfd, which takes the place of GO */
};

#define AB_MARKS_MAX 32

struct ab_holds {
	uint32_t properties; /* AB_PROP_BIT()s of the guarantees in force */
	uint32_t engine;     /* enum ab_box_engine: what the box is built of */
	int32_t unasked;     /* errno: why there is no listener */
	uint32_t filters;    /* that a process has which has not restricted itself */
	uint32_t nmarks;     /* with `timing`: the end of each step */
	struct {
		char name[20];
		uint64_t ns;
	} marks[AB_MARKS_MAX];
	char missing[512]; /* what is required or the engine lacks: "a (why), b (why)" */
	int16_t layers[AB_LAYERS_MAX]; /* `errnum` of each layer of the specification */
	char blocked[256]; /* paths that are not mounted, because of a link in a layer */
};

/* The kinds of the file descriptors, in their order. */
struct ab_handover {
	uint32_t n;
	struct {
		uint16_t kind; /* enum ab_listener_kind */
		uint16_t port;
	} listeners[AB_LISTENERS_MAX];
};

enum ab_box_net {
	AB_BOX_NET_HOST, /* no namespace of its own */
	AB_BOX_NET_NONE,
	AB_BOX_NET_DOOR, /* with a proxy in the supervisor */
};

struct ab_begin {
	uint32_t engine; /* enum ab_box_engine; AB_ENGINE_AUTO: the best of those with namespaces */
	uint32_t net;	 /* enum ab_box_net */
	uint64_t tmp_size; /* of the private folders */
	uint32_t nports;
	uint16_t ports[AB_HOST_PORTS_MAX]; /* of the host that are reachable, with a door */
};

struct ab_msg {
	uint32_t type;
	int32_t value;
	union {
		struct ab_error error;
		struct ab_holds holds;
		struct ab_handover network;
		struct ab_begin begin;
	} u;
};

/* AB_MSG_SPEC with a specification that is short enough, as most are. */
struct ab_spec_msg {
	uint32_t type;
	int32_t value;
	char spec[32 * 1024];
};

/* Bytes of the datagram for a message with `body` bytes of the union. */
#define AB_MSG_LEN(body) (offsetof(struct ab_msg, u) + (body))

/* argv[0] of our own binary as the box's init; argv[1] is the socket's number,
 * argv[2] one of the others. */
#define AB_INIT_NAME "agentbox-init"
#define AB_INIT_NAMESPACES "namespaces"
#define AB_INIT_NO_NAMESPACES "no-namespaces"
/* The status of an init that could not report its failure: this and the number of its step. */
enum { AB_INIT_UNTOLD = 128 };
/* The name of a process between init and a command of a box that stays. */
#define AB_LEADER_NAME "agentbox-leader"
