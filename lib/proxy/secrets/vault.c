#include "proxy/secrets/vault.h"

#include <sys/random.h>

#include "base/text/sha256.h"
#include "proxy/io/tls_rsa.h"
#include "proxy/secrets/locked_pages.h"
#include "proxy/secrets/signatures.h"
#include "proxy/wire/http.h"

enum {
	CHANCE = 22,   /* characters out of 62: 130 bits */
	RESERVED = 48, /* length of a placeholder without a value */
	/* The form of an access key id, "AKIA" or, if it is temporary, "ASIA" and 16 letters. */
	ID_PREFIX = 4,
	ID_LEN = 20,
};

struct former {
	const char *pages;
	size_t len;
};

struct slot {
	struct ab_vault_entry entry;
	struct former former[AB_VAULT_FORMER];
	unsigned rotated;
	char retired[AB_VAULT_RETIRED][CHANCE + 1]; /* letters of replaced placeholders, or "" */
	struct ab_host_entry *hosts;
	size_t nhosts;
};

struct ab_vault {
	size_t len;
	struct slot *slots;
	struct ab_finder *placeholders;
	uint8_t *seed; /* pages, or NULL */
	const char *scope;
	struct ab_signatures *signatures;
};

static int read_hosts(struct slot *slot, struct ab_error *err)
{
	const struct ab_strv *hosts = &slot->entry.secret->hosts;

	slot->hosts = ab_alloc(hosts->len * sizeof(slot->hosts[0]));
	for (size_t i = 0; i < hosts->len; i++)
		if (ab_host_entry_parse(hosts->v[i], strlen(hosts->v[i]),
					&slot->hosts[slot->nhosts++], NULL) < 0)
			return ab_fail(err, AB_ECONFIG, 0, "secret %s: \"%s\" is not a host",
				       slot->entry.secret->name, hosts->v[i]);
	return 0;
}

int ab_vault_new(const struct ab_secrets *secrets, const uint8_t seed[AB_VAULT_SEED],
		 struct ab_vault **ret, struct ab_error *err)
{
	struct ab_vault *vault = ab_alloc(sizeof(*vault));
	vault->slots = ab_alloc(secrets->len * sizeof(vault->slots[0]));
	vault->len = secrets->len;
	vault->scope = secrets->scope ? secrets->scope : "";
	vault->signatures = ab_alloc(sizeof(*vault->signatures));
	if (seed)
		vault->seed = memcpy(ab_pages_new(AB_VAULT_SEED), seed, AB_VAULT_SEED);
	for (size_t i = 0; i < vault->len; i++) {
		vault->slots[i].entry.secret = &secrets->v[i];
		if (read_hosts(&vault->slots[i], err) < 0) {
			ab_vault_free(vault);
			return -1;
		}
	}
	*ret = vault;
	return 0;
}

void ab_vault_rotated(struct ab_vault *vault, size_t i, unsigned times)
{
	vault->slots[i].rotated = times;
}

unsigned ab_vault_times(const struct ab_vault *vault, size_t i)
{
	return vault->slots[i].rotated;
}

static void drop_former(struct former *former)
{
	ab_pages_free((char *)former->pages, former->len);
	*former = (struct former){ 0 };
}

static void retire_value(struct slot *slot)
{
	if (!slot->entry.value)
		return;
	drop_former(&slot->former[AB_VAULT_FORMER - 1]);
	memmove(&slot->former[1], &slot->former[0],
		(AB_VAULT_FORMER - 1) * sizeof(slot->former[0]));
	slot->former[0] = (struct former){ slot->entry.value, slot->entry.value_len };
	slot->entry.value = NULL;
	slot->entry.value_len = 0;
}

void ab_vault_free(struct ab_vault *vault)
{
	if (!vault)
		return;
	for (size_t i = 0; i < vault->len; i++) {
		retire_value(&vault->slots[i]);
		for (size_t k = 0; k < AB_VAULT_FORMER; k++)
			drop_former(&vault->slots[i].former[k]);
		ab_free_all(vault->slots[i].hosts, (char *)vault->slots[i].entry.placeholder);
		ab_rsa_free((struct ab_rsa *)vault->slots[i].entry.key);
	}
	ab_finder_free(vault->placeholders);
	ab_pages_free(vault->seed, AB_VAULT_SEED);
	ab_signatures_fini(vault->signatures);
	ab_free_all(vault->signatures, vault->slots, vault);
}

