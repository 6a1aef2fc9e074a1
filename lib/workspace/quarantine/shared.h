#ifndef AB_WORKSPACE_QUARANTINE_SHARED_H
#define AB_WORKSPACE_QUARANTINE_SHARED_H
/*
 * Folders of filesystem.share hold files and folders only. An agent outside appends to what it finds
 * there, and a symbolic link that the box left would lead it anywhere; so links, sockets, FIFOs and
 * devices that appeared since the start are moved to quarantine, at any depth. Those that the host had
 * before stay: the kernel sets the change time, and the box cannot set it back.
 *
 * Watched folders are looked at while the box runs, all others when it is gone.
 */
#include <stddef.h>

struct ab_listing;
struct ab_quarantine;

/* This name, or these entries, are in a watched folder; nothing happens if it is not a shared one. */
void ab_shared_appeared(struct ab_quarantine *q, size_t held, const char *name);
void ab_shared_list(struct ab_quarantine *q, size_t held, const struct ab_listing *l);

/* After the box ended: search the shared folders. A bounded walk. */
void ab_shared_sweep(struct ab_quarantine *q);

#endif
