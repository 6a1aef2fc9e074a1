/* `agentbox secrets list` and `check` as text and as JSON. */
#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "policy/model/policy.h"
#include "session/secrets/secrets_report.h"

static const char *const states[] = {
	[AB_SOURCE_SET] = "set",	 [AB_SOURCE_EMPTY] = "empty",
	[AB_SOURCE_UNSET] = "unset",	 [AB_SOURCE_THERE] = "there",
	[AB_SOURCE_MISSING] = "missing", [AB_SOURCE_UNREADABLE] = "unreadable",
	[AB_SOURCE_COMMAND] = "command",
};

static const char *const state_clauses[] = {
	[AB_SOURCE_SET] = "set",
	[AB_SOURCE_EMPTY] = "set but empty",
	[AB_SOURCE_UNSET] = "not set",
	[AB_SOURCE_THERE] = "present",
	[AB_SOURCE_MISSING] = "missing",
	[AB_SOURCE_UNREADABLE] = "cannot be read",
	[AB_SOURCE_COMMAND] = "not run for this list",
};

static const char *const froms[] = {
	[AB_FROM_ENV] = "env",
	[AB_FROM_FILE] = "file",
	[AB_FROM_COMMAND] = "command",
};

static const char *const from_words[] = {
	[AB_FROM_ENV] = "variable",
	[AB_FROM_FILE] = "file",
	[AB_FROM_COMMAND] = "command",
};

static const char *const vias[] = {
	[AB_VIA_TLS] = "tls",
	[AB_VIA_GATEWAY] = "gateway",
	[AB_VIA_BOTH] = "both",
};

