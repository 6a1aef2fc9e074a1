#include "policy/model/secrets.h"

#include "policy/layers/compare.h"
#include "policy/layers/trust.h"
#include "policy/show/show.h"
#include "policy_help.h"
#include "tap.h"

/* What is wrong with the secret FOO of a file. */
static const struct {
	const char *secret, *line;
} wrongs[] = {
	{ "3",
	  "1: secrets.FOO: expected an object, got a number; use { \"hosts\": [\"api.example.com\"] }" },
	{ "{}",
	  "1: secrets.FOO.hosts: is missing, and this name is not a known service key; use one like [\"api.example.com\"]" },
	{ "{\"hosts\":[]}", "8: secrets.FOO.hosts: is empty; use one like [\"api.example.com\"]" },
	{ "{\"hosts\":\"x.org\"}",
	  "8: secrets.FOO.hosts: expected a list, got a string; use one like [\"api.example.com\"]" },
	{ "{\"hosts\":[1]}",
	  "17: secrets.FOO.hosts[0]: expected a string, got a number; put it in quotes" },
	{ "{\"hosts\":[\"x.org\",\"10.0.0.1\"]}",
	  "25: secrets.FOO.hosts[1]: \"10.0.0.1\" is an address; use the name in the server's certificate" },
	{ "{\"hosts\":[\"10.0.0.0/8\"]}",
	  "17: secrets.FOO.hosts[0]: \"10.0.0.0/8\" is an address; use the name in the server's certificate" },
	{ "{\"hosts\":[\"@llm\"]}",
	  "17: secrets.FOO.hosts[0]: \"@llm\" is a group of hosts; list each host that may receive the value" },
	{ "{\"hosts\":[\"*.org\"]}",
	  "17: secrets.FOO.hosts[0]: \"*.org\" is too wide; use one like *.example.com" },
	{ "{\"hosts\":[\"https://x.org/\"]}",
	  "17: secrets.FOO.hosts[0]: \"https://x.org/\" is not a host; use \"x.org\"" },
	{ "{\"host\":[\"x.org\"],\"hosts\":[\"x.org\"]}",
	  "8: secrets.FOO.host: unknown key; did you mean hosts?" },
	{ "{\"hosts\":[\"x.org\"],\"from\":\"envy\"}",
	  "26: secrets.FOO.from: invalid value \"envy\"; use env, file or command" },
	{ "{\"hosts\":[\"x.org\"],\"from\":1}",
	  "26: secrets.FOO.from: expected a string, got a number; use env, file or command" },
	{ "{\"hosts\":[\"x.org\"],\"file\":\"~/k\"}",
	  "26: secrets.FOO.file: does not belong to this kind of source; use \"from\": \"file\"" },
	{ "{\"hosts\":[\"x.org\"],\"key\":\"a\"}",
	  "26: secrets.FOO.key: does not belong to this kind of source; use \"from\": \"file\"" },
	{ "{\"hosts\":[\"x.org\"],\"command\":[\"a\"]}",
	  "26: secrets.FOO.command: does not belong to this kind of source; use \"from\": \"command\"" },
	{ "{\"hosts\":[\"x.org\"],\"expires\":\"1h\"}",
	  "26: secrets.FOO.expires: does not belong to this kind of source; use \"from\": \"command\"" },
	{ "{\"hosts\":[\"x.org\"],\"from\":\"command\",\"command\":[\"a\"],\"expires\":\"1s\"}",
	  "59: secrets.FOO.expires: is not a duration between ten seconds and a year; use one like \"50m\"" },
	{ "{\"hosts\":[\"x.org\"],\"from\":\"file\",\"file\":\"~/k\",\"env\":\"X\"}",
	  "53: secrets.FOO.env: does not belong to this kind of source; use \"from\": \"env\"" },
	{ "{\"hosts\":[\"x.org\"],\"from\":\"file\"}",
	  "1: secrets.FOO.file: is missing; use \"file\": \"~/path\"" },
	{ "{\"hosts\":[\"x.org\"],\"from\":\"file\",\"file\":\"~other/k\"}",
	  "40: secrets.FOO.file: \"~other/k\" names another user's home; use its full path" },
	{ "{\"hosts\":[\"x.org\"],\"from\":\"file\",\"file\":\"\"}",
	  "40: secrets.FOO.file: is empty; give it a value, or remove it" },
	{ "{\"hosts\":[\"x.org\"],\"from\":\"command\"}",
	  "1: secrets.FOO.command: is missing; use one like [\"pass\", \"show\", \"x\"]" },
	{ "{\"hosts\":[\"x.org\"],\"from\":\"command\",\"command\":[]}",
	  "43: secrets.FOO.command: is empty; use one like [\"pass\", \"show\", \"x\"]" },
	{ "{\"hosts\":[\"x.org\"],\"from\":\"command\",\"command\":\"pass\"}",
	  "43: secrets.FOO.command: expected a list, got a string; use one like [\"pass\", \"show\", \"x\"]" },
	{ "{\"hosts\":[\"x.org\"],\"from\":\"command\",\"command\":[\"\"]}",
	  "54: secrets.FOO.command[0]: \"\" is not a command; use one like [\"pass\", \"show\", \"x\"]" },
	{ "{\"hosts\":[\"x.org\"],\"env\":\"A-B\"}",
	  "26: secrets.FOO.env: \"A-B\" is not a valid variable name; use letters, digits and _" },
	{ "{\"hosts\":[\"x.org\"],\"as\":\"cookie\"}",
	  "26: secrets.FOO.as: invalid value \"cookie\"; use bearer, token, basic, header:NAME, query:NAME or any" },
	{ "{\"hosts\":[\"x.org\"],\"as\":[\"any\"]}",
	  "32: secrets.FOO.as[0]: invalid value \"any\"; use bearer, token, basic, header:NAME, query:NAME or any" },
	{ "{\"hosts\":[\"x.org\"],\"as\":[]}",
	  "26: secrets.FOO.as: is empty; use one like \"bearer\" or [\"bearer\", \"header:x-api-key\"]" },
	{ "{\"hosts\":[\"x.org\"],\"as\":\"header:\"}",
	  "26: secrets.FOO.as: \"header:\" does not name a header; use one like \"header:x-api-key\"" },
	{ "{\"hosts\":[\"x.org\"],\"as\":\"header:a b\"}",
	  "26: secrets.FOO.as: \"header:a b\" does not name a header; use one like \"header:x-api-key\"" },
	{ "{\"hosts\":[\"x.org\"],\"as\":\"query:a&b\"}",
	  "26: secrets.FOO.as: \"query:a&b\" does not name a parameter; use one like \"query:key\"" },
	{ "{\"hosts\":[\"x.org\"],\"also\":[\"head\"]}",
	  "34: secrets.FOO.also[0]: invalid value \"head\"; use path or body" },
	{ "{\"hosts\":[\"x.org\"],\"mode\":\"put\"}",
	  "26: secrets.FOO.mode: invalid value \"put\"; use swap or inject" },
	{ "{\"hosts\":[\"x.org\"],\"mode\":\"inject\"}",
	  "26: secrets.FOO.mode: needs to know where to inject the value; use \"as\": \"bearer\", or another carrier" },
	{ "{\"hosts\":[\"x.org\"],\"as\":\"header:a\",\"mode\":\"inject\",\"format\":\"x\"}",
	  "58: secrets.FOO.format: must contain {} once, where the value goes; use one like \"Bearer {}\"" },
	{ "{\"hosts\":[\"x.org\"],\"as\":\"header:a\",\"mode\":\"inject\",\"format\":\"{}{}\"}",
	  "58: secrets.FOO.format: must contain {} once, where the value goes; use one like \"Bearer {}\"" },
	{ "{\"hosts\":[\"x.org\"],\"as\":\"header:a\",\"mode\":\"inject\",\"format\":\"{}\\r\\nHost: y\"}",
	  "58: secrets.FOO.format: is too long or contains control characters; at most 1024 bytes" },
	{ "{\"hosts\":[\"x.org\"],\"as\":\"header:a\",\"format\":\"{}\"}",
	  "42: secrets.FOO.format: needs mode inject; use \"mode\": \"inject\"" },
	{ "{\"hosts\":[\"x.org\"],\"require\":\"yes\"}",
	  "26: secrets.FOO.require: expected true or false, got a string; use true or false" },
	{ "{\"hosts\":[\"x.org\"],\"as\":\"bearer\",\"mode\":\"inject\",\"require\":true}",
	  "56: secrets.FOO.require: cannot be combined with mode inject; use \"mode\": \"swap\"" },
	{ "{\"hosts\":[\"x.org\"],\"placeholder\":\"same\"}",
	  "26: secrets.FOO.placeholder: invalid value \"same\"; use workspace, run or stable" },
	{ "{\"hosts\":[\"x.org\"],\"via\":\"smtp\"}",
	  "26: secrets.FOO.via: invalid value \"smtp\"; use tls, gateway or both" },
	{ "{\"hosts\":[\"x.org\"],\"via\":\"gateway\"}",
	  "26: secrets.FOO.via: needs a known variable for the base URL, and there is none; use tls" },
	{ "{\"hosts\":[\"x.org\"],\"names\":[\"1X\"]}",
	  "35: secrets.FOO.names[0]: \"1X\" is not a valid variable name; use letters, digits and _" },
	{ "{\"hosts\":[\"x.org\"],\"names\":[\"AGENTBOX_X\"]}",
	  "35: secrets.FOO.names[0]: \"AGENTBOX_X\" is reserved for agentbox; choose another name" },
	{ "{\"hosts\":[\"x.org\"],\"files\":[\"~other/x\"]}",
	  "35: secrets.FOO.files[0]: \"~other/x\" names another user's home; use its full path" },
	{ "{\"hosts\":[\"x.org\"],\"onTripwire\":\"warn\"}",
	  "26: secrets.FOO.onTripwire: invalid value \"warn\"; use refuse or stop" },
	{ "{\"sign\":\"aws\",\"services\":[\"s3\"],\"hosts\":[\"x.org\"]}",
	  "8: secrets.FOO.sign: invalid value \"aws\"; use aws-sigv4" },
	{ "{\"sign\":\"aws-sigv4\",\"hosts\":[\"x.org\"]}",
	  "1: secrets.FOO.services: is missing; use one like [\"s3\"], or [\"*\"]" },
	{ "{\"sign\":\"aws-sigv4\",\"services\":[\"s3/x\"],\"hosts\":[\"x.org\"]}",
	  "39: secrets.FOO.services[0]: invalid value \"s3/x\"; use a name like s3 or eu-west-1, or *" },
	{ "{\"sign\":\"aws-sigv4\",\"services\":[\"s3\"]}",
	  "1: secrets.FOO.hosts: is missing; list hosts, or services and regions without \"*\"" },
	{ "{\"sign\":\"aws-sigv4\",\"services\":[\"*\"],\"regions\":[\"eu-west-1\"]}",
	  "1: secrets.FOO.hosts: is missing; list hosts, or services and regions without \"*\"" },
	{ "{\"sign\":\"aws-sigv4\",\"services\":[\"*\"],\"hosts\":[\"x.org\"],\"as\":\"bearer\"}",
	  "62: secrets.FOO.as: does not belong to a key that signs; remove it" },
	{ "{\"sign\":\"aws-sigv4\",\"services\":[\"*\"],\"hosts\":[\"x.org\"],\"profile\":\"x\"}",
	  "62: secrets.FOO.profile: does not belong to this kind of source; use \"from\": \"file\"" },
	{ "{\"oauth\":{\"url\":\"http://x.org/t\"},\"hosts\":[\"x.org\"]}",
	  "17: secrets.FOO.oauth.url: \"http://x.org/t\" is not an https URL; use one like "
	  "https://auth.example.com/token" },
	{ "{\"oauth\":{\"url\":\"https://x.org/a/../t\"},\"hosts\":[\"x.org\"]}",
	  "17: secrets.FOO.oauth.url: \"https://x.org/a/../t\" does not have a plain path; use one like "
	  "https://auth.example.com/token" },
	{ "{\"oauth\":{},\"hosts\":[\"x.org\"]}",
	  "8: secrets.FOO.oauth.url: is missing; use the token URL of the service" },
	{ "{\"oauth\":{\"url\":\"https://x.org/t\",\"grant\":\"password\"},\"hosts\":[\"x.org\"]}",
	  "41: secrets.FOO.oauth.grant: invalid value \"password\"; use refresh_token, "
	  "client_credentials or service_account" },
	{ "{\"oauth\":{\"grant\":\"service_account\"},\"hosts\":[\"x.org\"]}",
	  "8: secrets.FOO.oauth.scopes: is missing; use one like "
	  "[\"https://www.googleapis.com/auth/devstorage.read_only\"]" },
	{ "{\"oauth\":{\"grant\":\"service_account\",\"scopes\":[\"x\"]},\"hosts\":[\"x.org\"]}",
	  "1: secrets.FOO.from: must be file for a service account; use \"from\": \"file\", "
	  "\"file\": \"~/key.json\"" },
	{ "{\"oauth\":{\"url\":\"https://x.org/t\",\"clientSecret\":{\"from\":\"env\"}},"
	  "\"hosts\":[\"x.org\"]}",
	  "41: secrets.FOO.oauth.clientSecret.env: is missing; use \"env\": \"NAME\"" },
	{ "{\"oauth\":{\"url\":\"https://x.org/t\"},\"also\":[\"body\"],\"hosts\":[\"x.org\"]}",
	  "42: secrets.FOO.also: does not belong to a secret with oauth; remove it" },
	{ "{\"hosts\":[\"x.org\"],\"services\":[\"s3\"]}",
	  "26: secrets.FOO.services: belongs to a key that signs; use \"sign\": \"aws-sigv4\"" },
};

