#include "proxy/dial/upstream.h"

#include <strings.h>

#include "base/text/base64.h"
#include "policy/values/cidr.h"
#include "policy/values/complaint.h"
#include "policy/values/proxy_url.h"
#include "proxy/dial/hosts_file.h"
#include "proxy/wire/http.h"

enum {
	LOGIN_MAX = 1024, /* user, colon and password */
	BYPASS_MAX = 64 * 1024,
};

/* From the URL's "user:password". A colon in the user name would be taken for
 * the separator. */
static char *make_credentials(const char *s, size_t len)
{
	ab_autobuf struct ab_buf login = { 0 };
	ab_autobuf struct ab_buf text = { 0 };
	const char *colon = memchr(s, ':', len);
	size_t user = colon ? (size_t)(colon - s) : len;
	size_t rest = colon ? len - user - 1 : 0;
	bool good;

	good = ab_percent_add(&login, s, user, false) && login.len > 0 &&
	       !memchr(login.data, ':', login.len);
	ab_buf_puts(&login, ":");
	good = good && (!rest || ab_percent_add(&login, colon + 1, rest, false)) &&
	       login.len <= LOGIN_MAX;
	if (good) {
		ab_buf_puts(&text, "Basic ");
		ab_base64_add(&text, login.data, login.len, AB_BASE64_STANDARD, true);
	}
	explicit_bzero(login.data, login.len);
	return good ? ab_buf_take(&text) : NULL;
}

static int fail_upstream(struct ab_error *err, const char *what)
{
	ab_fail(err, AB_ECONFIG, 0, "upstream proxy: %s", what);
	return ab_hint(
		err,
		"use http://[user:password@]host:port, with special characters of the password as %%XX");
}

/* Schemes that other programs accept and agentbox does not. */
static bool is_unsupported_scheme(const char *url)
{
	static const char *const schemes[] = { "https://",   "socks://",  "socks4://",
					       "socks4a://", "socks5://", "socks5h://" };

	for (size_t i = 0; i < AB_COUNT(schemes); i++)
		if (strncasecmp(url, schemes[i], strlen(schemes[i])) == 0)
			return true;
	return false;
}

int ab_upstream_parse(const char *text, struct ab_upstream **ret, struct ab_error *err)
{
	ab_autofree char *credentials = NULL;
	struct ab_proxy_url url;
	struct ab_complaint why;

	if (is_unsupported_scheme(text))
		return fail_upstream(err, "only http:// proxies are supported, not https or SOCKS");
	if (ab_proxy_url_parse(text, strlen(text), &url, &why) < 0)
		return fail_upstream(err, why.wrong);
	if (url.user_len) {
		credentials = make_credentials(url.user, url.user_len);
		if (!credentials)
			return fail_upstream(err, "invalid user name or password");
	}
	*ret = ab_alloc(sizeof(**ret));
	(*ret)->host = url.host;
	(*ret)->port = url.port;
	(*ret)->credentials = ab_take(credentials);
	(*ret)->from = "--upstream or network.upstream";
	return 0;
}

int ab_upstream_choose(const char *setting, char *const *env, struct ab_upstream **ret,
		       struct ab_error *err)
{
	if (strcmp(setting, "none") == 0)
		return 0;
	return strcmp(setting, "env") == 0 ? ab_upstream_from_env(env, ret, err)
					   : ab_upstream_parse(setting, ret, err);
}

void ab_upstream_free(struct ab_upstream *u)
{
	if (!u)
		return;
	ab_free_wiped(u->credentials);
	ab_free_all(u->bypass, u);
}

/* The first of these variables that is set and not empty. */
static const char *find_first_set(char *const *env, const char *const *names, size_t n,
				  const char **ret_name)
{
	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(names[i]);

		for (char *const *e = env; *e; e++) {
			if (strncmp(*e, names[i], len) != 0 || (*e)[len] != '=' || !(*e)[len + 1])
				continue;
			*ret_name = names[i];
			return *e + len + 1;
		}
	}
	return NULL;
}

