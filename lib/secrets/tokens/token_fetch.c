/*
 * Theory of operation.
 *
 * The credential is read, then one request is made of it and sent by a process that is forked for it
 * and confined before it connects (secrets/fetch/fetcher.h). A refresh token that the service had replaced is tried first; if it is not
 * accepted, the one of the source. A new one is stored before the access token is used, so that it
 * cannot be lost.
 */
#include "secrets/tokens/token_fetch.h"

#include <sys/mman.h>

#include "base/process/helper.h"
#include "base/system/loop.h"
#include "base/text/base64.h"
#include "policy/model/policy.h"
#include "proxy/dial/upstream.h"
#include "proxy/wire/http.h"
#include "secrets/fetch/fetcher.h"
#include "secrets/fetch/http_client.h"
#include "secrets/tokens/service_account.h"
#include "secrets/tokens/token_reply.h"
#include "secrets/tokens/token_store.h"

enum { GRACE_MS = 2000 }; /* beyond its own deadline */

struct fetch {
	const struct ab_token_setup *setup;
	const struct ab_oauth *oauth;
	struct ab_loop loop;
	struct ab_upstream *upstream;
	struct ab_buf request;
	struct ab_token_reply *told; /* by the confined process, so it is checked again */
};

static void service_answered(void *arg, const struct ab_http_reply *http, const char *failed)
{
	struct fetch *f = arg;
	static struct ab_token_reply reply;

	if (http)
		ab_token_reply_read(http, &reply);
	else
		ab_token_reply_fail(&reply, failed);
	*f->told = reply;
	f->loop.stop = true;
}

static int send_request(struct fetch *f, struct ab_error *err)
{
	struct ab_http_client_setup setup = { .loop = &f->loop,
					      .who = "the service",
					      .host = &f->oauth->host,
					      .port = f->oauth->port,
					      .tls = true,
					      .policy = f->setup->policy,
					      .environ = f->setup->environ };
	struct ab_http_client *client;

	if (ab_upstream_choose(f->setup->policy->net.upstream, f->setup->environ, &f->upstream,
			       err) < 0 ||
	    ab_loop_init(&f->loop, err) < 0)
		return -1;
	setup.upstream = f->upstream;
	if (ab_http_client_new(&setup, &client, err) < 0 ||
	    ab_fetcher_confine(f->setup->environ, err) < 0)
		return -1;
	ab_http_client_send(client, &f->request, AB_TOKEN_FETCH_MS, service_answered, f);
	return ab_loop_run(&f->loop, err);
}

static int serve_fetch(int sock, void *arg)
{
	struct fetch *f = arg;
	struct ab_error err = { 0 };

	(void)sock;
	if (send_request(f, &err) < 0)
		ab_token_reply_fail(f->told, err.text);
	return 0;
}

/* Text that ends where it must, and is fit to be shown. */
static bool is_text(const char *text, size_t room)
{
	size_t n = strnlen(text, room);

	for (size_t i = 0; i < n; i++)
		if (text[i] < ' ' || text[i] > '~')
			return false;
	return n < room;
}

static bool is_credible(const struct ab_token_reply *t)
{
	if (!is_text(t->why, sizeof(t->why)) || !is_text(t->error, sizeof(t->error)) ||
	    !is_text(t->access, sizeof(t->access)) || !is_text(t->refresh, sizeof(t->refresh)) ||
	    t->error[strspn(t->error, AB_TOKEN_ERROR_LETTERS)] || t->expires_in < 0 ||
	    t->expires_in > AB_TOKEN_EXPIRES_MOST)
		return false;
	if (t->why[0] || t->outcome == AB_TOKEN_REFUSED)
		return true;
	return t->outcome == AB_TOKEN_GRANTED && ab_token_is_word(t->access) &&
	       (!t->refresh[0] || ab_token_is_word(t->refresh));
}

/* Take what the confined process says, as far as it may say it. */
static int take_told(const struct ab_token_reply *t, bool whole, struct ab_token_reply *ret,
		     struct ab_error *err)
{
	if (!whole || !is_credible(t))
		return ab_fail(err, AB_ESYSTEM, 0, "the process that asks for it failed");
	if (t->why[0])
		return ab_fail(err, AB_ESYSTEM, 0, "%s", t->why);
	*ret = *t;
	return 0;
}