static void check(const char *text, const char *line)
{
	ab_autostrv struct ab_strv problems = { 0 };

	put_file("home/work/x.json", text);
	if (ab_policy_check_file(&input, "x.json", &problems, &error) < 0)
		abort();
	is_str(joined(&problems), line, line[0] ? line : "a good file");
}

static void test_wrongs(void)
{
	static const char *const never[] = {
		"Host",	   "content-length", "Transfer-Encoding",   "connection", "te",
		"trailer", "upgrade",	     "proxy-authorization", "expect",
	};

	for (size_t i = 0; i < AB_COUNT(wrongs); i++) {
		ab_autofree char *text =
			ab_printf("{\"secrets\":{\n\"FOO\":%s}}", wrongs[i].secret);
		ab_autofree char *line = ab_printf("x.json:2:%s", wrongs[i].line);

		check(text, line);
	}
	for (size_t i = 0; i < AB_COUNT(never); i++) {
		ab_autofree char *text = ab_printf(
			"{\"secrets\":{\"FOO\":{\"hosts\":[\"x.org\"],\"as\":\"header:%s\"}}}",
			never[i]);
		ab_autofree char *line = ab_printf(
			"x.json:1:38: secrets.FOO.as: \"header:%s\" is a connection header; a secret cannot be sent in it",
			never[i]);

		check(text, line);
	}
	check("{\"secrets\":[]}",
	      "x.json:1:2: secrets: expected an object, got a list; use { \"NAME\": { \"hosts\": [\"api.example.com\"] } }");
	check("{\"secrets\":{\"A-B\":{}}}",
	      "x.json:1:13: secrets.A-B: \"A-B\" is not a valid variable name; use letters, digits and _");
	check("{\"secrets\":{\"AGENTBOX_X\":{}}}",
	      "x.json:1:13: secrets.AGENTBOX_X: \"AGENTBOX_X\" is reserved for agentbox; choose another name");
	check("{\"secrets\":{\"GITHUB_TOKEN\":{\"names\":[\"GH_TOKEN\"]},\n\"GH_TOKEN\":{}}}",
	      "x.json:2:1: secrets: GH_TOKEN: the variable GH_TOKEN also belongs to GITHUB_TOKEN; a variable can hold only one of them");
	check("{\"secrets\":{\"GITHUB_TOKEN\":{},\"GH_TOKEN\":{},\"OPENAI_API_KEY\":{\"via\":\"both\"},"
	      "\"TWINE_PASSWORD\":{\"mode\":\"inject\",\"format\":\"__token__:{}\"}}}",
	      "");
}

