#include "secrets/secrets_report.h"

#include <string.h>

#include "base/data/mem.h"
#include "policy/model/policy.h"
#include "tap.h"

static const struct ab_carrier bearer[] = { { .kind = AB_CARRY_BEARER } };

/* A list of literals, which nobody frees. */
#define LIST(...)                                                    \
	{                                                            \
		.v = (char **)(const char *[]){ __VA_ARGS__, NULL }, \
		.len = AB_COUNT(((const char *[]){ __VA_ARGS__ })),  \
	}

static const struct ab_secret plain = {
	.name = "OPENAI_API_KEY",
	.origin = "--secret",
	.wanted = true,
	.from = AB_FROM_ENV,
	.env = "MY_KEY",
	.hosts = LIST("api.openai.com:443"),
	.carriers = bearer,
	.ncarriers = 1,
	.names = LIST("OPENAI_API_KEY", "OPENAI_KEY"),
};

static const struct ab_secret odd = {
	.name = "ODD",
	.origin = "/etc/x\x1b.json:3",
	.from = AB_FROM_COMMAND,
	.command = LIST("/bin/pass\x1b", "show", "zq-argument"),
	.hosts = LIST("a.example:8443", "*.b.example:443"),
	.in_path = true,
	.in_body = true,
	.inject = true,
	.format = "Key {}",
	.require = true,
	.life = AB_LIFE_STABLE,
	.stop = true,
	.via = AB_VIA_BOTH,
	.names = LIST("ODD"),
	.files = LIST("/home/u/.netrc"),
};

static const struct ab_secret kept = {
	.name = "KEPT",
	.origin = "f:1",
	.from = AB_FROM_FILE,
	.file = "/home/u/tokens.json",
	.key = "a.b",
	.hosts = LIST("c.example:443"),
	.names = LIST("KEPT"),
};

static const struct ab_secret gone = {
	.name = "GONE",
	.from = AB_FROM_ENV,
	.env = "GONE",
	.hosts = LIST("d.example:443"),
	.names = LIST("GONE"),
};

static char none[] = "", problem[] = "it is\x1b[2J too short", remedy[] = "take another\nor none";
static struct ab_secret_row rows[] = {
	{ &plain, AB_SOURCE_SET, AB_RESULT_OK, none, none },
	{ &odd, AB_SOURCE_COMMAND, AB_RESULT_FAIL, problem, remedy },
	{ &kept, AB_SOURCE_MISSING, AB_RESULT_OK, none, none },
	{ &gone, AB_SOURCE_UNSET, AB_RESULT_UNSET, none, none },
};

static const struct ab_secrets_report report = {
	.v = rows,
	.len = AB_COUNT(rows),
	.uncovered = LIST("AWS_SECRET_ACCESS_KEY: AWS keys sign requests"),
	.unused = LIST("GH_TOKEN"),
	.failed = true,
};

