#include "layer/giveback/credentials.h"

#include "layer/store/meta.h"

#include <stdlib.h>

#include "agents/agents.h"
#include "base/data/buf.h"
#include "base/data/mem.h"
#include "guard.h"
#include "tap.h"

#define CLAUDE "home/.claude/.credentials.json"
#define CODEX ".codex/auth.json"
#define GEMINI ".gemini/oauth_creds.json"
#define QWEN ".qwen/oauth_creds.json"
#define OPENCODE ".local/share/opencode/auth.json"

#define PLACEHOLDER "sk-ant-placeholder-0123"

/* host NULL: the host has no such file. want NULL: refused, with this reason. */
static const struct {
	const char *name, *path, *host, *box, *want, *why;
} cases[] = {
	{ "a renewed token is taken", CLAUDE, "{\"claudeAiOauth\": {\"accessToken\": \"a\"}}",
	  "{\"claudeAiOauth\":{\"accessToken\":\"b\"}}",
	  "{\"claudeAiOauth\": {\"accessToken\": \"b\"}}", NULL },
	{ "the host's other members stay, in their place and layout", CLAUDE,
	  "{ \"x\": [1],\n  \"claudeAiOauth\": { \"n\" : 1 }, \"y\": 2 }\n",
	  "{\"y\":3,\"x\":[9],\"claudeAiOauth\":{\"n\":2,\"expiresAt\":1}}",
	  "{ \"x\": [1],\n  \"claudeAiOauth\": { \"n\" : 1 ,\"expiresAt\":1}, \"y\": 2 }\n", NULL },
	{ "a member that only the box has is not added", CLAUDE, "{\"claudeAiOauth\":{}}",
	  "{\"claudeAiOauth\":{},\"evil\":1}", "{\"claudeAiOauth\":{}}", NULL },
	{ "nor one in the object of the login, at no depth", CLAUDE, "{\"claudeAiOauth\":{}}",
	  "{\"claudeAiOauth\":{\"apiKeyHelper\":\"/bin/sh\",\"scopes\":{\"apiKeyHelper\":\"x\"},"
	  "\"accessToken\":{\"accessToken\":\"x\"},\"expiresAt\":7}}",
	  "{\"claudeAiOauth\":{\"expiresAt\":7}}", NULL },
	{ "a member whose name is a path is none", CLAUDE, "{}",
	  "{\"claudeAiOauth.accessToken\":\"x\",\"claudeAiOauth.accessToken=token\":\"x\","
	  "\"accessToken\":\"x\"}",
	  "{}", NULL },
	{ "the credential itself is", CLAUDE, "{ \"mcp\": {} }",
	  "{\"mcp\":{\"e\":1},\"claudeAiOauth\":{\"accessToken\":\"a\"}}",
	  "{ \"mcp\": {} ,\"claudeAiOauth\":{\"accessToken\":\"a\"}}", NULL },
	{ "into an empty object too", CLAUDE, "{}", "{\"claudeAiOauth\":{\"accessToken\":\"a\"}}",
	  "{\"claudeAiOauth\":{\"accessToken\":\"a\"}}", NULL },
	{ "a member that the box removed stays", CLAUDE, "{\"claudeAiOauth\":{}}", "{}",
	  "{\"claudeAiOauth\":{}}", NULL },
	{ "a value of another kind is not taken", CLAUDE, "{\"claudeAiOauth\":{}}",
	  "{\"claudeAiOauth\":\"x\"}", "{\"claudeAiOauth\":{}}", NULL },
	{ "what is no token, number, list of scopes stays out", CLAUDE,
	  "{\"claudeAiOauth\":{\"accessToken\":\"a\",\"scopes\":[\"s\"]}}",
	  "{\"claudeAiOauth\":{\"accessToken\":\"b $(x)\",\"refreshToken\":1,\"expiresAt\":\"1\","
	  "\"refreshTokenExpiresAt\":1.5,\"scopes\":[\"s\",[\"t\"]],\"clientId\":\"\","
	  "\"subscriptionType\":null}}",
	  "{\"claudeAiOauth\":{\"accessToken\":\"a\",\"scopes\":[\"s\"],\"subscriptionType\":null}}",
	  NULL },
	{ "nor does a line break, written as an escape", CLAUDE, "{\"claudeAiOauth\":{}}",
	  "{\"claudeAiOauth\":{\"accessToken\":\"a\\u000ab\",\"refreshToken\":\"\\u0063\"}}",
	  "{\"claudeAiOauth\":{\"refreshToken\":\"c\"}}", NULL },
	{ "the same value in other words changes nothing", CLAUDE,
	  "{\"claudeAiOauth\":{\"accessToken\":\"\\u0061\",\"scopes\":[ \"s\" ]}}",
	  "{\"claudeAiOauth\":{\"accessToken\":\"a\",\"scopes\":[\"s\"]}}",
	  "{\"claudeAiOauth\":{\"accessToken\":\"\\u0061\",\"scopes\":[ \"s\" ]}}", NULL },
	{ "a placeholder is not a token", CLAUDE, "{\"claudeAiOauth\":{\"accessToken\":\"a\"}}",
	  "{\"claudeAiOauth\":{\"accessToken\":\"" PLACEHOLDER "\",\"refreshToken\":\"x" PLACEHOLDER
	  "y\",\"scopes\":[\"s\",\"" PLACEHOLDER "\"],\"expiresAt\":2}}",
	  "{\"claudeAiOauth\":{\"accessToken\":\"a\",\"expiresAt\":2}}", NULL },
	{ "nor in another file", "x/token.json", "{}", "{\"a\":\"" PLACEHOLDER "\"}", NULL,
	  "the box's copy has the placeholder of a secret in it" },
	{ "a login in the box", CLAUDE, NULL,
	  "{\"evil\":1,\"claudeAiOauth\":{\"accessToken\":\"a\",\"scopes\":[\"user:a\", \"b\"],\"x\":1}}",
	  "{\"claudeAiOauth\":{\"accessToken\":\"a\",\"scopes\":[\"user:a\",\"b\"]}}\n", NULL },
	{ "nothing to return at a login", CLAUDE, NULL, "{\"evil\":1}", NULL,
	  "the box's copy has no credential that may leave it" },

	{ "Codex: only tokens change once there is a login", CODEX,
	  "{\"auth_mode\":\"chatgpt\",\"tokens\":{\"id_token\":\"e.a.b\"},\"last_refresh\":\"x\"}",
	  "{\"auth_mode\":\"apikey\",\"OPENAI_API_KEY\":\"k\",\"tokens\":{\"id_token\":\"e.a.c\","
	  "\"openai_base_url\":\"https://evil\"},\"last_refresh\":\"2026-01-31T12:00:00.123456Z\"}",
	  "{\"auth_mode\":\"chatgpt\",\"tokens\":{\"id_token\":\"e.a.c\"},"
	  "\"last_refresh\":\"2026-01-31T12:00:00.123456Z\"}",
	  NULL },
	{ "Codex: what is no time stays out", CODEX, "{\"tokens\":{},\"last_refresh\":\"x\"}",
	  "{\"tokens\":{},\"last_refresh\":\"2026-01-31T12:00:00 && x\"}",
	  "{\"tokens\":{},\"last_refresh\":\"x\"}", NULL },
	{ "Gemini: scopes in one text", GEMINI, NULL,
	  "{\"access_token\":\"ya29.a0\",\"refresh_token\":\"1//0g\",\"token_type\":\"Bearer\","
	  "\"scope\":\"openid https://www.googleapis.com/auth/cloud-platform\",\"expiry_date\":1,"
	  "\"project\":\"evil\"}",
	  "{\"access_token\":\"ya29.a0\",\"refresh_token\":\"1//0g\",\"token_type\":\"Bearer\","
	  "\"scope\":\"openid https://www.googleapis.com/auth/cloud-platform\",\"expiry_date\":1}\n",
	  NULL },
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
	{ "OpenCode: no account with the name of an address", OPENCODE, NULL,
	  "{\"https://evil\":{\"type\":\"api\",\"key\":\"k\"},\"a\":{\"type\":\"api\",\"key\":\"k\"}}",
	  "{\"a\":{\"type\":\"api\",\"key\":\"k\"}}\n", NULL },
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

static char placeholder[] = PLACEHOLDER;
static char *placeholder_list[] = { placeholder, NULL };
static const struct ab_strv placeholders = { .v = placeholder_list, .len = 1 };

static void check_case(size_t i)
{
	ab_autobuf struct ab_buf out = { 0 };
	const char *why = NULL, *host = cases[i].host;
	int rc = ab_credentials_merge(cases[i].path, host, host ? strlen(host) : 0, cases[i].box,
				      strlen(cases[i].box), &placeholders, &out, &why);

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
						      text, n, &placeholders, &out, &why);

			wrong += rc == -1 && !why;
		}
	ok(wrong == 0, "every cut is answered");
}

