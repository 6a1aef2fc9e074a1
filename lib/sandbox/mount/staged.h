#ifndef AB_SANDBOX_MOUNT_STAGED_H
#define AB_SANDBOX_MOUNT_STAGED_H
/*
 * The box's own files, as they lie in the staging tmpfs: each content once. A
 * file below /dev, or below a masked folder, is linked into what becomes that
 * folder; every other one is mounted over its path (mounts.c).
 */
#include <stdbool.h>
#include <stddef.h>

struct ab_error;
struct ab_spec;

enum { AB_STAGED_NAME = 24 };

/* While the tmpfs can be written; umask 0. */
int ab_staged_make(const struct ab_spec *spec, int stage, struct ab_error *err);

/* Where the bytes of file i are. */
void ab_staged_name(const struct ab_spec *spec, size_t i, char ret[AB_STAGED_NAME]);

/* Does file i come with a folder, so that it is not mounted? */
bool ab_staged_in_place(const struct ab_spec *spec, size_t i);

/* What masks entry i of the plan: the empty file or folder that everybody
 * shares, or a folder of its own, just as closed, with files to be shown. */
void ab_staged_mask(const struct ab_spec *spec, size_t i, char ret[AB_STAGED_NAME]);

#endif
