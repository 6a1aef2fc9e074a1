#ifndef AB_SANDBOX_START_BOX_WIRE_H
#define AB_SANDBOX_START_BOX_WIRE_H
/*
 * What the supervisor and the box's init say to each other over their one
 * SOCK_SEQPACKET pair. One struct per datagram; the receiver checks type and
 * length. After `go` only init holds the inner end: the command never has it.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/data/error.h"
#include "netns/listeners.h"

enum ab_msg_type {
	/* up */
	AB_MSG_FAILED = 1, /* error: the launch ends here */
	AB_MSG_NETWORK,	   /* network, and as many fds: see
				 * netns/listeners.h; a second one after
				 * AB_CAPTURE_PORTS */
	AB_MSG_TTY,	   /* one fd: the master of the box's terminal */
	AB_MSG_ASKS,	   /* one fd: what is to be listened on before
				 * the proof, in a traced run */
	AB_MSG_HOLDS,	   /* holds: the command is about to start; one fd
				 * where its programs are asked about */
	AB_MSG_STOPPED,	   /* value: signal that stopped the command */
	AB_MSG_STATUS,	   /* value: wait status of the command */
	AB_MSG_DIALED,	   /* value: errno, or 0 and one fd */
	/* down */
	AB_MSG_SPEC,	/* one fd: the specification, sealed */
	AB_MSG_CAPTURE, /* value: enum ab_capture; to a box with a door */
	AB_MSG_GO,	/* the supervisor is locked in: start */
	AB_MSG_SIGNAL,	/* value: signal for the command */
	AB_MSG_RESUME,	/* go on after a stop; value: 1 in the
				 * terminal's foreground, 0 behind */
	AB_MSG_DIAL,	/* value: port */
};

#define AB_MARKS_MAX 32

struct ab_holds {
	uint32_t properties; /* AB_PROP_BIT()s that were proved */
	int32_t unasked;     /* errno: why nobody is asked about anything */
	uint32_t nmarks;     /* with `timing`: steps and their end */
	struct {
		char name[20];
		uint64_t ns;
	} marks[AB_MARKS_MAX];
	char missing[512]; /* why, for those that do not hold; "a: b; " */
};

/* What each of the descriptors is, in their order. */
struct ab_handover {
	uint32_t n;
	struct {
		uint16_t kind; /* enum ab_listener_kind */
		uint16_t port;
	} listeners[AB_LISTENERS_MAX];
};

struct ab_msg {
	uint32_t type;
	int32_t value;
	union {
		struct ab_error error;
		struct ab_holds holds;
		struct ab_handover network;
	} u;
};

/* Bytes of the datagram for a message with `body` bytes of the union. */
#define AB_MSG_LEN(body) (offsetof(struct ab_msg, u) + (body))

/* argv[0] of our own binary as the box's init; argv[1] is the number of the
 * socket, argv[2] says which network there is to set up, argv[3] how large
 * its private folders may be, argv[4] which ports of the host it offers
 * ("3000,5432"). */
#define AB_INIT_NET "net"
#define AB_INIT_DOOR "door"
#define AB_INIT_NAME "agentbox-init"

#endif
