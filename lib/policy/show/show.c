#include "policy/show/show.h"

#include "base/text/sha256.h"
#include "policy/model/commands.h"
#include "policy/model/config.h"
#include "policy/model/policy.h"
#include "policy/show/summary.h"
#include "shell/judge/ruling.h"

enum { BRIEF_KEY = 20, BRIEF_VALUE = 33, BRIEF_ROOM = 57 };

/* `brief`: within 80 columns unless a value is long; a long origin begins further left. */
static void put_row(struct ab_buf *b, const char *key, const char *value, const char *from,
		    bool brief)
{
	ab_autofree char *safe = ab_escape(value);
	int width = brief ? BRIEF_KEY : 24, room = brief ? BRIEF_VALUE : 38;
	size_t len = from ? strlen(from) : 0;

	if (brief && len + BRIEF_VALUE > BRIEF_ROOM)
		room = len < BRIEF_ROOM ? (int)(BRIEF_ROOM - len) : 0;
	if (len)
		ab_buf_printf(b, "%-*s %-*s  %s\n", width, key, room, safe, from);
	else
		ab_buf_printf(b, "%-*s %s\n", width, key, safe);
}

/* The profile, and what every policy has. */
static bool is_from_profile(const struct ab_origin *from)
{
	return !from || from->layer == AB_LAYER_PROFILE || from->layer == AB_LAYER_ALWAYS;
}

/* The name of a key in the output. */
static const char *get_shown_key(int id)
{
	return id == AB_KEY_EXTENDS ? "profile" : ab_keys[id].path;
}

static bool is_in_section(int id, const char *section)
{
	const char *key = get_shown_key(id);
	size_t n = section ? strlen(section) : 0;

	return !section || (strncmp(key, section, n) == 0 && (!key[n] || key[n] == '.'));
}

bool ab_policy_has_section(const char *section, const char **ret_near)
{
	for (int id = 0; id < AB_KEY_COUNT; id++)
		if (is_in_section(id, section) && *section)
			return true;
	*ret_near = ab_key_guess(section);
	return false;
}

static bool is_of_group(const struct ab_item *item)
{
	return item->via && item->via[0] == '@';
}

/* A host of the group that the item before belongs to: the group is one row. */
static bool is_same_group(const struct ab_value *v, size_t i)
{
	const struct ab_item *item = &v->items[i];

	return i > 0 && is_of_group(item) && is_of_group(item - 1) && item->from == item[-1].from &&
	       strcmp(item->via, item[-1].via) == 0;
}

static void show_list(struct ab_buf *b, enum ab_key_id id, const struct ab_value *v, bool changed)
{
	const char *key = ab_keys[id].path;
	ab_autofree char *from = v->from ? ab_origin_text(v->from) : NULL;
	bool empty = v->all || v->len == 0, first = true;

	if (empty && !(changed && is_from_profile(v->from)))
		put_row(b, key, v->all ? "all" : "(nothing)", from, changed);
	for (size_t i = 0; !v->all && i < v->len; i++) {
		const struct ab_item *item = &v->items[i];
		bool group = changed && is_of_group(item);
		ab_autofree char *origin =
			group ? ab_origin_text(item->from) : ab_item_origin(item);

		if (changed && (is_from_profile(item->from) || is_same_group(v, i)))
			continue;
		put_row(b, first ? key : "", group ? item->via : item->text, origin, changed);
		first = false;
	}
}

static char *show_text(const struct ab_policy *p, const struct ab_show_part *part,
		       struct ab_arena *a)
{
	struct ab_buf b = { 0 };

	if (!part->section && !part->changed)
		put_row(&b, "workspace", p->workspace[0] ? p->workspace : "(none)", NULL, false);
	for (int id = 0; id < AB_KEY_COUNT; id++) {
		const struct ab_value *v = &p->store->config.v[id];
		ab_autofree char *from = v->from ? ab_origin_text(v->from) : NULL;

		if (!is_in_section(id, part->section))
			continue;
		if (ab_key_is_list(&ab_keys[id]))
			show_list(&b, id, v, part->changed);
		else if (!part->changed || !is_from_profile(v->from))
			put_row(&b, get_shown_key(id), ab_value_text(a, id, v), from,
				part->changed);
	}
	return ab_buf_take(&b);
}

/* "NAME={...}" as a member of an object. */
static void put_json_member(struct ab_buf *b, const char *text)
{
	const char *value = strchr(text, '=');

	if (value)
		ab_buf_printf(b, "\"%.*s\":%s", (int)(value - text), text, value + 1);
}

