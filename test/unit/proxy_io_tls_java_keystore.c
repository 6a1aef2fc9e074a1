/* Java's keystores: one more in it, or a new one; and PEM text. */
#include "proxy/io/tls_java_keystore.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data/mem.h"
#include "base/system/fd.h"
#include "tap.h"

/* Two entries that could be certificates: a sequence each. */
#define ONE "-----BEGIN CERTIFICATE-----\nMAMCAQE=\n-----END CERTIFICATE-----\n"
#define TWO "-----BEGIN X509 CERTIFICATE-----\r\nMAMC\r\nAQI=\r\n-----END X509 CERTIFICATE-----"
#define THREE "-----BEGIN TRUSTED CERTIFICATE-----\nMAMCAQM=\n-----END TRUSTED CERTIFICATE-----\n"
#define KEY "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n"

static const struct {
	const char *text, *want, *name;
} texts[] = {
	{ "", "", "nothing" },
	{ ONE, ONE, "one" },
	{ "# a\n" ONE "b\n" TWO, ONE TWO, "two, with remarks" },
	{ KEY ONE, ONE, "no key" },
	{ ONE KEY TWO "\n" THREE, ONE TWO "\n" THREE, "kinds of labels" },
	{ "-----BEGIN CERTIFICATE-----\nMAMC", "", "cut in its middle" },
	{ "-----BEGIN CERTIFICATE-----\nMAMC-----END CERT", "", "cut in its last line" },
	{ "-----BEGIN CERTIFICATE-----\nMA\n" ONE, ONE, "one that another interrupts" },
	{ "-----BEGIN CERTIFICATE REQUEST-----\nMA==\n"
	  "-----END CERTIFICATE REQUEST-----\n",
	  "", "no request" },
	{ "-----BEGIN -----BEGIN " ONE, ONE, "begun and begun again" },
};

static void check_texts(void)
{
	for (size_t i = 0; i < AB_COUNT(texts); i++) {
		const char *at = texts[i].text, *end = at + strlen(at);
		char got[1024] = "";
		struct ab_pem pem;
		size_t n = 0;

		while (ab_pem_next(&at, end, &pem)) {
			memcpy(got + n, pem.block, pem.block_len);
			n += pem.block_len;
		}
		got[n] = '\0';
		is_str(got, texts[i].want, texts[i].name);
	}
}

/* A copy that ends where its memory does. */
static uint8_t *at_the_edge(const void *data, size_t len)
{
	static uint8_t *pages;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (!pages) {
		pages = mmap(NULL, 17 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			     -1, 0);
		if (pages == MAP_FAILED || mprotect(pages + 16 * page, page, PROT_NONE) < 0)
			abort();
	}
	memcpy(pages + 16 * page - len, data, len);
	return pages + 16 * page - len;
}

static const uint8_t der[] = { 0x30, 3, 2, 1, 9 };

static void check_new(void)
{
	static const char pem[] = ONE KEY TWO
		"\n" THREE "-----BEGIN CERTIFICATE-----\nMAUCAQE=\n-----END CERTIFICATE-----\n"
		"-----BEGIN CERTIFICATE-----\n****\n-----END CERTIFICATE-----\n";
	size_t len, more, taken = 0;
	ab_autofree uint8_t *store =
		ab_keystore_new(pem, strlen(pem), "mine", der, sizeof(der), &len);
	ab_autofree uint8_t *added = NULL;

	ok(store && store[11] == 3, "of three that are whole, and ours");
	ok(memmem(store, len, "\0\4mine", 6) != NULL, "its name");
	ok(!memmem(store, len, "secret", 6), "no key");
	added = ab_keystore_add(store, len, "again", der, sizeof(der), &more);
	ok(added && added[11] == 4 && more > len, "one more");
	ok(memcmp(added + 12, store + 12, len - 12 - 20) == 0, "behind the others");
	for (size_t n = 0; n < len; n++) {
		uint8_t *cut = at_the_edge(store, n), *got;

		got = ab_keystore_add(cut, n, "x", der, sizeof(der), &more);
		taken += got != NULL;
		free(got);
	}
	ok(taken == 0, "cut at none of %zu bytes it is one", len);
	for (size_t n = 0; n < strlen(pem); n++) {
		const char *cut = (char *)at_the_edge(pem, n);
		uint8_t *got = ab_keystore_new(cut, n, "x", der, sizeof(der), &more);

		taken += got && memcmp(got, store, 8) != 0;
		free(got);
	}
	ok(taken == 0, "of a text that is cut, a store or nothing is made");
}

