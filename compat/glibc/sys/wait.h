#pragma once
/* What glibc 2.35 lacks of <sys/wait.h>; see mount.h. */
#include_next <sys/wait.h>

#define P_PIDFD ((idtype_t)3)
