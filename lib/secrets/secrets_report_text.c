/* `agentbox secrets list`, `check` and `providers` as text and as JSON. */
#include "policy/show/summary.h"
#include "policy/values/providers.h"
#include "secrets/secrets_report.h"

/* A word for programs, and a clause for people. */
struct word {
	const char *json, *text;
};

static const struct word states[] = {
	[AB_SOURCE_SET] = { "set", "set" },
	[AB_SOURCE_EMPTY] = { "empty", "set but empty" },
	[AB_SOURCE_UNSET] = { "unset", "not set" },
	[AB_SOURCE_THERE] = { "there", "present" },
	[AB_SOURCE_MISSING] = { "missing", "missing" },
	[AB_SOURCE_UNREADABLE] = { "unreadable", "cannot be read" },
	[AB_SOURCE_COMMAND] = { "command", "not run for this list" },
};

static const struct word froms[] = {
	[AB_FROM_ENV] = { "env", "variable" },
	[AB_FROM_FILE] = { "file", "file" },
	[AB_FROM_COMMAND] = { "command", "command" },
};

static const struct word vias[] = {
	[AB_VIA_TLS] = { "tls", "inside TLS" },
	[AB_VIA_GATEWAY] = { "gateway", "at the gateway" },
	[AB_VIA_BOTH] = { "both", "inside TLS and at the gateway" },
};

static const char *const results[] = {
	[AB_RESULT_OK] = "ok",
	[AB_RESULT_UNSET] = "unset",
	[AB_RESULT_FAIL] = "fail",
};

/* Only the program of a command: its arguments may be confidential. */
static const char *get_source(const struct ab_secret *s)
{
	switch (s->from) {
	case AB_FROM_ENV:
		return s->env;
	case AB_FROM_FILE:
		return s->file;
	case AB_FROM_COMMAND:
		break;
	}
	return s->command.len ? s->command.v[0] : "";
}

enum { INDENT = 13, WIDTH = 79 };

/* Wraps at WIDTH. */
static void add_list(struct ab_buf *b, const char *label, const struct ab_strv *list)
{
	size_t column = INDENT;

	if (!list->len)
		return;
	ab_buf_printf(b, "  %-10s ", label);
	for (size_t i = 0; i < list->len; i++) {
		ab_autofree char *text = ab_escape(list->v[i]);
		size_t n = strlen(text) + 2;

		if (i && column + n > WIDTH) {
			ab_buf_printf(b, ",\n%*s%s", INDENT, "", text);
			column = INDENT;
		} else {
			ab_buf_printf(b, "%s%s", i ? ", " : "", text);
		}
		column += n;
	}
	ab_buf_puts(b, "\n");
}

static void list_carriers(const struct ab_carrier *v, size_t len, struct ab_strv *ret)
{
	char text[AB_CARRIER_TEXT];

	for (size_t i = 0; i < len; i++) {
		ab_carrier_format(&v[i], text);
		ab_strv_add(ret, text);
	}
}

static void list_other_places(const struct ab_secret *s, struct ab_strv *ret)
{
	if (s->in_path)
		ab_strv_add(ret, "path");
	if (s->in_body)
		ab_strv_add(ret, "body");
}

/* The row is about the whole secret: its parts follow it. */
static void list_variables(const struct ab_secret *s, struct ab_strv *ret)
{
	for (size_t i = 0; i < ab_secret_parts(s); i++)
		ab_strv_extend(ret, &s[i].names);
	if (s->oauth && s->oauth->grant == AB_OAUTH_ACCOUNT)
		ab_strv_add(ret, "GOOGLE_APPLICATION_CREDENTIALS");
}

/* Nothing if there is no text. */
static void add_named(struct ab_buf *b, const char *name, const char *text)
{
	if (!text)
		return;
	ab_buf_puts(b, name);
	ab_buf_escape(b, text);
}

static void add_source(struct ab_buf *b, const struct ab_secret_row *row)
{
	const struct ab_secret *s = row->secret;

	ab_buf_printf(b, "  %-10s %s ", "source", froms[s->from].text);
	ab_buf_escape(b, get_source(s));
	add_named(b, " at ", s->from == AB_FROM_FILE ? s->key : NULL);
	add_named(b, ", profile ", s->profile);
	ab_buf_printf(b, ", %s", states[row->state].text);
	if (row->state == AB_SOURCE_UNSET && !s->wanted)
		ab_buf_puts(b, ": runs skip it");
	ab_buf_puts(b, "\n");
}

static void add_how(struct ab_buf *b, const struct ab_secret *s)
{
	if (s->oauth) {
		ab_buf_printf(b, "  %-10s %s", "exchanged", ab_oauth_grants[s->oauth->grant]);
		add_named(b, " at ", s->oauth->url);
		ab_buf_puts(b, ", by the host\n");
	}
	ab_buf_printf(b, "  %-10s %s", "how",
		      s->sign	  ? "signs requests (AWS SigV4)"
		      : s->inject ? "injected into every request"
				  : "replaces its placeholder");
	add_named(b, " as ", s->inject ? s->format : NULL);
	ab_buf_printf(b, ", %s", vias[s->via].text);
	if (s->require)
		ab_buf_puts(b, "; requests without it are denied");
	if (s->life == AB_LIFE_STABLE)
		ab_buf_puts(b, "; the same placeholder in every workspace");
	if (s->life == AB_LIFE_RUN)
		ab_buf_puts(b, "; a new placeholder in each run");
	if (s->stop)
		ab_buf_puts(b, "; misuse ends the run");
	ab_buf_puts(b, "\n");
}

