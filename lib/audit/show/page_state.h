#pragma once
/* Shared by page.c and page_write.c. */
#include "audit/read/details.h"
#include "audit/read/find.h"
#include "audit/read/stats.h"
#include "audit/show/page.h"
#include "audit/write/audit.h"

enum { AB_PAGE_BARS = 96, AB_PAGE_NUMBERS = 4096 };

struct ab_page_denial {
	char *line;   /* the most detailed record */
	bool process; /* it names the process */
	char first[AB_STAMP_ROOM], last[AB_STAMP_ROOM];
	uint64_t count;
};

/* The time of the run in equal parts. When there are too many, two become one. */
struct ab_page_time {
	int64_t begin, part; /* ms; begin is -1 before the first record */
	int64_t last;
	uint64_t passed[AB_PAGE_BARS], denied[AB_PAGE_BARS];
};

struct ab_page {
	char *start, *assurance, *end; /* lines, or NULL; start may be of kind
					 * "refused" */
	char first[AB_STAMP_ROOM], last[AB_STAMP_ROOM];
	struct ab_stats *stats;
	struct ab_page_time time;
	struct ab_page_denial denials[AB_PAGE_ROWS];
	size_t ndenials;
	uint64_t unlisted;				 /* denials without a row */
	uint16_t rows[AB_DENIAL_KINDS][AB_PAGE_NUMBERS]; /* row + 1 */
	struct ab_strv questions, events;		 /* lines */
	uint64_t more_questions, more_events;
	char *requests[AB_PAGE_REQUESTS]; /* a ring of lines */
	uint64_t nrequests;		  /* ever; the next goes to the remainder */
};
