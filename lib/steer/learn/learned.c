#include "steer/learn/learned.h"

#include <stdlib.h>
#include <string.h>

#include "audit/read/details.h"
#include "base/data/buf.h"
#include "base/data/mem.h"
#include "base/system/path.h"
#include "policy/model/policy.h"
#include "policy/values/host.h"
#include "steer/learn/learned_state.h"

struct ab_learned *ab_learned_new(void)
{
	struct ab_learned *l = ab_alloc(sizeof(*l));

	l->reached.most = AB_LEARNED_HOSTS;
	l->failed.most = AB_LEARNED_NOTES;
	l->denied.most = AB_LEARNED_NOTES;
	l->unwritten.most = AB_LEARNED_NOTES;
	l->refused.most = AB_LEARNED_NOTES;
	l->programs.most = AB_LEARNED_NOTES;
	return l;
}

static void free_list(struct learned_list *list)
{
	for (size_t i = 0; i < list->len; i++) {
		free(list->v[i].text);
		free(list->v[i].why);
	}
	free(list->v);
}

void ab_learned_free(struct ab_learned *l)
{
	if (!l)
		return;
	free_list(&l->reached);
	free_list(&l->failed);
	free_list(&l->denied);
	free_list(&l->unwritten);
	free_list(&l->refused);
	free_list(&l->programs);
	free(l);
}

