#pragma once
/*
 * Connects the proxy's thread, the steering, and the broker, which reads secrets again: questions
 * and alarms go to the steering, secrets that are stale to the broker, and their new values back.
 */
#include "base/base.h"
#include "policy/model/secrets.h"

struct ab_broker_news;
struct ab_failure;
struct ab_loop;
struct ab_steering;
struct ab_supervision;

struct ab_network_link {
	const struct ab_supervision *what;
	struct ab_steering *steering;
	struct ab_failure *failure;
	bool reported[AB_SECRETS_MAX]; /* this secret's failure was reported */
};

int ab_network_link_attach(struct ab_network_link *net, struct ab_loop *loop);
/* The broker has read a secret again, or could not. */
void ab_network_link_secret(struct ab_network_link *net, const struct ab_broker_news *news);
/* Init has connected to a published port. Takes `fd`. */
void ab_network_link_dialled(struct ab_network_link *net, int errnum, int fd);
