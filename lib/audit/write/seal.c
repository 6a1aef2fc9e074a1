#include "audit/write/seal.h"

#include <sys/random.h>

#include "base/system/new_file.h"
#include "base/text/base64.h"
#include "base/text/sha256.h"

/* Two PEM blocks have 240 bytes. */
enum { KEY_FILE_MOST = 4096 };

/* What is before the 32 bytes of a key in DER (RFC 8410). */
static const uint8_t private_head[] = { 0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06,
					0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20 };
static const uint8_t public_head[] = { 0x30, 0x2a, 0x30, 0x05, 0x06, 0x03,
				       0x2b, 0x65, 0x70, 0x03, 0x21, 0x00 };

static const struct pem {
	const char *label;
	const uint8_t *head;
	size_t head_len;
} private_pem = { "PRIVATE KEY", private_head, sizeof(private_head) },
  public_pem = { "PUBLIC KEY", public_head, sizeof(public_head) };

enum { DER_MOST = sizeof(private_head) + 32 };

static void write_pem(struct ab_buf *b, const struct pem *pem, const uint8_t key[32])
{
	uint8_t der[DER_MOST];
	char text[AB_BASE64_ROOM(DER_MOST)];
	size_t len;

	memcpy(der, pem->head, pem->head_len);
	memcpy(der + pem->head_len, key, 32);
	len = ab_base64_encode(der, pem->head_len + 32, AB_BASE64_STANDARD, text);
	ab_buf_printf(b, "-----BEGIN %s-----\n%.*s\n-----END %s-----\n", pem->label, (int)len, text,
		      pem->label);
	explicit_bzero(der, sizeof(der));
	explicit_bzero(text, sizeof(text));
}

/* The next block with this label, in one line of base64. Returns what follows it; NULL: there is
 * none, or it is not such a key. */
static const char *read_pem(const char *text, const char *end, const struct pem *pem,
			    uint8_t ret[32])
{
	uint8_t der[AB_BASE64_ROOM(DER_MOST) / 4 * 3 + 3];
	char begin[64];
	const char *at, *line;
	size_t n;
	bool valid;

	snprintf(begin, sizeof(begin), "-----BEGIN %s-----\n", pem->label);
	at = memmem(text, (size_t)(end - text), begin, strlen(begin));
	if (!at)
		return NULL;
	at += strlen(begin);
	line = memchr(at, '\n', (size_t)(end - at));
	if (!line || (size_t)(line - at) > AB_BASE64_ROOM(DER_MOST))
		return NULL;
	valid = ab_base64_decode(at, (size_t)(line - at), der, &n) && n == pem->head_len + 32 &&
		memcmp(der, pem->head, pem->head_len) == 0;
	if (valid)
		memcpy(ret, der + pem->head_len, 32);
	explicit_bzero(der, sizeof(der));
	return valid ? line : NULL;
}

const char *ab_seal_next_public(const char *pem, const char *end, uint8_t ret[AB_ED25519_KEY])
{
	return read_pem(pem, end, &public_pem, ret);
}

static int check_key_file(const struct stat *st, struct ab_error *err)
{
	if (S_ISREG(st->st_mode) && st->st_uid == geteuid() && !(st->st_mode & 077))
		return 0;
	ab_fail(err, AB_ESYSTEM, 0,
		AB_SEAL_PRIVATE " in the state folder is not a file that only you can read");
	return ab_hint(err, "chmod 600 it; or remove it, and the next run creates another");
}

