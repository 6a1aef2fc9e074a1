#include "policy/values/idna.h"

#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "tap.h"

/* RFC 3492, section 7.1, and names that are registered; out NULL: refused. */
static const struct {
	const char *in, *out;
} names[] = {
	{ "example.com", "example.com" },
	{ "b\u00fccher.example", "xn--bcher-kva.example" },
	{ "B\u00dcCHER.example", "xn--bcher-kva.example" },
	{ "m\u00fcnchen.\u00f6sterreich", "xn--mnchen-3ya.xn--sterreich-z7a" },
	{ "\u0141\u00f3d\u017a.pl", "xn--d-uga0v4h.pl" },
	{ "vi\u1ec7tnam.vn", "xn--vitnam-jk8b.vn" },
	{ "\u0395\u039b\u039b\u03ac\u03b4\u03b1", "xn--hxakic4aa" },
	{ "\u0423\u041a\u0420\u0410\u0407\u041d\u0410", "xn--80aa2annq7l" },
	{ "\u05d9\u05e9\u05e8\u05d0\u05dc", "xn--4dbrk0ce" },
	{ "\u0645\u0635\u0631", "xn--wgbh1c" },
	{ "\u10d2\u10d4", "xn--node" },
	{ "\u4e2d\u56fd.cn", "xn--fiqs8s.cn" },
	{ "\u4ed6\u4eec\u4e3a\u4ec0\u4e48\u4e0d\u8bf4\u4e2d\u6587",
	  "xn--ihqwcrb4cv8a8dqg056pqjye" },
	{ "3\u5e74b\u7d44\u91d1\u516b\u5148\u751f", "xn--3b-ww4c5e180e575a65lsy2b" },
	{ "\u305d\u306e\u30b9\u30d4\u30fc\u30c9\u3067", "xn--d9juau41awczczp" },
	{ "\ud55c\uad6d.kr", "xn--3e0b707e.kr" },
	{ "a-\u00fc-1", "xn--a--1-1ra" },
	{ "\u00fc.", "xn--tda." },

	/* deviations, and letters that become several or none */
	{ "stra\u00dfe", NULL },
	{ "\u03bb\u03cc\u03b3\u03bf\u03c2", NULL },
	{ "\u0130stanbul", NULL },
	{ "\ufb01le", NULL },
	{ "a\u200db\u00fc", NULL },
	{ "\u00fc\u00ad", NULL },
	/* a letter and its mark, which would have to be composed */
	{ "bu\u0308cher", NULL },
	/* other dots, and full width */
	{ "b\u00fccher\u3002example", NULL },
	{ "\uff41\u00fc", NULL },
	/* scripts side by side */
	{ "p\u0430ypal", NULL },
	{ "\u0430\u03b2", NULL },
	{ "\u05d0a", NULL },
	{ "-\u00fc", NULL },
	{ "\u00fc-", NULL },
	{ "xn--\u00fc", NULL },
	{ "\u00fc b", NULL },
	{ "\u00fc_b", NULL },
	{ "\xc3", NULL },
	{ "\xc0\xaf", NULL },
	{ "\xed\xa0\x80", NULL },
};

static void test_names(void)
{
	for (size_t i = 0; i < AB_COUNT(names); i++) {
		const char *in = names[i].in, *why = NULL;
		char out[AB_IDNA_TEXT] = "";
		size_t n = strlen(in);
		/* Exactly as long as it is: reading past it is seen. */
		char *copy = ab_strndup(in, n);
		int r;

		copy = realloc(copy, n);
		r = ab_idna_fold(copy, n, out, &why);
		if (names[i].out)
			is_str(r == 0 ? out : why, names[i].out, in);
		else
			ok(r < 0 && why, "refused: \"%s\"", in);
		free(copy);
	}
}

/* Whatever is accepted is lower-case ASCII, and folding it again changes nothing. */
static void test_every_character(void)
{
	int taken = 0, wrong = 0;

	for (uint32_t c = 0x80; c <= 0x10ffff; c++) {
		char in[4], out[AB_IDNA_TEXT], again[AB_IDNA_TEXT];
		const char *why;
		size_t n = ab_utf8_put(c, in);

		if (ab_idna_fold(in, n, out, &why) < 0)
			continue;
		taken++;
		wrong += strncmp(out, "xn--", 4) != 0 ||
			 strspn(out, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(out) ||
			 ab_idna_fold(out, strlen(out), again, &why) < 0 || strcmp(out, again) != 0;
	}
	ok(taken > 30000 && wrong == 0, "%d characters become ASCII once and for all", taken);
}

static void test_lengths(void)
{
	char in[600] = "", out[AB_IDNA_TEXT];
	const char *why;

	for (int i = 0; i < 56; i++)
		strcat(in, "a");
	strcat(in, "\u00fc");
	ok(ab_idna_fold(in, strlen(in), out, &why) < 0, "a label of 64 bytes is too long");
	ok(ab_idna_fold(in + 1, strlen(in) - 1, out, &why) == 0 && strlen(out) == 63,
	   "one of 63 is not");
	in[0] = '\0';
	for (int i = 0; i < 64; i++)
		strcat(in, "\u4e2d");
	ok(ab_idna_fold(in, strlen(in), out, &why) < 0, "64 characters are too many");
	in[0] = '\0';
	for (int i = 0; i < 31; i++)
		strcat(in, "\u00fc.");
	ok(ab_idna_fold(in, strlen(in), out, &why) == 0 && strlen(out) == 248, "a long name");
	strcat(in, "abcde");
	ok(ab_idna_fold(in, strlen(in), out, &why) == 0 && strlen(out) == 253, "a name of 253");
	strcat(in, ".f");
	ok(ab_idna_fold(in, strlen(in), out, &why) < 0, "a longer one is refused");
}

int main(void)
{
	test_names();
	test_every_character();
	test_lengths();
	return done();
}
