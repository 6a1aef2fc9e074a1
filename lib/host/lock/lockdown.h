#pragma once
/*
 * Processes on the host that handle hostile bytes restrict themselves before: not dumpable, no new
 * privileges, Landlock as far as the kernel has it, and a system call filter.
 */
#include "base/base.h"

/* Blocks every signal; must come before the launch. */
int ab_supervise_prepare(struct ab_error *err);
/* There will be no run: unblock them; pending ones are delivered. */
void ab_supervise_release(void);

/*
 * The supervisor, before the command starts, because it will handle bytes from the box. Afterwards
 * it can open files in the state directory and read /etc, but not execute anything or inspect
 * another process. There is no Landlock scope for signals: the supervisor must still be able to kill
 * the box, and its death must still end it.
 */
int ab_lock_supervisor(int state_dir, struct ab_error *err);

/*
 * A process that sends records to a collector, or gets an access token, before it reads an answer.
 * Afterwards it can read /etc and connect to hosts. It has no capability, and signals nobody.
 */
int ab_lock_fetcher(struct ab_error *err);

/*
 * The container filter, before it reads a request of the box. Afterwards it can connect to sockets in
 * the folder of the engine's. It has no capability, opens no file, and signals nobody.
 */
int ab_lock_container_filter(const char *folder, struct ab_error *err);
