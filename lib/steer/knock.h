#ifndef AB_STEER_KNOCK_H
#define AB_STEER_KNOCK_H
/*
 * Ask several runs the same thing at their control sockets (session/control.h)
 * at once, and wait for none of them longer than is said: one that is stopped,
 * or has no such socket, just has no answer. For a longer talk with one:
 * session/steer.h.
 */
#include <jansson.h>
#include <stddef.h>

struct ab_knock {
	int dir;		/* the run's folder */
	json_t *answer;		/* NULL: none, or it was refused */
	int fd;			/* inside */
};

/* `request` is a packet as in session/control.h. */
void ab_knock(struct ab_knock *v, size_t len, const char *request, int ms);
void ab_knock_fini(struct ab_knock *v, size_t len);

#endif
