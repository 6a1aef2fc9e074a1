/*
 * Theory of operation.
 *
 * The credential is read, then one request is made of it and sent: dial, handshake, send, read until
 * the answer is complete. A refresh token that the service had replaced is tried first; if it is not
 * accepted, the one of the source. A new one is stored before the access token is used, so that it
 * cannot be lost.
 */
#include "session/tokens/token_fetch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/loop.h"
#include "base/text/ascii.h"
#include "base/text/base64.h"
#include "policy/model/policy.h"
#include "proxy/dial/dial.h"
#include "proxy/io/socket_side.h"
#include "proxy/io/tls.h"
#include "session/host/ca_store.h"
#include "session/tokens/service_account.h"
#include "session/tokens/token_reply.h"
#include "session/tokens/token_store.h"

struct fetch {
	const struct ab_token_setup *setup;
	const struct ab_oauth *oauth;
	struct ab_loop loop;
	struct ab_timer deadline;
	struct ab_upstream *upstream;
	struct ab_dialer *dialer;
	struct ab_dial *dial;
	struct ab_side side;
	struct ab_tls_site *site;
	bool greeted, asked;
	struct ab_buf request;
	struct ab_token_reply reply;
	char why[160]; /* it failed; "": it did not */
};

static void end_fetch(struct fetch *f, const char *why)
{
	snprintf(f->why, sizeof(f->why), "%.150s", why);
	f->loop.stop = true;
}

static void end_late(struct ab_timer *timer)
{
	end_fetch(timer->owner, "it did not answer in time");
}

static void read_reply(struct fetch *f)
{
	enum ab_io io;

	do
		io = ab_side_read(&f->side, AB_TOKEN_REPLY_MOST);
	while (io == AB_IO_DONE && f->side.in.len < AB_TOKEN_REPLY_MOST);
	ab_token_reply_read(f->side.in.len ? f->side.in.data : "", f->side.in.len,
			    io == AB_IO_EOF || io == AB_IO_FAILED || f->side.eof, &f->reply);
	if (f->reply.outcome == AB_TOKEN_BAD)
		end_fetch(f, f->reply.why);
	else if (f->reply.outcome != AB_TOKEN_MORE)
		f->loop.stop = true;
}

static void work_connection(struct fetch *f)
{
	if (!f->greeted) {
		switch (ab_tls_handshake(f->side.tls)) {
		case AB_TLS_OK:
			break;
		case AB_TLS_WAIT:
			return;
		case AB_TLS_FAILED:
			end_fetch(f, ab_tls_why(f->side.tls));
			return;
		}
	}
	f->greeted = true;
	if (!f->asked) {
		f->side.out.wipe = true;
		ab_buf_add(&f->side.out, f->request.data, f->request.len);
	}
	f->asked = true;
	if (ab_side_flush(&f->side) == AB_IO_FAILED)
		end_fetch(f, "the connection failed");
	else
		read_reply(f);
}

static void answer_ready(struct ab_source *source, uint32_t events)
{
	struct fetch *f = source->owner;

	f->side.readable |= events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR);
	f->side.writable |= events & (EPOLLOUT | EPOLLHUP | EPOLLERR);
	f->side.hung |= events & (EPOLLHUP | EPOLLERR);
	if (!f->loop.stop)
		work_connection(f);
}

static void use_connection(void *arg, struct ab_dialled *dialled)
{
	static const char *const words[] = {
		[AB_DIAL_NO_NAME] = "its name does not exist",
		[AB_DIAL_NO_ANSWER] = "no name server answered",
		[AB_DIAL_FORBIDDEN] = "cannot connect",
		[AB_DIAL_FAILED] = "cannot connect",
		[AB_DIAL_TIMEOUT] = "the connection timed out",
		[AB_DIAL_UPSTREAM] = "the upstream proxy refused the connection",
	};
	struct fetch *f = arg;
	struct ab_error err;

	f->dial = NULL;
	if (dialled->result != AB_DIAL_OK) {
		end_fetch(f, words[dialled->result]);
		return;
	}
	f->side = (struct ab_side){
		.source = { .fd = dialled->fd, .ready = answer_ready, .owner = f }
	};
	f->side.tls = ab_tls_connect(f->site, &f->side, &f->oauth->host, AB_TLS_HTTP1);
	if (ab_loop_add(&f->loop, &f->side.source, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
			&err) < 0)
		end_fetch(f, err.text);
}

/* The user wrote the URL, wherever its host is. */
static bool allow_address(void *arg, const struct ab_host *address, uint16_t port,
			  struct ab_verdict *ret)
{
	(void)arg;
	(void)address;
	(void)port;
	(void)ret;
	return true;
}

static int choose_upstream(struct fetch *f, struct ab_error *err)
{
	const char *setting = f->setup->policy->net.upstream;

	if (strcmp(setting, "none") == 0)
		return 0;
	if (strcmp(setting, "env") == 0)
		return ab_upstream_from_env(f->setup->environ, &f->upstream, err);
	return ab_upstream_parse(setting, &f->upstream, err);
}

static int set_up(struct fetch *f, struct ab_error *err)
{
	struct ab_tls_setup tls = { .hosts = &(struct ab_strv){ 0 } };
	struct ab_dialer_setup dialer = { .loop = &f->loop, .check = allow_address };
	ab_autofree char *roots = NULL;

	f->side.source.fd = -1;
	f->deadline = (struct ab_timer){ .fire = end_late, .owner = f };
	if (choose_upstream(f, err) < 0 || ab_loop_init(&f->loop, err) < 0)
		return -1;
	dialer.upstream = f->upstream;
	if (ab_dialer_new(&dialer, &f->dialer, err) < 0 ||
	    ab_ca_store_roots(f->setup->policy, f->setup->environ, &roots, &tls.roots_len, err) < 0)
		return -1;
	tls.roots = roots;
	return ab_tls_site_new(&tls, &f->site, err);
}

