/*
 * Replaces values by placeholders in a text that is shown to the box. Base64
 * (the "user:token" of a login) is encoded again from the first whole group on,
 * so that decoding it yields the whole placeholder.
 */
#include "proxy/secrets/search.h"
#include "proxy/secrets/vault.h"

static struct ab_finder *new_value_finder(const struct ab_vault *vault)
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

/* The base64 around a match: whole groups before, all digits and padding after. */
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

static void cover_values(const struct ab_vault *vault, const struct ab_finder *f, const char *s,
			 size_t len, bool decoded, struct ab_buf *out);

/* Decode, cover, encode; false: it contains no value. */
static bool cover_run(const struct ab_vault *vault, const struct ab_finder *f, const char *s,
		      size_t len, enum ab_base64 alphabet, struct ab_buf *out)
{
	ab_autobuf struct ab_buf covered = { .wipe = true };
	size_t room = len / 4 * 3 + 3, n = 0;
	ab_autofree char *text = ab_alloc(room);
	struct ab_found found;
	bool good = ab_base64_decode(s, len, text, &n);

	good = good && ab_finder_find(f, text, n, &found);
	if (good) {
		cover_values(vault, f, text, n, true, &covered);
		ab_base64_add(out, covered.data, covered.len, alphabet, len % 4 == 0);
	}
	explicit_bzero(text, room);
	return good;
}

/* `decoded`: the text was in base64; base64 inside it is not encoded again. */
static void cover_values(const struct ab_vault *vault, const struct ab_finder *f, const char *s,
			 size_t len, bool decoded, struct ab_buf *out)
{
	struct ab_search look;
	struct ab_found found;
	size_t done = 0;

	ab_search_init(&look, f, s, len);
	while (ab_search_next(&look, &found)) {
		const struct ab_vault_entry *e = ab_vault_at(vault, found.needle->owner);
		size_t at = found.at, n = found.len;
		bool run = found.needle->form == AB_FORM_BASE64 && !found.escape && !decoded;

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

static bool overwrite_values(const struct ab_finder *f, char with, char *text, size_t len)
{
	struct ab_search look;
	struct ab_found found;
	bool any = false;

	ab_search_init(&look, f, text, len);
	while (ab_search_next(&look, &found)) {
		memset(text + found.at, with, found.len);
		any = true;
	}
	return any;
}

bool ab_vault_blank(const struct ab_vault *vault, char *text, size_t len)
{
	struct ab_finder *f = new_value_finder(vault);
	bool any = f && overwrite_values(f, '*', text, len);

	ab_finder_free(f);
	return any;
}

char *ab_vault_cover(const struct ab_vault *vault, const char *text, size_t len, size_t *ret_len)
{
	struct ab_finder *f = new_value_finder(vault);
	struct ab_buf out = { .wipe = true };
	struct ab_found found;
	char *copy = NULL;

	if (!f)
		return NULL;
	if (ab_finder_find(f, text, len, &found)) {
		cover_values(vault, f, text, len, false, &out);
		*ret_len = out.len;
		copy = ab_alloc(*ret_len + 1);
		memcpy(copy, ab_buf_bytes(&out), *ret_len);
		/* The replacements may have formed a value. */
		overwrite_values(f, 'x', copy, *ret_len);
	}
	ab_buf_fini(&out);
	ab_finder_free(f);
	return copy;
}
