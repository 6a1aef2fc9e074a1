#pragma once
/*
 * Job control: the supervisor stops when the command does, and resumes it when the caller's shell
 * resumes the supervisor.
 */
#include "base/base.h"

struct ab_failure;
struct ab_steering;
struct ab_supervision;

struct ab_command_stops {
	const struct ab_supervision *what;
	struct ab_steering *steering;
	struct ab_failure *failure;
	bool asked;	     /* SIGTSTP was forwarded */
	int64_t first_claim; /* when the command first wanted the terminal */
	unsigned int claims; /* how often since then */
};

/* The caller pressed Ctrl-Z. The supervisor stops when init reports that the command did; it may
 * ignore the signal. */
void ab_command_stops_ask(struct ab_command_stops *stops);
/* Init reports that this signal stopped the command. */
void ab_command_stops_take(struct ab_command_stops *stops, int sig);
void ab_command_stops_resume(struct ab_command_stops *stops);