static void test_full(void)
{
	static const char text[] =
		"{\"secrets\":{\"FOO\":{\"from\":\"file\",\"file\":\"~/k.json\",\"key\":\"a.b\","
		"\"hosts\":[\"X.org\",\"*.y.org:8443\",\"x.org:443\"],\"as\":[\"header:X\"],"
		"\"also\":[\"body\",\"path\"],\"mode\":\"inject\",\"format\":\"Key {}\","
		"\"placeholder\":\"stable\",\"names\":[\"BAR\",\"FOO\"],\"files\":[\"~/.netrc\"],"
		"\"onTripwire\":\"stop\"}}}";
	const struct ab_secret *s;
	struct ab_policy *p;

	put_file(USER_FILE, text);
	p = load();
	ok(p && p->secrets.len == 1, "a secret with everything is read");
	if (!p) {
		printf("# %s %s\n", error.text, error.hint);
		return;
	}
	s = &p->secrets.v[0];
	is_str(s->name, "FOO", "its name");
	is_str(s->origin, "~/.config/agentbox/config.json:1", "its origin");
	ok(!s->wanted && !s->provider && s->from == AB_FROM_FILE && !s->env, "its source");
	is_str(s->file, at("home/k.json"), "its file");
	is_str(s->key, "a.b", "its key");
	is_str(joined(&s->hosts), "x.org:443 *.y.org:8443", "its hosts");
	ok(s->ncarriers == 1 && s->carriers[0].kind == AB_CARRY_HEADER, "its carrier");
	is_str(s->carriers[0].name, "x", "in lower case");
	ok(s->in_path && s->in_body && s->inject && s->life == AB_LIFE_STABLE && s->stop &&
		   !s->require && s->via == AB_VIA_TLS,
	   "its choices");
	is_str(s->format, "Key {}", "its format");
	is_str(joined(&s->names), "FOO BAR", "its variables");
	is_str(joined(&s->files), at("home/.netrc"), "its files");
	is_str(joined(&p->net.allow), "x.org:443 *.y.org:8443", "its hosts are allowed");
	ab_policy_free(p);
	remove_file(USER_FILE);
}

