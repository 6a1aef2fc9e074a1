#ifndef AB_AUDIT_STATS_H
#define AB_AUDIT_STATS_H
/*
 * Records counted by host. Memory is bounded whatever comes: the first
 * AB_STATS_HOSTS hosts have a row of their own, all others one together.
 *
 * A request that was let through counts with its bytes; a denial as often as
 * its record says ("repeated"). The record of a request that was denied says
 * nothing that its violation does not, but its bytes.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_buf;

enum { AB_STATS_HOSTS = 4096 };

struct ab_stats_row {
	const char *host;	/* hostile text; NULL: the others together */
	uint64_t requests, failed, denied;	/* failed are requests, too */
	uint64_t up, down;
};

struct ab_stats_totals {
	uint64_t lines;		/* that are records */
	uint64_t requests, failed, denied, up, down;
	uint64_t programs, files;	/* of those denied */
	uint64_t packets;	/* that were refused and are no requests */
	uint64_t hosts, others;	/* rows; requests and denials without one */
};

struct ab_stats;

struct ab_stats *ab_stats_new(void);
void ab_stats_free(struct ab_stats *stats);
/* false: the line is no record. */
bool ab_stats_add(struct ab_stats *stats, const char *line, size_t len);

/* Most requests first; good until the next line is added. */
const struct ab_stats_row *ab_stats_rows(struct ab_stats *stats,
					 size_t *ret_n);
void ab_stats_totals(const struct ab_stats *stats,
		     struct ab_stats_totals *ret);

/* A table with bars, escaped; `width`: columns of the screen. Or one JSON
 * object; `lost`: lines that were not to be read. */
void ab_stats_text(struct ab_stats *stats, size_t width, struct ab_buf *b);
void ab_stats_json(struct ab_stats *stats, uint64_t lost, struct ab_buf *b);

#endif