static uint8_t *read_whole(const char *path, size_t *ret_len)
{
	ab_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *data;

	if (fd < 0 || ab_read_all(fd, 1 << 20, &data, ret_len) < 0)
		abort();
	return (uint8_t *)data;
}

static void write_whole(const char *path, const uint8_t *data, size_t len)
{
	ab_autoclose int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || ab_write_all(fd, data, len) < 0)
		abort();
}

#define KEYTOOL "keytool -J-XX:TieredStopAtLevel=1 "

/* With a key and a certificate of its own, as Java's own tool makes it. */
static void check_java(void)
{
	ab_autofree uint8_t *store = NULL, *ca = NULL, *added = NULL, *made = NULL, *pem = NULL,
			    *other = NULL;
	size_t len, ca_len, pem_len;

	ok(system(KEYTOOL "-genkeypair -storetype JKS -keystore a.jks -alias key "
			  "-keyalg EC -dname CN=a -storepass changeit "
			  "-keypass changeit 2>/dev/null") == 0,
	   "keytool makes a keystore");
	ok(system(KEYTOOL "-exportcert -keystore a.jks -alias key -storepass "
			  "changeit -file ca.der 2>/dev/null && " KEYTOOL
			  "-exportcert -rfc -keystore a.jks -alias key "
			  "-storepass changeit -file ca.pem 2>/dev/null && " KEYTOOL
			  "-importcert -noprompt -storetype PKCS12 -keystore "
			  "b.p12 -alias other -file ca.der -storepass changeit "
			  "2>/dev/null") == 0,
	   "and gives its certificate");
	store = read_whole("a.jks", &len);
	ca = read_whole("ca.der", &ca_len);
	pem = read_whole("ca.pem", &pem_len);
	added = ab_keystore_add(store, len, "agentbox", ca, ca_len, &len);
	ok(added != NULL, "we add one");
	write_whole("added.jks", added, len);
	ok(system(KEYTOOL "-list -keystore added.jks -storepass changeit "
			  ">out 2>/dev/null && grep -q '^agentbox,.*trusted' out "
			  "&& grep -q '^key,.*PrivateKey' out") == 0,
	   "keytool lists both, and checks the digest");
	made = ab_keystore_new((char *)pem, pem_len, "agentbox", ca, ca_len, &len);
	write_whole("made.jks", made, len);
	ok(system(KEYTOOL "-list -keystore made.jks -storepass changeit >out "
			  "2>/dev/null && grep -q '^agentbox,' out && "
			  "grep -q '^system-2,' out") == 0,
	   "keytool lists a new one");
	ok(system(KEYTOOL "-list -storetype PKCS12 -keystore made.jks -storepass "
			  "changeit >/dev/null 2>&1") == 0,
	   "also as what it was before");
	other = read_whole("b.p12", &len);
	ok(!ab_keystore_add(other, len, "x", ca, ca_len, &len), "PKCS #12 is another kind");
}

int main(void)
{
	char dir[] = "/tmp/agentbox-keystore.XXXXXX";
	ab_autofree char *command = NULL;

	check_texts();
	check_new();
	if (system("command -v keytool >/dev/null") != 0) {
		lacks("Java's own tool", "there is no keytool");
		return done();
	}
	if (!mkdtemp(dir) || chdir(dir) < 0)
		abort();
	check_java();
	command = ab_printf("rm -rf %s", dir);
	ok(system(command) == 0, "clean up");
	return done();
}