/* An element of a list as in a file. */
static void put_json_item(struct ab_buf *b, enum ab_key_id id, const char *text)
{
	const struct ab_key *key = &ab_keys[id];

	if (key->type == AB_TYPE_SECRETS || key->type == AB_TYPE_HOST_TOOLS) {
		ab_buf_puts(b, "{");
		put_json_member(b, text);
		ab_buf_puts(b, "}");
	} else if (key->type == AB_TYPE_PORTS || key->type == AB_TYPE_RULES ||
		   key->type == AB_TYPE_HTTP) {
		ab_buf_puts(b, text);
	} else {
		ab_buf_json(b, text);
	}
}

static void put_json_scalar(struct ab_buf *b, struct ab_arena *a, enum ab_key_id id,
			    const struct ab_value *v)
{
	const char *text = ab_value_text(a, id, v);

	if ((ab_keys[id].type == AB_TYPE_INTEGER && v->number != AB_NONE) ||
	    strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
		ab_buf_puts(b, text);
	else
		ab_buf_json(b, text);
}

static void put_json_origin(struct ab_buf *b, enum ab_key_id id, const char *value,
			    const char *from)
{
	ab_buf_jsonf(b, ",{'value':");
	put_json_item(b, id, value);
	ab_buf_jsonf(b, ",'from':%s}", from ? from : "");
}

static void put_json_value(struct ab_buf *b, struct ab_arena *a, enum ab_key_id id,
			   const struct ab_value *v)
{
	ab_autofree char *from = v->from ? ab_origin_text(v->from) : NULL;

	if (v->all) {
		put_json_origin(b, id, "all", from);
		return;
	}
	if (!ab_key_is_list(&ab_keys[id])) {
		ab_buf_jsonf(b, "{'value':");
		put_json_scalar(b, a, id, v);
		ab_buf_jsonf(b, ",'from':%s}", from ? from : "");
		return;
	}
	ab_buf_puts(b, "[");
	for (size_t i = 0; i < v->len; i++) {
		ab_autofree char *origin = ab_item_origin(&v->items[i]);

		put_json_origin(b, id, v->items[i].text, origin);
	}
	ab_buf_puts(b, "]");
}

static char *show_json(const struct ab_policy *p, const struct ab_show_part *part,
		       struct ab_arena *a)
{
	struct ab_buf b = { 0 };

	ab_buf_jsonf(&b, "{'workspace':%s", p->workspace);
	for (int id = 0; id < AB_KEY_COUNT; id++) {
		if (!is_in_section(id, part->section))
			continue;
		ab_buf_jsonf(&b, ",%s:", get_shown_key(id));
		put_json_value(&b, a, id, &p->store->config.v[id]);
	}
	ab_buf_puts(&b, "}\n");
	return ab_buf_take(&b);
}

char *ab_policy_show_part(const struct ab_policy *policy, const struct ab_show_part *part,
			  bool json)
{
	struct ab_arena a = { 0 };
	char *text = json ? show_json(policy, part, &a) : show_text(policy, part, &a);

	ab_arena_fini(&a);
	return text;
}

char *ab_policy_show(const struct ab_policy *policy, bool json)
{
	return ab_policy_show_part(policy, &(struct ab_show_part){ 0 }, json);
}

static void put_record_list(struct ab_buf *b, enum ab_key_id id, const struct ab_value *v,
			    bool secrets)
{
	bool object = id == AB_KEY_SECRETS || id == AB_KEY_HOST_TOOLS;

	ab_buf_puts(b, object ? "{" : "[");
	for (size_t i = 0; i < v->len; i++) {
		const char *text = v->items[i].text;

		ab_buf_puts(b, i ? "," : "");
		if (object)
			put_json_member(b, text);
		else if (id == AB_KEY_ENV_SET && !secrets)
			ab_buf_json_n(b, text, strcspn(text, "="));
		else
			put_json_item(b, id, text);
	}
	ab_buf_puts(b, object ? "}" : "]");
}

static void put_record(struct ab_buf *b, struct ab_arena *a, enum ab_key_id id,
		       const struct ab_value *v, bool secrets)
{
	if (v->all)
		ab_buf_puts(b, "\"all\"");
	else if (ab_key_is_list(&ab_keys[id]))
		put_record_list(b, id, v, secrets);
	else if (id == AB_KEY_UPSTREAM && secrets)
		ab_buf_json(b, v->text);
	else
		put_json_scalar(b, a, id, v);
}

static char *make_record(const struct ab_policy *p, bool secrets)
{
	struct ab_arena a = { 0 };
	struct ab_buf b = { 0 };
	const char *group = "";

	ab_buf_jsonf(&b, "{'profile':%s,'workspace':%s", p->profile, p->workspace);
	for (int id = AB_KEY_EXTENDS + 1; id < AB_KEY_COUNT; id++) {
		const struct ab_value *v = &p->store->config.v[id];
		const char *path = ab_keys[id].path;
		size_t n = strcspn(path, ".");

		/* Keys of one section are adjacent in the table. */
		if (!path[n]) {
			ab_buf_puts(&b, group[0] ? "}," : ",");
			group = "";
		} else if (strncmp(group, path, n + 1) != 0) {
			ab_buf_printf(&b, "%s,\"%.*s\":{", group[0] ? "}" : "", (int)n, path);
			group = path;
		} else {
			ab_buf_puts(&b, ",");
		}
		ab_buf_json(&b, path[n] ? path + n + 1 : path);
		ab_buf_puts(&b, ":");
		put_record(&b, &a, id, v, secrets);
	}
	ab_buf_puts(&b, group[0] ? "}}" : "}");
	ab_arena_fini(&a);
	return ab_buf_take(&b);
}

/* As in a file, without passwords; "all" and objects too. */
static void put_json_whole(struct ab_buf *b, struct ab_arena *a, enum ab_key_id id,
			   const struct ab_value *v)
{
	bool object =
		ab_keys[id].type == AB_TYPE_ASSIGNMENTS || ab_keys[id].type == AB_TYPE_OVERRIDES;

	if (!object) {
		put_record(b, a, id, v, false);
		return;
	}
	ab_buf_puts(b, "{");
	for (size_t i = 0; i < v->len; i++) {
		size_t n = strcspn(v->items[i].text, "=");

		ab_buf_jsonf(b, ",%.*s:%s", (int)n, v->items[i].text, v->items[i].text + n + 1);
	}
	ab_buf_puts(b, "}");
}

char *ab_policy_value(const struct ab_policy *policy, const char *key, bool json)
{
	struct ab_arena a = { 0 };
	struct ab_buf b = { 0 };
	int id = 0;

	while (id < AB_KEY_COUNT &&
	       (strcmp(get_shown_key(id), key) != 0 && strcmp(ab_keys[id].path, key) != 0))
		id++;
	if (id < AB_KEY_COUNT) {
		const struct ab_value *v = &policy->store->config.v[id];

		if (json)
			put_json_whole(&b, &a, id, v);
		else if (v->all)
			ab_buf_puts(&b, "all");
		else if (!ab_key_is_list(&ab_keys[id]))
			ab_buf_escape(&b, ab_value_text(&a, id, v));
		for (size_t i = 0; !json && !v->all && i < v->len; i++) {
			ab_buf_puts(&b, i ? "\n" : "");
			ab_buf_escape(&b, v->items[i].text);
		}
	}
	ab_arena_fini(&a);
	return id < AB_KEY_COUNT ? ab_buf_take(&b) : NULL;
}

char *ab_policy_json(const struct ab_policy *policy)
{
	return make_record(policy, false);
}

void ab_policy_digest(const struct ab_policy *policy, char ret_hex[65])
{
	ab_autofree char *text = make_record(policy, true);

	ab_sha256(text, strlen(text), ret_hex);
}

enum { NAME = 24, WHAT = 40 };

/* Where a user's rule or override was written. */
static void put_origin(struct ab_buf *b, const struct ab_item *item)
{
	ab_autofree char *from = ab_origin_text(item->from);

	ab_buf_printf(b, "%s%s", from,
		      item->tighten && !item->managed
			      ? " (not trusted: applies only where stricter)"
			      : "");
}

static void put_user_row(struct ab_buf *b, const struct ab_item *item)
{
	const struct ab_user_rule *rule = item->rule;
	ab_autobuf struct ab_buf what = { 0 };

	if (rule->kind == AB_MATCH_REGEX)
		ab_buf_puts(&what, "regex ");
	ab_buf_escape(&what, rule->text);
	if (rule->kind == AB_MATCH_PREFIX)
		ab_buf_puts(&what, " ...");
	ab_buf_printf(b, "%-*s %-10s %-*s  ", NAME, "user", ab_decision_names[rule->decision], WHAT,
		      what.data);
	put_origin(b, item);
	ab_buf_puts(b, "\n");
}

static void put_builtin_row(struct ab_buf *b, unsigned id, const struct ab_value *overrides)
{
	const struct ab_rule *rule = &ab_rules[id];
	const struct ab_item *item = ab_override_find(overrides, id);
	struct ab_decided now = ab_override_decided(overrides, id);

	ab_buf_printf(b, "%-*s %-10s %s", NAME, rule->name, ab_decision_names[now.strong],
		      rule->what);
	if (now.weak != now.strong)
		ab_buf_printf(b, "; %s in milder cases", ab_decision_names[now.weak]);
	if (item) {
		ab_buf_printf(b, "  (built in: %s; ", ab_decision_names[rule->decision]);
		put_origin(b, item);
		ab_buf_puts(b, ")");
	}
	ab_buf_puts(b, "\n");
}

static char *make_text(const struct ab_value *rules, const struct ab_value *overrides)
{
	struct ab_buf b = { 0 };

	ab_buf_printf(&b, "%-*s %-10s %s\n", NAME, "RULE", "VERDICT", "WHAT");
	for (size_t i = 0; i < rules->len; i++)
		put_user_row(&b, &rules->items[i]);
	for (unsigned i = 0; i < AB_RULE_COUNT; i++)
		put_builtin_row(&b, i, overrides);
	return ab_buf_take(&b);
}

static void put_json_rule_origin(struct ab_buf *b, const struct ab_item *item)
{
	ab_autofree char *from = ab_origin_text(item->from);

	ab_buf_jsonf(b, ",'from':%s,'trusted':%hhd", from, (bool)(!item->tighten || item->managed));
}

static void put_builtin_json(struct ab_buf *b, unsigned id, const struct ab_value *overrides)
{
	const struct ab_rule *rule = &ab_rules[id];
	const struct ab_item *item = ab_override_find(overrides, id);
	struct ab_decided now = ab_override_decided(overrides, id);

	ab_buf_jsonf(b, ",{'name':%s,'decision':%s", rule->name, ab_decision_names[now.strong]);
	if (now.weak != now.strong)
		ab_buf_jsonf(b, ",'mild':%s", ab_decision_names[now.weak]);
	ab_buf_jsonf(b, ",'what':%s,'reason':%s", rule->what, rule->reason);
	if (rule->instead)
		ab_buf_jsonf(b, ",'instead':%s", rule->instead);
	if (item) {
		ab_buf_jsonf(b, ",'builtin':%s", ab_decision_names[rule->decision]);
		put_json_rule_origin(b, item);
	}
	ab_buf_puts(b, "}");
}

static char *make_json(const struct ab_value *rules, const struct ab_value *overrides)
{
	struct ab_buf b = { 0 };

	ab_buf_jsonf(&b, "{'user':[");
	for (size_t i = 0; i < rules->len; i++) {
		const struct ab_item *item = &rules->items[i];

		/* The text is an object: continue with more members. */
		ab_buf_jsonf(&b, ",");
		ab_buf_add(&b, item->text, strlen(item->text) - 1);
		put_json_rule_origin(&b, item);
		ab_buf_puts(&b, "}");
	}
	ab_buf_jsonf(&b, "],'builtin':[");
	for (unsigned i = 0; i < AB_RULE_COUNT; i++)
		put_builtin_json(&b, i, overrides);
	ab_buf_puts(&b, "]}\n");
	return ab_buf_take(&b);
}

char *ab_policy_rules(const struct ab_policy *policy, bool json)
{
	const struct ab_config *c = &policy->store->config;
	const struct ab_value *rules = &c->v[AB_KEY_RULES];
	const struct ab_value *overrides = &c->v[AB_KEY_OVERRIDE];

	return json ? make_json(rules, overrides) : make_text(rules, overrides);
}

/* False: all of it is from the built-in profile. */
static bool list_origins(const struct ab_value *v, struct ab_strv *ret)
{
	bool other = v->from && v->from->layer != AB_LAYER_PROFILE;

	for (size_t i = 0; i < v->len; i++) {
		/* Long lists come from one place. */
		if (i > 0 && v->items[i].from == v->items[i - 1].from)
			continue;
		other |= v->items[i].from->layer != AB_LAYER_PROFILE;
		ab_strv_give(ret, ab_origin_text(v->items[i].from));
	}
	if (!v->len && v->from)
		ab_strv_give(ret, ab_origin_text(v->from));
	return other;
}

char *ab_policy_origins(const struct ab_policy *policy)
{
	struct ab_buf b = { 0 };

	ab_buf_puts(&b, "{");
	for (int id = 0; id < AB_KEY_COUNT; id++) {
		ab_autostrv struct ab_strv all = { 0 }, once = { 0 };
		const char *key = ab_keys[id].path;

		if ((strncmp(key, "network.", 8) != 0 && strncmp(key, "filesystem.", 11) != 0) ||
		    !list_origins(&policy->store->config.v[id], &all))
			continue;
		for (size_t i = 0; i < all.len; i++)
			ab_strv_add_once(&once, all.v[i]);
		ab_buf_jsonf(&b, ",%s:%p", key, ab_list(&once));
	}
	ab_buf_puts(&b, "}");
	return ab_buf_take(&b);
}
