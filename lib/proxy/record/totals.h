#pragma once
/* What a run has asked of the network. */
#include "base/base.h"

struct ab_ledger_totals {
	uint64_t allowed, denied, failed; /* requests */
	uint64_t unasked;		  /* of the denied: on no list, and nobody was asked */
	uint64_t bytes_up, bytes_down;
	uint64_t packets; /* denied, and not part of a request */
};
