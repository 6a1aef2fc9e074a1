#ifndef AB_SESSION_SUPERVISOR_STATE_H
#define AB_SESSION_SUPERVISOR_STATE_H
/* What the parts of the supervisor's loop share. */
#include "base/loop.h"
#include "policy/secrets.h"
#include "session/supervisor.h"

struct ab_broker_news;
struct ab_desk;

struct supervisor {
	const struct ab_supervision *what;
	struct ab_outcome out;
	struct ab_loop loop;
	struct ab_source signals, box, broker, judge, timer;
	struct ab_desk *desk;
	struct ab_timer grace; /* of a stop that was asked for */
	bool started, over;
	bool listened;		   /* the judge has what it listens on */
	bool asked_to_stop;	   /* SIGTSTP was passed on */
	bool told[AB_SECRETS_MAX]; /* that it cannot be read again */
	struct ab_error *err;
	int result;
};

/* We cannot do our part any more: the box must not go on without us. */
void ab_supervisor_give_up(struct supervisor *s);
/* The same; the first of several errors is told. `arg`: the supervisor. */
void ab_supervisor_fail(void *arg, const struct ab_error *err);

/* supervisor_network.c: between the network's thread, the desk and the broker
 * that reads secrets again. */
int ab_supervisor_attach(struct supervisor *s);
void ab_supervisor_dialled(struct supervisor *s, int errnum, int fd);
void ab_supervisor_secret(struct supervisor *s, const struct ab_broker_news *news);

#endif