/* A secret with access tokens is two entries: the token, and what is exchanged for it. */
static void test_oauth(void)
{
	static const char text[] =
		"{\"secrets\":{\"TOKEN\":{\"oauth\":{\"url\":\"https://auth.org:8443/t\",\"client\":\"c\","
		"\"clientSecret\":{\"from\":\"file\",\"file\":\"~/s\",\"key\":\"k\"},\"scopes\":[\"a\",\"b\"],"
		"\"body\":\"json\",\"login\":\"basic\"},\"from\":\"command\",\"command\":[\"x\"],"
		"\"hosts\":[\"api.org\"],\"as\":\"bearer\"},"
		"\"OPENAI_API_KEY\":{\"oauth\":{}},"
		"\"G\":{\"oauth\":{\"grant\":\"service_account\",\"scopes\":[\"a\"]},\"from\":\"file\","
		"\"file\":\"~/g.json\",\"hosts\":[\"g.org\"]}}}";
	ab_autofree char *json = NULL, *recorded = NULL;
	struct ab_policy *p;
	char a[65], b[65];

	put_file(USER_FILE, text);
	p = load();
	ok(p && p->secrets.len == 6, "secrets with tokens are read");
	if (!p) {
		printf("# %s %s\n", error.text, error.hint);
		return;
	}
	is_str(p->secrets.v[0].name, "TOKEN", "the token");
	is_str(joined(&p->secrets.v[0].hosts), "api.org:443", "its hosts");
	is_str(p->secrets.v[1].name, "TOKEN_REFRESH_TOKEN", "what is exchanged");
	is_str(joined(&p->secrets.v[1].hosts), "auth.org:8443", "belongs to the token URL");
	ok(!ab_secret_kept(&p->secrets.v[0]) && ab_secret_kept(&p->secrets.v[1]),
	   "and is not sent");
	is_str(p->secrets.v[0].oauth->client_secret->file, at("home/s"),
	       "the client secret's file");
	is_str(p->secrets.v[2].oauth->url, "https://auth.openai.com/oauth/token", "a known URL");
	ok(p->secrets.v[2].oauth->json, "which wants JSON");
	is_str(p->secrets.v[4].oauth->url, "https://oauth2.googleapis.com/token",
	       "that of accounts");
	ok(!p->secrets.v[5].names.len, "a key file has no variable");
	is_str(joined(&p->net.allow),
	       "api.org:443 auth.org:8443 api.openai.com:443 auth.openai.com:443 g.org:443 "
	       "oauth2.googleapis.com:443",
	       "all of their hosts are allowed");
	json = ab_policy_json(p);
	recorded = ab_printf("{%s", strstr(json, ",\"secrets\":") + 1);
	ab_policy_digest(p, a);
	ab_policy_free(p);
	put_file(USER_FILE, recorded);
	p = load();
	if (p)
		ab_policy_digest(p, b);
	ok(p && !strcmp(a, b), "what is recorded of them means the same");
	ab_policy_free(p);
	remove_file(USER_FILE);
}

