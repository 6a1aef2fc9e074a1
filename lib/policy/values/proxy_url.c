#include "policy/values/proxy_url.h"

#include <strings.h>

#include "policy/values/complaint.h"

#define SCHEME "http://"

enum { URL_MAX = 2048 };

/* Unreserved characters, sub-delimiters and ":" of RFC 3986, or %XX. */
static bool is_user(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (s[i] == '%') {
			if (ab_percent(s + i, len - i) < 0)
				return false;
			i += 2;
		} else if (!ab_is_alnum(s[i]) && (!s[i] || !strchr("-._~!$&'()*+,;=:", s[i]))) {
			return false;
		}
	}
	return len > 0;
}

int ab_proxy_url_parse(const char *s, size_t len, struct ab_proxy_url *ret_url,
		       struct ab_complaint *why)
{
	static const char form[] = "use none, env or http://[user:password@]host:port";
	size_t lead = strlen(SCHEME);
	struct ab_proxy_url url = { .user = "" };
	struct ab_host_entry e;
	const char *at;

	if (len > lead && strncasecmp(s, "https://", lead + 1) == 0)
		return ab_complaint_say(why, form,
					"the proxy itself must be reached over plain HTTP");
	if (len <= lead || len > URL_MAX || strncasecmp(s, SCHEME, lead) != 0)
		return ab_complaint_say(why, form, "not an HTTP proxy URL");
	s += lead;
	len -= lead;
	if (s[len - 1] == '/')
		len--;
	at = memrchr(s, '@', len);
	if (at) {
		url.user = s;
		url.user_len = (size_t)(at - s);
		len -= url.user_len + 1;
		s = at + 1;
		if (!is_user(url.user, url.user_len))
			return ab_complaint_say(
				why, "write it as %XX",
				"the proxy's user name or password has a character that a URL cannot contain");
	}
	if (memchr(s, '/', len) || ab_host_entry_parse(s, len, &e, NULL) < 0 || e.below)
		return ab_complaint_say(why, form, "not an HTTP proxy URL");
	if (!e.port)
		return ab_complaint_say(why, "use http://host:port", "the proxy URL has no port");
	url.host = e.host;
	url.port = e.port;
	*ret_url = url;
	return 0;
}

char *ab_proxy_url_format(const struct ab_proxy_url *url)
{
	bool v6 = url->host.kind == AB_HOST_IPV6;

	return ab_printf(SCHEME "%.*s%s%s%s%s:%u", (int)url->user_len, url->user,
			 url->user_len ? "@" : "", v6 ? "[" : "", url->host.text, v6 ? "]" : "",
			 url->port);
}

char *ab_proxy_url_redact(const char *text)
{
	const char *at = strrchr(text, '@');

	return at ? ab_printf(SCHEME "***%s", at) : ab_strdup(text);
}