static void close_all(struct fetch *f)
{
	if (f->dial)
		ab_dial_cancel(ab_take(f->dial));
	ab_side_close(&f->side, false);
	if (f->dialer)
		ab_dialer_free(f->dialer);
	ab_tls_site_free(f->site);
	ab_upstream_free(f->upstream);
	ab_loop_fini(&f->loop);
}

static int exchange(struct fetch *f, struct ab_error *err)
{
	int r = set_up(f, err);

	if (r == 0) {
		ab_loop_timer(&f->loop, &f->deadline, AB_TOKEN_FETCH_MS);
		f->dial = ab_dial_start(f->dialer, &f->oauth->host, f->oauth->port, false,
					use_connection, f);
		r = ab_loop_run(&f->loop, err);
		if (f->why[0])
			r = ab_fail(err, AB_ESYSTEM, 0, "%s", f->why);
	}
	close_all(f);
	return r;
}

static void put_encoded(struct ab_buf *b, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		if (ab_is_digit(c) || (ab_lower(c) >= 'a' && ab_lower(c) <= 'z') ||
		    strchr("-._~", c))
			ab_buf_add(b, s + i, 1);
		else
			ab_buf_printf(b, "%%%02X", c);
	}
}

/* One parameter of the request. */
static void put_parameter(struct ab_buf *b, bool json, const char *name, const char *s, size_t len)
{
	if (json) {
		ab_buf_printf(b, "%s\"%s\":", b->len ? "," : "{", name);
		ab_buf_json_n(b, s, len);
	} else {
		ab_buf_printf(b, "%s%s=", b->len ? "&" : "", name);
		put_encoded(b, s, len);
	}
}

static void put_login(struct ab_buf *b, const char *id, const char *secret, size_t len)
{
	struct ab_buf login = { .wipe = true };
	char *digits;

	put_encoded(&login, id, strlen(id));
	ab_buf_puts(&login, ":");
	put_encoded(&login, secret, len);
	digits = ab_alloc(AB_BASE64_ROOM(login.len) + 1);
	len = ab_base64_encode(login.data, login.len, AB_BASE64_STANDARD, digits);
	ab_buf_puts(b, "Authorization: Basic ");
	ab_buf_add(b, digits, len);
	ab_buf_puts(b, "\r\n");
	explicit_bzero(digits, len);
	free(digits);
	ab_buf_fini(&login);
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
	struct ab_buf body = { .wipe = true }, fields = { .wipe = true };
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
	ab_buf_fini(&body);
	ab_buf_fini(&fields);
}

static int fail_refused(const struct fetch *f, struct ab_error *err)
{
	const struct ab_token_reply *r = &f->reply;

	ab_fail(err, AB_EUSAGE, 0, "the service refused (%d%s%s)", r->status,
		r->error[0] ? " " : "", r->error);
	return strcmp(r->error, "invalid_grant") == 0 && f->oauth->grant == AB_OAUTH_REFRESH
		       ? ab_hint(err, "the refresh token is not valid any more: log in again")
		       : -1;
}

/* One request with this credential. The caller frees `ret`. */
static int try_credential(const struct ab_token_setup *setup, const char *credential, size_t len,
			  struct ab_token_reply *ret, struct ab_error *err)
{
	struct fetch f = { .setup = setup, .oauth = setup->secret->oauth };
	int r;

	write_request(&f, credential, len);
	r = exchange(&f, err);
	ab_buf_fini(&f.request);
	if (r == 0 && f.reply.outcome == AB_TOKEN_REFUSED)
		r = fail_refused(&f, err);
	*ret = f.reply;
	return r;
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
			ab_token_reply_fini(ret);
			explicit_bzero(kept, strlen(kept));
			free(ab_take(kept));
		}
	}
	if (!kept) {
		*err = (struct ab_error){ 0 };
		r = try_credential(setup, source->s, source->len, ret, err);
	}
	if (r == 0 && ret->refresh && (!kept || strcmp(ret->refresh, kept) != 0) &&
	    (strlen(ret->refresh) != source->len ||
	     memcmp(ret->refresh, source->s, source->len) != 0))
		r = ab_token_store_put(&store, ret->refresh, err);
	if (kept)
		explicit_bzero(kept, strlen(kept));
	free(kept);
	ab_token_store_close(&store);
	return r;
}

static int assert_account(const struct ab_token_setup *setup, struct ab_token_reply *ret,
			  struct ab_error *err)
{
	const struct ab_token_text *source = &setup->credential;
	struct ab_buf assertion = { .wipe = true };
	const char *why = ab_service_account_assert(source->s, source->len, setup->secret->oauth,
						    (int64_t)time(NULL), &assertion);
	int r = why ? ab_fail(err, AB_EUSAGE, 0, "%s %s", setup->secret->file, why)
		    : try_credential(setup, assertion.data, assertion.len, ret, err);

	ab_buf_fini(&assertion);
	return r;
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
		*ret_token = ab_take(reply.access);
		*ret_expires = reply.expires_in ? (int64_t)time(NULL) + reply.expires_in : 0;
	} else {
		ab_wrap(err, "secret %s: get an access token from %s", setup->secret->name,
			oauth->host.text);
		ab_step(err, "secrets");
	}
	ab_token_reply_fini(&reply);
	return r;
}
