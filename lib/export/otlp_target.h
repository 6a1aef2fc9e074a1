#pragma once
/* Where records are sent to: the URL of --audit otlp:URL, and the headers that OpenTelemetry's
 * variables ask for. Pure. */
#include "policy/values/host.h"

#define AB_OTLP_PREFIX "otlp:"

struct ab_otlp_target {
	bool tls;
	struct ab_host host;
	uint16_t port;
	char *authority; /* "x.y:4318", for the request */
	char *path;	 /* "/v1/logs" */
	char *headers;	 /* whole lines; may hold a password */
};

/* Is this what the user wrote for --audit such a target? */
bool ab_otlp_is_target(const char *audit);
/* `headers` is OTEL_EXPORTER_OTLP_HEADERS or NULL: "name=value,name=value", percent-encoded. */
int ab_otlp_target_parse(const char *audit, const char *headers, struct ab_otlp_target *ret,
			 struct ab_error *err);
void ab_otlp_target_fini(struct ab_otlp_target *target);
