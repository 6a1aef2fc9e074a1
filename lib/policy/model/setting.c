#include "policy/model/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "base/text/units.h"
#include "policy/model/list_element.h"
#include "policy/values/complaint.h"
#include "policy/values/proxy_url.h"

void ab_value_reserve(struct ab_arena *a, struct ab_value *v, size_t room)
{
	struct ab_item *items = ab_arena_alloc(a, room * sizeof(*items));

	if (v->len)
		memcpy(items, v->items, v->len * sizeof(*items));
	v->items = items;
	v->room = room;
}

void ab_value_add(struct ab_arena *a, struct ab_value *v, struct ab_item item)
{
	if (v->len == v->room)
		ab_value_reserve(a, v, v->room ? 2 * v->room : 8);
	v->items[v->len++] = item;
}

static int put_word(const struct ab_key *key, struct ab_value *v, const char *text,
		    struct ab_complaint *why)
{
	ab_autobuf struct ab_buf right = { 0 };

	for (size_t i = 0; i < key->nwords; i++) {
		if (strcmp(key->words[i].name, text) == 0) {
			v->number = i;
			return 0;
		}
		ab_buf_printf(&right, "%s%s",
			      i == 0		    ? "use "
			      : i + 1 < key->nwords ? ", "
						    : " or ",
			      key->words[i].name);
	}
	return ab_why_invalid(why, text, right.data);
}

static int put_number(const struct ab_key *key, struct ab_value *v, const char *text,
		      struct ab_complaint *why)
{
	char lo[48], hi[48];
	uint64_t n = 0;
	int bad = 0;

	if (key->none && strcmp(text, "none") == 0) {
		v->number = AB_NONE;
		return 0;
	}
	switch (key->type) {
	case AB_TYPE_SIZE:
		bad = ab_parse_size(text, &n);
		ab_format_size(key->min, lo);
		ab_format_size(key->max, hi);
		if (bad)
			return ab_complaint_value(why, text, "is not a size",
						  "write one like \"512M\" or \"4G\"");
		break;
	case AB_TYPE_DURATION:
		bad = ab_parse_duration(text, &n);
		ab_format_duration(key->min, lo);
		ab_format_duration(key->max, hi);
		if (bad)
			return ab_complaint_value(why, text, "is not a duration",
						  "write one like \"90s\" or \"1h30m\"");
		break;
	default:
		/* A size without a unit is digits only: the same grammar. */
		bad = strspn(text, "0123456789") != strlen(text) || ab_parse_size(text, &n);
		snprintf(lo, sizeof(lo), "%llu", (unsigned long long)key->min);
		snprintf(hi, sizeof(hi), "%llu", (unsigned long long)key->max);
		if (bad)
			return ab_complaint_value(why, text, "is not a number",
						  "write one from %s to %s", lo, hi);
		break;
	}
	if (n < key->min || n > key->max)
		return ab_complaint_value(why, text, "is out of range", "use %s to %s%s", lo, hi,
					  key->none ? ", or \"none\"" : "");
	v->number = n || !key->none ? n : AB_NONE;
	return 0;
}

static int put_profile(const struct ab_context *ctx, struct ab_value *v, const char *text,
		       struct ab_complaint *why)
{
	if (!ab_is_variable(text, strlen(text), "-."))
		return ab_complaint_value(why, text, "is not a valid profile name",
					  "use letters, digits, - and _");
	v->text = ab_arena_dup(ctx->arena, text);
	return 0;
}

static int put_upstream(const struct ab_context *ctx, struct ab_value *v, const char *text,
			struct ab_complaint *why)
{
	ab_autofree char *canonical = NULL;
	struct ab_proxy_url url;

	if (strcmp(text, "none") != 0 && strcmp(text, "env") != 0) {
		if (ab_proxy_url_parse(text, strlen(text), &url, why) < 0)
			return -1;
		canonical = ab_proxy_url_format(&url);
	}
	v->text = ab_arena_dup(ctx->arena, canonical ? canonical : text);
	return 0;
}

static int put_scalar(const struct ab_context *ctx, enum ab_key_id id, struct ab_value *v,
		      const char *text, const struct ab_origin *from, struct ab_complaint *why)
{
	const struct ab_key *key = &ab_keys[id];

	switch (key->type) {
	case AB_TYPE_PROFILE:
		return put_profile(ctx, v, text, why);
	case AB_TYPE_WORD:
		return put_word(key, v, text, why);
	case AB_TYPE_SIZE:
	case AB_TYPE_DURATION:
	case AB_TYPE_INTEGER:
		return put_number(key, v, text, why);
	case AB_TYPE_UPSTREAM:
		return put_upstream(ctx, v, text, why);
	case AB_TYPE_PATHS:
	case AB_TYPE_READ:
	case AB_TYPE_PATTERNS:
	case AB_TYPE_NAMES:
	case AB_TYPE_HOSTS:
	case AB_TYPE_CIDRS:
	case AB_TYPE_PORTS:
	case AB_TYPE_PUBLISH:
	case AB_TYPE_VARIABLES:
	case AB_TYPE_ASSIGNMENTS:
	case AB_TYPE_PROPERTIES:
	case AB_TYPE_RULES:
	case AB_TYPE_OVERRIDES:
	case AB_TYPE_SECRETS:
	case AB_TYPE_HTTP:
		return ab_list_element_put(ctx, key, v, text, from, why);
	}
	return -1;
}

int ab_value_put(const struct ab_context *ctx, enum ab_key_id id, struct ab_value *v,
		 const char *text, const struct ab_origin *from, struct ab_complaint *why)
{
	if (v->len >= AB_LIST_MAX)
		return ab_complaint_say(why, "name a folder or use a pattern",
					"more than %d entries", AB_LIST_MAX);
	if (put_scalar(ctx, id, v, text, from, why) < 0)
		return -1;
	v->from = from;
	return 0;
}

const char *ab_value_text(struct ab_arena *a, enum ab_key_id id, const struct ab_value *v)
{
	const struct ab_key *key = &ab_keys[id];
	char buf[48];

	if (key->type == AB_TYPE_PROFILE)
		return v->text;
	if (key->type == AB_TYPE_UPSTREAM) {
		ab_autofree char *shown = ab_proxy_url_redact(v->text);

		return ab_arena_dup(a, shown);
	}
	if (key->type == AB_TYPE_WORD)
		return key->words[v->number].name;
	if (v->number == AB_NONE)
		return "none";
	if (key->type == AB_TYPE_SIZE)
		ab_format_size(v->number, buf);
	else if (key->type == AB_TYPE_DURATION)
		ab_format_duration(v->number, buf);
	else
		snprintf(buf, sizeof(buf), "%llu", (unsigned long long)v->number);
	return ab_arena_dup(a, buf);
}
