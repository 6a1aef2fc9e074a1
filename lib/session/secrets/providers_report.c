/* `agentbox secrets providers` as text and as JSON. */
#include <string.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "policy/values/providers.h"
#include "session/secrets/secrets_report.h"

enum { NAME, VARIABLES, HOSTS, CARRIED, GATEWAY, COLUMNS };

static const char *const titles[COLUMNS] = {
	[NAME] = "PROVIDER",   [VARIABLES] = "VARIABLES", [HOSTS] = "HOSTS",
	[CARRIED] = "CARRIED", [GATEWAY] = "GATEWAY",
};

/* A provider; each cell has one or more lines. */
struct line {
	struct ab_strv cells[COLUMNS];
};

/* `v` is an array of texts of `size` bytes; an empty one ends it. */
static void add_texts(struct ab_strv *list, const char *v, size_t size, size_t max)
{
	for (size_t i = 0; i < max && v[i * size]; i++)
		ab_strv_add(list, v + i * size);
}

static void add_carriers(struct ab_strv *list, const struct ab_provider *p)
{
	char text[AB_CARRIER_TEXT];

	for (size_t i = 0; i < p->ncarriers; i++) {
		ab_carrier_format(&p->carriers[i], text);
		ab_strv_add(list, text);
	}
}

static void make_line(const struct ab_provider *p, struct line *ret)
{
	*ret = (struct line){ 0 };
	ab_strv_add(&ret->cells[NAME], p->name);
	add_texts(&ret->cells[VARIABLES], p->names[0], sizeof(p->names[0]), AB_COUNT(p->names));
	add_texts(&ret->cells[HOSTS], p->hosts[0], sizeof(p->hosts[0]), AB_COUNT(p->hosts));
	add_carriers(&ret->cells[CARRIED], p);
	if (p->base_variable[0])
		ab_strv_add(&ret->cells[GATEWAY], p->base_variable);
}

static void free_line(struct line *line)
{
	for (int c = 0; c < COLUMNS; c++)
		ab_strv_fini(&line->cells[c]);
}

/* The last column is not padded. */
static void add_cell(struct ab_buf *b, int column, const char *text, const size_t *widths)
{
	ab_buf_printf(b, "%s%-*s", column ? "  " : "",
		      column + 1 < COLUMNS ? (int)widths[column] : 0, text);
}

static void end_line(struct ab_buf *b)
{
	while (b->len && b->data[b->len - 1] == ' ')
		b->len--;
	ab_buf_puts(b, "\n");
}

static void add_line(struct ab_buf *b, const struct line *line, const size_t *widths)
{
	size_t rows = 0;

	for (int c = 0; c < COLUMNS; c++)
		if (line->cells[c].len > rows)
			rows = line->cells[c].len;
	for (size_t r = 0; r < rows; r++) {
		for (int c = 0; c < COLUMNS; c++) {
			const struct ab_strv *cell = &line->cells[c];

			add_cell(b, c, r < cell->len ? cell->v[r] : "", widths);
		}
		end_line(b);
	}
}

static void widen_columns(size_t *widths, const struct line *line)
{
	for (int c = 0; c < COLUMNS; c++)
		for (size_t r = 0; r < line->cells[c].len; r++) {
			size_t n = strlen(line->cells[c].v[r]);

			widths[c] = n > widths[c] ? n : widths[c];
		}
}

char *ab_secrets_report_providers_text(void)
{
	struct ab_buf b = { 0 };
	size_t widths[COLUMNS];
	struct line line;

	for (int c = 0; c < COLUMNS; c++)
		widths[c] = strlen(titles[c]);
	for (size_t i = 0; i < ab_nproviders; i++) {
		make_line(&ab_providers[i], &line);
		widen_columns(widths, &line);
		free_line(&line);
	}
	for (int c = 0; c < COLUMNS; c++)
		add_cell(&b, c, titles[c], widths);
	end_line(&b);
	for (size_t i = 0; i < ab_nproviders; i++) {
		make_line(&ab_providers[i], &line);
		add_line(&b, &line, widths);
		free_line(&line);
	}
	return ab_buf_take(&b);
}

static void add_json_list(struct ab_buf *b, const char *key, const struct ab_strv *list)
{
	ab_buf_printf(b, ",\"%s\":", key);
	ab_buf_json_list(b, list);
}

static void add_json_provider(struct ab_buf *b, const struct ab_provider *p)
{
	ab_autostrv struct ab_strv files = { 0 };
	struct line line;

	make_line(p, &line);
	add_texts(&files, p->files[0], sizeof(p->files[0]), AB_COUNT(p->files));
	ab_buf_puts(b, "{\"name\":");
	ab_buf_json(b, p->name);
	ab_buf_puts(b, ",\"title\":");
	ab_buf_json(b, p->title);
	add_json_list(b, "variables", &line.cells[VARIABLES]);
	add_json_list(b, "hosts", &line.cells[HOSTS]);
	add_json_list(b, "as", &line.cells[CARRIED]);
	ab_buf_puts(b, ",\"base\":");
	if (p->base_variable[0])
		ab_buf_json(b, p->base_variable);
	else
		ab_buf_puts(b, "null");
	add_json_list(b, "files", &files);
	ab_buf_puts(b, "}");
	free_line(&line);
}

char *ab_secrets_report_providers_json(void)
{
	struct ab_buf b = { 0 };

	ab_buf_puts(&b, "[");
	for (size_t i = 0; i < ab_nproviders; i++) {
		ab_buf_puts(&b, i ? "," : "");
		add_json_provider(&b, &ab_providers[i]);
	}
	ab_buf_puts(&b, "]\n");
	return ab_buf_take(&b);
}
