#include "layer/giveback/credentials.h"

#include <stdlib.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "guard.h"
#include "policy/layers/profiles.h"
#include "tap.h"

#define CLAUDE "home/.claude/.credentials.json"
#define CODEX ".codex/auth.json"
#define QWEN ".qwen/oauth_creds.json"
#define OPENCODE ".local/share/opencode/auth.json"

/* host NULL: the host has no such file. want NULL: refused, with this reason. */
static const struct {
	const char *name, *path, *host, *box, *want, *why;
} cases[] = {
	{ "a renewed token is taken", CLAUDE, "{\"claudeAiOauth\": {\"a\": 1}}",
	  "{\"claudeAiOauth\":{\"a\":2}}", "{\"claudeAiOauth\": {\"a\":2}}", NULL },
	{ "the host's other members stay, in their place and layout", CLAUDE,
	  "{ \"x\": [1],\n  \"claudeAiOauth\": {}, \"y\": 2 }\n",
	  "{\"y\":3,\"x\":[9],\"claudeAiOauth\":{\"n\":1}}",
	  "{ \"x\": [1],\n  \"claudeAiOauth\": {\"n\":1}, \"y\": 2 }\n", NULL },
	{ "a member that only the box has is not added", CLAUDE, "{\"claudeAiOauth\":{}}",
	  "{\"claudeAiOauth\":{},\"evil\":1}", "{\"claudeAiOauth\":{}}", NULL },
	{ "the credential itself is", CLAUDE, "{ \"mcp\": {} }",
	  "{\"mcp\":{\"e\":1},\"claudeAiOauth\":{\"a\":1}}",
	  "{ \"mcp\": {} ,\"claudeAiOauth\":{\"a\":1}}", NULL },
	{ "into an empty object too", CLAUDE, "{}", "{\"claudeAiOauth\":{\"a\":1}}",
	  "{\"claudeAiOauth\":{\"a\":1}}", NULL },
	{ "a member that the box removed stays", CLAUDE, "{\"claudeAiOauth\":{}}", "{}",
	  "{\"claudeAiOauth\":{}}", NULL },
	{ "a value of another kind is not taken", CLAUDE, "{\"claudeAiOauth\":{}}",
	  "{\"claudeAiOauth\":\"x\"}", "{\"claudeAiOauth\":{}}", NULL },
	{ "a login in the box", CLAUDE, NULL, "{\"evil\":1,\"claudeAiOauth\":{\"a\":[1, 2]}}",
	  "{\"claudeAiOauth\":{\"a\":[1, 2]}}\n", NULL },
	{ "nothing to return at a login", CLAUDE, NULL, "{\"evil\":1}", NULL,
	  "the box's copy has no credential that may leave it" },

	{ "Codex: only tokens change once there is a login", CODEX,
	  "{\"auth_mode\":\"chatgpt\",\"tokens\":{\"a\":1},\"last_refresh\":\"x\"}",
	  "{\"auth_mode\":\"apikey\",\"OPENAI_API_KEY\":\"k\",\"tokens\":{\"a\":2},"
	  "\"last_refresh\":\"y\"}",
	  "{\"auth_mode\":\"chatgpt\",\"tokens\":{\"a\":2},\"last_refresh\":\"y\"}", NULL },
	{ "Codex: a login with a key", CODEX, NULL,
	  "{\"auth_mode\":\"apikey\",\"OPENAI_API_KEY\":\"k\"}",
	  "{\"auth_mode\":\"apikey\",\"OPENAI_API_KEY\":\"k\"}\n", NULL },
	{ "Qwen: the address of the service is not taken", QWEN,
	  "{\"access_token\":\"a\",\"resource_url\":\"good\"}",
	  "{\"access_token\":\"b\",\"resource_url\":\"evil\"}",
	  "{\"access_token\":\"b\",\"resource_url\":\"good\"}", NULL },
	{ "nor at a login", QWEN, NULL, "{\"access_token\":\"b\",\"resource_url\":\"evil\"}",
	  "{\"access_token\":\"b\"}\n", NULL },

	{ "OpenCode: tokens of an account", OPENCODE,
	  "{\"anthropic\": {\"type\":\"oauth\",\"access\":\"a\",\"expires\":1}}",
	  "{\"anthropic\":{\"type\":\"oauth\",\"access\":\"b\",\"expires\":2,\"u\":3}}",
	  "{\"anthropic\": {\"type\":\"oauth\",\"access\":\"b\",\"expires\":2}}", NULL },
	{ "OpenCode: no new account beside the host's", OPENCODE, "{}",
	  "{\"evil\":{\"type\":\"api\",\"key\":\"k\"}}", "{}", NULL },
	{ "OpenCode: no account of another type", OPENCODE,
	  "{\"https://a\":{\"type\":\"wellknown\",\"key\":\"K\",\"token\":\"t\"}}",
	  "{\"https://a\":{\"type\":\"wellknown\",\"key\":\"NODE_OPTIONS\",\"token\":\"x\"}}",
	  "{\"https://a\":{\"type\":\"wellknown\",\"key\":\"K\",\"token\":\"t\"}}", NULL },
	{ "OpenCode: an account does not change its type", OPENCODE,
	  "{\"a\":{\"type\":\"api\",\"key\":\"k\"}}",
	  "{\"a\":{\"type\":\"oauth\",\"key\":\"evil\"}}",
	  "{\"a\":{\"type\":\"api\",\"key\":\"k\"}}", NULL },
	{ "OpenCode: a login, without a server that sends settings", OPENCODE, NULL,
	  "{\"https://evil\":{\"type\":\"wellknown\",\"key\":\"K\",\"token\":\"t\"},"
	  "\"x\":1,\"openai\":{\"type\":\"api\",\"key\":\"k\",\"enterpriseUrl\":\"e\"}}",
	  "{\"openai\":{\"type\":\"api\",\"key\":\"k\"}}\n", NULL },
	{ "OpenCode: only such a server", OPENCODE, NULL,
	  "{\"https://evil\":{\"type\":\"wellknown\",\"key\":\"K\",\"token\":\"t\"}}", NULL,
	  "the box's copy has no credential that may leave it" },

	{ "another file is returned as it is", "x/token.json", "{\"a\":1}", "{ \"b\": [] }",
	  "{ \"b\": [] }", NULL },
	{ "a path that only ends like a known one", "x.codex/auth.json", NULL, "{\"a\":1}",
	  "{\"a\":1}", NULL },
	{ "a file that is not JSON by name", "x/token", "old", "not { json", "not { json", NULL },
	{ "an array", "x.json", NULL, "[1]", NULL, "the box's copy is not a JSON object" },
	{ "half an object", CLAUDE, NULL, "{\"claudeAiOauth\":{", NULL,
	  "the box's copy is not a JSON object" },
	{ "an empty file", CLAUDE, "{}", "", NULL, "the box's copy is not a JSON object" },
	{ "a duplicate key", "x.json", NULL, "{\"a\":1,\"a\":2}", NULL,
	  "the box's copy is not a JSON object" },
	{ "text behind the object", "x.json", NULL, "{}x", NULL,
	  "the box's copy is not a JSON object" },
	{ "a host's file that is not an object", "x.json", "oops", "{}", NULL,
	  "the host's is not a JSON object" },
};

