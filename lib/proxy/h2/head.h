#pragma once
/*
 * The fields of an HTTP/2 message, as they arrive, become a head of HTTP/1.1 for
 * the parser of proxy/wire/http.h, which judges them as those of any other
 * request. Pure.
 *
 * Nothing in a field can end a line: a message with a control byte, a blank in
 * its target, or a field about the framing of HTTP/1.1 is malformed. A head that
 * is too long is kept just too long, so the parser refuses it with 431.
 */
#include "proxy/wire/http.h"

struct ab_h2_head { /* zero it before the first field */
	struct ab_buf method, path, authority;
	struct ab_buf fields; /* lines, with their ends */
	struct ab_buf cookie; /* clients split it */
	int status;
	size_t size; /* of all fields as RFC 9113 counts them, also of those left out */
	size_t nfields;
	bool malformed;
	bool has_length;
	bool has_host; /* a field besides the authority */
	bool wipe;     /* the fields may contain values of secrets */
};

void ab_h2_head_add(struct ab_h2_head *h, struct ab_http_text name, struct ab_http_text value);
void ab_h2_head_fini(struct ab_h2_head *h);

/*
 * Append the head to `out`. `ended`: no body follows. *ret_body: how the body must
 * be framed. false: malformed, and nothing was appended.
 */
bool ab_h2_head_request(const struct ab_h2_head *h, bool ended, struct ab_buf *out,
			enum ab_http_body *ret_body);
/* `to_head`: of a request with the method HEAD. *ret_added: the length 0 was
 * added, so that HTTP/1.1 sees the end. */
bool ab_h2_head_response(const struct ab_h2_head *h, bool ended, bool to_head, struct ab_buf *out,
			 enum ab_http_body *ret_body, bool *ret_added);
/* Append the lines of trailers, without the empty one. */
bool ab_h2_head_trailers(const struct ab_h2_head *h, struct ab_buf *out);