/* It ends by itself, unless it is not what it was. False: it has not told all. */
static bool wait_for_fetcher(struct ab_helper *helper)
{
	if (helper->pidfd >= 0 && ab_poll(helper->pidfd, POLLIN, AB_TOKEN_FETCH_MS + GRACE_MS) <= 0)
		kill(helper->pid, SIGKILL);
	ab_closep(&helper->pidfd);
	return ab_await(helper->pid) == 0;
}

/* The server's bytes are read in a process that can do nothing else. */
static int exchange(struct fetch *f, struct ab_token_reply *ret, struct ab_error *err)
{
	const struct ab_helper_setup setup = {
		.name = "agentbox-token",
		.what = "the process that asks for it",
		.end_signal = SIGKILL,
		.session = true,
		.outside = true,
		.hidden = true,
		.watch = true,
		.serve = serve_fetch,
		.arg = f,
	};
	struct ab_helper helper;
	int r;

	f->told = mmap(NULL, sizeof(*f->told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (f->told == MAP_FAILED)
		return ab_fail(err, AB_ESYSTEM, errno, "share memory");
	r = ab_helper_start(&setup, &helper, err);
	if (r == 0)
		r = take_told(f->told, wait_for_fetcher(&helper), ret, err);
	explicit_bzero(f->told, sizeof(*f->told));
	munmap(f->told, sizeof(*f->told));
	return r;
}

/* One parameter of the request. */
static void put_parameter(struct ab_buf *b, bool json, const char *name, const char *s, size_t len)
{
	if (json) {
		ab_buf_printf(b, "%s\"%s\":", b->len ? "," : "{", name);
		ab_buf_json_n(b, s, len);
	} else {
		ab_buf_printf(b, "%s%s=", b->len ? "&" : "", name);
		ab_http_escape(b, s, len, "-._~");
	}
}

static void put_login(struct ab_buf *b, const char *id, const char *secret, size_t len)
{
	ab_autobuf struct ab_buf login = { .wipe = true };

	ab_http_escape(&login, id, strlen(id), "-._~");
	ab_buf_puts(&login, ":");
	ab_http_escape(&login, secret, len, "-._~");
	ab_buf_puts(b, "Authorization: Basic ");
	ab_base64_add(b, login.data, login.len, AB_BASE64_STANDARD, true);
	ab_buf_puts(b, "\r\n");
}

static const char *const grant_types[AB_OAUTH_GRANTS] = {
	[AB_OAUTH_REFRESH] = "refresh_token",
	[AB_OAUTH_CLIENT] = "client_credentials",
	[AB_OAUTH_ACCOUNT] = "urn:ietf:params:oauth:grant-type:jwt-bearer",
};

static void write_request(struct fetch *f, const char *credential, size_t len)
{
	const struct ab_token_text *login = &f->setup->login;
	const struct ab_oauth *o = f->oauth;
	static const char *const names[] = {
		[AB_OAUTH_REFRESH] = "refresh_token", [AB_OAUTH_ACCOUNT] = "assertion"
	};
	ab_autobuf struct ab_buf body = { .wipe = true }, fields = { .wipe = true };
	ab_autobuf struct ab_buf scope = { 0 };
	bool client = o->grant == AB_OAUTH_CLIENT;
	const char *secret = client ? credential : login->s;
	size_t secret_len = client ? len : login->len;

	for (size_t i = 0; i < o->scopes.len; i++)
		ab_buf_printf(&scope, "%s%s", i ? " " : "", o->scopes.v[i]);
	put_parameter(&body, o->json, "grant_type", grant_types[o->grant],
		      strlen(grant_types[o->grant]));
	if (!client)
		put_parameter(&body, o->json, names[o->grant], credential, len);
	if (o->client && !(o->basic && secret))
		put_parameter(&body, o->json, "client_id", o->client, strlen(o->client));
	if (secret && !o->basic)
		put_parameter(&body, o->json, "client_secret", secret, secret_len);
	if (scope.len && o->grant != AB_OAUTH_ACCOUNT)
		put_parameter(&body, o->json, "scope", scope.data, scope.len);
	if (o->json)
		ab_buf_puts(&body, "}");
	if (secret && o->basic)
		put_login(&fields, o->client, secret, secret_len);
	f->request.wipe = true;
	ab_buf_printf(&f->request, "POST %s HTTP/1.1\r\nHost: %s", o->path, o->host.text);
	if (o->port != 443)
		ab_buf_printf(&f->request, ":%u", o->port);
	ab_buf_printf(&f->request,
		      "\r\nContent-Type: application/%s\r\nAccept: application/json\r\n"
		      "User-Agent: agentbox/" AB_VERSION "\r\nConnection: close\r\n"
		      "Content-Length: %zu\r\n",
		      o->json ? "json" : "x-www-form-urlencoded", body.len);
	if (fields.len)
		ab_buf_add(&f->request, fields.data, fields.len);
	ab_buf_puts(&f->request, "\r\n");
	ab_buf_add(&f->request, body.data, body.len);
}

static int fail_refused(const struct fetch *f, const struct ab_token_reply *r, struct ab_error *err)
{
	ab_fail(err, AB_EUSAGE, 0, "the service refused (%d%s%s)", r->status,
		r->error[0] ? " " : "", r->error);
	return strcmp(r->error, "invalid_grant") == 0 && f->oauth->grant == AB_OAUTH_REFRESH
		       ? ab_hint(err, "the refresh token is not valid any more: log in again")
		       : -1;
}

/* One request with this credential. The caller wipes `ret`. */
static int try_credential(const struct ab_token_setup *setup, const char *credential, size_t len,
			  struct ab_token_reply *ret, struct ab_error *err)
{
	struct fetch f = { .setup = setup, .oauth = setup->secret->oauth };
	int r;

	write_request(&f, credential, len);
	*ret = (struct ab_token_reply){ 0 };
	r = exchange(&f, ret, err);
	ab_buf_fini(&f.request);
	return r == 0 && ret->outcome == AB_TOKEN_REFUSED ? fail_refused(&f, ret, err) : r;
}

static int refresh_token(const struct ab_token_setup *setup, struct ab_token_reply *ret,
			 struct ab_error *err)
{
	const struct ab_token_text *source = &setup->credential;
	struct ab_token_store store;
	char *kept;
	int r = -1;

	if (ab_token_store_open(setup->state, setup->secret->oauth, source->s, source->len,
				AB_TOKEN_FETCH_MS, &store, err) < 0)
		return -1;
	kept = ab_token_store_get(&store);
	if (kept) {
		r = try_credential(setup, kept, strlen(kept), ret, err);
		if (r < 0 && strcmp(ret->error, "invalid_grant") == 0) {
			ab_token_store_forget(&store);
			ab_free_wiped(ab_take(kept));
		}
	}
	if (!kept) {
		*err = (struct ab_error){ 0 };
		r = try_credential(setup, source->s, source->len, ret, err);
	}
	if (r == 0 && ret->refresh[0] && (!kept || strcmp(ret->refresh, kept) != 0) &&
	    (strlen(ret->refresh) != source->len ||
	     memcmp(ret->refresh, source->s, source->len) != 0))
		r = ab_token_store_put(&store, ret->refresh, err);
	ab_free_wiped(kept);
	ab_token_store_close(&store);
	return r;
}

static int assert_account(const struct ab_token_setup *setup, struct ab_token_reply *ret,
			  struct ab_error *err)
{
	const struct ab_token_text *source = &setup->credential;
	ab_autobuf struct ab_buf assertion = { .wipe = true };
	const char *why = ab_service_account_assert(source->s, source->len, setup->secret->oauth,
						    (int64_t)time(NULL), &assertion);

	return why ? ab_fail(err, AB_EUSAGE, 0, "%s %s", setup->secret->file, why)
		   : try_credential(setup, assertion.data, assertion.len, ret, err);
}

int ab_token_fetch(const struct ab_token_setup *setup, char **ret_token, int64_t *ret_expires,
		   struct ab_error *err)
{
	const struct ab_oauth *oauth = setup->secret->oauth;
	struct ab_token_reply reply = { 0 };
	int r;

	r = oauth->grant == AB_OAUTH_REFRESH   ? refresh_token(setup, &reply, err)
	    : oauth->grant == AB_OAUTH_ACCOUNT ? assert_account(setup, &reply, err)
					       : try_credential(setup, setup->credential.s,
								setup->credential.len, &reply, err);
	if (r == 0) {
		*ret_token = ab_strdup(reply.access);
		*ret_expires = reply.expires_in ? (int64_t)time(NULL) + reply.expires_in : 0;
	} else {
		ab_wrap(err, "secret %s: get an access token from %s", setup->secret->name,
			oauth->host.text);
		ab_step(err, "secrets");
	}
	explicit_bzero(&reply, sizeof(reply));
	return r;
}
