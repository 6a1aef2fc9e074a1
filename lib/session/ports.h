#ifndef AB_SESSION_PORTS_H
#define AB_SESSION_PORTS_H
/*
 * What listens inside a run that is going on, seen from another process of
 * the same user (ab_run_ports in agentbox.h).
 */
#include <sys/types.h>

struct ab_buf;

/* For the start record: which process is the box's init. */
void ab_ports_note(struct ab_buf *line, pid_t init);

#endif
