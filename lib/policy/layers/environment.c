#include "policy/layers/environment.h"

#include "base/data/glob.h"
#include "base/data/hash.h"
#include "policy/model/policy.h"
#include "policy/values/secret_text.h"

static unsigned char fold_byte(char c, bool on)
{
	return (unsigned char)(on && c >= 'a' && c <= 'z' ? c - 32 : c);
}

bool ab_name_matches(const char *pattern, const char *name, bool fold_case)
{
	return ab_glob_matches(pattern, strlen(pattern), name, strlen(name), fold_case);
}

/*
 * Patterns in buckets, by a character that every match must have: the first one
 * ("LD_*", "DISPLAY") or the last one ("*_TOKEN"). The few with neither
 * ("*SECRET*") are tried for every name.
 */
struct matcher {
	const struct ab_strv *patterns;
	bool icase;
	uint16_t first[256], last[256], any; /* 1-based heads of chains */
	uint16_t *next;
	uint64_t *needs; /* characters that a match must have */
};

/* The characters of a text as a set. A collision only costs time. */
static uint64_t make_letter_set(const char *s, size_t len)
{
	uint64_t set = 0;

	for (size_t i = 0; i < len; i++)
		if (s[i] != '*' && s[i] != '?')
			set |= 1ULL << (fold_byte(s[i], true) & 63);
	return set;
}

static void matcher_init(struct matcher *m, const struct ab_strv *patterns, bool icase)
{
	memset(m, 0, sizeof(*m));
	m->patterns = patterns;
	m->icase = icase;
	m->next = ab_alloc((patterns->len + 1) * sizeof(m->next[0]));
	m->needs = ab_alloc((patterns->len + 1) * sizeof(m->needs[0]));
	for (size_t i = 0; i < patterns->len && i < UINT16_MAX - 1; i++) {
		const char *p = patterns->v[i];
		size_t n = strlen(p);
		uint16_t *head = &m->any;

		if (n > 0 && p[0] != '*' && p[0] != '?')
			head = &m->first[fold_byte(p[0], icase)];
		else if (n > 0 && p[n - 1] != '*' && p[n - 1] != '?')
			head = &m->last[fold_byte(p[n - 1], icase)];
		m->needs[i] = make_letter_set(p, n);
		m->next[i] = *head;
		*head = (uint16_t)(i + 1);
	}
}

static void matcher_fini(struct matcher *m)
{
	ab_free_all(m->next, m->needs);
}

static bool match_chain(const struct matcher *m, uint16_t i, const char *name, size_t len,
			uint64_t has)
{
	for (; i; i = m->next[i - 1]) {
		const char *pattern = m->patterns->v[i - 1];

		if (!(m->needs[i - 1] & ~has) &&
		    ab_glob_matches(pattern, strlen(pattern), name, len, m->icase))
			return true;
	}
	return false;
}

/* `has`: the letters of the name. */
static bool match_any(const struct matcher *m, const char *name, size_t len, uint64_t has)
{
	return match_chain(m, m->first[fold_byte(name[0], m->icase)], name, len, has) ||
	       match_chain(m, m->last[fold_byte(name[len - 1], m->icase)], name, len, has) ||
	       match_chain(m, m->any, name, len, has);
}

/* The names so far: an open hash table of 1-based indexes. */
struct names {
	const struct ab_strv *env;
	uint32_t *slot;
	size_t mask;
};

static void names_init(struct names *t, const struct ab_strv *env, size_t most)
{
	size_t size = 64;

	while (size < 2 * most)
		size *= 2;
	t->env = env;
	t->slot = ab_alloc(size * sizeof(t->slot[0]));
	t->mask = size - 1;
}

/* The slot of this name: empty, or the one that holds it. */
static uint32_t *names_find(const struct names *t, const char *name, size_t len)
{
	size_t i = ab_hash(AB_HASH_START, name, len) & t->mask;

	for (; t->slot[i]; i = (i + 1) & t->mask) {
		const char *s = t->env->v[t->slot[i] - 1];

		if (strncmp(s, name, len) == 0 && s[len] == '=')
			break;
	}
	return &t->slot[i];
}

static void put_entry(uint32_t *slot, struct ab_strv *env, const char *entry)
{
	if (*slot) {
		free(env->v[*slot - 1]);
		env->v[*slot - 1] = ab_strdup(entry);
		return;
	}
	ab_strv_add(env, entry);
	*slot = (uint32_t)env->len;
}

static void set_entry(struct names *t, struct ab_strv *env, const char *entry)
{
	put_entry(names_find(t, entry, strcspn(entry, "=")), env, entry);
}

static const char *const before_set[] = {
	"TMPDIR=/tmp",
	"TMP=/tmp",
	"TEMP=/tmp",
	"TMPPREFIX=/tmp/zsh",
};
static const char after_set[] = "SANDBOX_RUNTIME=1";

/* For a box with a proxy. NO_PROXY has only the box's own addresses: clients
 * must not choose what bypasses the proxy. */
#define PROXY "127.0.0.1:61080"
#define OWN "localhost,127.0.0.1,::1"
static const char *const proxy_set[] = {
	"HTTP_PROXY=http://" PROXY,
	"http_proxy=http://" PROXY,
	"HTTPS_PROXY=http://" PROXY,
	"https_proxy=http://" PROXY,
	"FTP_PROXY=http://" PROXY,
	"ftp_proxy=http://" PROXY,
	"ALL_PROXY=socks5h://" PROXY,
	"all_proxy=socks5h://" PROXY,
	"NO_PROXY=" OWN,
	"no_proxy=" OWN,
	/* Its check for a new npm would be a denied host at the end of every `npm test`. */
	"npm_config_update_notifier=false",
};