static void add_secret(struct ab_buf *b, const struct ab_secret_row *row)
{
	const struct ab_secret *s = row->secret;
	ab_autostrv struct ab_strv carriers = { 0 }, names = { 0 };

	list_carriers(s->carriers, s->ncarriers, &carriers);
	if (!s->ncarriers && !s->sign)
		ab_strv_add(&carriers, "any field or query");
	list_other_places(s, &carriers);
	ab_buf_escape(b, s->name);
	ab_buf_printf(b, "%s%s\n", s->provider ? "     " : "",
		      s->provider ? s->provider->title : "");
	add_source(b, row);
	add_list(b, "hosts", &s->hosts);
	add_list(b, "services", &s->services);
	add_list(b, "regions", &s->regions);
	add_list(b, "carried", &carriers);
	if (s->oauth)
		add_list(b, "scopes", &s->oauth->scopes);
	add_how(b, s);
	list_variables(s, &names);
	add_list(b, "variables", &names);
	add_list(b, "files", &s->files);
	if (s->origin && s->origin[0]) {
		add_named(b, "  set by     ", s->origin);
		ab_buf_puts(b, "\n");
	}
}

char *ab_secrets_report_list_text(const struct ab_secrets_report *report)
{
	struct ab_buf b = { 0 };

	if (!report->len)
		ab_buf_printf(&b, "this policy has no secrets%s\n",
			      report->unused.len ? ""
						 : "; to use one: agentbox run --secret "
						   "OPENAI_API_KEY -- ...");
	for (size_t i = 0; i < report->len; i++) {
		ab_buf_puts(&b, i ? "\n" : "");
		add_secret(&b, &report->v[i]);
	}
	if (report->uncovered.len)
		ab_buf_puts(&b, "\nnot covered:\n");
	for (size_t i = 0; i < report->uncovered.len; i++) {
		add_named(&b, "  ", report->uncovered.v[i]);
		ab_buf_puts(&b, "\n");
	}
	ab_summary_keys_text(&report->unused, &b);
	return ab_buf_take(&b);
}

static void add_json_secret(struct ab_buf *b, const struct ab_secret_row *row)
{
	const struct ab_secret *s = row->secret;
	ab_autostrv struct ab_strv carriers = { 0 }, also = { 0 }, names = { 0 };

	list_variables(s, &names);
	list_carriers(s->carriers, s->ncarriers, &carriers);
	if (!s->ncarriers && !s->sign)
		ab_strv_add(&carriers, "any");
	list_other_places(s, &also);
	ab_buf_jsonf(b,
		     ",{'name':%s,'provider':%s,'from':%s,'source':%s,'key':%s,'state':%s,"
		     "'wanted':%hhd,'hosts':%p",
		     ab_text_or_null(s->name),
		     ab_text_or_null(s->provider ? s->provider->name : NULL), froms[s->from].json,
		     ab_text_or_null(get_source(s)),
		     ab_text_or_null(s->from == AB_FROM_FILE ? s->key : NULL),
		     states[row->state].json, s->wanted, ab_list(&s->hosts));
	if (s->sign)
		ab_buf_jsonf(b, ",'sign':'aws-sigv4','profile':%s,'services':%p,'regions':%p",
			     ab_text_or_null(s->profile), ab_list(&s->services),
			     ab_list(&s->regions));
	if (s->oauth)
		ab_buf_jsonf(b, ",'oauth':{'grant':%s,'url':%s,'client':%s,'scopes':%p}",
			     ab_oauth_grants[s->oauth->grant], ab_text_or_null(s->oauth->url),
			     ab_text_or_null(s->oauth->client), ab_list(&s->oauth->scopes));
	ab_buf_jsonf(b,
		     ",'as':%p,'also':%p,'mode':%s,'format':%s,'require':%hhd,'placeholder':%s,"
		     "'via':%s,'names':%p,'files':%p,'onTripwire':%s,'origin':%s}",
		     ab_list(&carriers), ab_list(&also), s->inject ? "inject" : "swap",
		     ab_text_or_null(s->inject ? s->format : NULL), s->require,
		     ab_secret_lives[s->life], vias[s->via].json, ab_list(&names),
		     ab_list(&s->files), s->stop ? "stop" : "refuse", ab_text_or_null(s->origin));
}

char *ab_secrets_report_list_json(const struct ab_secrets_report *report)
{
	struct ab_buf b = { 0 };

	ab_buf_jsonf(&b, "{'secrets':[");
	for (size_t i = 0; i < report->len; i++)
		add_json_secret(&b, &report->v[i]);
	ab_buf_jsonf(&b, "],'uncovered':%p,", ab_list(&report->uncovered));
	ab_summary_keys_json(&report->unused, &b);
	ab_buf_puts(&b, "}\n");
	return ab_buf_take(&b);
}

