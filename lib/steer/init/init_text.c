#include <string.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "steer/init/init.h"

static void put_row(struct ab_buf *b, const char *title, const struct ab_strv *list,
		    const struct ab_strv *details)
{
	if (!list->len)
		return;
	ab_buf_printf(b, "%-12s", title);
	for (size_t i = 0; i < list->len; i++) {
		ab_buf_puts(b, i ? ", " : "");
		ab_buf_escape(b, list->v[i]);
		if (details) {
			ab_buf_puts(b, " (");
			ab_buf_escape(b, details->v[i]);
			ab_buf_puts(b, ")");
		}
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
	ab_buf_printf(b, "\"%s\":[", title);
	for (size_t i = 0; i < list->len; i++) {
		ab_buf_puts(b, i ? ",{\"name\":" : "{\"name\":");
		ab_buf_json(b, list->v[i]);
		ab_buf_printf(b, ",\"%s\":", detail);
		if (details->v[i][0])
			ab_buf_json(b, details->v[i]);
		else
			ab_buf_puts(b, "null");
		ab_buf_puts(b, "}");
	}
	ab_buf_puts(b, "],");
}

char *ab_init_json(const struct ab_init_plan *plan)
{
	static const char *const states[] = { "none", "changed", "trusted" };
	struct ab_buf b = { 0 };

	put_pairs(&b, "presets", &plan->presets, "because", &plan->evidence);
	put_pairs(&b, "agents", &plan->agents, "hook", &plan->hooks);
	ab_buf_puts(&b, "\"registries\":");
	ab_buf_json_list(&b, &plan->registries);
	ab_buf_puts(&b, ",\"file\":");
	ab_buf_json(&b, plan->path);
	ab_buf_printf(&b,
		      ",\"exists\":%s,\"trust\":\"%s\",\"text\":", plan->before ? "true" : "false",
		      states[plan->trust]);
	if (plan->after)
		ab_buf_json(&b, plan->after);
	else
		ab_buf_puts(&b, "null");
	ab_buf_puts(&b, ",\"diff\":");
	ab_buf_json_list(&b, &plan->diff);
	return ab_buf_take(&b);
}
