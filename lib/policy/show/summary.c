#include "policy/show/summary.h"

#include "base/text/units.h"
#include "policy/model/config.h"
#include "policy/model/policy.h"
#include "policy/values/paths.h"
#include "policy/values/providers.h"

enum { LISTED = 8, LABEL = 12 };

void ab_summary_row(struct ab_strv *rows, const char *label, const char *text)
{
	ab_strv_add(rows, label);
	ab_strv_add(rows, text);
}

/* "a, b and 3 more" */
static void put_list(struct ab_buf *b, const struct ab_strv *list)
{
	for (size_t i = 0; i < list->len; i++) {
		if (i == LISTED && list->len > LISTED + 1) {
			ab_buf_printf(b, " and %zu more", list->len - i);
			return;
		}
		ab_buf_puts(b, i ? ", " : "");
		ab_buf_escape(b, list->v[i]);
	}
}

/* The same with words in front, if there is anything in it. */
static void put_part(struct ab_buf *b, const char *lead, const struct ab_strv *list)
{
	if (!list->len)
		return;
	ab_buf_puts(b, lead);
	put_list(b, list);
}

void ab_summary_list(struct ab_strv *rows, const char *label, const char *before,
		     const struct ab_strv *list, const char *after)
{
	ab_autobuf struct ab_buf b = { 0 };

	ab_buf_puts(&b, before);
	put_list(&b, list);
	ab_buf_puts(&b, after);
	ab_summary_row(rows, label, b.data);
}

const struct ab_item *ab_policy_find_item(const struct ab_policy *policy, enum ab_key_id list,
					  const char *text)
{
	return ab_value_find(&policy->store->config.v[list], text);
}

char *ab_item_origin(const struct ab_item *item)
{
	ab_autofree char *from = item ? ab_origin_text(item->from) : NULL;

	if (!item || !item->via)
		return item ? ab_strdup(from) : NULL;
	return ab_printf("%s in %s", item->via, from);
}

void ab_summary_home(const struct ab_policy *p, const struct ab_strv *but, struct ab_strv *rows)
{
	static const char *const words[] = {
		[AB_HOME_READONLY] = "your files, read-only",
		[AB_HOME_PRIVATE] = "an empty folder; writes are gone after the run",
		[AB_HOME_LAYERED] = "your files; writes go to a layer that is gone after the run",
		[AB_HOME_KEPT] = "your files; writes go to a layer that is kept",
	};

	ab_summary_row(rows, "home", words[p->fs.home]);
	for (size_t i = 0; i < but->len; i++)
		ab_summary_row(rows, "", but->v[i]);
}

/* Groups instead of their hosts. */
static void list_hosts(const struct ab_policy *p, struct ab_strv *ret)
{
	for (size_t i = 0; i < p->net.allow.len; i++) {
		const struct ab_item *item =
			ab_policy_find_item(p, AB_KEY_NET_ALLOW, p->net.allow.v[i]);

		/* A secret brings its hosts, too. */
		ab_strv_add_once(ret, item && item->via && item->via[0] == '@' ? item->via
									       : p->net.allow.v[i]);
	}
}

static void put_filtered(struct ab_buf *b, const struct ab_policy *p)
{
	ab_autostrv struct ab_strv hosts = { 0 };

	list_hosts(p, &hosts);
	ab_buf_puts(b, hosts.len ? "" : "no host is allowed");
	put_part(b, "allowed: ", &hosts);
	put_part(b, "; denied: ", &p->net.deny);
	put_part(b, "; private ranges: ", &p->net.allow_private);
	if (p->net.http.len)
		ab_buf_puts(b, "; some hosts only with certain methods and paths");
	ab_buf_puts(b, p->net.unknown != AB_UNKNOWN_ASK ? "; other hosts are denied"
		       : p->net.ask_anywhere
			       ? "; other hosts are asked about"
			       : "; other hosts are asked about, or denied without a terminal");
}

static void put_ports(struct ab_buf *b, const struct ab_policy *p)
{
	for (size_t i = 0; i < p->net.host_ports.len; i++)
		ab_buf_printf(b, "%s%u",
			      i ? ", " : "; ports of the host: ", p->net.host_ports.v[i]);
	for (size_t i = 0; i < p->net.publish.len; i++)
		ab_buf_printf(b, "%s%u", i ? ", " : "; published: ", p->net.publish.v[i].host);
}

static void add_network(const struct ab_policy *p, struct ab_strv *rows)
{
	ab_autobuf struct ab_buf b = { 0 };

	switch (p->net.mode) {
	case AB_NET_BLOCKED:
		ab_buf_puts(&b, "blocked: no host can be reached");
		break;
	case AB_NET_FILTERED:
		ab_buf_puts(&b, "filtered; ");
		put_filtered(&b, p);
		break;
	case AB_NET_ALLOWED:
		ab_buf_puts(&b, "allowed: the host's network, without a filter");
		break;
	}
	put_ports(&b, p);
	ab_summary_row(rows, "network", b.data);
}