static void check_case(size_t i)
{
	ab_autobuf struct ab_buf out = { 0 };
	const char *why = NULL, *host = cases[i].host;
	int rc = ab_credentials_merge(cases[i].path, host, host ? strlen(host) : 0, cases[i].box,
				      strlen(cases[i].box), &out, &why);

	if (cases[i].want) {
		is_str(rc == 0 ? (out.data ? out.data : "") : why, cases[i].want, cases[i].name);
	} else {
		ok(rc == -1, "%s: refused", cases[i].name);
		is_str(why, cases[i].why, cases[i].name);
	}
}

/* Every beginning of the box's text, in front of a guard page. */
static void check_cuts(void)
{
	size_t wrong = 0;

	for (size_t i = 0; i < AB_COUNT(cases); i++)
		for (size_t n = 0; n < strlen(cases[i].box); n++) {
			const char *text = guarded(cases[i].box, n);
			const char *why = NULL, *host = cases[i].host;
			ab_autobuf struct ab_buf out = { 0 };
			int rc = ab_credentials_merge(cases[i].path, host, host ? strlen(host) : 0,
						      text, n, &out, &why);

			wrong += rc == -1 && !why;
		}
	ok(wrong == 0, "every cut is answered");
}

static void check_profiles(void)
{
	for (size_t i = 0; i < ab_profile_count; i++)
		for (size_t k = 0; k < ab_profiles[i].npresets; k++) {
			const struct ab_preset *p = &ab_profiles[i].presets[k];

			if (p->key == AB_KEY_RETURN && p->value)
				ok(ab_credentials_known(p->value), "profile %s: %s has a rule",
				   ab_profiles[i].name, p->value);
		}
}

int main(void)
{
	ab_autobuf struct ab_buf out = { 0 };
	char *large = ab_alloc(AB_GIVEBACK_MAX + 1);
	const char *why = NULL;

	for (size_t i = 0; i < AB_COUNT(cases); i++)
		check_case(i);
	check_cuts();
	check_profiles();
	memset(large, 'x', AB_GIVEBACK_MAX + 1);
	ok(ab_credentials_merge("x", NULL, 0, large, AB_GIVEBACK_MAX + 1, &out, &why) == -1,
	   "a huge text is refused");
	ok(ab_credentials_merge("x", NULL, 0, large, AB_GIVEBACK_MAX, &out, &why) == 0,
	   "the largest one is not");
	free(large);
	return done();
}
