#pragma once
/*
 * The box's own files in the staging tmpfs, each content once. A file below /dev or
 * below a masked folder is linked into the folder that replaces it; every other
 * one is mounted over its path (mounts.c).
 */
#include "base/base.h"

struct ab_spec;

enum { AB_STAGED_NAME = 24 };

/* Call while the tmpfs is writable, with umask 0. */
int ab_staged_make(const struct ab_spec *spec, int stage, struct ab_error *err);

/* The name in the tmpfs of the bytes of file i. */
void ab_staged_name(const struct ab_spec *spec, size_t i, char ret[AB_STAGED_NAME]);

/* Is file i part of a folder, so that it is not mounted? */
bool ab_staged_in_place(const struct ab_spec *spec, size_t i);

/* The mask for entry i of the plan: the shared empty file or folder, or its own
 * equally closed folder with files to show. */
void ab_staged_mask(const struct ab_spec *spec, size_t i, char ret[AB_STAGED_NAME]);
