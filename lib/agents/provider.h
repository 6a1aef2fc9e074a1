#pragma once
/* A service and its keys: policy/values/providers.h. */
#include "base/base.h"

/* How a request carries a value. */
enum ab_carrier_kind {
	AB_CARRY_BEARER, /* Authorization: Bearer VALUE */
	AB_CARRY_TOKEN,	 /* Authorization: token VALUE */
	AB_CARRY_BASIC,	 /* Authorization: Basic, VALUE as the password */
	AB_CARRY_HEADER, /* NAME: VALUE */
	AB_CARRY_QUERY,	 /* ?NAME=VALUE */
};

/* The name of a header or a parameter, with the NUL. */
enum { AB_CARRIER_NAME = 64 };

struct ab_carrier {
	enum ab_carrier_kind kind;
	char name[AB_CARRIER_NAME]; /* header (lower case) or parameter */
};

/* How many of each a row can have, and the size of its texts. */
enum {
	AB_PROVIDER_NAMES = 4,
	AB_PROVIDER_HOSTS = 5,
	AB_PROVIDER_CARRIERS = 3,
	AB_PROVIDER_PREFIXES = 6,
	AB_PROVIDER_FILES = 2,
	AB_PROVIDER_WORD = 32,
	AB_PROVIDER_HOST = 40,
};

/*
 * The texts are in the row itself, and "" means none: a table of pointers would
 * have to be relocated at every start.
 */
struct ab_provider {
	char name[12];	/* "openai"; also its path at the gateway */
	char title[16]; /* "OpenAI" */
	/* Variables, the usual one first. */
	char names[AB_PROVIDER_NAMES][AB_PROVIDER_WORD];
	/* Canonical entries, for port 443. */
	char hosts[AB_PROVIDER_HOSTS][AB_PROVIDER_HOST];
	struct ab_carrier carriers[AB_PROVIDER_CARRIERS];
	size_t ncarriers;
	/* What real values start with ("sk-"): a placeholder keeps the longest
	 * one that its value has. */
	char prefixes[AB_PROVIDER_PREFIXES][16];
	/* The gateway; "": the SDKs have no variable for it. */
	char base_variable[AB_PROVIDER_WORD]; /* "OPENAI_BASE_URL" */
	char base_path[8];		      /* what follows the name: "/v1" */
	char base_host[AB_PROVIDER_HOST];     /* where the gateway connects to */
	/* Some clients add "/v1" to the base URL and others do not: what of the
	 * service lies below it, separated by blanks. */
	char endpoints[128];
	/* Files in which clients keep such a value ("~/.config/gh/hosts.yml").
	 * They may hold other values too, so a file is shown only if the policy
	 * declares it. */
	char files[AB_PROVIDER_FILES][AB_PROVIDER_HOST];
};

/* Both members of a row: AB_CARRIERS({ AB_CARRY_HEADER, "api-key" }, { AB_CARRY_BEARER }). */
#define AB_CARRIERS(...)             \
	.carriers = { __VA_ARGS__ }, \
	.ncarriers =                 \
		sizeof((const struct ab_carrier[]){ __VA_ARGS__ }) / sizeof(struct ab_carrier)

/* What tokens of GitHub start with. */
#define AB_GITHUB_PREFIXES                                            \
	{                                                             \
		"ghp_", "github_pat_", "gho_", "ghs_", "ghu_", "ghr_" \
	}
