#include "secrets/aws_credentials.h"

#include <string.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "tap.h"

#define KEYS "aws_access_key_id = AKIA1\naws_secret_access_key=secret/+=\n"

static const struct {
	const char *name, *text, *profile;
	const char *words; /* NULL: */
	const char *why;   /* a part of it */
	int64_t expires;
} cases[] = {
	{ "a profile", "[default]\n" KEYS, NULL, "AKIA1 secret/+=", NULL, 0 },
	{ "a token", "[default]\r\n" KEYS "aws_session_token = t==\r\n", NULL,
	  "AKIA1 secret/+= t==", NULL, 0 },
	{ "one of several",
	  "[default]\naws_access_key_id=no\n[dev]\n# x\n; y\n\n" KEYS "[z]\nx=y\n", "dev",
	  "AKIA1 secret/+=", NULL, 0 },
	{ "as in the config file", "[profile dev]\n" KEYS, "dev", "AKIA1 secret/+=", NULL, 0 },
	{ "no profiles at all", KEYS, NULL, "AKIA1 secret/+=", NULL, 0 },
	{ "capital letters", "[default]\nAWS_ACCESS_KEY_ID=a\nAWS_SECRET_ACCESS_KEY=b\n", NULL,
	  "a b", NULL, 0 },
	{ "another profile", "[default]\n" KEYS, "dev", NULL, "no such profile", 0 },
	{ "no default", "[dev]\n" KEYS, NULL, NULL, "no profile default", 0 },
	{ "a profile of a file without", KEYS, "dev", NULL, "no such profile", 0 },
	{ "what stands before the profiles", KEYS "[default]\n", NULL, NULL, "no access key", 0 },
	{ "half of it", "[default]\naws_access_key_id=a\n", NULL, NULL, "no access key", 0 },
	{ "a process", "[default]\ncredential_process=/x\n", NULL, NULL, "from\": \"command\"", 0 },
	{ "a blank", "[default]\naws_access_key_id=a b\naws_secret_access_key=c\n", NULL, NULL,
	  "blanks", 0 },
	{ "nothing", "", NULL, NULL, "no access key", 0 },
	{ "JSON", "{\"Version\":1,\"AccessKeyId\":\"a\",\"SecretAccessKey\":\"b\"}", NULL, "a b",
	  NULL, 0 },
	{ "JSON with all",
	  " {\"Version\":1,\"AccessKeyId\":\"a\",\"SecretAccessKey\":\"b\",\"SessionToken\":\"c\","
	  "\"Expiration\":\"2015-08-30T12:36:00Z\"}\n",
	  NULL, "a b c", NULL, 1440938160 },
	{ "a time with an offset",
	  "{\"Version\":1,\"AccessKeyId\":\"a\",\"SecretAccessKey\":\"b\","
	  "\"Expiration\":\"2015-08-30T14:36:00.123+02:00\"}",
	  NULL, "a b", NULL, 1440938160 },
	{ "another time",
	  "{\"Version\":1,\"AccessKeyId\":\"a\",\"SecretAccessKey\":\"b\",\"Expiration\":\"soon\"}",
	  NULL, NULL, "Expiration", 0 },
	{ "another version", "{\"Version\":2,\"AccessKeyId\":\"a\",\"SecretAccessKey\":\"b\"}",
	  NULL, NULL, "version 1", 0 },
	{ "JSON of another kind", "{\"Credentials\":{}}", NULL, NULL, "version 1", 0 },
	{ "half of JSON", "{\"Version\":1,\"AccessKeyId\":\"a\"}", NULL, NULL, "no access key", 0 },
	{ "broken JSON", "{\"Version\":1,", NULL, NULL, "not valid JSON", 0 },
	{ "a profile in JSON", "{\"Version\":1}", "dev", NULL, "no profiles", 0 },
};

int main(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		struct ab_buf out = { .wipe = true };
		struct ab_aws_credentials about;
		const char *why = ab_aws_credentials_read(cases[i].text, strlen(cases[i].text),
							  cases[i].profile, &out, &about);

		if (cases[i].words) {
			is_str(why, NULL, cases[i].name);
			is_str(out.data, cases[i].words, cases[i].name);
			ok(about.expires == cases[i].expires, "%s: its end", cases[i].name);
		} else {
			ok(why && strstr(why, cases[i].why), "%s: %s", cases[i].name,
			   why ? why : "");
		}
		ab_buf_fini(&out);
	}
	return done();
}
