#pragma once
/*
 * Send the record of a run to an OpenTelemetry collector, OTLP over HTTP with JSON, while it is
 * written (--audit otlp:URL).
 *
 * A process of its own does it, with a socket to the supervisor that the record is copied to
 * (audit/write/copy.h, lossy): neither the box nor the supervisor ever waits for the collector.
 * Memory is bounded; a record for which there is no room is dropped and counted. When the run has
 * ended, the process has AB_EXPORT_FLUSH_MS to send the rest.
 */
#include "base/base.h"

struct ab_copy;
struct ab_exporter;
struct ab_policy;

enum {
	AB_EXPORT_QUEUE = 4096,		   /* records that wait */
	AB_EXPORT_QUEUE_BYTES = 8 << 20,   /* and their bytes */
	AB_EXPORT_BATCH = 512,		   /* records in one request */
	AB_EXPORT_BATCH_BYTES = 512 << 10, /* and their bytes; one record may have more */
	AB_EXPORT_DELAY_MS = 1000,	   /* until a batch that is not full is sent */
	AB_EXPORT_REQUEST_MS = 10000,
	AB_EXPORT_FLUSH_MS = 5000,
};

struct ab_export_counts { /* of records */
	uint64_t sent;	  /* the collector has them */
	uint64_t dropped; /* there was no room */
	uint64_t refused; /* the collector did not accept them */
	uint64_t unsent;  /* at the end */
	char why[160];	  /* the last failure; "": there was none. Hostile */
};

/* `variables` has OpenTelemetry's variables and SSL_CERT_FILE. The copy is opened. */
int ab_exporter_start(const char *audit, const struct ab_policy *policy, char *const *variables,
		      struct ab_copy *ret_copy, struct ab_exporter **ret, struct ab_error *err);
/* So far. */
void ab_exporter_counts(const struct ab_exporter *exporter, const struct ab_copy *copy,
			struct ab_export_counts *ret);
/* The record is complete: wait until the rest is sent or given up, AB_EXPORT_FLUSH_MS and a moment. */
void ab_exporter_end(struct ab_exporter *exporter, struct ab_copy *copy,
		     struct ab_export_counts *ret);
void ab_exporter_free(struct ab_exporter *exporter);