/* A key that signs is three entries, of which the first one has the source. */
static void test_sign(void)
{
	static const char text[] =
		"{\"secrets\":{\"AWS\":{\"sign\":\"aws-sigv4\",\"from\":\"file\",\"profile\":\"dev\","
		"\"services\":[\"s3\",\"sts\"],\"regions\":[\"eu-west-1\",\"us-east-1\"],"
		"\"files\":[\"~/.aws/credentials\"]}}}";
	ab_autofree char *json = NULL, *recorded = NULL;
	struct ab_policy *p;
	char a[65], b[65];

	put_file(USER_FILE, text);
	p = load();
	ok(p && p->secrets.len == AB_PARTS, "a key that signs is read");
	if (!p) {
		printf("# %s %s\n", error.text, error.hint);
		return;
	}
	for (size_t i = 0; i < AB_PARTS; i++) {
		const struct ab_secret *s = &p->secrets.v[i];

		ok(s->sign && s->part == i && !s->ncarriers, "part %zu", i);
		is_str(joined(&s->names), ab_secret_part_names[i], "its variable");
		is_str(joined(&s->services), "s3 sts", "its services");
		is_str(s->name, i ? ab_secret_part_names[i] : "AWS", "its name");
		ok(s->files.len == !i, "files belong to the first one");
	}
	is_str(p->secrets.v[0].file, at("home/.aws/credentials"), "its file");
	is_str(p->secrets.v[0].profile, "dev", "its profile");
	is_str(joined(&p->net.allow),
	       "s3.eu-west-1.amazonaws.com:443 *.s3.eu-west-1.amazonaws.com:443 "
	       "s3.us-east-1.amazonaws.com:443 *.s3.us-east-1.amazonaws.com:443 "
	       "s3.amazonaws.com:443 *.s3.amazonaws.com:443 "
	       "sts.eu-west-1.amazonaws.com:443 *.sts.eu-west-1.amazonaws.com:443 "
	       "sts.us-east-1.amazonaws.com:443 *.sts.us-east-1.amazonaws.com:443 "
	       "sts.amazonaws.com:443 *.sts.amazonaws.com:443",
	       "its endpoints are allowed");
	json = ab_policy_json(p);
	recorded = ab_printf("{%s", strstr(json, ",\"secrets\":") + 1);
	ab_policy_digest(p, a);
	ab_policy_free(p);
	put_file(USER_FILE, recorded);
	p = load();
	if (p)
		ab_policy_digest(p, b);
	ok(p && !strcmp(a, b), "what is recorded of it means the same");
	ab_policy_free(p);
	put_file(USER_FILE, "{\"secrets\":{\"A\":{\"sign\":\"aws-sigv4\",\"services\":[\"*\"],"
			    "\"hosts\":[\"x.org\"]},"
			    "\"AWS_SESSION_TOKEN\":{\"hosts\":[\"y.org\"]}}}");
	ok(!load() && strstr(error.text, "AWS_SESSION_TOKEN"), "no other secret has its variables");
	remove_file(USER_FILE);
}

