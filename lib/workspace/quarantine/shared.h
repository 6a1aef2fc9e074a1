#pragma once
/*
 * Folders of filesystem.share hold files and folders only. An agent outside appends to what it finds
 * there, and a symbolic link that the box left would lead it anywhere; so links, sockets, FIFOs and
 * devices that appeared since the start are moved to quarantine, at any depth. Those that the host had
 * before stay: the kernel sets the change time, and the box cannot set it back.
 *
 * The box can also change permissions there, and the kernel has no cheap way to keep it from that. When it is
 * gone, the folder itself has its former ones again, and what was changed or created below it is neither
 * set-user-id nor set-group-id, and no more writable for others than the user's umask makes a new file.
 *
 * Watched folders are looked at while the box runs, all others when it is gone.
 */
#include "base/base.h"

struct ab_listing;
struct ab_quarantine;

/* This name, or these entries, are in a watched folder; nothing happens if it is not a shared one. */
void ab_shared_appeared(struct ab_quarantine *q, size_t held, const char *name);
void ab_shared_list(struct ab_quarantine *q, size_t held, const struct ab_listing *l);

/* After the box ended: search the shared folders. A bounded walk. */
void ab_shared_sweep(struct ab_quarantine *q);
