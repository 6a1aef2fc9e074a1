/* The list of layers, as a table and as JSON. Pure. */

#include "base/text/units.h"
#include "steer/client/table.h"
#include "steer/layers/layers.h"

static const char *const titles_all[] = { "NAME", "PROFILE", ">SIZE", ">AGE", "STATE", "WORKSPACE" };

static const char *const titles_waiting[] = { "WAITING", ">AGE", "PROFILE", ">CHANGES",
					      "WORKSPACE" };

static void add_age(struct ab_table *table, const struct ab_layer_info *info, int64_t now_ms)
{
	if (info->used_ms)
		ab_table_age(table, now_ms - info->used_ms);
	else
		ab_table_cell(table, NULL);
}

static const char *show_gone(const struct ab_layer_info *info)
{
	return info->gone ? ", folder is gone" : "";
}

static char *show_state(const struct ab_layer_info *info)
{
	if (info->damaged)
		return ab_strdup("damaged");
	if (info->busy && info->run[0])
		return ab_printf("in use by %s", info->run);
	if (info->busy)
		return ab_strdup("in use");
	if (!info->waiting && info->undo)
		return ab_strdup(info->home ? "home, can be undone" : "can be undone");
	if (!info->waiting)
		return ab_strdup(info->home ? "home" : "-");
	if (info->changes < 0)
		return ab_printf("changes to apply%s", show_gone(info));
	return ab_printf("%lld change%s to apply%s", (long long)info->changes,
			 info->changes == 1 ? "" : "s", show_gone(info));
}

char *ab_layer_infos_text(const struct ab_layer_infos *list, int64_t now_ms, size_t columns)
{
	struct ab_table table = AB_TABLE(titles_all);

	if (!list->len)
		return ab_strdup("no kept layers\n");
	for (size_t i = 0; i < list->len; i++) {
		const struct ab_layer_info *info = &list->v[i];
		ab_autofree char *state = show_state(info);
		char size[24];

		ab_table_cell(&table, info->key);
		ab_table_cell(&table, info->profile);
		if (info->damaged)
			ab_table_cell(&table, NULL);
		else
			ab_table_cellf(&table, "%s%s", info->more ? ">" : "",
				       ab_round_size(info->bytes, size));
		add_age(&table, info, now_ms);
		ab_table_cell(&table, state);
		ab_table_cell(&table, info->workspace);
	}
	return ab_table_text(&table, columns);
}

static bool is_waiting(const struct ab_layer_info *info)
{
	return info->waiting && !info->busy;
}

char *ab_layers_waiting_text(const struct ab_layer_infos *list, int64_t now_ms, size_t columns)
{
	struct ab_table table = AB_TABLE(titles_waiting);

	for (size_t i = 0; i < list->len; i++) {
		const struct ab_layer_info *info = &list->v[i];

		if (!is_waiting(info))
			continue;
		ab_table_cell(&table, info->key);
		add_age(&table, info, now_ms);
		ab_table_cell(&table, info->profile);
		if (info->changes < 0)
			ab_table_cell(&table, "some");
		else
			ab_table_cellf(&table, "%lld", (long long)info->changes);
		ab_table_cell(&table, info->workspace);
	}
	return table.cells.len ? ab_table_text(&table, columns) : ab_strdup("");
}

static void add_info(struct ab_buf *b, const struct ab_layer_info *info)
{
	ab_buf_jsonf(b, ",{'key':%s,'name':%s,'profile':%s,'workspace':%s", info->key,
		     ab_text_or_null(info->name), ab_text_or_null(info->profile),
		     ab_text_or_null(info->workspace));
	ab_buf_json_number(b, "bytes", !info->damaged, (int64_t)info->bytes);
	ab_buf_jsonf(b, ",'more':%hhd", info->more);
	ab_buf_json_number(b, "created_ms", info->created_ms != 0, info->created_ms);
	ab_buf_json_number(b, "used_ms", info->used_ms != 0, info->used_ms);
	ab_buf_jsonf(b,
		     ",'in_use':%hhd,'run':%s,'home':%hhd,'undo':%hhd,'waiting':%hhd,'gone':%hhd",
		     info->busy, ab_text_or_null(info->run), info->home, info->undo, info->waiting,
		     info->gone);
	ab_buf_json_number(b, "changes", info->changes >= 0, info->changes);
	ab_buf_jsonf(b, ",'damaged':%s}", ab_text_or_null(info->damaged));
}

char *ab_layer_infos_json(const struct ab_layer_infos *list, bool waiting)
{
	struct ab_buf b = { 0 };

	ab_buf_puts(&b, "[");
	for (size_t i = 0; i < list->len; i++)
		if (!waiting || is_waiting(&list->v[i]))
			add_info(&b, &list->v[i]);
	ab_buf_puts(&b, "]\n");
	return ab_buf_take(&b);
}
