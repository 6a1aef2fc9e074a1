#include "proxy/secrets/scrub.h"

#include "proxy/secrets/signatures.h"
#include "proxy/secrets/vault.h"

/* The owner of each text is its length times AB_SECRETS_MAX, plus the secret. */
struct ab_scrub {
	struct ab_scrub *next;
	const struct ab_vault *vault;
	uint64_t secrets;
	struct ab_finder *finder; /* or NULL: there is no value yet */
};

/* The placeholder, cut or padded with 'x'. */
static void fit_placeholder(const struct ab_vault_entry *e, char *ret, size_t len)
{
	size_t n = e->placeholder_len < len ? e->placeholder_len : len;

	memcpy(ret, e->placeholder, n);
	memset(ret + n, 'x', len - n);
}

static void gather_values(struct ab_scrub *scrub)
{
	ab_autofree struct ab_find_text *texts =
		ab_alloc(AB_SECRETS_MAX * AB_VAULT_HIDDEN * sizeof(texts[0]));
	size_t n = 0, end = 0;

	for (size_t i = 0; i < ab_vault_len(scrub->vault); i++)
		if (scrub->secrets >> i & 1)
			for (end += ab_vault_hidden(scrub->vault, i, texts + n); n < end; n++)
				texts[n].owner = texts[n].len * AB_SECRETS_MAX + i;
	ab_finder_free(scrub->finder);
	scrub->finder = ab_finder_new(texts, n);
}

struct ab_scrub *ab_scrub_of(struct ab_scrub **list, const struct ab_vault *vault, uint64_t secrets)
{
	struct ab_scrub *scrub = *list;

	while (scrub && scrub->secrets != secrets)
		scrub = scrub->next;
	if (scrub)
		return scrub;
	scrub = ab_alloc(sizeof(*scrub));
	*scrub = (struct ab_scrub){ .next = *list, .vault = vault, .secrets = secrets };
	gather_values(scrub);
	return *list = scrub;
}

void ab_scrubs_renew(struct ab_scrub *list)
{
	for (; list; list = list->next)
		gather_values(list);
}

void ab_scrubs_free(struct ab_scrub *list)
{
	if (!list)
		return;
	ab_scrubs_free(list->next);
	ab_finder_free(list->finder);
	free(list);
}

/* By the placeholder in the same form; found->len is longer than that if there are escapes. */
static void replace_found(const struct ab_scrub *scrub, uint8_t *data, const struct ab_found *found)
{
	struct ab_needle form = *found->needle;
	size_t len = form.owner / AB_SECRETS_MAX;
	ab_autofree char *fitted = ab_alloc(len);
	ab_autofree uint8_t *cover = ab_alloc(form.len + form.cut);

	fit_placeholder(ab_vault_at(scrub->vault, form.owner % AB_SECRETS_MAX), fitted, len);
	ab_needle_write(&form, fitted, len, cover);
	memcpy(data + found->at, cover, form.len);
	memset(data + found->at + form.len, 'x', found->len - form.len);
}

/* Cross out the signatures from look->from on. Returns where something incomplete may begin: from there on
 * no byte is changed. */
static size_t cover_signatures(const struct ab_scrub *scrub, const struct ab_search *look,
			       uint8_t *data, bool end)
{
	size_t to = end ? look->len : ab_search_hold(look);

	return look->from + ab_signatures_cover(ab_vault_signatures(scrub->vault),
						data + look->from, to - look->from, end);
}

size_t ab_scrub_take(struct ab_scrub *scrub, uint8_t *data, size_t len, bool end)
{
	struct ab_search look;
	struct ab_found found;

	if (!scrub->finder)
		return ab_signatures_cover(ab_vault_signatures(scrub->vault), data, len, end);
	ab_search_init(&look, scrub->finder, data, len);
	look.to = cover_signatures(scrub, &look, data, end);
	while (ab_search_next(&look, &found)) {
		replace_found(scrub, data, &found);
		if (look.to < look.from)
			look.to = cover_signatures(scrub, &look, data, end);
	}
	return look.to;
}
