#include "broker/list_wire.h"

#include <jansson.h>

static const char *const unknown_names[] = {
	[AB_UNKNOWN_DENY] = "deny",
	[AB_UNKNOWN_ASK] = "ask",
	[AB_UNKNOWN_LEARN] = "learn",
};

static const char *const mode_names[] = {
	[AB_NET_BLOCKED] = "blocked",
	[AB_NET_FILTERED] = "filtered",
	[AB_NET_ALLOWED] = "allowed",
};

/* The lists by name, in the order in which they are written. */
static const struct member {
	const char *key;
	size_t offset;
	const char *came, *went; /* describe a new and a removed entry */
} members[] = {
	{ "allow", offsetof(struct ab_host_lists, allow), "allowed", "no longer allowed" },
	{ "deny", offsetof(struct ab_host_lists, deny), "denied", "no longer denied" },
	{ "denyFrom", offsetof(struct ab_host_lists, deny_from), NULL, NULL },
	{ "allowPrivate", offsetof(struct ab_host_lists, allow_private),
	  "allowed as a private range", "no longer allowed as a private range" },
	{ "intercepted", offsetof(struct ab_host_lists, intercepted),
	  "intercepted from the next run on", "no longer intercepted from the next run on" },
	{ "notes", offsetof(struct ab_host_lists, notes), NULL, NULL },
	{ "waiting", offsetof(struct ab_host_lists, waiting), NULL, NULL },
};

static struct ab_strv *get_list(const struct ab_host_lists *lists, const struct member *m)
{
	return (struct ab_strv *)((uintptr_t)lists + m->offset);
}

static void collect_intercepted(const struct ab_policy *policy, struct ab_strv *ret)
{
	for (size_t i = 0; i < policy->secrets.len; i++) {
		const struct ab_secret *secret = &policy->secrets.v[i];

		for (size_t k = 0; secret->via != AB_VIA_GATEWAY && k < secret->hosts.len; k++)
			ab_strv_add_once(ret, secret->hosts.v[k]);
	}
	for (size_t i = 0; i < policy->net.http.len; i++)
		ab_http_rule_hosts(&policy->net.http.v[i], ret);
}

void ab_host_lists_write(struct ab_buf *b, const struct ab_policy *policy,
			 const struct ab_strv *notes, const struct ab_strv *waiting)
{
	ab_autostrv struct ab_strv intercepted = { 0 };

	collect_intercepted(policy, &intercepted);
	ab_buf_jsonf(b,
		     "{'allow':%p,'deny':%p,'denyFrom':%p,'allowPrivate':%p,'unknown':%s,'mode':%s,"
		     "'intercepted':%p,'notes':%p,'waiting':%p}",
		     ab_list(&policy->net.allow), ab_list(&policy->net.deny),
		     ab_list(&policy->net.deny_from), ab_list(&policy->net.allow_private),
		     unknown_names[policy->net.unknown], mode_names[policy->net.mode],
		     ab_list(&intercepted), ab_list(notes), ab_list(waiting));
}

static bool read_list(const json_t *list, struct ab_strv *ret)
{
	if (!json_is_array(list))
		return false;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *entry = json_array_get(list, i);

		if (!json_is_string(entry))
			return false;
		ab_strv_add(ret, json_string_value(entry));
	}
	return true;
}

static bool read_members(const json_t *root, struct ab_host_lists *ret)
{
	for (size_t i = 0; i < AB_COUNT(members); i++)
		if (!read_list(json_object_get(root, members[i].key), get_list(ret, &members[i])))
			return false;
	return json_object_size(root) == AB_COUNT(members) + 2 &&
	       ab_word_parse(unknown_names, json_string_value(json_object_get(root, "unknown")),
			     &ret->unknown) &&
	       ab_word_parse(mode_names, json_string_value(json_object_get(root, "mode")),
			     &ret->mode);
}

int ab_host_lists_read(const char *text, size_t len, struct ab_host_lists *ret,
		       struct ab_error *err)
{
	json_auto_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	struct ab_host_lists lists = { 0 };

	if (!read_members(root, &lists)) {
		ab_host_lists_fini(&lists);
		return ab_fail(err, AB_ESYSTEM, 0, "the host lists are malformed");
	}
	*ret = lists;
	return 0;
}

void ab_host_lists_fini(struct ab_host_lists *lists)
{
	for (size_t i = 0; i < AB_COUNT(members); i++)
		ab_strv_fini(get_list(lists, &members[i]));
}

static struct ab_strv sort_copy(const struct ab_strv *list)
{
	struct ab_strv copy = { 0 };

	ab_strv_extend(&copy, list);
	ab_strv_sort(&copy);
	return copy;
}

static void add_change(struct ab_strv *ret, char sign, const char *entry, const char *what)
{
	ab_autofree char *shown = ab_escape(entry);

	ab_strv_addf(ret, "%c %s %s", sign, shown, what);
}

/* Sorts both, to compare in linear time. */
static void compare_list(const struct ab_strv *before, const struct ab_strv *after,
			 const struct member *m, struct ab_strv *ret)
{
	ab_autostrv struct ab_strv a = sort_copy(before), b = sort_copy(after);
	size_t i = 0, k = 0;

	while (i < a.len || k < b.len) {
		int order = i == a.len ? 1 : k == b.len ? -1 : strcmp(a.v[i], b.v[k]);

		if (order > 0)
			add_change(ret, '+', b.v[k], m->came);
		else if (order < 0)
			add_change(ret, '-', a.v[i], m->went);
		i += order <= 0;
		k += order >= 0;
	}
}

void ab_host_lists_compare(const struct ab_host_lists *before, const struct ab_host_lists *after,
			   struct ab_strv *ret)
{
	for (size_t i = 0; i < AB_COUNT(members); i++)
		if (members[i].came)
			compare_list(get_list(before, &members[i]), get_list(after, &members[i]),
				     &members[i], ret);
	if (before->unknown != after->unknown)
		ab_strv_addf(ret, "  unknown hosts: %s (was %s)", unknown_names[after->unknown],
			     unknown_names[before->unknown]);
	if (before->mode != after->mode)
		ab_strv_addf(ret, "! network.mode is now %s: this run stays %s until it ends",
			     mode_names[after->mode], mode_names[before->mode]);
}
