#pragma once
/*
 * Records as OTLP logs (opentelemetry-proto, JSON encoding). Pure. docs/telemetry.md has the map of
 * the members.
 *
 *	ab_otlp_open(&body, machine);
 *	ab_otlp_add(&body, line, len, now);	for each record
 *	ab_otlp_close(&body);
 */
#include "base/base.h"

void ab_otlp_open(struct ab_buf *b, const char *machine);
/* `observed`: nanoseconds since 1970. A line that is not a record becomes a record with the line as
 * its body. */
void ab_otlp_add(struct ab_buf *b, const char *line, size_t len, uint64_t observed);
void ab_otlp_close(struct ab_buf *b);
