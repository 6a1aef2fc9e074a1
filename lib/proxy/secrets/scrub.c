#include "proxy/secrets/scrub.h"

#include "proxy/secrets/search.h"
#include "proxy/secrets/vault.h"

struct ab_scrub {
	struct ab_finder *finder;
	unsigned holders;
	struct hidden {
		const struct ab_vault_entry *secret;
		size_t len; /* of its value */
	} texts[];
};

/* The placeholder, cut or padded with 'x'. */
static void fit_placeholder(const struct ab_vault_entry *e, char *ret, size_t len)
{
	size_t n = e->placeholder_len < len ? e->placeholder_len : len;

	memcpy(ret, e->placeholder, n);
	memset(ret + n, 'x', len - n);
}

/* Add the current and former values of a secret, and what was made with it; returns their number. */
static size_t add_values(const struct ab_vault *vault, size_t i, struct ab_find_text *ret)
{
	const struct ab_vault_entry *e = ab_vault_at(vault, i);
	const char *former;
	size_t n = 0, len;

	if (e->value)
		ret[n++] = (struct ab_find_text){ .s = e->value, .len = e->value_len };
	for (size_t k = 0; (former = ab_vault_former(vault, i, k, &len)); k++)
		ret[n++] = (struct ab_find_text){ .s = former, .len = len };
	for (size_t k = 0; k < AB_VAULT_MADE; k++)
		if (*ab_vault_made(vault, i, k))
			ret[n++] = (struct ab_find_text){ .s = ab_vault_made(vault, i, k),
							  .len = strlen(ab_vault_made(vault, i, k)),
							  .plain = true };
	return n;
}

struct ab_scrub *ab_scrub_new(const struct ab_vault *vault, const struct ab_host *host,
			      uint16_t port)
{
	enum { MAX = AB_SECRETS_MAX * (1 + AB_VAULT_FORMER + AB_VAULT_MADE) };
	struct ab_find_text texts[MAX];
	size_t secrets[MAX]; /* the secret of each text */
	struct ab_scrub *scrub;
	size_t n = 0;

	for (size_t i = 0; i < ab_vault_len(vault); i++) {
		size_t end = n;

		if (ab_vault_bound(vault, i, host, port))
			end += add_values(vault, i, texts + n);
		for (; n < end; n++) {
			texts[n].owner = n;
			secrets[n] = i;
		}
	}
	if (!n)
		return NULL;
	scrub = ab_alloc(sizeof(*scrub) + n * sizeof(scrub->texts[0]));
	scrub->holders = 1;
	scrub->finder = ab_finder_new(texts, n);
	for (size_t i = 0; i < n; i++)
		scrub->texts[i] = (struct hidden){ ab_vault_at(vault, secrets[i]), texts[i].len };
	return scrub;
}

struct ab_scrub *ab_scrub_hold(struct ab_scrub *scrub)
{
	if (scrub)
		scrub->holders++;
	return scrub;
}

void ab_scrub_free(struct ab_scrub *scrub)
{
	if (!scrub || --scrub->holders)
		return;
	ab_finder_free(scrub->finder);
	free(scrub);
}

/* By the placeholder in the same form; found->len is longer than that if there are escapes. */
static void replace_found(const struct ab_scrub *scrub, uint8_t *data, const struct ab_found *found)
{
	const struct hidden *text = &scrub->texts[found->needle->owner];
	struct ab_needle form = *found->needle;
	ab_autofree char *fitted = ab_alloc(text->len);
	ab_autofree uint8_t *cover = ab_alloc(form.len + form.cut);

	fit_placeholder(text->secret, fitted, text->len);
	ab_needle_write(&form, fitted, text->len, cover);
	memcpy(data + found->at, cover, form.len);
	memset(data + found->at + form.len, 'x', found->len - form.len);
}

size_t ab_scrub_take(struct ab_scrub *scrub, uint8_t *data, size_t len, bool end)
{
	struct ab_search look;
	struct ab_found found;

	ab_search_init(&look, scrub->finder, data, len);
	if (!end)
		look.to = ab_search_hold(&look);
	while (ab_search_next(&look, &found)) {
		replace_found(scrub, data, &found);
		if (look.to < look.from)
			look.to = ab_search_hold(&look);
	}
	return look.to;
}
