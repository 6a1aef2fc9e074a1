#ifndef AB_PROXY_WIRE_HTTP_H
#define AB_PROXY_WIRE_HTTP_H
/*
 * HTTP/1 heads: bytes in, views of them out. Pure: no I/O, no allocation.
 *
 * Strict where two readers of one message could disagree about its length or
 * its target: lines end with CR LF, no line is folded, a name is a token and
 * its colon follows at once, no control bytes, at most one Content-Length,
 * never with a Transfer-Encoding, which is "chunked" or refused, one Host,
 * which agrees with the target. What is accepted here means the same to
 * everybody, so a head may be passed on as it came.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/values/host.h"

struct ab_buf;

enum {
	AB_HTTP_HEAD_MAX = 64 * 1024,
	AB_HTTP_TARGET_MAX = 16 * 1024,
	AB_HTTP_METHOD_MAX = 32,
	AB_HTTP_FIELDS = 128,
	AB_HTTP_OPTIONS = 32, /* words in Connection */
};

struct ab_http_text { /* a view, not terminated */
	const char *s;
	size_t len;
};

/* Fields that mean something to us. */
enum ab_http_name {
	AB_HTTP_OTHER,
	AB_HTTP_CONNECTION,
	AB_HTTP_CONTENT_LENGTH,
	AB_HTTP_EXPECT,
	AB_HTTP_HOST,
	AB_HTTP_HOP, /* others that a proxy keeps to itself */
	AB_HTTP_HTTP2_SETTINGS,
	AB_HTTP_TE,
	AB_HTTP_TRAILER,
	AB_HTTP_TRANSFER_ENCODING,
	AB_HTTP_UPGRADE,
};

struct ab_http_field {
	enum ab_http_name id;
	struct ab_http_text name, value; /* value without outer blanks */
};

enum ab_http_body {
	AB_HTTP_NONE,
	AB_HTTP_LENGTH,
	AB_HTTP_CHUNKED,
	AB_HTTP_CLOSE, /* until the sender closes */
};

struct ab_http_head { /* of both kinds */
	int minor;    /* HTTP/1.minor, 0 or 1 */
	enum ab_http_body body;
	uint64_t length;       /* with AB_HTTP_LENGTH */
	bool keep;	       /* the sender would keep the connection */
	bool expect;	       /* Expect: 100-continue */
	bool upgrade;	       /* asks for, or grants, another protocol */
	bool upgrade_unjudged; /* one that would hide requests from us: HTTP/2
				 * or TLS; the field must not be passed */
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
	struct ab_http_text path; /* with query; of an absolute target it
					 * may be "" or begin with "?" */
	bool has_host;		  /* in the target or in Host */
	struct ab_host host;
	uint16_t port; /* 0: none was given */
	struct ab_http_head head;
};

struct ab_http_response {
	int status;
	struct ab_http_text reason;
	struct ab_http_head head;
};

/* How far a head was read; zeroed at its begin. Each byte is looked at once,
 * however the head is cut. */
struct ab_http_scan {
	size_t at, line; /* next byte; begin of its line */
	unsigned lines;	 /* complete */
	const char *why; /* it is malformed: a clause */
};

/*
 * >0: the length of the head, *ret is filled and points into data. 0: more is
 * needed. <0: malformed; the status to answer, negated, and scan->why.
 * `data` may move between calls, but always begins where the head does.
 */
ssize_t ab_http_read_request(struct ab_http_scan *scan, const void *data, size_t len,
			     struct ab_http_request *ret);
/* `to_head`: it answers a HEAD, so it has no body whatever it says. */
ssize_t ab_http_read_response(struct ab_http_scan *scan, const void *data, size_t len, bool to_head,
			      struct ab_http_response *ret);

/* "host", "host:80", "[::1]:80". */
bool ab_http_authority(struct ab_http_text s, struct ab_host *ret_host, uint16_t *ret_port);
/* Fills form, path, host and port from method, target and fields. NULL, or
 * why not. */
const char *ab_http_target(struct ab_http_request *rq);

bool ab_http_is(struct ab_http_text s, const char *word); /* any case */
bool ab_http_is_exactly(struct ab_http_text s, const char *word);
bool ab_http_token(struct ab_http_text s);
enum ab_http_name ab_http_name(struct ab_http_text name);
/* Is its body compressed, or otherwise not what it stands for? */
bool ab_http_encoded(const struct ab_http_head *head);
/* Is this the protocol in its Upgrade? */
bool ab_http_upgrades_to(const struct ab_http_head *head, const char *protocol);
/* Is the word among those of Connection? */
bool ab_http_option(const struct ab_http_head *head, struct ab_http_text word);

/* What goes to the next hop. */
struct ab_http_hop {
	const struct ab_host *host; /* as judged */
	uint16_t port;
	bool tls;		 /* 443 goes without saying, not 80 */
	bool upstream;		 /* another proxy: absolute form */
	const char *credentials; /* for that one, or NULL */
};
void ab_http_write_request(struct ab_buf *out, const struct ab_http_request *rq,
			   const struct ab_http_hop *hop);
/* The same request without its Upgrade. */
void ab_http_write_without_upgrade(struct ab_buf *out, const struct ab_http_request *rq);
/* keep: the client's connection stays; minor: its HTTP version. */
void ab_http_write_response(struct ab_buf *out, const struct ab_http_response *rs, bool keep,
			    int minor);

#endif
