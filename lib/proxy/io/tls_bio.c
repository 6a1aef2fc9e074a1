/* The library's BIO for a side: ciphertext from and to its socket. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "proxy/io/tls_state.h"

static int take_raw(struct ab_buf *raw, char *data, size_t len)
{
	if (len > raw->len)
		len = raw->len;
	memcpy(data, ab_buf_bytes(raw), len);
	ab_buf_skip(raw, len);
	return (int)len;
}

static int read_socket(BIO *bio, char *data, int len)
{
	struct ab_tls *tls = BIO_get_data(bio);
	struct ab_side *side = tls->side;
	ssize_t n;

	BIO_clear_retry_flags(bio);
	if (len <= 0)
		return 0;
	if (tls->raw.len)
		return take_raw(&tls->raw, data, (size_t)len);
	if (tls->eof)
		return 0;
	if (side->readable) {
		n = recv(side->source.fd, data, (size_t)len, 0);
		if (n > 0) {
			tls->dry = false;
			return (int)n;
		}
		if (n == 0) {
			tls->eof = true;
			return 0;
		}
		if (errno != EAGAIN) {
			tls->errnum = errno;
			return -1;
		}
		side->readable = false;
	}
	tls->blocked = true;
	BIO_set_retry_read(bio);
	return -1;
}

static int write_socket(BIO *bio, const char *data, int len)
{
	struct ab_tls *tls = BIO_get_data(bio);
	struct ab_side *side = tls->side;
	ssize_t n;

	BIO_clear_retry_flags(bio);
	if (side->writable) {
		n = send(side->source.fd, data, (size_t)len,
			 MSG_NOSIGNAL | (tls->more ? MSG_MORE : 0));
		if (n >= 0) {
			tls->dry = false;
			return (int)n;
		}
		if (errno != EAGAIN) {
			tls->errnum = errno;
			return -1;
		}
		side->writable = false;
	}
	tls->blocked = true;
	BIO_set_retry_write(bio);
	return -1;
}

static long control_bio(BIO *bio, int cmd, long num, void *ptr)
{
	struct ab_tls *tls = BIO_get_data(bio);

	(void)num;
	(void)ptr;
	if (cmd == BIO_CTRL_FLUSH)
		return 1;
	if (cmd == BIO_CTRL_EOF)
		return tls->eof && !tls->raw.len;
	return 0;
}

static int create_bio(BIO *bio)
{
	BIO_set_init(bio, 1);
	return 1;
}

BIO_METHOD *ab_tls_bio_method(void)
{
	BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "side");

	if (method && BIO_meth_set_read(method, read_socket) == 1 &&
	    BIO_meth_set_write(method, write_socket) == 1 &&
	    BIO_meth_set_ctrl(method, control_bio) == 1 &&
	    BIO_meth_set_create(method, create_bio) == 1)
		return method;
	BIO_meth_free(method);
	return NULL;
}
