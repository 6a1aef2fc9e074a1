#pragma once
/*
 * The caller's descriptors 0-2 bypass the box's mounts: their owner could change the mode, times,
 * attributes and flags of a file, or of a device node, on the host. So a regular file is opened
 * again through a read-only clone of its own mount, at the same position, and a device through the
 * box's read-only node. Files that are open for writing never come here: the supervisor relays them
 * (terminal/streams.h).
 */
#include "base/base.h"

struct ab_ground;

/* The path of a device that every box has; else NULL. */
const char *ab_stdio_view_device(dev_t rdev);

/* Replace the files and devices on 0-2. *ret_input: the new standard input, if it is a file, so
 * that the supervisor can move the caller's position; else -1. */
int ab_stdio_view_open(const struct ab_ground *ground, int *ret_input, struct ab_error *err);
