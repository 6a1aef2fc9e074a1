#pragma once
/* The possible answers to a question about a host. Pure. */
#include "base/base.h"
#include "state/approvals.h"

enum ab_host_choice {
	AB_CHOICE_NO,
	AB_CHOICE_ONCE,
	AB_CHOICE_RUN,
	AB_CHOICE_GROUP,   /* for the run, with the other hosts of its group */
	AB_CHOICE_PROJECT, /* for the run, and in the project's settings */
	AB_CHOICE_ALWAYS,  /* for the run, and in the user's settings */
	AB_CHOICE_NEVER,   /* no, and in the user's settings */
	AB_CHOICE_COUNT,
};

/* As on the control socket: "no", "once", "run", ... */
extern const char *const ab_choice_names[AB_CHOICE_COUNT];
/* For hosts, a session is this run. */
enum ab_host_choice ab_choice_of_answer(enum ab_answer answer);
