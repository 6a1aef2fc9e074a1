/* The list of layers, as a table and as JSON. Pure. */
#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "base/text/units.h"
#include "steer/client/table.h"
#include "steer/layers/layers.h"

static const struct ab_table_column columns_all[] = {
	{ "NAME", false }, { "PROFILE", false }, { "SIZE", true },
	{ "AGE", true },   { "STATE", false },	 { "WORKSPACE", false },
};

static const struct ab_table_column columns_waiting[] = {
	{ "WAITING", false }, { "AGE", true },	      { "PROFILE", false },
	{ "CHANGES", true },  { "WORKSPACE", false },
};

static char *show_text(const char *text)
{
	return text && *text ? ab_escape(text) : ab_strdup("-");
}

static char *show_size(const struct ab_layer_info *info)
{
	char size[24];

	if (info->damaged)
		return ab_strdup("-");
	return ab_printf("%s%s", info->more ? ">" : "", ab_round_size(info->bytes, size));
}

/* One unit is precise enough. */
static char *show_age(const struct ab_layer_info *info, int64_t now_ms)
{
	static const struct {
		int64_t ms;
		char unit;
	} units[] = { { 86400000, 'd' }, { 3600000, 'h' }, { 60000, 'm' }, { 1000, 's' } };
	int64_t ms = now_ms - info->used_ms;
	size_t i = 0;

	if (!info->used_ms)
		return ab_strdup("-");
	while (i + 1 < AB_COUNT(units) && ms < units[i].ms)
		i++;
	return ab_printf("%lld%c", (long long)(ms > 0 ? ms / units[i].ms : 0), units[i].unit);
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
	ab_autostrv struct ab_strv cells = { 0 };
	struct ab_table table = { .columns = columns_all,
				  .ncolumns = AB_COUNT(columns_all),
				  .nrows = list->len };

	if (!list->len)
		return ab_strdup("no kept layers\n");
	for (size_t i = 0; i < list->len; i++) {
		const struct ab_layer_info *info = &list->v[i];

		ab_strv_give(&cells, show_text(info->key));
		ab_strv_give(&cells, show_text(info->profile));
		ab_strv_give(&cells, show_size(info));
		ab_strv_give(&cells, show_age(info, now_ms));
		ab_strv_give(&cells, show_state(info));
		ab_strv_give(&cells, show_text(info->workspace));
	}
	table.cells = cells.v;
	return ab_table_text(&table, columns);
}

static bool is_waiting(const struct ab_layer_info *info)
{
	return info->waiting && !info->busy;
}

char *ab_layers_waiting_text(const struct ab_layer_infos *list, int64_t now_ms, size_t columns)
{
	ab_autostrv struct ab_strv cells = { 0 };
	struct ab_table table = { .columns = columns_waiting,
				  .ncolumns = AB_COUNT(columns_waiting) };

	for (size_t i = 0; i < list->len; i++) {
		const struct ab_layer_info *info = &list->v[i];

		if (!is_waiting(info))
			continue;
		ab_strv_give(&cells, show_text(info->key));
		ab_strv_give(&cells, show_age(info, now_ms));
		ab_strv_give(&cells, show_text(info->profile));
		ab_strv_give(&cells, info->changes < 0
					     ? ab_strdup("some")
					     : ab_printf("%lld", (long long)info->changes));
		ab_strv_give(&cells, show_text(info->workspace));
		table.nrows++;
	}
	table.cells = cells.v;
	return table.nrows ? ab_table_text(&table, columns) : ab_strdup("");
}

static void add_text(struct ab_buf *b, const char *key, const char *text)
{
	ab_buf_json_member(b, key, text && *text ? text : NULL);
}

static void add_flag(struct ab_buf *b, const char *key, bool is)
{
	ab_buf_printf(b, ",\"%s\":%s", key, is ? "true" : "false");
}

static void add_number(struct ab_buf *b, const char *key, bool known, int64_t n)
{
	if (known)
		ab_buf_printf(b, ",\"%s\":%lld", key, (long long)n);
	else
		add_text(b, key, NULL);
}

static void add_info(struct ab_buf *b, const struct ab_layer_info *info)
{
	ab_buf_puts(b, "{\"key\":");
	ab_buf_json(b, info->key);
	add_text(b, "name", info->name);
	add_text(b, "profile", info->profile);
	add_text(b, "workspace", info->workspace);
	add_number(b, "bytes", !info->damaged, (int64_t)info->bytes);
	add_flag(b, "more", info->more);
	add_number(b, "created_ms", info->created_ms != 0, info->created_ms);
	add_number(b, "used_ms", info->used_ms != 0, info->used_ms);
	add_flag(b, "in_use", info->busy);
	add_text(b, "run", info->run);
	add_flag(b, "home", info->home);
	add_flag(b, "undo", info->undo);
	add_flag(b, "waiting", info->waiting);
	add_flag(b, "gone", info->gone);
	add_number(b, "changes", info->changes >= 0, info->changes);
	add_text(b, "damaged", info->damaged);
	ab_buf_puts(b, "}");
}

static char *list_json(const struct ab_layer_infos *list, bool waiting)
{
	struct ab_buf b = { 0 };
	size_t n = 0;

	ab_buf_puts(&b, "[");
	for (size_t i = 0; i < list->len; i++) {
		if (waiting && !is_waiting(&list->v[i]))
			continue;
		ab_buf_puts(&b, n++ ? "," : "");
		add_info(&b, &list->v[i]);
	}
	ab_buf_puts(&b, "]\n");
	return ab_buf_take(&b);
}

char *ab_layer_infos_json(const struct ab_layer_infos *list)
{
	return list_json(list, false);
}

char *ab_layers_waiting_json(const struct ab_layer_infos *list)
{
	return list_json(list, true);
}
