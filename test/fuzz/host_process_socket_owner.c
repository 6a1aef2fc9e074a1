/*
 * Any bytes as what the kernel tells of sockets and processes: nothing is read
 * beyond its end, and what is made of an argv is a JSON list within bounds.
 */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "host/process/socket_owner.h"
#include "proxy/thread/proxy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_argv(const char *text, size_t len)
{
	ab_autobuf struct ab_buf b = { 0 };
	json_t *list;

	ab_socket_owner_argv(text, len, len & 1, &b);
	list = json_loadb(b.data, b.len, 0, NULL);
	if (!json_is_array(list) || json_array_size(list) > AB_OWNER_WORDS + 1 ||
	    b.len > 6 * AB_OWNER_ARGV + 3 * AB_OWNER_WORDS + 16)
		abort();
	json_decref(list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A copy of just this size: one byte more is noticed. */
	ab_autofree char *text = ab_alloc(size ? size : 1);
	struct ab_socket_owner_socket socket;
	struct ab_peer peer;
	pid_t inner, parent;

	memcpy(text, data, size);
	if (ab_socket_owner_parse_socket(text, size, &socket)) {
		peer = (struct ab_peer){ .v6 = socket.v6, .port = socket.port };
		memcpy(peer.addr, socket.addr, sizeof(peer.addr));
		if (ab_socket_owner_is_end(&socket, &peer) != (socket.inode && !socket.listens))
			abort();
	}
	if (ab_socket_owner_parse_status(text, size, &inner, &parent) && (inner < 0 || parent < 0))
		abort();
	check_argv(text, size);
	return 0;
}