/* The longest prefix of the provider that the value has and that consists of
 * characters which are safe everywhere. */
static size_t find_prefix(const struct ab_provider *p, const char *value, size_t len)
{
	size_t best = 0;

	for (size_t i = 0; p && i < AB_PROVIDER_PREFIXES && p->prefixes[i][0]; i++) {
		const char *prefix = p->prefixes[i];
		size_t n = strlen(prefix);

		if (n > best && n <= len && memcmp(prefix, value, n) == 0 &&
		    ab_has_only(prefix, n, "-_"))
			best = n;
	}
	return best;
}

enum { BLOCK = AB_SHA256_SIZE };

/* Depends on the name of the secret, on where it may be known and how often it was replaced, never on
 * its value. The parts of one key have nothing in common: one of them is sent openly. */
static void derive_block(const struct ab_vault *vault, const struct ab_secret *secret,
			 unsigned rotated, unsigned number, uint8_t ret[BLOCK])
{
	const char *scope = secret->life == AB_LIFE_STABLE ? "" : vault->scope;
	static const char *const parts[AB_PARTS] = { ".id", ".key", ".token" };
	ab_autofree char *times = rotated ? ab_printf(".%u", rotated) : ab_strdup("");
	ab_autofree char *text = ab_printf("%u%s %s%s %s", number, times, secret->name,
					   secret->sign ? parts[secret->part] : "", scope);

	ab_hmac_sha256(vault->seed, AB_VAULT_SEED, text, strlen(text), ret);
}

static bool is_id(const struct ab_secret *secret)
{
	return secret->sign && secret->part == AB_PART_ID;
}

static int draw_letters(const struct ab_vault *vault, const struct ab_secret *secret,
			unsigned rotated, char *ret, size_t len, struct ab_error *err)
{
	static const char any[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "abcdefghijklmnopqrstuvwxyz0123456789";
	/* An access key id is in base32. */
	static const char base32[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
	const char *letters = is_id(secret) ? base32 : any;
	unsigned count = is_id(secret) ? sizeof(base32) - 1 : sizeof(any) - 1;
	bool derived = secret->life != AB_LIFE_RUN;
	uint8_t block[BLOCK];
	size_t n = 0;

	if (derived && !vault->seed)
		return ab_fail(err, AB_ECONFIG, 0, "secret %s: its placeholder needs a key",
			       secret->name);
	for (unsigned number = 0; n < len; number++) {
		if (derived)
			derive_block(vault, secret, rotated, number, block);
		else if (getrandom(block, BLOCK, 0) != BLOCK)
			return ab_fail(err, AB_ESYSTEM, errno, "get random bytes");
		/* Below a multiple of their number all letters are equally likely. */
		for (size_t i = 0; i < BLOCK && n < len; i++)
			if (block[i] < 256 / count * count)
				ret[n++] = letters[block[i] % count];
	}
	return 0;
}

/* Its placeholder, then those that were replaced; NULL: none. */
static const char *text_of(const struct slot *slot, size_t k)
{
	return !k ? slot->entry.placeholder : slot->retired[k - 1][0] ? slot->retired[k - 1] : NULL;
}

static void gather_placeholders(struct ab_vault *vault)
{
	struct ab_find_text texts[AB_SECRETS_MAX * (1 + AB_VAULT_RETIRED)];
	size_t n = 0;

	for (size_t i = 0; i < vault->len; i++)
		for (size_t k = 0; k <= AB_VAULT_RETIRED; k++) {
			const char *s = text_of(&vault->slots[i], k);

			if (s)
				texts[n++] = (struct ab_find_text){ s, strlen(s),
								    k ? i + AB_SECRETS_MAX : i };
		}
	ab_finder_free(vault->placeholders);
	vault->placeholders = ab_finder_new(texts, n);
}

static int draw_placeholder(struct ab_vault *vault, struct slot *slot, const char *value,
			    size_t len, struct ab_error *err)
{
	const struct ab_secret *secret = slot->entry.secret;
	bool id = is_id(secret),
	     temporary = len > ID_PREFIX && memcmp(value, "ASIA", ID_PREFIX) == 0;
	/* Under another name a value of a known host has the same form. */
	const struct ab_provider *provider = secret->provider || !secret->hosts.len || secret->sign
						     ? secret->provider
						     : ab_provider_of_host(secret->hosts.v[0]);
	size_t prefix = id ? ID_PREFIX : find_prefix(provider, value, len);
	size_t total = id ? ID_LEN : len > prefix + CHANCE ? len : prefix + CHANCE;
	size_t letters = total - prefix < CHANCE ? total - prefix : CHANCE;
	ab_autofree char *text = ab_alloc(total + 1);

	memcpy(text, !id ? value : temporary ? "ASIA" : "AKIA", prefix);
	if (draw_letters(vault, secret, slot->rotated, text + prefix, total - prefix, err) < 0)
		return -1;
	/* Those that were replaced begin with these letters, after a prefix. */
	for (unsigned k = 0;
	     secret->life != AB_LIFE_RUN && k < slot->rotated && k < AB_VAULT_RETIRED; k++)
		if (draw_letters(vault, secret, slot->rotated - 1 - k, slot->retired[k], letters,
				 err) < 0)
			return -1;
	slot->entry.placeholder = ab_take(text);
	slot->entry.placeholder_len = total;
	gather_placeholders(vault);
	return 0;
}

/* NULL, or why it cannot be a value. */
static const char *judge_value(const char *s, size_t len)
{
	if (!len)
		return "is empty";
	if (len < AB_SECRET_MIN)
		return "is shorter than 8 bytes: it cannot be told from other text";
	if (len > AB_SECRET_MAX)
		return "is longer than 16 KiB";
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c == '\n' || c == '\r')
			return "has more than one line";
		if (c < 0x20 || c == 0x7f)
			return "contains a control character";
		if (c >= 0x80)
			return "contains non-ASCII characters";
	}
	return NULL;
}

