/* What the process that asks for a token may say, and how it must end. The server is not there: the answer is
 * the one below. A real one: secrets_oauth.bats. */
#include "secrets/tokens/token_fetch.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "policy/model/policy.h"
#include "policy/model/secrets.h"
#include "secrets/fetch/fetcher.h"
#include "secrets/fetch/http_client.h"
#include "tap.h"

static const struct {
	const char *name, *body; /* NULL: there is none */
	int exit;		 /* its status, or a signal as a negative number */
	const char *token, *why;
} cases[] = {
	{ "a token", "{\"access_token\":\"abcdefgh\",\"token_type\":\"bearer\"}", 0, "abcdefgh",
	  NULL },
	{ "an error", "{\"error\":\"invalid_grant\"}", 0, NULL, "refused (200 invalid_grant)" },
	{ "no answer", NULL, 0, NULL, "it hung up" },
	{ "a token of a process that failed",
	  "{\"access_token\":\"abcdefgh\",\"token_type\":\"bearer\"}", 3, NULL,
	  "the process that asks for it failed" },
	{ "a token of a process that was killed",
	  "{\"access_token\":\"abcdefgh\",\"token_type\":\"bearer\"}", -SIGKILL, NULL,
	  "the process that asks for it failed" },
	{ "an error of a process that was killed", "{\"error\":\"invalid_grant\"}", -SIGKILL, NULL,
	  "the process that asks for it failed" },
};

static size_t now;

int ab_fetcher_confine(char *const *variables, struct ab_error *err)
{
	(void)variables;
	(void)err;
	return 0;
}

int ab_http_client_new(const struct ab_http_client_setup *setup, struct ab_http_client **ret,
		       struct ab_error *err)
{
	(void)setup;
	(void)err;
	*ret = NULL;
	return 0;
}

void ab_http_client_send(struct ab_http_client *client, const struct ab_buf *request, unsigned ms,
			 ab_http_client_done *answered, void *arg)
{
	struct ab_http_reply reply = { .end = AB_REPLY_WHOLE, .status = 200 };

	(void)client;
	(void)request;
	(void)ms;
	if (cases[now].body)
		ab_buf_puts(&reply.body, cases[now].body);
	answered(arg, cases[now].body ? &reply : NULL, "it hung up");
	if (cases[now].exit < 0)
		kill(getpid(), -cases[now].exit);
	if (cases[now].exit > 0)
		_exit(cases[now].exit);
}

int main(void)
{
	struct ab_policy policy = { .net.upstream = "none" };
	struct ab_oauth oauth = { .grant = AB_OAUTH_CLIENT,
				  .host.text = "id.example.org",
				  .port = 443,
				  .path = "/token",
				  .client = "me" };
	const struct ab_secret secret = { .name = "API", .oauth = &oauth };
	const struct ab_token_setup setup = { .secret = &secret,
					      .policy = &policy,
					      .environ = environ,
					      .state = -1,
					      .credential = { "what-is-exchanged", 17 } };

	for (now = 0; now < AB_COUNT(cases); now++) {
		struct ab_error err = { 0 };
		char *token = NULL;
		int64_t expires;
		int r = ab_token_fetch(&setup, &token, &expires, &err);

		ok(r == (cases[now].token ? 0 : -1), "%s: %s", cases[now].name, err.text);
		is_str(token, cases[now].token, cases[now].name);
		ok(!cases[now].why || strstr(err.text, cases[now].why), "%s: %s", cases[now].name,
		   err.text);
		free(token);
	}
	return done();
}
