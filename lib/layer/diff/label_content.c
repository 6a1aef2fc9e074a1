#include "base/text/text_diff.h"
#include "base/text/words.h"
#include "layer/diff/label_state.h"
#include "policy/values/providers.h"

enum {
	CHECKS = 64,	  /* lines that are looked up in the old text */
	TOKEN_MIN = 16,	  /* behind a known prefix */
	TOKEN_MAX = 128,  /* bytes that are looked at */
	VALUE_MIN = 16,	  /* of an assignment */
	DISTINCT_MIN = 9, /* different characters in it */
};

/* The line at `p`, without its end; *next is the one behind it. */
static size_t measure_line(const char *p, const char *end, const char **next)
{
	const char *nl = memchr(p, '\n', (size_t)(end - p));
	size_t len = (size_t)((nl ? nl : end) - p);

	*next = nl ? nl + 1 : end;
	return len && p[len - 1] == '\r' ? len - 1 : len;
}

/* Line by line: a search for the text would find hostile ones at every byte. */
static bool is_line_of(const struct ab_label_side *side, const char *line, size_t len)
{
	const char *p = side->data, *end = side->data ? side->data + side->len : NULL;

	while (p < end) {
		const char *next;

		if (measure_line(p, end, &next) == len && memcmp(p, line, len) == 0)
			return true;
		p = next;
	}
	return false;
}

const char *ab_label_new_line(const struct ab_label_input *in, ab_label_line_fn *fn, void *arg,
			      size_t *ret_len)
{
	const char *p = in->fresh.data, *end = p + in->fresh.len;
	size_t checks = 0;

	while (p < end) {
		const char *next;
		size_t len = measure_line(p, end, &next);

		if (fn(arg, p, len) && (checks++ >= CHECKS || !is_line_of(&in->old, p, len))) {
			*ret_len = len;
			return p;
		}
		p = next;
	}
	return NULL;
}

/* Blanks, tabs and what belongs to the writing of a language or to an emoji are usual. */
static bool is_usual(uint32_t c, uint32_t before)
{
	if (!ab_utf8_hidden(c))
		return true;
	if (c == '\t' || c == '\f' || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) ||
	    c == 0x202f || c == 0x205f || c == 0x2800 || c == 0x3000)
		return true;
	if (c == 0x200c || c == 0x200d || (c >= 0xfe00 && c <= 0xfe0f))
		return before >= 0x80 || c == 0xfe0f;
	return false;
}

struct hidden {
	const char *text; /* where a byte order mark is usual */
	uint32_t found;
};

static bool finds_hidden(void *arg, const char *line, size_t len)
{
	struct hidden *h = arg;
	uint32_t before = 0;

	for (const char *p = line, *end = line + len; p < end;) {
		uint32_t c;
		size_t n = ab_utf8_get(p, (size_t)(end - p), &c);

		/* Invalid UTF-8 is another encoding, and shown as \xNN. */
		if (n && !is_usual(c, before) && !(c == 0xfeff && p == h->text)) {
			h->found = c;
			return true;
		}
		before = n ? c : 0xff;
		p += n ? n : 1;
	}
	return false;
}

static void check_hidden(const struct ab_label_input *in, struct ab_label_hits *hits)
{
	struct hidden h = { .text = in->fresh.data };
	char detail[16];
	size_t len;

	if (!ab_label_new_line(in, finds_hidden, &h, &len))
		return;
	snprintf(detail, sizeof(detail), "U+%04X", h.found);
	ab_label_add(hits, AB_LABEL_HIDDEN, NULL, detail);
}

/* Prefixes of keys that no provider has. */
static const char key_prefixes[] =
	"AKIA ASIA glpat- gldt- xoxb- xoxp- xoxa- xapp- npm_ pypi- hvs. dop_v1_ SG. ya29. GOCSPX- "
	"shpat_ sk_live_ rk_live_ glsa_ dckr_pat_ sk-";

/* In names of settings that hold credentials, in lower case. */
static const char key_words[] = "password passwd secret token api_key apikey api-key private_key "
				"access_key auth_key credential";

/* A value that stands for another one. */
static const char sample_words[] =
	"example xxxx your placeholder changeme dummy redacted 0123456789 ...";

static bool is_key_byte(char c)
{
	return ab_is_alnum((unsigned char)c) || c == '_' || c == '-' || c == '.' || c == '+' ||
	       c == '/' || c == '=';
}

static bool contains_folded(const char *p, size_t len, const char *word, size_t n)
{
	for (size_t i = 0; i + n <= len; i++) {
		size_t k = 0;

		while (k < n && ab_lower((unsigned char)p[i + k]) == word[k])
			k++;
		if (k == n)
			return true;
	}
	return false;
}

static bool contains_any(const char *p, size_t len, const char *words)
{
	const char *word;

	for (size_t n; (word = ab_word_next(&words, &n));)
		if (contains_folded(p, len, word, n))
			return true;
	return false;
}

/* Letters and digits, many different ones, and not an example. */
static bool is_random(const char *p, size_t len)
{
	bool seen[256] = { 0 }, letter = false, digit = false;
	size_t distinct = 0;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)p[i];

		distinct += !seen[c];
		seen[c] = true;
		digit |= ab_is_digit(c);
		letter |= ab_is_alnum(c) && !ab_is_digit(c);
	}
	return letter && digit && distinct >= DISTINCT_MIN && !contains_any(p, len, sample_words);
}

