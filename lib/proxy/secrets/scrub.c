#include "proxy/secrets/scrub.h"

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

struct ab_scrub *ab_scrub_new(const struct ab_vault *vault, const struct ab_host *host,
			      uint16_t port)
{
	enum { MAX = AB_SECRETS_MAX * AB_VAULT_HIDDEN };
	struct ab_find_text texts[MAX];
	size_t secrets[MAX]; /* the secret of each text */
	struct ab_scrub *scrub;
	size_t n = 0;

	for (size_t i = 0; i < ab_vault_len(vault); i++) {
		size_t end = n;

		if (ab_vault_bound(vault, i, host, port))
			end += ab_vault_hidden(vault, i, texts + n);
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