/* What a record has of it is a file that means the same. */
static void test_forms(void)
{
	struct ab_policy *p, *q;
	char a[65], b[65];

	put_file(
		USER_FILE,
		"{\"secrets\":{\"ANTHROPIC_API_KEY\":{\"via\":\"gateway\",\"require\":true},"
		"\"X\":{\"from\":\"command\",\"command\":[\"pass\",\"a b\"],\"hosts\":[\"x.org\"]}}}");
	p = load();
	ok(p && p->secrets.len == 2 && p->secrets.v[0].provider && p->secrets.v[0].ncarriers == 2 &&
		   p->secrets.v[1].ncarriers == 0 && p->secrets.v[1].command.len == 2,
	   "a provider fills in what is left out");
	if (p) {
		ab_autofree char *json = ab_policy_json(p);
		ab_autofree char *text = NULL;
		const char *from = strstr(json, ",\"secrets\":");

		text = ab_printf("{%s", from ? from + 1 : "");
		put_file(USER_FILE, text);
		ab_policy_digest(p, a);
	}
	q = load();
	ok(q && q->secrets.len == 2, "what is recorded can be read again");
	if (q)
		ab_policy_digest(q, b);
	ok(p && q && !strcmp(a, b), "and means the same");
	ab_policy_free(q);
	put_file(USER_FILE, "{\"secrets\":{\"ANTHROPIC_API_KEY\":{\"via\":\"gateway\"}}}");
	q = load();
	if (q)
		ab_policy_digest(q, b);
	ok(q && strcmp(a, b) != 0, "another one does not");
	if (p && q) {
		ab_autostrv struct ab_strv lines = { 0 };

		ab_policy_wider(q, p, &lines);
		ok(lines.len == 3 && !strncmp(lines.v[0], "network.allow: x.org", 20) &&
			   !strncmp(lines.v[1], "secrets: ANTHROPIC", 18) &&
			   !strncmp(lines.v[2], "secrets: X=", 11),
		   "and the difference is seen");
	}
	ab_policy_free(p);
	ab_policy_free(q);
	remove_file(USER_FILE);
}

