#pragma once
/*
 * A list of objects that own their place in it: each has `next`, and `link`, which is the address
 * of the pointer that leads to it. So an object leaves its list without a search.
 */
#include "base/data/libc.h"

/* Add it at the front. */
#define ab_list_push(head, x)                       \
	do {                                        \
		__typeof__(x) x_ = (x);             \
		x_->next = *(head);                 \
		x_->link = (head);                  \
		if (x_->next)                       \
			x_->next->link = &x_->next; \
		*(head) = x_;                       \
	} while (0)

#define ab_list_remove(x)                          \
	do {                                       \
		__typeof__(x) x_ = (x);            \
		*x_->link = x_->next;              \
		if (x_->next)                      \
			x_->next->link = x_->link; \
		x_->link = NULL;                   \
	} while (0)
