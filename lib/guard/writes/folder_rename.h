#pragma once
/*
 * Overlay cannot rename a folder of its lower folder. So for a rename of a folder inside a layer the
 * broker is asked (guard/moves/moves.h), and the caller waits for its answer.
 *
 * What is read here decides only whether to ask, and about which two folders: the broker makes sure
 * that they are in a layer, and works without following links. A process that has restricted itself
 * further is left to the kernel: the broker would not be held by its restrictions.
 */
#include "base/base.h"

struct ab_folder_renames;
struct ab_held;
struct ab_guard;
struct ab_held_renames;
struct ab_call_name;

/* NULL: the box has no layer, or there is no broker to ask. Call before the guard's filter. */
struct ab_folder_renames *ab_folder_renames_open(struct ab_guard *guard,
						 struct ab_held_renames *held);

/* True: the broker was asked, and the call is answered later. */
bool ab_folder_renames_ask(struct ab_folder_renames *renames, struct ab_guard *guard,
			   const struct ab_held *call, const struct ab_call_name *from,
			   const struct ab_call_name *to);