int ab_seal_read(int state, struct ab_seal *ret, struct ab_error *err)
{
	ab_autoclose int fd =
		openat(state, AB_SEAL_PRIVATE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char text[KEY_FILE_MOST];
	struct stat st;
	ssize_t n;

	if (fd < 0 && errno == ENOENT)
		return 1;
	if (fd < 0 || fstat(fd, &st) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "open the key of the records");
	if (check_key_file(&st, err) < 0)
		return -1;
	n = read(fd, text, sizeof(text));
	if (n < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "read the key of the records");
	ret->loaded = read_pem(text, text + n, &private_pem, ret->seed) &&
		      read_pem(text, text + n, &public_pem, ret->key);
	explicit_bzero(text, sizeof(text));
	if (ret->loaded)
		return 0;
	ab_fail(err, AB_ESYSTEM, 0, AB_SEAL_PRIVATE " in the state folder is not a key");
	return ab_hint(err, "remove it, and the next run creates another");
}

/* A whole file, or none: two runs may start at once, and the machine may stop at any time. */
static int write_once(int state, const char *name, const struct ab_buf *text)
{
	return ab_new_file_write(state, name, NULL, text->data, text->len, AB_NEW_FILE_ONLY);
}

/* 1: another run has created it meanwhile. */
static int create_key(int state, struct ab_error *err)
{
	ab_autobuf struct ab_buf text = { 0 };
	struct ab_seal seal;
	int result;

	if (getrandom(seal.seed, sizeof(seal.seed), 0) != (ssize_t)sizeof(seal.seed))
		return ab_fail(err, AB_ESYSTEM, errno, "get random bytes");
	ab_ed25519_public(seal.seed, seal.key);
	write_pem(&text, &private_pem, seal.seed);
	write_pem(&text, &public_pem, seal.key);
	result = write_once(state, AB_SEAL_PRIVATE, &text);
	if (result < 0 && errno == EEXIST)
		result = 1;
	else if (result < 0)
		ab_fail(err, AB_ESYSTEM, errno, "create the key of the records");
	explicit_bzero(text.data, text.len);
	ab_seal_wipe(&seal);
	return result;
}

/* Records that were signed with an earlier key still need that one. */
static void append_key(int state, const struct ab_buf *text)
{
	ab_autoclose int fd = openat(state, AB_SEAL_PUBLIC,
				     O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid())
		(void)ab_write_all(fd, text->data, text->len);
}

/* Whoever gets the records needs it. `fresh`: the key is a new one. */
static void publish_key(int state, const struct ab_seal *seal, bool fresh)
{
	ab_autobuf struct ab_buf text = { 0 };

	if (!fresh && faccessat(state, AB_SEAL_PUBLIC, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return;
	write_pem(&text, &public_pem, seal->key);
	if (write_once(state, AB_SEAL_PUBLIC, &text) < 0 && errno == EEXIST && fresh)
		append_key(state, &text);
}

int ab_seal_load(int state, struct ab_seal *ret, struct ab_error *err)
{
	int found = ab_seal_read(state, ret, err), created = -1;

	if (found > 0) {
		created = create_key(state, err);
		found = created < 0 ? -1 : ab_seal_read(state, ret, err);
	}
	if (found > 0)
		found = ab_fail(err, AB_ESYSTEM, 0, "the key of the records was removed meanwhile");
	if (found < 0)
		return ab_step(err, "record");
	publish_key(state, ret, created == 0);
	return 0;
}

void ab_seal_wipe(struct ab_seal *seal)
{
	explicit_bzero(seal, sizeof(*seal));
}

/* Sign a text of fixed length: the signature reads its text twice. */
static size_t make_message(const char *line, size_t len, char ret[128])
{
	char hash[65];

	ab_sha256(line, len, hash);
	return (size_t)snprintf(ret, 128, AB_SEAL_DOMAIN "%s", hash);
}

static void add_base64(struct ab_buf *line, const char *name, const void *data, size_t len)
{
	char text[AB_BASE64_ROOM(AB_ED25519_SIGNATURE)];

	ab_buf_puts(line, name);
	ab_buf_add(line, text, ab_base64_encode(data, len, AB_BASE64_STANDARD, text));
	ab_buf_puts(line, "\"");
}

void ab_seal_add(const struct ab_seal *seal, struct ab_buf *line)
{
	uint8_t signature[AB_ED25519_SIGNATURE];
	char message[128];
	size_t len;

	add_base64(line, ",\"key\":\"", seal->key, sizeof(seal->key));
	len = make_message(line->data, line->len, message);
	ab_ed25519_sign(seal->seed, seal->key, message, len, signature);
	add_base64(line, ",\"signature\":\"", signature, sizeof(signature));
}

bool ab_seal_holds(const uint8_t key[AB_ED25519_KEY], const char *line, size_t len,
		   const uint8_t signature[AB_ED25519_SIGNATURE])
{
	char message[128];
	size_t n = make_message(line, len, message);

	return ab_ed25519_verify(key, message, n, signature);
}