static void test_list(void)
{
	ab_autofree char *text = ab_secrets_report_list_text(&report);
	ab_autofree char *json = ab_secrets_report_list_json(&report);

	is_str(text,
	       "OPENAI_API_KEY\n"
	       "  source     variable MY_KEY, set\n"
	       "  hosts      api.openai.com:443\n"
	       "  carried    bearer\n"
	       "  how        replaces its placeholder, inside TLS\n"
	       "  variables  OPENAI_API_KEY, OPENAI_KEY\n"
	       "  set by     --secret\n"
	       "\n"
	       "ODD\n"
	       "  source     command /bin/pass\\x1b, not run for this list\n"
	       "  hosts      a.example:8443, *.b.example:443\n"
	       "  carried    any field or query, path, body\n"
	       "  how        injected into every request as Key {}, inside TLS and "
	       "at the gateway; requests without it are denied; the same "
	       "placeholder in every workspace; misuse ends the run\n"
	       "  variables  ODD\n"
	       "  files      /home/u/.netrc\n"
	       "  set by     /etc/x\\x1b.json:3\n"
	       "\n"
	       "KEPT\n"
	       "  source     file /home/u/tokens.json at a.b, missing\n"
	       "  hosts      c.example:443\n"
	       "  carried    any field or query\n"
	       "  how        replaces its placeholder, inside TLS\n"
	       "  variables  KEPT\n"
	       "  set by     f:1\n"
	       "\n"
	       "GONE\n"
	       "  source     variable GONE, not set: runs skip it\n"
	       "  hosts      d.example:443\n"
	       "  carried    any field or query\n"
	       "  how        replaces its placeholder, inside TLS\n"
	       "  variables  GONE\n"
	       "\n"
	       "not covered:\n"
	       "  AWS_SECRET_ACCESS_KEY: AWS keys sign requests\n"
	       "\n"
	       "set in your environment; to use one as a secret:\n"
	       "  GitHub: agentbox run --secret GH_TOKEN -- ...\n",
	       "a list for people");
	is_str(json,
	       "{\"secrets\":[{\"name\":\"OPENAI_API_KEY\",\"provider\":null,"
	       "\"from\":\"env\",\"source\":\"MY_KEY\",\"key\":null,"
	       "\"state\":\"set\",\"wanted\":true,"
	       "\"hosts\":[\"api.openai.com:443\"],\"as\":[\"bearer\"],"
	       "\"also\":[],\"mode\":\"swap\",\"format\":null,"
	       "\"require\":false,\"placeholder\":\"workspace\",\"via\":\"tls\","
	       "\"names\":[\"OPENAI_API_KEY\",\"OPENAI_KEY\"],\"files\":[],"
	       "\"onTripwire\":\"refuse\",\"origin\":\"--secret\"},"
	       "{\"name\":\"ODD\",\"provider\":null,\"from\":\"command\","
	       "\"source\":\"/bin/pass\\u001b\",\"key\":null,"
	       "\"state\":\"command\",\"wanted\":false,"
	       "\"hosts\":[\"a.example:8443\",\"*.b.example:443\"],"
	       "\"as\":[\"any\"],\"also\":[\"path\",\"body\"],"
	       "\"mode\":\"inject\",\"format\":\"Key {}\",\"require\":true,"
	       "\"placeholder\":\"stable\",\"via\":\"both\","
	       "\"names\":[\"ODD\"],\"files\":[\"/home/u/.netrc\"],"
	       "\"onTripwire\":\"stop\",\"origin\":\"/etc/x\\u001b.json:3\"},"
	       "{\"name\":\"KEPT\",\"provider\":null,\"from\":\"file\","
	       "\"source\":\"/home/u/tokens.json\",\"key\":\"a.b\","
	       "\"state\":\"missing\",\"wanted\":false,"
	       "\"hosts\":[\"c.example:443\"],\"as\":[\"any\"],\"also\":[],"
	       "\"mode\":\"swap\",\"format\":null,\"require\":false,"
	       "\"placeholder\":\"workspace\",\"via\":\"tls\",\"names\":[\"KEPT\"],"
	       "\"files\":[],\"onTripwire\":\"refuse\",\"origin\":\"f:1\"},"
	       "{\"name\":\"GONE\",\"provider\":null,\"from\":\"env\","
	       "\"source\":\"GONE\",\"key\":null,\"state\":\"unset\","
	       "\"wanted\":false,\"hosts\":[\"d.example:443\"],"
	       "\"as\":[\"any\"],\"also\":[],\"mode\":\"swap\","
	       "\"format\":null,\"require\":false,"
	       "\"placeholder\":\"workspace\",\"via\":\"tls\","
	       "\"names\":[\"GONE\"],\"files\":[],"
	       "\"onTripwire\":\"refuse\",\"origin\":null}],"
	       "\"uncovered\":[\"AWS_SECRET_ACCESS_KEY: AWS keys sign "
	       "requests\"],\"unused\":[{\"name\":\"GH_TOKEN\",\"provider\":\"github\","
	       "\"use\":\"agentbox run --secret GH_TOKEN -- ...\"}]}\n",
	       "a list for programs");
	ok(!strstr(text, "zq-argument") && !strstr(json, "zq-argument"),
	   "arguments of a command are not shown");
}

static void test_check(void)
{
	ab_autofree char *text = ab_secrets_report_check_text(&report);
	ab_autofree char *json = ab_secrets_report_check_json(&report);

	is_str(text,
	       "ok     OPENAI_API_KEY  variable MY_KEY\n"
	       "fail   ODD             it is\\x1b[2J too short\n"
	       "                       take another\n"
	       "                       or none\n"
	       "ok     KEPT            file /home/u/tokens.json\n"
	       "unset  GONE            variable GONE is not set: runs skip it\n",
	       "a check for people");
	is_str(json,
	       "{\"secrets\":[{\"name\":\"OPENAI_API_KEY\",\"result\":\"ok\","
	       "\"problem\":null,\"remedy\":null},"
	       "{\"name\":\"ODD\",\"result\":\"fail\","
	       "\"problem\":\"it is\\u001b[2J too short\","
	       "\"remedy\":\"take another\\u000aor none\"},"
	       "{\"name\":\"KEPT\",\"result\":\"ok\",\"problem\":null,"
	       "\"remedy\":null},"
	       "{\"name\":\"GONE\",\"result\":\"unset\",\"problem\":null,"
	       "\"remedy\":null}],\"ok\":false}\n",
	       "a check for programs");
}

static void test_nothing(void)
{
	const struct ab_secrets_report empty = { 0 };
	ab_autofree char *list = ab_secrets_report_list_text(&empty);
	ab_autofree char *list_json = ab_secrets_report_list_json(&empty);
	ab_autofree char *check = ab_secrets_report_check_text(&empty);
	ab_autofree char *check_json = ab_secrets_report_check_json(&empty);

	ok(strstr(list, "has no secrets") && strstr(list, "--secret"),
	   "an empty list says how to begin");
	is_str(list_json, "{\"secrets\":[],\"uncovered\":[],\"unused\":[]}\n",
	       "an empty list for programs");
	ok(strstr(check, "has no secrets"), "nothing to check is said");
	is_str(check_json, "{\"secrets\":[],\"ok\":true}\n", "nothing to check, for programs");
}

int main(void)
{
	test_list();
	test_check();
	test_nothing();
	return done();
}
