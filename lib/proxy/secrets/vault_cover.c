/*
 * Values to placeholders in a text that the box is shown. What is in base64
 * ("user:token" of a login) is written anew from the first whole group on, so
 * that whoever decodes it finds the whole placeholder.
 */
#include <string.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "base/text/base64.h"
#include "proxy/secrets/search.h"
#include "proxy/secrets/vault.h"

static struct ab_finder *find_values(const struct ab_vault *vault)
{
	struct ab_find_text texts[AB_SECRETS_MAX];
	size_t n = 0;

	for (size_t i = 0; i < ab_vault_len(vault); i++) {
		const struct ab_vault_entry *e = ab_vault_at(vault, i);

		if (e->value)
			texts[n++] = (struct ab_find_text){ e->value, e->value_len, i };
	}
	return ab_finder_new(texts, n);
}

/* The base64 around it: whole groups before, all digits and padding behind. */
static void find_run(const char *s, size_t len, size_t done, const struct ab_found *found,
		     size_t *ret_at, size_t *ret_len)
{
	enum ab_base64 alphabet = found->needle->alphabet;
	size_t at = found->at, end = found->at + found->len, n = 0;

	while (n < 4 && at - n > done && ab_base64_digit(s[at - n - 1], alphabet))
		n++;
	at = n < found->needle->group ? found->at : at - found->needle->group;
	while (at - done >= 4) {
		n = 0;
		while (n < 4 && ab_base64_digit(s[at - n - 1], alphabet))
			n++;
		if (n < 4)
			break;
		at -= 4;
	}
	while (end < len && ab_base64_digit(s[end], alphabet))
		end++;
	while (end < len && (end - at) % 4 && s[end] == '=')
		end++;
	*ret_at = at;
	*ret_len = end - at;
}

static void cover(const struct ab_vault *vault, const struct ab_finder *f, const char *s,
		  size_t len, bool decoded, struct ab_buf *out);

/* Decoded, covered, encoded; false: there is no value in it. */
static bool cover_run(const struct ab_vault *vault, const struct ab_finder *f, const char *s,
		      size_t len, enum ab_base64 alphabet, struct ab_buf *out)
{
	struct ab_buf covered = { .wipe = true };
	size_t room = len / 4 * 3 + 3, n = 0;
	char *text = ab_alloc(room), *encoded;
	struct ab_look look;
	struct ab_found found;
	bool good = ab_base64_decode(s, len, text, &n);

	ab_look_init(&look, f, text, n);
	good = good && ab_look_next(&look, &found);
	if (good) {
		cover(vault, f, text, n, true, &covered);
		n = covered.len;
		encoded = ab_alloc(AB_BASE64_ROOM(n));
		n = ab_base64_encode(ab_buf_bytes(&covered), n, alphabet, encoded);
		while (len % 4 && encoded[n - 1] == '=')
			n--;
		ab_buf_add(out, encoded, n);
		free(encoded);
	}
	explicit_bzero(text, room);
	free(text);
	ab_buf_fini(&covered);
	return good;
}

/* `decoded`: it was in base64, and what is in base64 again is too odd to be
 * kept readable. */
static void cover(const struct ab_vault *vault, const struct ab_finder *f, const char *s,
		  size_t len, bool decoded, struct ab_buf *out)
{
	struct ab_look look;
	struct ab_found found;
	size_t done = 0;

	ab_look_init(&look, f, s, len);
	while (ab_look_next(&look, &found)) {
		const struct ab_vault_entry *e = ab_vault_at(vault, found.needle->owner);
		size_t at = found.at, n = found.len;
		bool run = found.needle->base64 && !found.escape && !decoded;

		if (run)
			find_run(s, len, done, &found, &at, &n);
		ab_buf_add(out, s + done, at - done);
		done = at;
		if (run && cover_run(vault, f, s + at, n, found.needle->alphabet, out)) {
			done = look.from = at + n;
			continue;
		}
		ab_buf_add(out, s + done, found.at - done);
		ab_buf_add(out, e->placeholder, e->placeholder_len);
		done = found.at + found.len;
	}
	ab_buf_add(out, s + done, len - done);
}

static bool blank(const struct ab_finder *f, char with, char *text, size_t len)
{
	struct ab_look look;
	struct ab_found found;
	bool any = false;

	ab_look_init(&look, f, text, len);
	while (ab_look_next(&look, &found)) {
		memset(text + found.at, with, found.len);
		any = true;
	}
	return any;
}

bool ab_vault_blank(const struct ab_vault *vault, char *text, size_t len)
{
	struct ab_finder *f = find_values(vault);
	bool any = f && blank(f, '*', text, len);

	ab_finder_free(f);
	return any;
}

char *ab_vault_cover(const struct ab_vault *vault, const char *text, size_t len, size_t *ret_len)
{
	struct ab_finder *f = find_values(vault);
	struct ab_buf out = { .wipe = true };
	struct ab_look look;
	struct ab_found found;
	char *copy = NULL;

	if (!f)
		return NULL;
	ab_look_init(&look, f, text, len);
	if (ab_look_next(&look, &found)) {
		cover(vault, f, text, len, false, &out);
		*ret_len = out.len;
		copy = ab_alloc(*ret_len + 1);
		memcpy(copy, ab_buf_bytes(&out), *ret_len);
		/* What only came to be by putting it together. */
		blank(f, 'x', copy, *ret_len);
	}
	ab_buf_fini(&out);
	ab_finder_free(f);
	return copy;
}