static const struct ab_strv proxy_names = {
	.v = (char *[]){ (char *)"*_PROXY" },
	.len = 1,
};

static size_t count_entries(char *const *env)
{
	size_t n = 0;

	while (env && env[n])
		n++;
	return n;
}

static bool is_covered(const struct ab_environment_report *report, const char *entry, size_t len)
{
	ab_autofree char *name = NULL;

	if (!report || !report->covered.len)
		return false;
	name = ab_strndup(entry, len);
	return ab_strv_has(&report->covered, name);
}

/* The variable that is passed for this one; NULL: as it is. */
static char *clean_entry(const char *entry, size_t len)
{
	ab_autofree char *value = ab_secret_text_without_logins(entry + len + 1);

	return value ? ab_printf("%.*s=%s", (int)len, entry, value) : NULL;
}

static bool matches_name(const struct matcher *m, const char *entry)
{
	size_t len = strcspn(entry, "=");

	return match_any(m, entry, len, make_letter_set(entry, len));
}

void ab_environment_build(const struct ab_policy *policy, char *const *caller_env,
			  struct ab_strv *ret_env, struct ab_environment_report *report)
{
	size_t n = count_entries(caller_env);
	struct matcher strip, pass, proxy, never;
	struct names names;

	matcher_init(&strip, &policy->env.strip, true);
	matcher_init(&pass, &policy->env.pass, false);
	matcher_init(&proxy, &proxy_names, true);
	matcher_init(&never, &policy->env.never, true);
	names_init(&names, ret_env,
		   n + policy->env.set.len + AB_COUNT(before_set) + AB_COUNT(proxy_set) + 1);

	for (size_t i = 0; i < n; i++) {
		const char *entry = caller_env[i];
		size_t len = strcspn(entry, "=");
		uint64_t has = make_letter_set(entry, len);
		ab_autofree char *cleaned = NULL;
		const char *what;
		uint32_t *slot;
		bool passed, proxied, exempt;

		if (len == 0 || entry[len] != '=')
			continue;
		slot = names_find(&names, entry, len);
		if (*slot)
			continue;
		passed = match_any(&pass, entry, len, has) && !match_any(&never, entry, len, has);
		if (policy->env.only_listed && !passed)
			continue;
		if (!passed && match_any(&strip, entry, len, has)) {
			if (report)
				ab_strv_give(&report->stripped, ab_strndup(entry, len));
			continue;
		}
		proxied = match_any(&proxy, entry, len, has);
		if ((!passed || policy->net.mode == AB_NET_FILTERED) &&
		    policy->net.mode != AB_NET_ALLOWED && proxied)
			continue;
		/* With the host's own network its proxy may want a login. */
		exempt = passed || proxied || is_covered(report, entry, len);
		what = exempt ? NULL : ab_secret_text(entry + len + 1);
		if (what) {
			if (report)
				ab_strv_addf(&report->stripped, "%.*s (looks like %s)", (int)len,
					     entry, what);
			continue;
		}
		cleaned = exempt ? NULL : clean_entry(entry, len);
		if (cleaned && report)
			ab_strv_give(&report->cleaned, ab_strndup(entry, len));
		put_entry(slot, ret_env, cleaned ? cleaned : entry);
	}
	for (size_t i = 0; i < AB_COUNT(before_set); i++)
		set_entry(&names, ret_env, before_set[i]);
	if (policy->net.mode == AB_NET_FILTERED)
		for (size_t i = 0; i < AB_COUNT(proxy_set); i++)
			set_entry(&names, ret_env, proxy_set[i]);
	for (size_t i = 0; i < policy->env.set.len; i++)
		if (!matches_name(&never, policy->env.set.v[i]))
			set_entry(&names, ret_env, policy->env.set.v[i]);
	set_entry(&names, ret_env, after_set);
	ab_each(struct matcher *, matcher_fini, &strip, &pass, &proxy, &never);
	free(names.slot);
}

void ab_environment_report_fini(struct ab_environment_report *report)
{
	ab_strv_fini_all(&report->covered, &report->stripped, &report->cleaned);
}

/*
 * Variables that give a shell its prompt; "@" is the id of the run. bash runs PROMPT_COMMAND before
 * each prompt, after its start-up files have set PS1; zsh shows RPROMPT unless a file sets it. The
 * file of bash's history is hidden: each shell would end with a report that it cannot write it.
 */
static const struct {
	char shell[8], name[16], value[80];
} marks[] = {
	{ "bash", "PROMPT_COMMAND",
	  "case $PS1 in *'(box @) '*) ;; *) PS1=\"(box @) $PS1\" ;; esac" },
	{ "bash", "HISTFILE", "" },
	{ "dash", "PS1", "(box @) $ " },
	{ "ksh", "PS1", "(box @) $ " },
	{ "sh", "PS1", "(box @) $ " },
	{ "zsh", "PS1", "%~ %# " },
	{ "zsh", "RPROMPT", "(box @)" },
};

void ab_environment_mark_shell(struct ab_strv *env, const char *shell)
{
	const char *id = ab_env_get(env, "AGENTBOX");

	shell = ab_path_name(shell);
	for (size_t i = 0; id && i < AB_COUNT(marks); i++) {
		ab_autobuf struct ab_buf value = { 0 };

		if (strcmp(marks[i].shell, shell) != 0)
			continue;
		for (const char *p = marks[i].value; *p; p++)
			if (*p == '@')
				ab_buf_puts(&value, id);
			else
				ab_buf_add(&value, p, 1);
		ab_env_set(env, marks[i].name, value.len ? value.data : "");
	}
}
