#include "policy/values/secret_text.h"

#include "policy/values/providers.h"

enum {
	WORD_MIN = 20, /* real keys are longer */
	/* After a prefix that ordinary words may have ("sk-", "hf_"). */
	WORD_LONG = 32,
	PREFIX_SHORT = 4,
};

/* Beginnings of keys, besides those of the providers. */
static const struct {
	char prefix[20];
	const char what[28];
} known[] = {
	{ "glpat-", "a token of GitLab" },	  { "xoxb-", "a token of Slack" },
	{ "xoxp-", "a token of Slack" },	  { "xoxa-", "a token of Slack" },
	{ "xapp-", "a token of Slack" },	  { "sk_live_", "a key of Stripe" },
	{ "sk_test_", "a key of Stripe" },	  { "rk_live_", "a key of Stripe" },
	{ "whsec_", "a key of Stripe" },	  { "shpat_", "a token of Shopify" },
	{ "dop_v1_", "a token of DigitalOcean" }, { "hvs.", "a token of Vault" },
	{ "ya29.", "a token of Google" },	  { "GOCSPX-", "a secret of Google" },
	{ "SG.", "a key of SendGrid" },		  { "ATATT3x", "a token of Atlassian" },
	{ "lin_api_", "a key of Linear" },	  { "figd_", "a token of Figma" },
	{ "tskey-", "a key of Tailscale" },	  { "dckr_pat_", "a token of Docker" },
	{ "AGE-SECRET-KEY-1", "a private key" },
};

/* Addresses that are a credential themselves. */
static const char *const webhooks[] = {
	"hooks.slack.com/services/",
	"discord.com/api/webhooks/",
	"discordapp.com/api/webhooks/",
};

static bool in_word(char c)
{
	return ab_is_alnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

/* Keys are random: letters and digits after their prefix. Some have no digit, by chance or always
 * (Hugging Face), but then capital and small letters. */
static bool looks_random(const char *s, size_t len)
{
	size_t digits = 0, capitals = 0, letters = 0;

	for (size_t i = 0; i < len; i++) {
		digits += ab_is_digit(s[i]);
		capitals += s[i] >= 'A' && s[i] <= 'Z';
		letters += !ab_is_digit(s[i]) && ab_is_alnum((unsigned char)s[i]);
	}
	return letters >= 4 && (digits >= 2 || (capitals >= 3 && letters - capitals >= 3));
}

static bool has_prefix(const char *s, size_t len, const char *prefix)
{
	size_t n;

	/* Nearly all differ in the first byte. */
	if (!prefix[0] || s[0] != prefix[0])
		return false;
	n = strlen(prefix);
	return len >= (n < PREFIX_SHORT ? WORD_LONG : WORD_MIN) && memcmp(s, prefix, n) == 0 &&
	       looks_random(s + n, len - n);
}

/* AKIA or ASIA and 16 more capital letters and digits. */
static bool is_aws_id(const char *s, size_t len)
{
	if (len != 20 || (memcmp(s, "AKIA", 4) != 0 && memcmp(s, "ASIA", 4) != 0))
		return false;
	for (size_t i = 4; i < len; i++)
		if (!ab_is_digit(s[i]) && (s[i] < 'A' || s[i] > 'Z'))
			return false;
	return true;
}

/* Two objects of JSON in base64, and a signature. */
static bool is_web_token(const char *s, size_t len)
{
	const char *dot;

	if (len < WORD_LONG || memcmp(s, "eyJ", 3) != 0)
		return false;
	dot = memchr(s, '.', len);
	return dot && len - (size_t)(dot - s) > 4 && memcmp(dot, ".eyJ", 4) == 0;
}

static const char *judge_word(const char *s, size_t len)
{
	const struct ab_provider *p;

	if (len < WORD_MIN)
		return NULL;
	if (is_aws_id(s, len))
		return "a key of AWS";
	if (is_web_token(s, len))
		return "a web token";
	for (size_t i = 0; i < AB_COUNT(known); i++)
		if (has_prefix(s, len, known[i].prefix))
			return known[i].what;
	for (size_t i = 0; (p = ab_provider_at(i)); i++)
		for (size_t k = 0; k < AB_PROVIDER_PREFIXES; k++)
			if (has_prefix(s, len, p->prefixes[k]))
				return "a key of a known service";
	return NULL;
}

const char *ab_secret_text(const char *text)
{
	const char *begin = strstr(text, "-----BEGIN ");

	if (begin && strstr(begin, "PRIVATE KEY"))
		return "a private key";
	for (size_t i = 0; i < AB_COUNT(webhooks); i++)
		if (strstr(text, webhooks[i]))
			return "a webhook";
	while (*text) {
		size_t n = 0;
		const char *what;

		while (in_word(text[n]))
			n++;
		what = judge_word(text, n);
		if (what)
			return what;
		text += n ? n : 1;
	}
	return NULL;
}

char *ab_cut_logins(const char *text, ab_login_fn *measure)
{
	ab_autobuf struct ab_buf out = { .wipe = true };
	const char *p = text, *mark;
	bool any = false;

	while ((mark = strstr(p, "://"))) {
		size_t login = measure(text, mark + 3);

		any |= login > 0;
		ab_buf_add(&out, p, (size_t)(mark + 3 - p));
		p = mark + 3 + login;
	}
	ab_buf_puts(&out, p);
	return any ? ab_strdup(out.data) : NULL;
}

/* "user:password@" */
static size_t measure_login(const char *text, const char *s)
{
	size_t end = strcspn(s, "/?#, \t\r\n\"'<>"), at = 0, colon;

	(void)text;
	for (size_t i = 0; i < end; i++)
		if (s[i] == '@')
			at = i;
	colon = strcspn(s, ":");
	return at && colon + 1 < at ? at + 1 : 0;
}

char *ab_secret_text_without_logins(const char *text)
{
	return strstr(text, "://") ? ab_cut_logins(text, measure_login) : NULL;
}
