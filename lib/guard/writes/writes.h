#pragma once
/*
 * The guard's handler for calls that take the name of a file. It reports what the box denies
 * (guard/notify/trace.h), and refuses to create a protected name that did not exist at the start.
 *
 * The refusal is for honest programs: they fail at once and know why. It guarantees nothing,
 * because a second thread can change the name before the kernel reads it, and links are not always
 * followed here. The broker moves what was created nevertheless (workspace/quarantine). A name that
 * exists passes, and so does everything in repositories that the run creates.
 */
#include "guard/notify/guard_process.h"

struct ab_survey;

/* The survey lives longer. */
struct ab_call_handler ab_writes_handler(const struct ab_survey *survey);
