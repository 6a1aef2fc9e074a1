#pragma once
/*
 * Receive the next call that a listener holds, and stop waiting for it when a socket has something.
 *
 * poll() could wait for both, but would be a second system call for each call of the box. Between
 * two of them the box's programs use the caches of the processor, so it would take a quarter of the
 * guard's time. A signal tells about the socket instead.
 *
 * For one thread of a process, because signals are.
 */
#include "base/base.h"

struct seccomp_notif;

/* False: there will be no signal, so wait with poll(). */
bool ab_call_wait_open(int sock);
/* The call, which is valid until the next one; NULL and errno. EINTR: the socket has something; from
 * then on there are no calls until ab_call_wait_again(). ENOENT: the caller was killed meanwhile, or no
 * process is left. */
const struct seccomp_notif *ab_call_wait(int listener);
/* Then look at the socket. */
void ab_call_wait_again(void);
