#pragma once
/*
 * The messages between a command of the box (steer/client/tool_client.h) and the broker of the tools.
 * One connection is one call:
 *
 *	client -> broker  one request, with descriptors 0-2 as ancillary data
 *	client -> broker  struct ab_tool_signal: the client got this signal
 *	broker -> client  struct ab_tool_reply: stopped, or the end
 *
 * The socket keeps message boundaries. The broker trusts nothing of it: the parser is pure, bounded,
 * and accepts one form only.
 */
#include "base/base.h"

enum {
	AB_TOOL_REQUEST_MAX = 128 * 1024, /* bytes of a request */
	AB_TOOL_WORDS_MAX = 4096,	  /* with the name of the tool */
	AB_TOOL_ENV_MAX = 32,
	AB_TOOL_CWD_MAX = 4095,
};

/* Then, each with its NUL: the folder, the words, the variables. */
struct ab_tool_head {
	char magic[4];
	uint32_t words, variables;
};
#define AB_TOOL_MAGIC "ABt1"

struct ab_tool_request {
	const char *cwd;
	const char **argv; /* argv[0]: the tool */
	size_t argc;
	const char **env; /* "K=V", only names of ab_tool_variable() */
	size_t nenv;
};

struct ab_tool_signal {
	int32_t signal;
};

enum ab_tool_event {
	AB_TOOL_STOPPED, /* `status` is the signal */
	AB_TOOL_ENDED,	 /* `status` is the exit status */
	AB_TOOL_KILLED,	 /* by the signal `status` */
	AB_TOOL_REFUSED, /* `text` says why; exit with `status` */
};

struct ab_tool_reply {
	uint32_t event;
	int32_t status;
	char text[1024];
};

/* May the caller pass this variable on ("K=V" or "K")? A short list: what the terminal is, and in
 * which language to write. Pure. */
int ab_tool_variable(const char *text, size_t name_len);

/*
 * Parse a request in place: *ret points into `data`, and into `room`, which has space for
 * AB_TOOL_WORDS_MAX + AB_TOOL_ENV_MAX pointers. NULL, or what is wrong with it. Pure.
 */
const char *ab_tool_request_parse(const char *data, size_t len, const char **room,
				  struct ab_tool_request *ret);

/* The same in the other direction: the client's. Fails with what is too large. */
const char *ab_tool_request_write(const struct ab_tool_request *request, struct ab_buf *ret);