static void test_flags(void)
{
	static const struct {
		const char *flag, *text, *hint;
	} bad[] = {
		{ "FOO", "--secret: FOO is not a known service key",
		  "name its host: --secret FOO@HOST" },
		{ "OPENAI_APIKEY", "--secret: OPENAI_APIKEY is not a known service key",
		  "did you mean OPENAI_API_KEY? Or name its host: --secret OPENAI_APIKEY@HOST" },
		{ "", "--secret: \"\" is not a valid variable name", "use letters, digits and _" },
		{ "a b@x.org", "--secret: \"a b\" is not a valid variable name",
		  "use letters, digits and _" },
		{ "FOO@", "--secret: \"\" is not a host",
		  "use a name (github.com), *.name, or an address" },
		{ "FOO@x.org,", "--secret: \"\" is not a host",
		  "use a name (github.com), *.name, or an address" },
		{ "FOO@1.2.3.4", "--secret: \"1.2.3.4\" is an address",
		  "use the name in the server's certificate" },
		{ "FOO@@llm", "--secret: \"@llm\" is a group of hosts",
		  "list each host that may receive the value" },
		{ "OPENAI_API_KEY=made-up-value-1",
		  "--secret: do not put a value on the command line, where others can read it",
		  "set the variable and pass only its name: --secret NAME" },
	};
	struct ab_policy *p;

	for (size_t i = 0; i < AB_COUNT(bad); i++) {
		input.nsettings = 0;
		add_flag("secrets", bad[i].flag, "--secret");
		p = load();
		ok(!p && error.code == AB_EUSAGE, "a usage error");
		is_str(error.text, bad[i].text, "that says what is wrong");
		is_str(error.hint, bad[i].hint, "and what would be right");
		ab_policy_free(p);
	}
	input.nsettings = 0;
	add_flag("secrets", "GITHUB_TOKEN", "--secret");
	add_flag("secrets", "FOO@x.org,*.y.org:8443", "--secret");
	add_flag("secrets", "FOO@z.org", "--secret");
	add_flag("secrets", "GH_TOKEN@ghe.x.org", "--secret");
	add_flag("network.deny", "github.com", "--deny");
	p = load();
	ok(p && p->secrets.len == 3, "flags are secrets");
	if (!p)
		return;
	ok(p->secrets.v[0].wanted && p->secrets.v[0].ncarriers == 3 &&
		   p->secrets.v[0].hosts.len == 5,
	   "of a service that is known");
	is_str(p->secrets.v[0].env, "GITHUB_TOKEN", "from the environment");
	is_str(joined(&p->secrets.v[1].hosts), "x.org:443 *.y.org:8443 z.org:443", "or with hosts");
	ok(p->secrets.v[1].ncarriers == 0, "that may be carried anywhere");
	is_str(joined(&p->secrets.v[2].hosts), "ghe.x.org:443",
	       "hosts that are named are the only ones");
	ok(p->secrets.v[2].ncarriers == 3, "of a service that is known too");
	ok(p->net.allow.len == 9 && p->net.deny.len == 1,
	   "their hosts are allowed, and what is denied stays so");
	ab_policy_free(p);

	input.nsettings = 0;
	put_file(
		USER_FILE,
		"{\"secrets\":{\"FOO\":{\"from\":\"file\",\"file\":\"~/k\",\"hosts\":[\"x.org\"],\"as\":\"bearer\"}}}");
	add_flag("secrets", "FOO", "--secret");
	p = load();
	ok(p && p->secrets.len == 1 && p->secrets.v[0].wanted &&
		   p->secrets.v[0].from == AB_FROM_FILE,
	   "a flag can mean one of a file");
	ab_policy_free(p);
	add_flag("secrets", "FOO@y.org", "--secret");
	p = load();
	ok(p && p->secrets.len == 1 && p->secrets.v[0].ncarriers == 1, "and");
	is_str(p ? joined(&p->secrets.v[0].hosts) : "", "y.org:443", "send it elsewhere");
	ab_policy_free(p);
	add_flag("network.mode", "allowed", "--net");
	p = load();
	ok(!p, "without a door nothing can be put in");
	is_str(error.text, "--secret: needs network.mode filtered, but --net sets it to allowed",
	       "and that is said");
	ab_policy_free(p);
	input.nsettings = 0;
	add_flag("network.mode", "allowed", "--net");
	p = load();
	ok(p && p->secrets.len == 1, "who did not ask for it only loses it");
	is_str(joined(&notes),
	       "secrets are hidden, but none is injected: the network is allowed (--net)",
	       "and is told");
	ab_policy_free(p);
	input.nsettings = 0;
	remove_file(USER_FILE);
}

