#pragma once
/* Arrays in an arena that double when they are full. */
#include "base/base.h"

/* Room for one more: `v`, `len` and `room` are of the array, `first` is its first room. */
#define AB_GROW(arena, v, len, room, first)                                      \
	do {                                                                     \
		if ((len) == (room)) {                                           \
			void *grown_ = NULL;                                     \
			(room) = (room) ? 2 * (room) : (first);                  \
			grown_ = ab_arena_alloc((arena), (room) * sizeof(*(v))); \
			if (len)                                                 \
				memcpy(grown_, (v), (len) * sizeof(*(v)));       \
			(v) = grown_;                                            \
		}                                                                \
	} while (0)
