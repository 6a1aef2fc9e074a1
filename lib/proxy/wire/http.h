#pragma once
/*
 * HTTP/1 heads: bytes in, views of them out. Pure: no I/O, no allocation.
 *
 * Strict where two parsers could disagree about a message's length or target:
 * lines end with CR LF, no line is folded, a name is a token directly followed
 * by its colon, no control bytes, at most one Content-Length, never with a
 * Transfer-Encoding, which must be "chunked", one Host, equal to the target's.
 * Every parser reads an accepted head the same way, so it may be forwarded
 * unchanged.
 */
#include "policy/values/host.h"

enum {
	AB_HTTP_HEAD_MAX = 64 * 1024,
	AB_HTTP_TARGET_MAX = 16 * 1024,
	AB_HTTP_METHOD_MAX = 32,
	AB_HTTP_FIELDS = 128,
	AB_HTTP_OPTIONS = 32, /* in Connection */
};

struct ab_http_text { /* a view, not terminated */
	const char *s;
	size_t len;
};

static inline struct ab_http_text ab_http_text(const char *s)
{
	return (struct ab_http_text){ s, strlen(s) };
}

/* Fields that the proxy handles. */
enum ab_http_name {
	AB_HTTP_OTHER,
	AB_HTTP_CONNECTION,
	AB_HTTP_CONTENT_LENGTH,
	AB_HTTP_EXPECT,
	AB_HTTP_HOST,
	AB_HTTP_HOP, /* other hop-by-hop fields */
	AB_HTTP_HTTP2_SETTINGS,
	AB_HTTP_TE,
	AB_HTTP_TRAILER,
	AB_HTTP_TRANSFER_ENCODING,
	AB_HTTP_UPGRADE,
};

struct ab_http_field {
	enum ab_http_name id;
	struct ab_http_text name, value; /* value without outer blanks */
	bool secret;			 /* the value of a secret is in it (proxy/secrets/swap.h) */
};

enum ab_http_body {
	AB_HTTP_NONE,
	AB_HTTP_LENGTH,
	AB_HTTP_CHUNKED,
	AB_HTTP_CLOSE, /* until the sender closes */
};

struct ab_http_head { /* of a request or a response */
	size_t size;  /* with the empty line that ends it */
	int minor;    /* HTTP/1.minor, 0 or 1 */
	enum ab_http_body body;
	uint64_t length; /* with AB_HTTP_LENGTH */
	bool keep;	 /* the sender would keep the connection */
	bool expect;	 /* Expect: 100-continue */
	bool upgrade;	 /* requests or confirms another protocol */
	/* An upgrade to HTTP/2 or TLS, which would hide requests from the
	 * filter; the field must not be forwarded. */
	bool upgrade_unjudged;
	size_t nfields, noptions;
	struct ab_http_field fields[AB_HTTP_FIELDS];
	struct ab_http_text options[AB_HTTP_OPTIONS]; /* of Connection */
};

enum ab_http_form {
	AB_HTTP_ORIGIN,	   /* /path?query */
	AB_HTTP_ABSOLUTE,  /* http://host/path?query */
	AB_HTTP_AUTHORITY, /* host:port of CONNECT */
	AB_HTTP_ASTERISK,  /* OPTIONS * */
};

struct ab_http_request {
	struct ab_http_text method, target;
	enum ab_http_form form;
	/* With query; for an absolute target it may be "" or begin with "?". */
	struct ab_http_text path;
	bool has_host; /* in the target or in Host */
	struct ab_host host;
	uint16_t port; /* 0: none was given */
	struct ab_http_head head;
};

struct ab_http_response {
	int status;
	struct ab_http_text reason;
	struct ab_http_head head;
};

/* Progress in a head; zero it before the first byte. Each byte is checked once,
 * however the head is split. */
struct ab_http_scan {
	size_t at, line; /* next byte; start of its line */
	unsigned lines;	 /* complete ones */
	const char *why; /* why it is malformed, for people */
	/* Set it before the first byte: the request came over a Unix socket, where
	 * clients write anything into Host. A value that is not a host is ignored. */
	bool local;
};

/*
 * >0: the length of the head; *ret points into data. 0: incomplete. <0:
 * malformed; the negated status to reply with, and scan->why. `data` may move
 * between calls, but must begin with the head.
 */
