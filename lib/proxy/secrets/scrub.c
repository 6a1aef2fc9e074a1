#include "proxy/secrets/scrub.h"

#include "proxy/secrets/search.h"
#include "proxy/secrets/vault.h"

struct ab_scrub {
	struct ab_finder *finder;
	const struct ab_needle *needles;
	char **covers; /* the replacement of each needle, of equal length */
	size_t n;
	unsigned holders;
};

/* The placeholder, cut or padded with 'x'. */
static void fit_placeholder(const struct ab_vault_entry *e, char *ret, size_t len)
{
	size_t n = e->placeholder_len < len ? e->placeholder_len : len;

	memcpy(ret, e->placeholder, n);
	memset(ret + n, 'x', len - n);
}

/* `len`: of the needle's value. */
static char *make_cover(const struct ab_vault_entry *e, size_t len, const struct ab_needle *needle)
{
	ab_autofree char *fitted = ab_alloc(len);
	char *cover = ab_alloc(needle->len + needle->cut);
	struct ab_needle form = *needle;

	fit_placeholder(e, fitted, len);
	ab_needle_write(&form, fitted, len, (uint8_t *)cover);
	return cover;
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
	scrub = ab_alloc(sizeof(*scrub));
	scrub->holders = 1;
	scrub->finder = ab_finder_new(texts, n);
	scrub->needles = ab_finder_needles(scrub->finder, &scrub->n);
	scrub->covers = ab_alloc(scrub->n * sizeof(scrub->covers[0]));
	for (size_t i = 0; i < scrub->n; i++) {
		size_t owner = scrub->needles[i].owner;

		scrub->covers[i] = make_cover(ab_vault_at(vault, secrets[owner]), texts[owner].len,
					      &scrub->needles[i]);
	}
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
	for (size_t i = 0; i < scrub->n; i++)
		free(scrub->covers[i]);
	free(scrub->covers);
	ab_finder_free(scrub->finder);
	free(scrub);
}

static void replace_found(const struct ab_scrub *scrub, uint8_t *data, const struct ab_found *found)
{
	size_t n = found->needle->len; /* found->len is longer if there are escapes */

	memcpy(data + found->at, scrub->covers[found->needle - scrub->needles], n);
	memset(data + found->at + n, 'x', found->len - n);
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
