#include "policy/values/proxy_url.h"

#include <stdio.h>

#include "base/data/mem.h"
#include "policy/values/complaint.h"
#include "tap.h"

static const struct {
	const char *in, *out, *shown;
} urls[] = {
	{ "http://proxy.example:3128", "http://proxy.example:3128", "http://proxy.example:3128" },
	{ "HTTP://Proxy.Example.:3128/", "http://proxy.example:3128", "http://proxy.example:3128" },
	{ "http://127.1:8080", "http://127.0.0.1:8080", "http://127.0.0.1:8080" },
	{ "http://[::1]:8080", "http://[::1]:8080", "http://[::1]:8080" },
	{ "http://[::ffff:10.0.0.1]:1", "http://10.0.0.1:1", "http://10.0.0.1:1" },
	{ "http://u@p.example:1", "http://u@p.example:1", "http://***@p.example:1" },
	{ "http://u:hunter2@p.example:1", "http://u:hunter2@p.example:1",
	  "http://***@p.example:1" },
	{ "http://u:hunter2%40x!$@[2001:db8::1]:1/", "http://u:hunter2%40x!$@[2001:db8::1]:1",
	  "http://***@[2001:db8::1]:1" },
};

static void test_good(void)
{
	for (size_t i = 0; i < AB_COUNT(urls); i++) {
		ab_autofree char *text = NULL, *again = NULL, *shown = NULL;
		struct ab_proxy_url u, v;

		if (ab_proxy_url_parse(urls[i].in, strlen(urls[i].in), &u, NULL) == 0)
			text = ab_proxy_url_format(&u);
		is_str(text, urls[i].out, urls[i].in);
		if (text && ab_proxy_url_parse(text, strlen(text), &v, NULL) == 0)
			again = ab_proxy_url_format(&v);
		is_str(again, text, "the canonical text is itself");
		shown = ab_proxy_url_redact(urls[i].out);
		is_str(shown, urls[i].shown, "what people see of it");
	}
}

/* clang-format off */
static const char *const bad[] = {
	"", "x", "http://", "http:///", "http://proxy.example",
	"http://hunter2", "http://u:hunter2", "http://u:hunter2@",
	"http://u:hunter2@p.example", "http://u:hunter2@p.example:0",
	"http://u:hunter2@p.example:99999", "http://u:hunter2@:80",
	"http://u:hun ter2@p.example:1", "http://u:hunter2%@p.example:1",
	"http://u:hunter2%zz@p.example:1", "http://u@hunter2@p.example:1",
	"http://u:hunter2\n@p.example:1", "http://u/hunter2@p.example:1",
	"http://@p.example:1", "https://u:hunter2@p.example:1",
	"socks5://u:hunter2@p.example:1", "u:hunter2@p.example:1",
	"http://p.example:1/hunter2", "http://p.example:1?hunter2",
	"http://p.example:1#hunter2", "http://*.example:1",
	"http://10.0.0.0/8:1", "http://p.example:1//",
	"http://u:hunter2@p..q.example:1", "http://hunter2\xc3\xbc@p.example:1",
};
/* clang-format on */

static void test_bad(void)
{
	struct ab_proxy_url u;
	char text[2200];

	for (size_t i = 0; i < AB_COUNT(bad); i++) {
		struct ab_complaint why = { .wrong = "", .right = "" };

		ok(ab_proxy_url_parse(bad[i], strlen(bad[i]), &u, &why) < 0 && why.wrong[0] &&
			   why.right[0] && !strstr(why.wrong, "hunter2") &&
			   !strstr(why.right, "hunter2"),
		   "refused, and not quoted: case %zu", i);
	}
	ok(ab_proxy_url_parse("http://u\0:p@p.example:1", 23, &u, NULL) < 0,
	   "a NUL inside is refused");
	memset(text, 'a', sizeof(text));
	memcpy(text, "http://", 7);
	memcpy(text + sizeof(text) - 13, "@p.example:12", 13);
	ok(ab_proxy_url_parse(text, sizeof(text), &u, NULL) < 0, "so is one that is too long");
}

/* Cut at every byte: never a longer host or another port than was written. */
static void test_cut(void)
{
	static const char whole[] = "http://u:hunter2@proxy.example:31289";
	size_t wrong = 0, taken = 0;

	for (size_t n = 0; n < strlen(whole); n++) {
		char *copy = malloc(n ? n : 1);
		struct ab_proxy_url u;

		memcpy(copy, whole, n);
		if (ab_proxy_url_parse(copy, n, &u, NULL) == 0) {
			taken++;
			wrong += strcmp(u.host.text, "proxy.example") != 0;
		}
		free(copy);
	}
	ok(wrong == 0 && taken == 4, "a cut one has what is left of its port");
}

int main(void)
{
	test_good();
	test_bad();
	test_cut();
	return done();
}