/* Check the value, and make its placeholder if there is none yet. */
static int admit_value(struct ab_vault *vault, struct slot *slot, const char *value, size_t len,
		       struct ab_error *err)
{
	const char *name = slot->entry.secret->name;
	const char *why = judge_value(value, len);

	if (why)
		return ab_fail(err, AB_ECONFIG, 0, "the value of %s %s", name, why);
	if (!slot->entry.placeholder && draw_placeholder(vault, slot, value, len, err) < 0)
		return -1;
	if (ab_vault_find(vault, value, len) >= 0)
		return ab_fail(err, AB_ECONFIG, 0, "the value of %s contains a placeholder", name);
	return 0;
}

static void store_value(struct slot *slot, const char *value, size_t len)
{
	const struct ab_vault_entry *e = &slot->entry;
	char *pages;

	if (e->value && e->value_len == len && memcmp(e->value, value, len) == 0)
		return;
	pages = memcpy(ab_pages_new(len), value, len);
	retire_value(slot);
	slot->entry.value = pages;
	slot->entry.value_len = len;
}

/* The words of a key that signs: two or three, or 0. No blank is at its end. */
static size_t split_words(struct ab_http_text value, struct ab_http_text ret[AB_PARTS])
{
	size_t n = 0;

	while (value.len) {
		if (n == AB_PARTS)
			return 0;
		ret[n] = ab_http_until(&value, ' ');
		if (!ret[n++].len)
			return 0;
	}
	return n >= AB_PART_TOKEN ? n : 0;
}

/* All parts, or none: a key id with another key would only fail at the server. */
static int set_parts(struct ab_vault *vault, struct slot *first, const char *value, size_t len,
		     struct ab_error *err)
{
	struct ab_http_text words[AB_PARTS];
	size_t n = split_words((struct ab_http_text){ value, len }, words);

	if (!n)
		return ab_fail(err, AB_ECONFIG, 0,
			       "the value of %s is not an access key id, a key and perhaps a token",
			       first->entry.secret->name);
	for (size_t part = 0; part < n; part++)
		if (admit_value(vault, first + part, words[part].s, words[part].len, err) < 0)
			return -1;
	for (size_t part = 0; part < AB_PARTS; part++) {
		if (part < n)
			store_value(first + part, words[part].s, words[part].len);
		else
			retire_value(first + part);
	}
	return 0;
}

int ab_vault_set(struct ab_vault *vault, size_t i, const char *value, size_t len,
		 struct ab_error *err)
{
	struct slot *slot = &vault->slots[i];