static void check_profiles(void)
{
	for (size_t i = 0; ab_agents[i]; i++)
		if (ab_agents[i]->login.path)
			ok(ab_credentials_known(ab_agents[i]->login.path),
			   "profile %s: %s has a rule", ab_agents[i]->name,
			   ab_agents[i]->login.path);
}

/* Who does not know all of them returns nothing. */
static void check_many(void)
{
	ab_autostrv struct ab_strv many = { 0 };
	static const char text[] = "{\"access_token\":\"new\"}";
	ab_autobuf struct ab_buf out = { 0 };
	const char *why = NULL;

	while (many.len < AB_LAYER_PLACEHOLDERS_MAX - 1)
		ab_strv_addf(&many, "placeholder-%zu", many.len);
	ok(ab_credentials_merge("x.json", NULL, 0, text, strlen(text), &many, &out, &why) == 0,
	   "a file is returned beside many placeholders");
	ab_strv_add(&many, "placeholder-last");
	ok(ab_credentials_merge("x.json", NULL, 0, text, strlen(text), &many, &out, &why) == -1 &&
		   why && strstr(why, "more placeholders"),
	   "and not when there may be more than are known");
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
	check_many();
	memset(large, 'x', AB_GIVEBACK_MAX + 1);
	ok(ab_credentials_merge("x", NULL, 0, large, AB_GIVEBACK_MAX + 1, NULL, &out, &why) == -1,
	   "a huge text is refused");
	ok(ab_credentials_merge("x", NULL, 0, large, AB_GIVEBACK_MAX, NULL, &out, &why) == 0,
	   "the largest one is not");
	free(large);
	return done();
}
