#include "audit/read/words.h"
#include "steer/init/init.h"

static void put_row(struct ab_buf *b, const char *title, const struct ab_strv *list,
		    const struct ab_strv *details)
{
	if (!list->len)
		return;
	ab_buf_printf(b, "%-12s", title);
	for (size_t i = 0; i < list->len; i++) {
		ab_words_safe(b, "%s%s", i ? ", " : "", list->v[i]);
		if (details)
			ab_words_safe(b, " (%s)", details->v[i]);
	}
	ab_buf_puts(b, "\n");
}

char *ab_init_text(const struct ab_init_plan *plan)
{
	struct ab_buf b = { 0 };

	put_row(&b, "detected", &plan->presets, &plan->evidence);
	put_row(&b, "registries", &plan->registries, NULL);
	put_row(&b, "agents", &plan->agents, NULL);
	return ab_buf_take(&b);
}

static void put_pairs(struct ab_buf *b, const char *title, const struct ab_strv *list,
		      const char *detail, const struct ab_strv *details)
{
	ab_buf_jsonf(b, "%s:[", title);
	for (size_t i = 0; i < list->len; i++)
		ab_buf_jsonf(b, ",{'name':%s,%s:%s}", list->v[i], detail,
			     ab_text_or_null(details->v[i]));
	ab_buf_puts(b, "],");
}

char *ab_init_json(const struct ab_init_plan *plan)
{
	static const char *const states[] = { "none", "changed", "trusted" };
	struct ab_buf b = { 0 };

	put_pairs(&b, "presets", &plan->presets, "because", &plan->evidence);
	put_pairs(&b, "agents", &plan->agents, "hook", &plan->hooks);
	ab_buf_jsonf(&b, "'registries':%p,'file':%s,'exists':%hhd,'trust':%s,'text':%s,'diff':%p",
		     ab_list(&plan->registries), plan->path, (bool)(plan->before != NULL),
		     states[plan->trust], plan->after, ab_list(&plan->diff));
	return ab_buf_take(&b);
}