	if (!value) {
		for (size_t part = 0; part < (slot->entry.secret->sign ? AB_PARTS : 1); part++)
			retire_value(slot + part);
		return 0;
	}
	while (len && ab_is_space(value[0])) {
		value++;
		len--;
	}
	while (len && ab_is_space(value[len - 1]))
		len--;
	if (slot->entry.secret->sign)
		return set_parts(vault, slot, value, len, err);
	if (admit_value(vault, slot, value, len, err) < 0)
		return -1;
	store_value(slot, value, len);
	return 0;
}

int ab_vault_reserve(struct ab_vault *vault, size_t i, struct ab_error *err)
{
	struct slot *slot = &vault->slots[i];
	char none[RESERVED] = { 0 };

	return slot->entry.placeholder ? 0 : draw_placeholder(vault, slot, none, sizeof(none), err);
}

void ab_vault_keep_key(struct ab_vault *vault, size_t i, struct ab_rsa *key)
{
	struct slot *slot = &vault->slots[i];

	ab_rsa_free((struct ab_rsa *)slot->entry.key);
	slot->entry.key = key;
}

struct ab_signatures *ab_vault_signatures(const struct ab_vault *vault)
{
	return vault->signatures;
}

size_t ab_vault_hidden(const struct ab_vault *vault, size_t i,
		       struct ab_find_text ret[AB_VAULT_HIDDEN])
{
	const struct slot *slot = &vault->slots[i];
	size_t n = 0;

	if (slot->entry.value)
		ret[n++] = (struct ab_find_text){ slot->entry.value, slot->entry.value_len };
	for (size_t k = 0; k < AB_VAULT_FORMER && slot->former[k].pages; k++)
		ret[n++] = (struct ab_find_text){ slot->former[k].pages, slot->former[k].len };
	return n;
}

size_t ab_vault_len(const struct ab_vault *vault)
{
	return vault->len;
}

const struct ab_vault_entry *ab_vault_at(const struct ab_vault *vault, size_t i)
{
	return &vault->slots[i].entry;
}

bool ab_vault_bound(const struct ab_vault *vault, size_t i, const struct ab_host *host,
		    uint16_t port)
{
	const struct slot *slot = &vault->slots[i];

	for (size_t k = 0; k < slot->nhosts; k++)
		if (ab_host_entry_allows(&slot->hosts[k], host, port))
			return true;
	return false;
}

bool ab_vault_has_host(const struct ab_vault *vault, size_t i, const struct ab_host *host)
{
	const struct slot *slot = &vault->slots[i];

	for (size_t k = 0; k < slot->nhosts; k++)
		if (ab_host_entry_allows(&slot->hosts[k], host, slot->hosts[k].port))
			return true;
	return false;
}

uint64_t ab_vault_bound_all(const struct ab_vault *vault, const struct ab_host *host, uint16_t port)
{
	uint64_t set = 0;

	_Static_assert(AB_SECRETS_MAX <= 64, "a bit for each");
	for (size_t i = 0; i < vault->len; i++)
		set |= (uint64_t)ab_vault_bound(vault, i, host, port) << i;
	return set;
}

const struct ab_finder *ab_vault_placeholders(const struct ab_vault *vault)
{
	return vault->placeholders;
}

const char *ab_vault_retired(const struct ab_vault *vault, size_t i, size_t k)
{
	return k < AB_VAULT_RETIRED ? text_of(&vault->slots[i], k + 1) : NULL;
}

int ab_vault_find(const struct ab_vault *vault, const void *data, size_t len)
{
	struct ab_found found;

	return vault->placeholders && ab_finder_find(vault->placeholders, data, len, &found)
		       ? (int)(found.needle->owner % AB_SECRETS_MAX)
		       : -1;
}

static bool begins_with_placeholder(const char *name, const char *placeholder)
{
	for (; *placeholder; name++) {
		if (*name == '.')
			continue;
		if (ab_lower(*name) != ab_lower(*placeholder++))
			return false;
	}
	return true;
}

int ab_vault_find_in_name(const struct ab_vault *vault, const char *name)
{
	for (; *name; name++)
		for (size_t i = 0; i < vault->len * (1 + AB_VAULT_RETIRED); i++) {
			const struct slot *slot = &vault->slots[i % vault->len];
			const char *p = text_of(slot, i / vault->len);

			if (p && begins_with_placeholder(name, p))
				return (int)(i % vault->len);
		}
	return -1;
}
