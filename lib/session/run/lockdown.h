#ifndef AB_SESSION_RUN_LOCKDOWN_H
#define AB_SESSION_RUN_LOCKDOWN_H
/*
 * The supervisor locks itself in before the command starts: it will handle
 * bytes that come from the box. Afterwards it opens files in the state
 * directory and reads /etc, executes nothing, looks into no other process.
 * It can still kill the box, and its own death still ends it: no Landlock
 * scope for signals here, that one swallows both.
 */
struct ab_error;

int ab_lock_supervisor(int state_dir, struct ab_error *err);

#endif
