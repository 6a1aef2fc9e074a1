#include "proxy/scrub.h"

#include <string.h>

#include "base/base64.h"
#include "base/mem.h"
#include "proxy/vault.h"
#include "proxy/vault_find.h"

struct ab_scrub {
	struct ab_finder *finder;
	const struct ab_needle *needles;
	char **covers; /* what stands for each needle, as long as it */
	size_t n;
	unsigned holders;
};

/* The placeholder, cut or filled up with 'x'. */
static void fit(const struct ab_vault_entry *e, char *ret, size_t len)
{
	size_t n = e->placeholder_len < len ? e->placeholder_len : len;

	memcpy(ret, e->placeholder, n);
	memset(ret + n, 'x', len - n);
}

static char *make_cover(const struct ab_vault_entry *e,
			const struct ab_needle *needle)
{
	ab_autofree char *fitted = NULL;
	char *cover = ab_alloc(needle->len);
	size_t group;

	if (!needle->base64) {
		fit(e, cover, needle->len);
		return cover;
	}
	fitted = ab_alloc(e->value_len);
	fit(e, fitted, e->value_len);
	ab_base64_core(fitted, e->value_len, needle->align, needle->alphabet,
		       cover, &group);
	return cover;
}

struct ab_scrub *ab_scrub_new(const struct ab_vault *vault,
			      const struct ab_host *host, uint16_t port)
{
	struct ab_find_text texts[AB_SECRETS_MAX];
	struct ab_scrub *scrub;
	size_t n = 0;

	for (size_t i = 0; i < ab_vault_len(vault); i++) {
		const struct ab_vault_entry *e = ab_vault_at(vault, i);

		if (e->value && ab_vault_bound(vault, i, host, port))
			texts[n++] = (struct ab_find_text){ e->value,
							    e->value_len, i };
	}
	if (!n)
		return NULL;
	scrub = ab_alloc(sizeof(*scrub));
	scrub->holders = 1;
	scrub->finder = ab_finder_new(texts, n);
	scrub->needles = ab_finder_needles(scrub->finder, &scrub->n);
	scrub->covers = ab_alloc(scrub->n * sizeof(scrub->covers[0]));
	for (size_t i = 0; i < scrub->n; i++)
		scrub->covers[i] =
			make_cover(ab_vault_at(vault, scrub->needles[i].owner),
				   &scrub->needles[i]);
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

static void replace(const struct ab_scrub *scrub, uint8_t *data,
		    const struct ab_found *found)
{
	size_t n = found->needle->len; /* with escapes there are more */

	memcpy(data + found->at, scrub->covers[found->needle - scrub->needles],
	       n);
	memset(data + found->at + n, 'x', found->len - n);
}

size_t ab_scrub_take(struct ab_scrub *scrub, uint8_t *data, size_t len,
		     bool end)
{
	struct ab_look look;
	struct ab_found found;
	size_t hold;

	ab_look_init(&look, scrub->finder, data, len);
	hold = end ? len : ab_look_hold(&look);
	while (ab_look_next(&look, &found) && found.at < hold) {
		replace(scrub, data, &found);
		if (hold < look.from)
			hold = ab_look_hold(&look);
	}
	return hold;
}