static void test_layers(void)
{
	struct ab_policy *p;

	put_file(
		SYSTEM_FILE,
		"{\"secrets\":{\"A\":{\"hosts\":[\"a.org\"],\"as\":\"bearer\"},\"B\":{\"hosts\":[\"b.org\"]}}}");
	put_file(USER_FILE, "{\"secrets\":{\"A\":{\"hosts\":[\"x.org\"]}}}");
	p = load();
	ok(p && p->secrets.len == 2 && p->secrets.v[0].ncarriers == 0,
	   "a later file replaces by name, all of it");
	is_str(p ? joined(&p->net.allow) : "", "x.org:443 b.org:443",
	       "and the hosts of what is replaced are not allowed");
	ab_policy_free(p);
	put_file(USER_FILE, "{\"secrets\":{\"C\":{\"hosts\":[\"c.org\"],\"names\":[\"B\"]}}}");
	p = load();
	ok(!p && error.code == AB_ECONFIG, "one variable, two secrets");
	is_str(error.text,
	       "~/.config/agentbox/config.json:1:13: secrets: C: the variable B also belongs to B",
	       "is an error across files");
	ab_policy_free(p);
	put_file(USER_FILE,
		 "{\"secrets\":{\"OPENAI_API_KEY\":{\"hosts\":[\"x.org\"],\"via\":\"gateway\"}}}");
	p = load();
	ok(!p && strstr(error.text, "the gateway connects to api.openai.com"),
	   "a gateway leads to a host of the secret");
	ab_policy_free(p);
	remove_file(SYSTEM_FILE);
	remove_file(USER_FILE);
}

static void test_untrusted(void)
{
	static const char project[] =
		"{\"secrets\":{\"GITHUB_TOKEN\":{\"hosts\":[\"evil.example\"]}},"
		"\"network\":{\"roots\":[\"evil.pem\"]}}";
	struct ab_trust_review review;
	struct ab_policy *p;

	put_file(USER_FILE, "{\"secrets\":{\"GITHUB_TOKEN\":{}}}");
	put_file(PROJECT_FILE, project);
	p = load();
	ok(p && p->secrets.len == 1 && p->secrets.v[0].hosts.len == 5 &&
		   !strstr(joined(&p->net.allow), "evil") && p->net.roots.len == 0,
	   "a file that nobody trusts says nothing about secrets and roots");
	ok(notes.len == 3 && strstr(joined(&notes), "secrets: 1 entry ignored") &&
		   strstr(joined(&notes), "network.roots: 1 entry ignored"),
	   "and that is noted");
	ab_policy_free(p);

	if (ab_trust_review(&input, NULL, &review, &error) < 0 ||
	    ab_trust_record(&input, &review, &error) < 0)
		abort();
	ok(strstr(joined(&review.widens), "secrets: GITHUB_TOKEN="),
	   "who is asked to trust it sees it");
	ab_trust_review_fini(&review);
	p = load();
	ok(p && p->secrets.len == 1 && notes.len == 0, "trusted, it is heard");
	is_str(p ? joined(&p->secrets.v[0].hosts) : "", "evil.example:443", "all of it");
	is_str(p ? joined(&p->net.roots) : "", at("home/work/evil.pem"), "roots too");
	ab_policy_free(p);
	remove_file(PROJECT_FILE);
	remove_file(USER_FILE);
}

static void test_show(void)
{
	struct ab_policy *p;

	input.nsettings = 0;
	add_flag("secrets", "FOO@x.org", "--secret");
	set_env("FOO", "made-up-value-2");
	p = load();
	if (p) {
		ab_autofree char *text = ab_policy_show(p, false);
		ab_autofree char *json = ab_policy_show(p, true);
		ab_autofree char *one = ab_policy_json(p);

		ok(strstr(text,
			  "FOO={\"from\":\"env\",\"env\":\"FOO\",\"hosts\":[\"x.org:443\"],\"as\":\"any\"}"),
		   "a secret is shown");
		ok(strstr(text, "FOO in --secret"), "and why a host is allowed");
		ok(strstr(json, "\"secrets\":[{\"value\":{\"FOO\":{\"from\":\"env\""),
		   "as JSON too");
		ok(strstr(one, "},\"secrets\":{\"FOO\":{") && one[strlen(one) - 1] == '}',
		   "and in the record");
		ok(!strstr(text, "made-up") && !strstr(json, "made-up") && !strstr(one, "made-up"),
		   "never the value");
	}
	ok(p, "a policy with a secret");
	ab_policy_free(p);
	reset_input();
}

int main(void)
{
	world_init();
	test_wrongs();
	test_full();
	test_sign();
	test_oauth();
	test_forms();
	test_flags();
	test_layers();
	test_untrusted();
	test_show();
	world_fini();
	return done();
}