/* Where it is or would be. */
static size_t place(const struct learned_list *list, const char *text, bool *ret_there)
{
	size_t low = 0, high = list->len;

	*ret_there = false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(list->v[middle].text, text);

		if (order == 0) {
			*ret_there = true;
			return middle;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool ab_learned_has(const struct learned_list *list, const char *text)
{
	bool there;

	place(list, text, &there);
	return there;
}

/* Takes `why` over. */
static void count(struct learned_list *list, const char *text, char *why, uint64_t times)
{
	bool there;
	size_t at = place(list, text, &there);

	if (there) {
		uint64_t *n = &list->v[at].count;

		*n = *n > UINT64_MAX - times ? UINT64_MAX : *n + times;
		free(why);
		return;
	}
	if (list->len == list->most) {
		list->lost++;
		free(why);
		return;
	}
	if (!list->v)
		list->v = ab_alloc(list->most * sizeof(list->v[0]));
	memmove(&list->v[at + 1], &list->v[at], (list->len - at) * sizeof(list->v[0]));
	list->v[at] = (struct learned_item){ .text = ab_strdup(text), .why = why, .count = times };
	list->len++;
}

enum {
	KIND,
	ALLOWED,
	DOMAIN,
	PORT,
	DOOR,
	ERROR,
	PATH,
	RULE,
	REASON,
	ACCESS,
	COMMAND,
	REPEATED,
	NAMES,
};
static const char *const names[NAMES] = {
	[KIND] = "kind",     [ALLOWED] = "allowed", [DOMAIN] = "domain",   [PORT] = "port",
	[DOOR] = "door",     [ERROR] = "error",	    [PATH] = "path",	   [RULE] = "rule",
	[REASON] = "reason", [ACCESS] = "access",   [COMMAND] = "command", [REPEATED] = "repeated",
};

/* A line stands for itself and for so many others. */
static uint64_t times(const struct ab_detail f[NAMES])
{
	int64_t more = ab_detail_number(&f[REPEATED], 0);

	return more > 0 ? (uint64_t)more + 1 : 1;
}

/* The entry that allows just this; false: it is no host. */
static bool get_entry(const struct ab_detail f[NAMES], char ret[AB_HOST_ENTRY_TEXT])
{
	int64_t port = ab_detail_number(&f[PORT], 0);
	struct ab_host_entry entry;
	struct ab_host host;
	char text[AB_HOST_TEXT + 2];
	size_t len = ab_detail_copy(&f[DOMAIN], text, sizeof(text));

	if (port < 1 || port > UINT16_MAX || ab_host_parse(text, len, &host, NULL) < 0)
		return false;
	entry = ab_host_entry_for(&host, (uint16_t)port);
	ab_host_entry_format(&entry, ret);
	return true;
}

/* Through these nobody goes out. */
static bool is_way_out(const struct ab_detail *door)
{
	return !ab_detail_is(door, "publish") && !ab_detail_is(door, "host-port") &&
	       !ab_detail_is(door, "dns");
}

static void take_request(struct ab_learned *l, const struct ab_detail f[NAMES])
{
	char entry[AB_HOST_ENTRY_TEXT];

	if (f[ALLOWED].kind != AB_DETAIL_TRUE || !is_way_out(&f[DOOR]) || !get_entry(f, entry))
		return;
	if (f[ERROR].kind == AB_DETAIL_TEXT)
		count(&l->failed, entry, ab_detail_dup(&f[ERROR]), times(f));
	else
		count(&l->reached, entry, NULL, times(f));
}

static void refuse_host(struct ab_learned *l, const struct ab_detail f[NAMES])
{
	ab_autofree char *domain = ab_detail_dup(&f[DOMAIN]), *text = NULL;
	int64_t port = ab_detail_number(&f[PORT], 0);

	if (!domain)
		return;
	text = port > 0 && port <= UINT16_MAX ? ab_printf("%s:%d", domain, (int)port)
					      : ab_strdup(domain);
	count(&l->denied, text, ab_detail_dup(&f[REASON]), times(f));
}

static void refuse_path(struct ab_learned *l, const struct ab_detail f[NAMES])
{
	ab_autofree char *path = ab_detail_dup(&f[PATH]);
	ab_autofree char *access = ab_detail_dup(&f[ACCESS]);
	ab_autofree char *reason = ab_detail_dup(&f[REASON]);

	if (!path)
		return;
	if (path[0] == '/' && ab_detail_is(&f[RULE], "filesystem.write")) {
		count(&l->unwritten, path, NULL, times(f));
		return;
	}
	count(&l->refused, path,
	      ab_printf("%s%s%s", access ? access : "", access ? ": " : "",
			reason ? reason : "refused"),
	      times(f));
}

static void take_violation(struct ab_learned *l, const struct ab_detail f[NAMES])
{
	if (ab_detail_is(&f[DOOR], "file") || ab_detail_is(&f[DOOR], "call"))
		refuse_path(l, f);
	else
		refuse_host(l, f);
}

static void take_exec(struct ab_learned *l, const struct ab_detail f[NAMES])
{
	ab_autofree char *command = ab_detail_dup(&f[COMMAND]);

	if (command)
		count(&l->refused, command, ab_detail_dup(&f[REASON]), times(f));
}

static void take_program(struct ab_learned *l, const struct ab_detail f[NAMES])
{
	ab_autofree char *path = ab_detail_dup(&f[PATH]);

	if (path)
		count(&l->programs, path, NULL, times(f));
}

static const struct {
	const char *kind;
	void (*take)(struct ab_learned *l, const struct ab_detail f[NAMES]);
} kinds[] = {
	{ "exec", take_exec },
	{ "program", take_program },
	{ "request", take_request },
	{ "violation", take_violation },
};

void ab_learned_take(struct ab_learned *l, const char *line, size_t len)
{
	struct ab_detail f[NAMES];

	if (ab_details_find(line, len, names, NAMES, f) < 0)
		return;
	for (size_t i = 0; i < AB_COUNT(kinds); i++)
		if (ab_detail_is(&f[KIND], kinds[i].kind))
			kinds[i].take(l, f);
}

static bool is_covered(const struct ab_strv *folders, const char *path)
{
	for (size_t i = 0; i < folders->len; i++)
		if (ab_path_within(path, folders->v[i]))
			return true;
	return false;
}

void ab_learned_folders(const struct ab_learned *l, const struct ab_learned_from *from,
			struct ab_strv *ret)
{
	const char *why;

	for (size_t i = 0; i < l->unwritten.len; i++) {
		ab_autofree char *folder = ab_learned_folder(l->unwritten.v[i].text, from, &why);

		if (!folder || is_covered(ret, folder))
			continue;
		for (size_t k = ret->len; k-- > 0;)
			if (ab_path_within(ret->v[k], folder))
				ab_strv_remove(ret, k);
		if (ret->len < AB_LEARNED_FOLDERS)
			ab_strv_add(ret, folder);
	}
	ab_strv_sort(ret);
}

void ab_learned_check(const struct ab_learned *l, const struct ab_learned_from *from,
		      const struct ab_policy *policy, struct ab_strv *ret)
{
	ab_autostrv struct ab_strv folders = { 0 };

	ab_learned_folders(l, from, &folders);
	for (size_t i = 0; i < l->reached.len; i++) {
		const char *entry = l->reached.v[i].text;

		if (policy->net.mode == AB_NET_ALLOWED)
			break;
		if (policy->net.mode == AB_NET_BLOCKED ||
		    !ab_hosts_cover(policy->net.allow.v, policy->net.allow.len, entry, false))
			ab_strv_addf(ret, "network.allow: %s", entry);
	}
	for (size_t i = 0; i < folders.len; i++)
		if (!is_covered(&policy->fs.write, folders.v[i]))
			ab_strv_addf(ret, "filesystem.write: %s", folders.v[i]);
}
