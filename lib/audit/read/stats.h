#pragma once
/*
 * Count records by host. Memory is bounded: the first AB_STATS_HOSTS hosts have
 * a row each, all others share one.
 *
 * An allowed request counts with its bytes; a denial as often as its record
 * says ("repeated"). Of the record of a denied request only the bytes count,
 * since its violation has the rest.
 */
#include "base/base.h"

enum { AB_STATS_HOSTS = 4096 };

struct ab_stats_row {
	const char *host;		   /* hostile text; NULL: the others together */
	uint64_t requests, failed, denied; /* failed are requests, too */
	uint64_t up, down;
};

struct ab_stats_totals {
	uint64_t lines; /* records */
	uint64_t requests, failed, denied, up, down;
	uint64_t programs, files, containers, tools; /* among the denied */
	uint64_t packets;			     /* denied, and not part of a request */
	uint64_t hosts;				     /* rows */
	uint64_t others;			     /* requests and denials without a row */
};

struct ab_detail;
struct ab_stats;

struct ab_stats *ab_stats_new(void);
void ab_stats_free(struct ab_stats *stats);
/* False if the line is not a record. */
bool ab_stats_add(struct ab_stats *stats, const char *line, size_t len);
/* The row of a host, to count in it what counts otherwise. */
struct ab_stats_row *ab_stats_row(struct ab_stats *stats, const struct ab_detail *domain);

/* Most requests first; valid until the next line is added. */
const struct ab_stats_row *ab_stats_rows(struct ab_stats *stats, size_t *ret_n);
void ab_stats_totals(const struct ab_stats *stats, struct ab_stats_totals *ret);

/* A table with bars, escaped, `width` columns wide; or one JSON object. `lost` is
 * the number of lines that could not be read. */
void ab_stats_text(struct ab_stats *stats, size_t width, struct ab_buf *b);
void ab_stats_json(struct ab_stats *stats, uint64_t lost, struct ab_buf *b);