int ab_upstream_from_env(char *const *env, struct ab_upstream **ret, struct ab_error *err)
{
	/* Nearly all traffic is https, so its variable comes first. */
	static const char *const names[] = { "HTTPS_PROXY", "https_proxy", "HTTP_PROXY",
					     "http_proxy",  "ALL_PROXY",   "all_proxy" };
	static const char *const no[] = { "NO_PROXY", "no_proxy" };
	const char *name, *url = find_first_set(env, names, AB_COUNT(names), &name);
	const char *bypass;

	*ret = NULL;
	if (!url)
		return 0;
	if (ab_upstream_parse(url, ret, err) < 0)
		return ab_wrap(err, "%s", name);
	(*ret)->from = name;
	bypass = find_first_set(env, no, AB_COUNT(no), &name);
	if (bypass && strlen(bypass) > BYPASS_MAX) {
		ab_upstream_free(ab_take(*ret));
		return ab_fail(err, AB_ECONFIG, 0, "%s is too long", name);
	}
	(*ret)->bypass = ab_strdup(bypass);
	return 0;
}

/* Does one item of NO_PROXY match? */
static bool item_matches(const char *s, size_t len, const struct ab_host *host, uint16_t port)
{
	struct ab_host_entry e;
	struct ab_cidr range;

	if (len == 1 && *s == '*')
		return true;
	if (host->kind != AB_HOST_NAME)
		return ab_cidr_parse(s, len, &range, NULL) == 0 && ab_cidr_has(&range, host, port);
	if (len > 1 && *s == '*' && s[1] == '.') {
		s++;
		len--;
	}
	if (len > 1 && *s == '.') {
		s++;
		len--;
	}
	if (ab_host_entry_parse(s, len, &e, NULL) < 0 || e.below)
		return false;
	if (ab_host_entry_denies(&e, host, port)) /* no port: any port */
		return true;
	e.below = e.host.kind == AB_HOST_NAME;
	return ab_host_entry_denies(&e, host, port);
}

bool ab_upstream_bypasses(const struct ab_upstream *u, const struct ab_host *host, uint16_t port)
{
	static const char gaps[] = ", \t";
	const char *s = u->bypass ? u->bypass : "";

	/* The upstream would take it for its own machine. */
	if (ab_host_is_local(host))
		return true;
	for (s += strspn(s, gaps); *s; s += strspn(s, gaps)) {
		size_t n = strcspn(s, gaps);

		if (item_matches(s, n, host, port))
			return true;
		s += n;
	}
	return false;
}

char *ab_upstream_request(const struct ab_upstream *u, const struct ab_host *host, uint16_t port)
{
	bool v6 = host->kind == AB_HOST_IPV6;
	ab_autofree char *target =
		ab_printf("%s%s%s:%u", v6 ? "[" : "", host->text, v6 ? "]" : "", port);

	return ab_printf("CONNECT %s HTTP/1.1\r\nHost: %s\r\n%s%s%s\r\n", target, target,
			 u->credentials ? "Proxy-Authorization: " : "",
			 u->credentials ? u->credentials : "", u->credentials ? "\r\n" : "");
}

ssize_t ab_upstream_reply(const char *data, size_t len, int *ret_status)
{
	static const char start[] = "HTTP/1.";
	size_t begun = len < sizeof(start) - 1 ? len : sizeof(start) - 1;
	struct ab_http_response reply;
	struct ab_http_scan scan = { 0 };
	ssize_t n;

	/* Fail early if this cannot become a reply. */
	if (memcmp(data, start, begun) != 0)
		return -1;
	n = ab_http_read_response(&scan, data, len, false, &reply);
	if (n < 0 || n > AB_UPSTREAM_HEAD || (n == 0 && len >= AB_UPSTREAM_HEAD))
		return -1;
	if (n > 0)
		*ret_status = reply.status;
	return n;
}