/* The length of the longest known prefix at `p`; 0: there is none. */
static size_t match_prefix(const char *p, size_t len)
{
	const char *list = key_prefixes, *known;
	const struct ab_provider *provider;
	size_t best = 0;

	for (size_t n; (known = ab_word_next(&list, &n));)
		if (*p == *known && n > best && n <= len && memcmp(p, known, n) == 0)
			best = n;
	for (size_t i = 0; (provider = ab_provider_at(i)); i++)
		for (size_t k = 0; k < AB_PROVIDER_PREFIXES && provider->prefixes[k][0]; k++) {
			const char *prefix = provider->prefixes[k];
			size_t n = strlen(prefix);

			if (*p == *prefix && n > best && n <= len && memcmp(p, prefix, n) == 0)
				best = n;
		}
	return best;
}

static bool is_known_key(const char *p, size_t len)
{
	size_t prefix = match_prefix(p, len), n = prefix;

	if (!prefix)
		return false;
	while (n < len && n < TOKEN_MAX && is_key_byte(p[n]))
		n++;
	return n - prefix >= TOKEN_MIN && is_random(p + prefix, n - prefix);
}

/* NAME = "value" or NAME: value, and the name says what it is. */
static bool assigns_key(const char *line, size_t len)
{
	size_t name = 0, at, n = 0;

	while (name < len && line[name] != '=' && line[name] != ':')
		name++;
	at = name + 1;
	while (at < len && strchr(" \t:=\"'`>", line[at]))
		at++;
	while (at + n < len && is_key_byte(line[at + n]))
		n++;
	if (at >= len || n < VALUE_MIN || !is_random(line + at, n) ||
	    (at + n < len && !strchr("\"'`, \t;)}]", line[at + n])))
		return false;
	return contains_any(line, name, key_words);
}

static bool finds_secret(void *arg, const char *line, size_t len)
{
	bool boundary = true;

	(void)arg;
	for (size_t i = 0; i + TOKEN_MIN < len; i++) {
		if (boundary && ab_is_alnum((unsigned char)line[i]) &&
		    is_known_key(line + i, len - i))
			return true;
		boundary = !ab_is_alnum((unsigned char)line[i]) && line[i] != '-' && line[i] != '_';
	}
	if (memmem(line, len, "-----BEGIN ", 11) && memmem(line, len, "PRIVATE KEY", 11))
		return true;
	return assigns_key(line, len);
}

static bool has_media_name(const char *name)
{
	static const char ends[] =
		"png jpg jpeg gif webp bmp ico cur tif tiff woff woff2 ttf otf ttc eot ogg oga opus "
		"mp3 flac wav avi mp4 m4a m4v mov heic avif pdf psd";
	const char *dot = strrchr(name, '.');

	return dot && dot > name && ab_word_listed(ends, dot + 1, strlen(dot + 1));
}

/* Does it begin like a picture, a font, a sound or a document? Such a file is not a program by
 * itself, and new ones are usual. */
static bool is_media(const char *data, size_t len)
{
	static const char starts[][9] = {
		"\x89PNG\r\n", "\xff\xd8\xff", "GIF87a", "GIF89a", "RIFF", "BM",
		"II*",	       "MM",	       "wOFF",	 "wOF2",   "OTTO", "true",
		"OggS",	       "ID3",	       "fLaC",	 "%PDF-",  "8BPS",
	};
	/* With NUL bytes: icons, TrueType fonts. */
	static const char zeros[][4] = { { 0, 0, 1, 0 }, { 0, 1, 0, 0 } };

	for (size_t i = 0; i < AB_COUNT(starts); i++)
		if (len > strlen(starts[i]) && memcmp(data, starts[i], strlen(starts[i])) == 0)
			return true;
	for (size_t i = 0; i < AB_COUNT(zeros); i++)
		if (len > sizeof(zeros[i]) && memcmp(data, zeros[i], sizeof(zeros[i])) == 0)
			return true;
	return len > 8 && memcmp(data + 4, "ftyp", 4) == 0;
}

static bool adds_filter(void *arg, const char *line, size_t len)
{
	(void)arg;
	return memmem(line, len, "filter", 6) || memmem(line, len, "diff=", 5) ||
	       memmem(line, len, "merge=", 6);
}

void ab_label_content(const struct ab_label_input *in, const char *name, struct ab_label_hits *hits)
{
	const struct ab_change *c = in->change;
	bool old_binary = in->old.data && ab_is_binary(in->old.data, in->old.len);
	size_t len;

	if (c->is != AB_TYPE_FILE || c->kind == AB_CHANGE_MODE)
		return;
	if (!in->fresh.data) {
		ab_label_add(hits, AB_LABEL_UNCHECKED, NULL, NULL);
		return;
	}
	/* git reads lines, whatever else is in the file. */
	if (strcmp(name, ".gitattributes") == 0 && ab_label_new_line(in, adds_filter, NULL, &len))
		ab_label_add(hits, AB_LABEL_GIT, "git", "chooses filters or drivers");
	if (ab_is_binary(in->fresh.data, in->fresh.len)) {
		if (c->was == AB_TYPE_FILE || !has_media_name(name) ||
		    !is_media(in->fresh.data, in->fresh.len))
			ab_label_add(hits, AB_LABEL_BINARY, NULL, NULL);
		return;
	}
	if (old_binary)
		ab_label_add(hits, AB_LABEL_BINARY, NULL, NULL);
	if (in->fresh.cut)
		ab_label_add(hits, AB_LABEL_UNCHECKED, NULL, NULL);
	check_hidden(in, hits);
	/* The value itself is shown in the diff, and nowhere else. */
	if (ab_label_new_line(in, finds_secret, NULL, &len))
		ab_label_add(hits, AB_LABEL_SECRET, NULL, NULL);
}