static void add_ssh(const struct ab_policy *p, struct ab_strv *rows)
{
	static const char *const asks[] = {
		[AB_SSH_ASK_ALWAYS] = "; asks each time",
		[AB_SSH_ASK_FIRST] = "; asks first",
		[AB_SSH_ASK_NEVER] = "; without a question",
	};
	ab_autobuf struct ab_buf more = { 0 };
	char time[48];

	if (!ab_policy_lends_keys(p))
		return;
	if (!p->ssh.all_keys) {
		ab_buf_puts(&more, "; only ");
		put_list(&more, &p->ssh.keys);
	}
	if (p->ssh.hosts.len && !p->ssh.all_users) {
		ab_buf_puts(&more, "; as ");
		put_list(&more, &p->ssh.users);
	}
	if (p->ssh.git)
		ab_buf_puts(&more, p->ssh.hosts.len ? "; and for commits and tags" : "");
	ab_buf_puts(&more, asks[p->ssh.ask]);
	if (p->ssh.max_signatures)
		ab_buf_printf(&more, "; %llu signatures",
			      (unsigned long long)p->ssh.max_signatures);
	if (p->ssh.max_ms)
		ab_buf_printf(&more, "; for %s", ab_format_duration(p->ssh.max_ms, time));
	if (p->ssh.hosts.len) {
		ab_summary_list(rows, "ssh keys", "for logins at ", &p->ssh.hosts, more.data);
	} else {
		ab_autofree char *text = ab_printf("for commits and tags%s", more.data);

		ab_summary_row(rows, "ssh keys", text);
	}
}

static void add_containers(const struct ab_policy *p, struct ab_strv *rows)
{
	ab_autobuf struct ab_buf more = { 0 };

	if (!p->docker.images.len)
		return;
	ab_buf_puts(&more, p->docker.bridge ? "; with the engine's network, which is not filtered"
					    : "; without network");
	if (p->docker.publish)
		ab_buf_puts(&more, "; ports on localhost");
	if (p->docker.pull)
		ab_buf_puts(&more, "; missing images are downloaded");
	put_part(&more, "; read-only: ", &p->docker.mounts);
	ab_summary_list(rows, "containers", "of ", &p->docker.images, more.data);
}

static void add_tools(const struct ab_policy *p, struct ab_strv *rows)
{
	ab_autostrv struct ab_strv names = { 0 };
	ab_autobuf struct ab_buf more = { 0 };

	for (size_t i = 0; i < p->host_tools.len; i++) {
		const struct ab_host_tool *tool = p->host_tools.v[i];

		ab_strv_add(&names, tool->name);
		if (tool->unconfined)
			ab_buf_printf(&more, "%s %s",
				      more.len ? "," : "; outside of any box:", tool->name);
	}
	if (names.len)
		ab_summary_list(rows, "host tools", "", &names, more.len ? more.data : "");
}

static void add_secrets(const struct ab_policy *p, struct ab_strv *rows)
{
	ab_autostrv struct ab_strv names = { 0 };

	for (size_t i = 0; i < p->secrets.len; i++) {
		const struct ab_secret *s = &p->secrets.v[i];
		ab_autobuf struct ab_buf b = { 0 };

		if (s->part)
			continue;
		ab_buf_printf(&b, "%s for ", s->name);
		for (size_t k = 0; k < s->hosts.len; k++)
			ab_buf_printf(&b, "%s%s", k ? " and " : "", s->hosts.v[k]);
		ab_strv_add(&names, b.data);
	}
	if (names.len)
		ab_summary_list(rows, "secrets", "", &names, "");
	else
		ab_summary_row(rows, "secrets", "none");
}

static void add_limits(const struct ab_policy *p, struct ab_strv *rows)
{
	ab_autostrv struct ab_strv l = { 0 };
	char size[24], time[48];

	if (p->limits.timeout_ms)
		ab_strv_addf(&l, "%s", ab_format_duration(p->limits.timeout_ms, time));
	if (p->limits.memory)
		ab_strv_addf(&l, "%s of memory", ab_format_size(p->limits.memory, size));
	if (p->limits.processes)
		ab_strv_addf(&l, "%llu processes", (unsigned long long)p->limits.processes);
	if (p->limits.files)
		ab_strv_addf(&l, "%llu open files per process",
			     (unsigned long long)p->limits.files);
	if (p->limits.cpu_ms)
		ab_strv_addf(&l, "%s of processor time per process",
			     ab_format_duration(p->limits.cpu_ms, time));
	if (p->limits.file_size)
		ab_strv_addf(&l, "files of %s", ab_format_size(p->limits.file_size, size));
	if (p->fs.tmp_size)
		ab_strv_addf(&l, "%s in private folders", ab_format_size(p->fs.tmp_size, size));
	if (l.len)
		ab_summary_list(rows, "limits", "", &l, p->limits.timeout_ms ? "" : "; no timeout");
	else
		ab_summary_row(rows, "limits", "none");
}