ssize_t ab_http_read_request(struct ab_http_scan *scan, const void *data, size_t len,
			     struct ab_http_request *ret);
/* `to_head`: the response to a HEAD request, which has no body. */
ssize_t ab_http_read_response(struct ab_http_scan *scan, const void *data, size_t len, bool to_head,
			      struct ab_http_response *ret);

bool ab_http_is(struct ab_http_text s, const char *word); /* any case */
bool ab_http_is_exactly(struct ab_http_text s, const char *word);
bool ab_http_is_one(struct ab_http_text s, const char *words); /* of "a b c", any case */
bool ab_http_begins(struct ab_http_text s, const char *word);  /* any case */
/* Is the text, percent-decoded, this word? One of these? */
bool ab_http_decodes_to(struct ab_http_text s, const char *word);
bool ab_http_decodes_to_one(struct ab_http_text s, const char *const words[], size_t n);

/* The next parameter of a query that is not empty: name and value, as they are. */
bool ab_http_parameter(struct ab_http_text *query, struct ab_http_text *ret_name,
		       struct ab_http_text *ret_value);

/* Remove and return the text up to `c`, or all of it; also remove `c`. */
struct ab_http_text ab_http_until(struct ab_http_text *rest, char c);
bool ab_http_tchar(int c); /* may it be in a token? */
bool ab_http_token(struct ab_http_text s);
bool ab_http_status(struct ab_http_text s, int *ret); /* three digits */
enum ab_http_name ab_http_name(struct ab_http_text name);
/* The first field of that name, or NULL. */
const struct ab_http_field *ab_http_find(const struct ab_http_head *head, const char *name);
/* Remove all fields of that name. */
void ab_http_remove(struct ab_http_head *head, const char *name);
/* Is its body compressed or otherwise encoded? */
bool ab_http_encoded(const struct ab_http_head *head);
/* Is the body of this response a part of a document, or a difference to another one? */
bool ab_http_partial(const struct ab_http_response *rs);
/* Does its body consist of gRPC messages? */
bool ab_http_grpc(const struct ab_http_head *head);
/* Does its Upgrade field name this protocol? */
bool ab_http_upgrades_to(const struct ab_http_head *head, const char *protocol);
/* NULL, or why this 101 is not the peer's yes to an upgrade; `asked`: there was a request for one,
 * and all of it was sent. */
const char *ab_http_bad_switch(const struct ab_http_response *rs, bool asked);
/* Is the word an option in Connection? */
bool ab_http_option(const struct ab_http_head *head, struct ab_http_text word);

/* Add what a malformed request asked for: the beginning of its first line without a query, safe on
 * a terminal. */
void ab_http_put_asked(struct ab_buf *out, const void *data, size_t len);

/* Add the bytes with all but letters, digits and those in `plain` as %NN. */
void ab_http_escape(struct ab_buf *out, const void *data, size_t len, const char *plain);
/* Add the parameters of a query but those of these names, each after "?" or "&". false: there is none. */
bool ab_http_put_others(struct ab_buf *out, struct ab_http_text query, const char *const names[],
			size_t n);

/* The next hop of a request. */
struct ab_http_hop {
	const struct ab_host *host; /* as judged */
	uint16_t port;
	bool tls;		 /* the default port is 443, not 80 */
	bool upstream;		 /* a proxy: write the absolute URL */
	const char *credentials; /* for the upstream, or NULL */
};
/* The value of Host. */
void ab_http_write_authority(struct ab_buf *out, const struct ab_http_hop *hop);
/* Is its head, as it would be written, no longer than one that is read? */
bool ab_http_fits(const struct ab_http_request *rq);

/* Is this field of a request sent on as it is? */
bool ab_http_forwarded(const struct ab_http_head *head, const struct ab_http_field *f);
void ab_http_write_request(struct ab_buf *out, const struct ab_http_request *rq,
			   const struct ab_http_hop *hop);
/* The same request without its Upgrade. */
void ab_http_write_without_upgrade(struct ab_buf *out, const struct ab_http_request *rq);
/* keep: keep the client's connection; minor: its HTTP version. */
void ab_http_write_response(struct ab_buf *out, const struct ab_http_response *rs, bool keep,
			    int minor);
