#pragma once
/*
 * Looks whom a call is for that changes limits or priorities of a process by its number. Without a
 * pid namespace the numbers are those of the machine: only processes of the box may be changed, and
 * Landlock does not know these calls. The number is in a register, so nobody can exchange it.
 */
#include "base/base.h"

struct ab_call_handler;

/* `init` is the first process of the box, and lives longer. */
struct ab_call_handler ab_peers_handler(const pid_t *init);