static void add_remedy(struct ab_buf *b, int indent, const char *remedy)
{
	while (*remedy) {
		size_t n = strcspn(remedy, "\n");

		ab_buf_printf(b, "%*s", indent, "");
		ab_buf_escape_n(b, remedy, n);
		ab_buf_puts(b, "\n");
		remedy += n + (remedy[n] == '\n');
	}
}

static void add_finding(struct ab_buf *b, const struct ab_secret_row *row, int width)
{
	const struct ab_secret *s = row->secret;
	ab_autofree char *name = ab_escape(s->name);

	ab_buf_printf(b, "%-5s  %-*s  ", results[row->result], width, name);
	if (row->result == AB_RESULT_FAIL)
		ab_buf_escape(b, row->problem);
	else
		ab_buf_printf(b, "%s ", froms[s->from].text);
	if (row->result != AB_RESULT_FAIL)
		ab_buf_escape(b, get_source(s));
	if (row->result == AB_RESULT_UNSET)
		ab_buf_puts(b, " is not set: runs skip it");
	ab_buf_puts(b, "\n");
	add_remedy(b, width + 9, row->remedy);
}

char *ab_secrets_report_check_text(const struct ab_secrets_report *report)
{
	struct ab_buf b = { 0 };
	size_t width = 0;

	if (!report->len)
		ab_buf_puts(&b, "this policy has no secrets; to check one: "
				"agentbox secrets check OPENAI_API_KEY\n");
	for (size_t i = 0; i < report->len; i++) {
		size_t n = strlen(report->v[i].secret->name);

		width = n > width ? n : width;
	}
	for (size_t i = 0; i < report->len; i++)
		add_finding(&b, &report->v[i], (int)width);
	return ab_buf_take(&b);
}

char *ab_secrets_report_check_json(const struct ab_secrets_report *report)
{
	struct ab_buf b = { 0 };

	ab_buf_jsonf(&b, "{'secrets':[");
	for (size_t i = 0; i < report->len; i++) {
		const struct ab_secret_row *row = &report->v[i];

		ab_buf_jsonf(&b, ",{'name':%s,'result':%s,'problem':%s,'remedy':%s}",
			     ab_text_or_null(row->secret->name), results[row->result],
			     ab_text_or_null(row->problem), ab_text_or_null(row->remedy));
	}
	ab_buf_jsonf(&b, "],'ok':%hhd}\n", (bool)!report->failed);
	return ab_buf_take(&b);
}

/* The built-in services. */
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

static void make_line(const struct ab_provider *p, struct line *ret)
{
	*ret = (struct line){ 0 };
	ab_strv_add(&ret->cells[NAME], p->name);
	add_texts(&ret->cells[VARIABLES], p->names[0], sizeof(p->names[0]), AB_COUNT(p->names));
	add_texts(&ret->cells[HOSTS], p->hosts[0], sizeof(p->hosts[0]), AB_COUNT(p->hosts));
	list_carriers(p->carriers, p->ncarriers, &ret->cells[CARRIED]);
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
	const struct ab_provider *p;
	struct line line;

	for (int c = 0; c < COLUMNS; c++)
		widths[c] = strlen(titles[c]);
	for (size_t i = 0; (p = ab_provider_at(i)); i++) {
		make_line(p, &line);
		widen_columns(widths, &line);
		free_line(&line);
	}
	for (int c = 0; c < COLUMNS; c++)
		add_cell(&b, c, titles[c], widths);
	end_line(&b);
	for (size_t i = 0; (p = ab_provider_at(i)); i++) {
		make_line(p, &line);
		add_line(&b, &line, widths);
		free_line(&line);
	}
	return ab_buf_take(&b);
}

static void add_json_provider(struct ab_buf *b, const struct ab_provider *p)
{
	ab_autostrv struct ab_strv files = { 0 };
	struct line line;

	make_line(p, &line);
	add_texts(&files, p->files[0], sizeof(p->files[0]), AB_COUNT(p->files));
	ab_buf_jsonf(
		b, "{'name':%s,'title':%s,'variables':%p,'hosts':%p,'as':%p,'base':%s,'files':%p}",
		p->name, p->title, ab_list(&line.cells[VARIABLES]), ab_list(&line.cells[HOSTS]),
		ab_list(&line.cells[CARRIED]), ab_text_or_null(p->base_variable), ab_list(&files));
	free_line(&line);
}

char *ab_secrets_report_providers_json(void)
{
	const struct ab_provider *p;
	struct ab_buf b = { 0 };

	ab_buf_puts(&b, "[");
	for (size_t i = 0; (p = ab_provider_at(i)); i++) {
		ab_buf_puts(&b, i ? "," : "");
		add_json_provider(&b, p);
	}
	ab_buf_puts(&b, "]\n");
	return ab_buf_take(&b);
}
