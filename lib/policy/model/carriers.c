#include <stdio.h>
#include <string.h>

#include "base/text/ascii.h"
#include "base/data/mem.h"
#include "policy/model/list_element.h"
#include "policy/model/secrets_config.h"
#include "policy/values/complaint.h"
#include "policy/values/providers.h"

void ab_carrier_format(const struct ab_carrier *c, char ret[AB_CARRIER_TEXT])
{
	const char *kind = "";

	switch (c->kind) {
	case AB_CARRY_BEARER:
		kind = "bearer";
		break;
	case AB_CARRY_TOKEN:
		kind = "token";
		break;
	case AB_CARRY_BASIC:
		kind = "basic";
		break;
	case AB_CARRY_HEADER:
		kind = "header:";
		break;
	case AB_CARRY_QUERY:
		kind = "query:";
		break;
	}
	snprintf(ret, AB_CARRIER_TEXT, "%s%s", kind, c->name);
}

/* Sorted. Fields that belong to one connection, or that say where a message
 * goes and where it ends: a secret must not be able to change that. */
static const char *const never[] = {
	"accept-encoding",
	"connection",
	"content-encoding",
	"content-length",
	"expect",
	"host",
	"keep-alive",
	"proxy-authenticate",
	"proxy-authorization",
	"proxy-connection",
	"te",
	"trailer",
	"transfer-encoding",
	"upgrade",
	"via",
};

static bool is_connection_header(const char *name)
{
	for (size_t i = 0; i < AB_COUNT(never); i++)
		if (strcmp(never[i], name) == 0)
			return true;
	return false;
}

static int take_header(const char *text, struct ab_carrier *c, struct ab_complaint *why)
{
	const char *name = strchr(text, ':') + 1;
	size_t len = strlen(name);

	for (size_t i = 0; i < len && i < sizeof(c->name) - 1; i++)
		c->name[i] = (char)ab_lower(name[i]);
	if (len >= sizeof(c->name) || !ab_is_variable(name, len, "-"))
		return ab_complaint_value(why, text, "does not name a header",
					  "write one like \"header:x-api-key\"");
	if (is_connection_header(c->name))
		return ab_complaint_value(why, text, "is a connection header",
					  "a secret cannot be sent in it");
	return 0;
}

static int take_query(const char *text, struct ab_carrier *c, struct ab_complaint *why)
{
	const char *name = strchr(text, ':') + 1;
	size_t len = strlen(name);

	if (len >= sizeof(c->name) || !ab_is_variable(name, len, "-.~"))
		return ab_complaint_value(why, text, "does not name a parameter",
					  "write one like \"query:key\"");
	memcpy(c->name, name, len);
	return 0;
}

int ab_carrier_parse(const char *text, struct ab_carrier *ret, struct ab_complaint *why)
{
	static const struct {
		const char *name;
		enum ab_carrier_kind kind;
	} plain[] = { { "bearer", AB_CARRY_BEARER },
		      { "token", AB_CARRY_TOKEN },
		      { "basic", AB_CARRY_BASIC } };
	struct ab_carrier c = { 0 };

	for (size_t i = 0; i < AB_COUNT(plain); i++)
		if (strcmp(plain[i].name, text) == 0) {
			c.kind = plain[i].kind;
			*ret = c;
			return 0;
		}
	if (strncmp(text, "header:", 7) == 0) {
		c.kind = AB_CARRY_HEADER;
		if (take_header(text, &c, why) < 0)
			return -1;
	} else if (strncmp(text, "query:", 6) == 0) {
		c.kind = AB_CARRY_QUERY;
		if (take_query(text, &c, why) < 0)
			return -1;
	} else {
		return ab_why_invalid(why, text,
				      "use bearer, token, basic, header:NAME, query:NAME or any");
	}
	*ret = c;
	return 0;
}
