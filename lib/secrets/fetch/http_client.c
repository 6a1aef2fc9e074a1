#include "secrets/fetch/http_client.h"

#include <sys/epoll.h>

#include "base/system/loop.h"
#include "host/ca_store.h"
#include "proxy/dial/dial.h"
#include "proxy/io/socket_side.h"
#include "proxy/io/tls.h"

struct ab_http_client {
	const struct ab_http_client_setup *setup;
	struct ab_dialer *dialer;
	struct ab_tls_site *site; /* NULL: no TLS */
	/* the request that is under way */
	const struct ab_buf *request;
	ab_http_client_done *done;
	void *arg;
	struct ab_timer deadline;
	struct ab_dial *dial;
	struct ab_side side;
	bool greeted, asked; /* TLS is set up; the request is in side.out */
};

static void close_connection(struct ab_http_client *c)
{
	if (c->dial)
		ab_dial_cancel(ab_take(c->dial));
	ab_side_close(&c->side, false);
	c->side = (struct ab_side){ .source = { .fd = -1 } };
	c->greeted = c->asked = false;
	ab_loop_timer_stop(c->setup->loop, &c->deadline);
}

static void fail_request(struct ab_http_client *c, const char *why)
{
	char copy[160]; /* the connection may own the text */

	snprintf(copy, sizeof(copy), "%.150s", why);
	close_connection(c);
	c->done(c->arg, NULL, copy);
}

/* "WHO did not answer in time" and the like. */
static void fail_with(struct ab_http_client *c, const char *before, const char *after)
{
	char why[160];

	snprintf(why, sizeof(why), "%s%s%s", before, c->setup->who, after);
	fail_request(c, why);
}

static void fetch_timed_out(struct ab_timer *timer)
{
	fail_with(timer->owner, "", " did not answer in time");
}

static void read_reply(struct ab_http_client *c)
{
	struct ab_http_reply reply;
	enum ab_io io;

	do
		io = ab_side_read(&c->side, AB_HTTP_REPLY_MOST);
	while (io == AB_IO_DONE && c->side.in.len < AB_HTTP_REPLY_MOST);
	if (io == AB_IO_FAILED && !c->side.in.len) {
		fail_with(c, "the connection to ", " failed");
		return;
	}
	ab_http_reply_read(c->side.in.len ? c->side.in.data : "", c->side.in.len,
			   io == AB_IO_EOF || io == AB_IO_FAILED || c->side.eof, AB_HTTP_REPLY_MOST,
			   &reply);
	if (reply.end != AB_REPLY_MORE) {
		close_connection(c);
		c->done(c->arg, &reply, NULL);
	}
	ab_http_reply_fini(&reply);
}

static void work_connection(struct ab_http_client *c)
{
	if (c->side.tls && !c->greeted) {
		switch (ab_tls_handshake(c->side.tls)) {
		case AB_TLS_OK:
			break;
		case AB_TLS_WAIT:
			return;
		case AB_TLS_FAILED:
			fail_request(c, ab_tls_why(c->side.tls));
			return;
		}
	}
	c->greeted = true;
	if (!c->asked) {
		c->side.out.wipe = c->side.in.wipe = true;
		ab_buf_add(&c->side.out, c->request->data, c->request->len);
	}
	c->asked = true;
	if (ab_side_flush(&c->side) == AB_IO_FAILED)
		fail_with(c, "the connection to ", " failed");
	else
		read_reply(c);
}

static void fetch_ready(struct ab_source *source, uint32_t events)
{
	struct ab_http_client *c = source->owner;

	c->side.readable |= events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR);
	c->side.writable |= events & (EPOLLOUT | EPOLLHUP | EPOLLERR);
	c->side.hung |= events & (EPOLLHUP | EPOLLERR);
	work_connection(c);
}

static void fail_dial(struct ab_http_client *c, const struct ab_dialled *dialled)
{
	ab_autofree char *why = NULL;

	switch (dialled->result) {
	case AB_DIAL_NO_NAME:
		fail_with(c, "", "'s name does not exist");
		return;
	case AB_DIAL_NO_ANSWER:
		fail_request(c, "no name server answered");
		return;
	case AB_DIAL_TIMEOUT:
		fail_with(c, "", " did not accept the connection in time");
		return;
	case AB_DIAL_UPSTREAM:
		fail_request(c, "the upstream proxy refused the connection");
		return;
	case AB_DIAL_OK:
	case AB_DIAL_FORBIDDEN:
	case AB_DIAL_FAILED:
		break;
	}
	why = ab_printf(": %s", strerror(dialled->errnum));
	fail_with(c, "cannot connect to ", dialled->errnum ? why : "");
}

static void fetch_dialled(void *arg, struct ab_dialled *dialled)
{
	struct ab_http_client *c = arg;
	struct ab_error err;

	c->dial = NULL;
	if (dialled->result != AB_DIAL_OK) {
		fail_dial(c, dialled);
		return;
	}
	c->side = (struct ab_side){ .source = {
					    .fd = dialled->fd, .ready = fetch_ready, .owner = c } };
	if (c->site)
		c->side.tls = ab_tls_connect(c->site, &c->side, c->setup->host, AB_TLS_HTTP1);
	if (ab_loop_add(c->setup->loop, &c->side.source, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
			&err) < 0)
		fail_request(c, err.text);
}

static bool allow_address(void *arg, const struct ab_host *address, uint16_t port,
			  struct ab_verdict *ret)
{
	(void)arg;
	(void)address;
	(void)port;
	(void)ret;
	return true;
}

static int open_tls(struct ab_http_client *c, struct ab_error *err)
{
	struct ab_tls_setup tls = { .hosts = &(struct ab_strv){ 0 } };
	ab_autofree char *roots = NULL;

	if (ab_ca_store_roots(c->setup->policy, c->setup->environ, &roots, &tls.roots_len, err) < 0)
		return -1;
	tls.roots = roots;
	return ab_tls_site_new(&tls, &c->site, err);
}

static void free_client(struct ab_http_client *client)
{
	close_connection(client);
	if (client->dialer)
		ab_dialer_free(client->dialer);
	ab_tls_site_free(client->site);
	free(client);
}

int ab_http_client_new(const struct ab_http_client_setup *setup, struct ab_http_client **ret,
		       struct ab_error *err)
{
	struct ab_dialer_setup dialer = { .resolver = { .loop = setup->loop },
					  .check = allow_address,
					  .upstream = setup->upstream };
	struct ab_http_client *c = ab_alloc(sizeof(*c));

	c->setup = setup;
	c->side.source.fd = -1;
	c->deadline = (struct ab_timer){ .fire = fetch_timed_out, .owner = c };
	if (ab_dialer_new(&dialer, &c->dialer, err) < 0 || (setup->tls && open_tls(c, err) < 0)) {
		free_client(c);
		return -1;
	}
	*ret = c;
	return 0;
}

void ab_http_client_send(struct ab_http_client *client, const struct ab_buf *request, unsigned ms,
			 ab_http_client_done *done, void *arg)
{
	client->request = request;
	client->done = done;
	client->arg = arg;
	ab_loop_timer(client->setup->loop, &client->deadline, ms);
	client->dial = ab_dial_start(client->dialer, client->setup->host, client->setup->port,
				     false, fetch_dialled, client);
}
