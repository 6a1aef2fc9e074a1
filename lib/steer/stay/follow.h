#pragma once
/*
 * The client's loop: connects the caller's terminal, streams and signals with one command in a box
 * that stays, over the socket of session/stay/stay_wire.h.
 */
#include "base/base.h"

struct ab_client_streams;
struct ab_questions;
struct ab_request;
struct ab_terminal;

struct ab_follow {
	const struct ab_request *request;
	const char *box;
	int sock;			   /* to the supervisor */
	int bytes;			   /* attached: the stream of a detached command; else -1 */
	struct ab_terminal *terminal;	   /* or NULL */
	struct ab_client_streams *streams; /* NULL: attached */
	struct ab_questions *questions;	   /* or NULL: none is shown; closed here */
};

/* Call ab_supervise_prepare() before. The status as of ab_run(); 0 if it was detached. */
int ab_follow(const struct ab_follow *what, int *ret_status, struct ab_error *err);
