#pragma once
/* One run, from request to exit status. */
#include "base/base.h"

struct ab_request;

/*
 * Run a command in the box. *ret_status is the exit status to use: the command's own,
 * 128+n if signal n killed it, 124 if it timed out.
 */
int ab_run(const struct ab_request *request, int *ret_status, struct ab_error *err);
/* The exit status after -1: 125 for a failure of agentbox itself, 126 for a refusal or a file that
 * is not executable, 127 if the program does not exist. */
int ab_exit_status(const struct ab_error *err);

/* Precedes the names of the proved properties in a message of ab_run(); doctor looks for it. */
#define AB_RUN_GUARANTEES "guarantees in force: "
#define AB_RUN_ENGINE ", engine " /* before that, in the line of a box */

/*
 * Start a box that stays (request->keep, request->detach): its supervisor is another process, and
 * the caller continues when the box is ready. Without `detach` the command was only judged: start it
 * as every further one (steer/stay/enter.h), with `approved`.
 */
struct ab_stayed {
	char id[8];
	const char *approved; /* NULL: no approval was needed */
};
int ab_run_stay(const struct ab_request *request, struct ab_stayed *ret, struct ab_error *err);
