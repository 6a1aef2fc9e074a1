#include "workspace/survey/hidden_links.h"

#include "workspace/survey/hardlinks.h"
#include "workspace/survey/survey.h"

static bool is_linked(const struct ab_guard *hidden, struct stat *ret)
{
	return hidden->kind == AB_NODE_FILE && lstat(hidden->path, ret) == 0 &&
	       S_ISREG(ret->st_mode) && ret->st_nlink > 1;
}

/* In a hidden folder a name is hidden as well. */
static void list_roots(const struct ab_survey *survey, const struct ab_guard *hidden, size_t n,
		       struct ab_strv *ret)
{
	ab_strv_extend(ret, &survey->write);
	if (survey->reviewed)
		ab_strv_add(ret, survey->reviewed);
	for (size_t i = 0; i < n; i++)
		if (hidden[i].kind == AB_NODE_DIR)
			ab_strv_add(ret, hidden[i].path);
}

static void search_names(const char *home, const struct ab_strv *roots, size_t entries,
			 struct ab_hardlinks *links, struct ab_hidden_links *ret)
{
	ab_autostrv struct ab_strv last = { 0 };
	char *real = home ? realpath(home, NULL) : NULL;
	size_t kept = entries / 2;

	if (real)
		ab_strv_give(&last, real);
	entries -= kept;
	ab_hardlinks_find(links, roots, &entries, &ret->v, &ret->n);
	entries += kept;
	ab_hardlinks_find(links, &last, &entries, &ret->v, &ret->n);
}

void ab_hidden_links_find(const char *home, const struct ab_survey *survey,
			  const struct ab_guard *hidden, size_t n, size_t entries,
			  struct ab_hidden_links *ret)
{
	ab_autostrv struct ab_strv roots = { 0 };
	struct ab_hardlinks links = { 0 };
	struct stat st;

	*ret = (struct ab_hidden_links){ 0 };
	/* Under the names that denyRead itself covers, it is hidden wherever they are. */
	for (size_t i = 0; i < n; i++)
		if (is_linked(&hidden[i], &st))
			ab_hardlinks_meet(&links, hidden[i].path, &st);
	if (!links.n)
		return;
	list_roots(survey, hidden, n, &roots);
	search_names(home, &roots, entries, &links, ret);
	for (size_t i = 0; i < n; i++)
		if (is_linked(&hidden[i], &st) && !ab_hardlinks_met(&links, &st))
			ab_strv_add_once(&ret->unmet, hidden[i].path);
	ab_hardlinks_fini(&links);
}

void ab_hidden_links_fini(struct ab_hidden_links *links)
{
	ab_guards_free(links->v, links->n);
	ab_strv_fini(&links->unmet);
	*links = (struct ab_hidden_links){ 0 };
}
