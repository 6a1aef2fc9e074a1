/* The beginning of an SSH server's stream, on its way to the client: it says which key exchanges
 * pass here (proxy/conn/agent_terms.h). Everything after it is spliced as usual. */
#include <stdlib.h>

#include "base/data/mem.h"
#include "proxy/conn/agent_terms.h"
#include "proxy/traffic/tunnel.h"
#include "proxy/wire/ssh_kex.h"

enum { ROOM = 16 * 1024 };

static void note_exchange(void *arg, struct ab_ssh_text host_key, struct ab_ssh_text signature)
{
	const struct ab_conn *conn = arg;

	ab_agent_terms_saw(conn->engine->agent, conn->host->text, conn->port, host_key, signature);
}

void ab_tunnel_watch_kex(struct ab_conn *conn)
{
	if (!conn->engine->agent || conn->kex)
		return;
	conn->kex = ab_alloc(sizeof(*conn->kex));
	conn->kex->signed_by = note_exchange;
	conn->kex->arg = conn;
}

/* Move what was read and looked at, and nothing else. */
static enum ab_io move_seen(struct ab_conn *conn)
{
	struct ab_side *server = &conn->server;
	enum ab_io io, moved;
	uint64_t left;

	do {
		size_t before = server->in.len;

		io = ab_side_read(server, ROOM);
		if (server->in.len > before)
			ab_ssh_kex_feed(conn->kex, ab_buf_bytes(&server->in) + before,
					server->in.len - before);
	} while (io == AB_IO_DONE);
	if (io == AB_IO_FAILED)
		return io;
	left = server->in.len;
	moved = ab_flow_move(&conn->down, conn->engine->pipes, server, &conn->client, &left);
	if (moved != AB_IO_DONE || io == AB_IO_EOF)
		return moved == AB_IO_DONE ? AB_IO_EOF : moved;
	return server->readable || conn->kex->done ? AB_IO_YIELD : AB_IO_WAIT;
}

enum ab_io ab_tunnel_move_down(struct ab_conn *conn)
{
	uint64_t all = AB_FLOW_ALL;

	if (conn->kex && !conn->kex->done && !conn->server.tls)
		return move_seen(conn);
	ab_tunnel_forget_kex(conn);
	return ab_flow_move(&conn->down, conn->engine->pipes, &conn->server, &conn->client, &all);
}

void ab_tunnel_forget_kex(struct ab_conn *conn)
{
	if (!conn->kex)
		return;
	ab_ssh_kex_fini(conn->kex);
	free(ab_take(conn->kex));
}