static void add_guarantees(const struct ab_policy *p, struct ab_strv *rows)
{
	ab_autofree char *given_up = ab_policy_given_up(p), *text = NULL;
	int n = 0;

	for (int i = 0; i < AB_PROP_COUNT; i++)
		n += (p->assurance.require & AB_PROP_BIT(i)) != 0;
	text = !n ? ab_printf("none is required%s%s", given_up[0] ? "; given up: " : "", given_up)
		  : ab_printf("%d %s required; without one a run %s%s%s", n, n == 1 ? "is" : "are",
			      p->assurance.fallback == AB_FALLBACK_STRICT ? "does not start"
									  : "warns",
			      given_up[0] ? "; given up: " : "", given_up);
	ab_summary_row(rows, "guarantees", text);
}

void ab_summary_rest(const struct ab_policy *p, struct ab_strv *rows)
{
	add_network(p, rows);
	add_ssh(p, rows);
	add_containers(p, rows);
	add_tools(p, rows);
	add_secrets(p, rows);
	add_limits(p, rows);
	add_guarantees(p, rows);
}

static void add_count(struct ab_strv *rows, const char *label, size_t n, const char *key)
{
	ab_autofree char *text = ab_printf("%zu entr%s of %s", n, n == 1 ? "y" : "ies", key);

	ab_summary_row(rows, label, text);
}

void ab_policy_summary(const struct ab_policy *p, const struct ab_strv *home, struct ab_strv *rows)
{
	ab_autofree char *profile = ab_escape(p->profile);

	ab_summary_row(rows, "profile", profile);
	if (p->fs.write.len)
		ab_summary_list(rows, "writes", "", &p->fs.write,
				p->fs.review == AB_REVIEW_NONE
					? ""
					: "; changes of the workspace wait for your review");
	else
		ab_summary_row(rows, "writes", "nothing except private folders");
	ab_summary_home(p, home, rows);
	add_count(rows, "hidden", p->fs.deny_read.len, "filesystem.denyRead");
	add_count(rows, "protected", p->fs.deny_write.len, "filesystem.denyWrite");
	ab_summary_rest(p, rows);
}

static size_t count_columns(const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

/* Words of one text, on as many lines as they need. */
static void put_wrapped(struct ab_buf *b, const char *text, size_t columns)
{
	size_t room = columns > LABEL + 20 ? columns - LABEL : 20, used = 0;

	while (*text) {
		size_t len = strcspn(text, " "), width = count_columns(text, len);

		if (used && used + 1 + width > room) {
			ab_buf_printf(b, "\n%*s", LABEL, "");
			used = 0;
		}
		ab_buf_puts(b, used ? " " : "");
		ab_buf_add(b, text, len);
		used += width + (used > 0);
		text += len + strspn(text + len, " ");
	}
}

void ab_summary_put(struct ab_buf *b, const struct ab_strv *rows, size_t columns)
{
	for (size_t i = 0; i + 1 < rows->len; i += 2) {
		ab_buf_printf(b, "%-*s", LABEL, rows->v[i]);
		if (columns)
			put_wrapped(b, rows->v[i + 1], columns);
		else
			ab_buf_puts(b, rows->v[i + 1]);
		ab_buf_puts(b, "\n");
	}
}

void ab_summary_keys_find(const struct ab_policy *policy, char *const *caller, struct ab_strv *ret)
{
	const struct ab_provider *p;

	for (size_t i = 0; (p = ab_provider_at(i)); i++)
		for (size_t k = 0; k < AB_PROVIDER_NAMES && p->names[k][0]; k++) {
			const char *value = ab_environ_get(caller, p->names[k]);

			if (value && *value && !ab_secrets_export(&policy->secrets, p->names[k]))
				ab_strv_add(ret, p->names[k]);
		}
}

#define USE "agentbox run --secret %s -- ..."

void ab_summary_keys_text(const struct ab_strv *names, struct ab_buf *ret)
{
	if (names->len)
		ab_buf_puts(ret, "\nset in your environment; to use one as a secret:\n");
	for (size_t i = 0; i < names->len; i++)
		ab_buf_printf(ret, "  %s: " USE "\n", ab_provider_find(names->v[i])->title,
			      names->v[i]);
}

void ab_summary_keys_json(const struct ab_strv *names, struct ab_buf *ret)
{
	ab_buf_jsonf(ret, "'unused':[");
	for (size_t i = 0; i < names->len; i++) {
		ab_autofree char *use = ab_printf(USE, names->v[i]);

		ab_buf_jsonf(ret, ",{'name':%s,'provider':%s,'use':%s}", names->v[i],
			     ab_provider_find(names->v[i])->name, use);
	}
	ab_buf_puts(ret, "]");
}
