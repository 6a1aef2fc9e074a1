#ifndef AB_SESSION_RUN_LOCKDOWN_H
#define AB_SESSION_RUN_LOCKDOWN_H
/*
 * The supervisor restricts itself before the command starts, because it will handle bytes from the
 * box. Afterwards it can open files in the state directory and read /etc, but not execute anything
 * or inspect another process. There is no Landlock scope for signals: the supervisor must still be
 * able to kill the box, and its death must still end it.
 */
struct ab_error;

int ab_lock_supervisor(int state_dir, struct ab_error *err);

#endif
