#include "proxy/sign/sigv4.h"

bool ab_sigv4_is_s3(const char *service)
{
	static const char *const names[] = { "s3", "s3-object-lambda", "s3-outposts", "s3express" };

	return ab_has_word(names, AB_COUNT(names), service);
}

/* Percent-decoded and encoded again, so that there is one form. */
static void put_normal(struct ab_buf *out, struct ab_http_text s, const char *plain)
{
	for (size_t at = 0; at < s.len;) {
		unsigned char c = ab_percent_next(s.s, s.len, &at);

		ab_http_escape(out, &c, 1, plain);
	}
}

/* Between name and value while they are sorted: it is smaller than every byte of them. */
#define BETWEEN "\1"

static void put_query(struct ab_buf *out, struct ab_http_text query)
{
	struct ab_http_text name, value;
	struct ab_strv sorted = { 0 };

	while (ab_http_parameter(&query, &name, &value)) {
		struct ab_buf text = { .wipe = true };

		/* A presigned URL signs everything but the signature. */
		if (ab_http_decodes_to(name, "X-Amz-Signature"))
			continue;
		put_normal(&text, name, AB_SIGV4_PLAIN);
		ab_buf_puts(&text, BETWEEN);
		put_normal(&text, value, AB_SIGV4_PLAIN);
		ab_strv_give(&sorted, ab_buf_take(&text));
	}
	ab_strv_sort(&sorted);
	for (size_t i = 0; i < sorted.len; i++) {
		char *v = sorted.v[i];
		size_t len = strcspn(v, BETWEEN);

		ab_buf_puts(out, i ? "&" : "");
		ab_buf_add(out, v, len);
		ab_buf_puts(out, "=");
		ab_buf_puts(out, v + len + 1);
		ab_free_wiped(v);
	}
	free(sorted.v);
}

/* The next segment of a path that is not empty. */
static bool next_segment(struct ab_http_text *path, struct ab_http_text *ret)
{
	ret->len = 0;
	while (path->len && !ret->len)
		*ret = ab_http_until(path, '/');
	return ret->len > 0;
}

static bool is_dots(struct ab_http_text s, size_t n)
{
	return s.len == n && memcmp(s.s, "..", n) == 0;
}

/* Without empty and dot segments (RFC 3986, 6.2.2.3), then encoded. */
static void put_normal_path(struct ab_buf *out, struct ab_http_text path)
{
	struct ab_http_text rest = path, segment;
	ab_autofree struct ab_http_text *kept = ab_alloc((path.len / 2 + 2) * sizeof(*kept));
	size_t n = 0;

	while (next_segment(&rest, &segment)) {
		if (is_dots(segment, 1))
			continue;
		if (!is_dots(segment, 2))
			kept[n++] = segment;
		else if (n)
			n--;
	}
	for (size_t i = 0; i < n; i++) {
		ab_buf_puts(out, "/");
		ab_http_escape(out, kept[i].s, kept[i].len, AB_SIGV4_PLAIN);
	}
	if (!n || path.s[path.len - 1] == '/')
		ab_buf_puts(out, "/");
}

/* Trimmed, with one blank for several. */
static void put_value(struct ab_buf *out, struct ab_http_text s)
{
	bool blank = false, begun = false;

	for (size_t i = 0; i < s.len; i++) {
		if (ab_is_blank(s.s[i])) {
			blank = true;
			continue;
		}
		if (blank && begun)
			ab_buf_puts(out, " ");
		begun = true;
		blank = false;
		ab_buf_add(out, s.s + i, 1);
	}
}

/* All fields of this name; false: there is none. */
static bool put_field(struct ab_buf *out, const struct ab_sigv4_input *in, const char *name)
{
	bool any = false;

	ab_buf_puts(out, name);
	ab_buf_puts(out, ":");
	if (strcmp(name, "host") == 0) {
		put_value(out, in->host);
		any = true;
	} else {
		for (size_t i = 0; i < in->head->nfields; i++) {
			const struct ab_http_field *f = &in->head->fields[i];

			if (!ab_http_is(f->name, name))
				continue;
			ab_buf_puts(out, any ? "," : "");
			put_value(out, f->value);
			any = true;
		}
	}
	ab_buf_puts(out, "\n");
	return any;
}

bool ab_sigv4_canonical(const struct ab_sigv4_input *in, struct ab_buf *out)
{
	struct ab_http_text query = in->path, path = ab_http_until(&query, '?');
	char name[AB_SIGV4_NAME + 1];

	ab_buf_add(out, in->method.s, in->method.len);
	ab_buf_puts(out, "\n");
	if (!path.len)
		ab_buf_puts(out, "/");
	else if (in->s3)
		put_normal(out, path, AB_SIGV4_PLAIN "/");
	else
		put_normal_path(out, path);
	ab_buf_puts(out, "\n");
	put_query(out, query);
	ab_buf_puts(out, "\n");
	for (const char *s = in->signed_names; *s; s += strspn(s, ";")) {
		size_t n = strcspn(s, ";");

		memcpy(name, s, n);
		name[n] = '\0';
		if (!put_field(out, in, name))
			return false;
		s += n;
	}
	ab_buf_puts(out, "\n");
	ab_buf_puts(out, in->signed_names);
	ab_buf_puts(out, "\n");
	ab_buf_puts(out, in->payload);
	return true;
}

void ab_sigv4_scope(const struct ab_sigv4 *sig, struct ab_buf *out)
{
	ab_buf_printf(out, "%s/%s/%s/aws4_request", sig->day, sig->region, sig->service);
}

void ab_sigv4_string(const struct ab_sigv4 *sig, const struct ab_buf *canonical, struct ab_buf *out)
{
	char hash[65];

	ab_sha256(canonical->data, canonical->len, hash);
	ab_buf_printf(out, "AWS4-HMAC-SHA256\n%s\n", sig->at);
	ab_sigv4_scope(sig, out);
	ab_buf_printf(out, "\n%s", hash);
}

void ab_sigv4_key(const char *secret, size_t len, const struct ab_sigv4 *sig,
		  uint8_t ret[AB_SHA256_SIZE])
{
	const char *const words[] = { sig->day, sig->region, sig->service, "aws4_request" };
	struct ab_buf first = { .wipe = true };

	ab_buf_puts(&first, "AWS4");
	ab_buf_add(&first, secret, len);
	ab_hmac_sha256(first.data, first.len, words[0], strlen(words[0]), ret);
	ab_buf_fini(&first);
	for (size_t i = 1; i < AB_COUNT(words); i++)
		ab_hmac_sha256(ret, AB_SHA256_SIZE, words[i], strlen(words[i]), ret);
}

void ab_sigv4_sign(const uint8_t key[AB_SHA256_SIZE], const struct ab_buf *text, char ret[65])
{
	uint8_t digest[AB_SHA256_SIZE];

	ab_hmac_sha256(key, AB_SHA256_SIZE, text->data, text->len, digest);
	ab_sha256_hex(digest, ret);
}

bool ab_sigv4_equal(const char a[65], const char b[65])
{
	unsigned differ = 0;

	for (size_t i = 0; i < 64; i++)
		differ |= (unsigned char)a[i] ^ (unsigned char)b[i];
	return !differ;
}