static const char *const via_words[] = {
	[AB_VIA_TLS] = "inside TLS",
	[AB_VIA_GATEWAY] = "at the gateway",
	[AB_VIA_BOTH] = "inside TLS and at the gateway",
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

static void add_json_list(struct ab_buf *b, const char *key, const struct ab_strv *list)
{
	ab_buf_printf(b, "\"%s\":", key);
	ab_buf_json_list(b, list);
}

/* NULL and "" become null. */
static void add_json_text(struct ab_buf *b, const char *key, const char *text)
{
	ab_buf_printf(b, "\"%s\":", key);
	if (text && text[0])
		ab_buf_json(b, text);
	else
		ab_buf_puts(b, "null");
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

static void add_source(struct ab_buf *b, const struct ab_secret_row *row)
{
	const struct ab_secret *s = row->secret;

	ab_buf_printf(b, "  %-10s %s ", "source", from_words[s->from]);
	ab_buf_escape(b, get_source(s));
	if (s->from == AB_FROM_FILE && s->key) {
		ab_buf_puts(b, " at ");
		ab_buf_escape(b, s->key);
	}
	if (s->profile) {
		ab_buf_puts(b, ", profile ");
		ab_buf_escape(b, s->profile);
	}
	ab_buf_printf(b, ", %s", state_clauses[row->state]);
	if (row->state == AB_SOURCE_UNSET && !s->wanted)
		ab_buf_puts(b, ": runs skip it");
	ab_buf_puts(b, "\n");
}

static void add_how(struct ab_buf *b, const struct ab_secret *s)
{
	if (s->oauth) {
		ab_buf_printf(b, "  %-10s %s at ", "exchanged", ab_oauth_grants[s->oauth->grant]);
		ab_buf_escape(b, s->oauth->url);
		ab_buf_puts(b, ", by the host\n");
	}
	ab_buf_printf(b, "  %-10s %s", "how",
		      s->sign	  ? "signs requests (AWS SigV4)"
		      : s->inject ? "injected into every request"
				  : "replaces its placeholder");
	if (s->inject && s->format) {
		ab_buf_puts(b, " as ");
		ab_buf_escape(b, s->format);
	}
	ab_buf_printf(b, ", %s", via_words[s->via]);
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
		ab_buf_printf(b, "  %-10s ", "set by");
		ab_buf_escape(b, s->origin);
		ab_buf_puts(b, "\n");
	}
}

char *ab_secrets_report_list_text(const struct ab_secrets_report *report)
{
	struct ab_buf b = { 0 };

	if (!report->len)
		ab_buf_puts(&b, "this policy has no secrets; to use one: "
				"agentbox run --secret OPENAI_API_KEY -- ...\n");
	for (size_t i = 0; i < report->len; i++) {
		ab_buf_puts(&b, i ? "\n" : "");
		add_secret(&b, &report->v[i]);
	}
	if (report->uncovered.len)
		ab_buf_puts(&b, "\nnot covered:\n");
	for (size_t i = 0; i < report->uncovered.len; i++) {
		ab_buf_puts(&b, "  ");
		ab_buf_escape(&b, report->uncovered.v[i]);
		ab_buf_puts(&b, "\n");
	}
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
	ab_buf_puts(b, "{");
	add_json_text(b, "name", s->name);
	ab_buf_puts(b, ",");
	add_json_text(b, "provider", s->provider ? s->provider->name : NULL);
	ab_buf_printf(b, ",\"from\":\"%s\",", froms[s->from]);
	add_json_text(b, "source", get_source(s));
	ab_buf_puts(b, ",");
	add_json_text(b, "key", s->from == AB_FROM_FILE ? s->key : NULL);
	ab_buf_printf(b, ",\"state\":\"%s\",\"wanted\":%s,", states[row->state],
		      s->wanted ? "true" : "false");
	add_json_list(b, "hosts", &s->hosts);
	ab_buf_puts(b, ",");
	if (s->sign) {
		ab_buf_puts(b, "\"sign\":\"aws-sigv4\",");
		add_json_text(b, "profile", s->profile);
		ab_buf_puts(b, ",");
		add_json_list(b, "services", &s->services);
		ab_buf_puts(b, ",");
		add_json_list(b, "regions", &s->regions);
		ab_buf_puts(b, ",");
	}
	if (s->oauth) {
		ab_buf_printf(b, "\"oauth\":{\"grant\":\"%s\",", ab_oauth_grants[s->oauth->grant]);
		add_json_text(b, "url", s->oauth->url);
		ab_buf_puts(b, ",");
		add_json_text(b, "client", s->oauth->client);
		ab_buf_puts(b, ",");
		add_json_list(b, "scopes", &s->oauth->scopes);
		ab_buf_puts(b, "},");
	}
	add_json_list(b, "as", &carriers);
	ab_buf_puts(b, ",");
	add_json_list(b, "also", &also);
	ab_buf_printf(b, ",\"mode\":\"%s\",", s->inject ? "inject" : "swap");
	add_json_text(b, "format", s->inject ? s->format : NULL);
	ab_buf_printf(b,
		      ",\"require\":%s,\"placeholder\":\"%s\","
		      "\"via\":\"%s\",",
		      s->require ? "true" : "false", ab_secret_lives[s->life], vias[s->via]);
	add_json_list(b, "names", &names);
	ab_buf_puts(b, ",");
	add_json_list(b, "files", &s->files);
	ab_buf_printf(b, ",\"onTripwire\":\"%s\",", s->stop ? "stop" : "refuse");
	add_json_text(b, "origin", s->origin);
	ab_buf_puts(b, "}");
}

char *ab_secrets_report_list_json(const struct ab_secrets_report *report)
{
	struct ab_buf b = { 0 };

	ab_buf_puts(&b, "{\"secrets\":[");
	for (size_t i = 0; i < report->len; i++) {
		ab_buf_puts(&b, i ? "," : "");
		add_json_secret(&b, &report->v[i]);
	}
	ab_buf_puts(&b, "],");
	add_json_list(&b, "uncovered", &report->uncovered);
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
		ab_buf_printf(b, "%s ", from_words[s->from]);
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

	ab_buf_puts(&b, "{\"secrets\":[");
	for (size_t i = 0; i < report->len; i++) {
		const struct ab_secret_row *row = &report->v[i];

		ab_buf_puts(&b, i ? ",{" : "{");
		add_json_text(&b, "name", row->secret->name);
		ab_buf_printf(&b, ",\"result\":\"%s\",", results[row->result]);
		add_json_text(&b, "problem", row->problem);
		ab_buf_puts(&b, ",");
		add_json_text(&b, "remedy", row->remedy);
		ab_buf_puts(&b, "}");
	}
	ab_buf_printf(&b, "],\"ok\":%s}\n", report->failed ? "false" : "true");
	return ab_buf_take(&b);
}
