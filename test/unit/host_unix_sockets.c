/* The host's pathname sockets: the parser as a table, the list for real. */
#include "host/unix_sockets.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "tap.h"

#define HEAD "Num       RefCount Protocol Flags    Type St Inode Path\n"
#define NUMBERS "0000000000000000: 00000002 00000000 00010000 0001 01 20000"
#define LINE(path) NUMBERS path "\n"

static const struct {
	const char *text, *names, *name;
} cases[] = {
	{ "", "", "nothing" },
	{ HEAD, "", "only the head" },
	{ HEAD LINE(""), "", "a socket without a name" },
	{ HEAD LINE(" @abstract"), "", "an abstract name is no path" },
	{ HEAD LINE(" @/looks/like/a/path"), "", "whatever it looks like" },
	{ HEAD LINE(" /run/x"), "/run/x", "a path" },
	{ HEAD LINE(" /run/b") LINE(" /run/a") LINE(" /run/b"), "/run/a|/run/b",
	  "sorted, each once" },
	{ HEAD LINE(" /run/with space"), "/run/with space", "a space in it" },
	{ HEAD LINE(" relative/name"), "", "a relative name" },
	{ HEAD NUMBERS " /cut", "/cut", "a last line without its end" },
	{ HEAD LINE(" /run/a b /c"), "/run/a b /c", "a path with \" /\" in it" },
	{ HEAD LINE(" /run/a\nb"), "/run/a\nb", "a newline in it" },
	{ HEAD LINE(" /run/a\n\n/b") LINE(" /c"), "/c|/run/a\n\n/b", "several of them" },
	{ HEAD LINE(" @abstract\n/run/x"), "", "a newline in an abstract name" },
	{ HEAD "/run/x\n", "", "a line that continues nothing" },
	{ "\n\n\n", "", "empty lines" },
	{ LINE(" /"), "/", "the shortest" },
};

/* Feed `len` bytes in pieces of `piece`, each exactly as long, so that a sanitizer sees more. */
static char *parse(const char *text, size_t len, size_t piece)
{
	ab_autostrv struct ab_strv got = { 0 };
	struct ab_unix_names names = { 0 };
	struct ab_buf b = { 0 };

	for (size_t at = 0; at < len; at += piece) {
		size_t n = len - at < piece ? len - at : piece;
		ab_autofree char *copy = ab_strndup(text + at, n);

		ab_unix_names_feed(&names, copy, n);
	}
	ab_unix_names_take(&names, &got);
	for (size_t k = 0; k < got.len; k++)
		ab_buf_printf(&b, "%s%s", k ? "|" : "", got.v[k]);
	return ab_buf_take(&b);
}

static void check_cases(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		ab_autofree char *text = parse(cases[i].text, strlen(cases[i].text), 4096);

		is_str(text, cases[i].names, cases[i].name);
	}
}

static void check_cuts(void)
{
	size_t cuts = 0, wrong = 0;

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		size_t len = strlen(cases[i].text);

		for (size_t n = 1; n <= len; n++) {
			ab_autofree char *cut = parse(cases[i].text, n, 4096);
			ab_autofree char *pieces = parse(cases[i].text, len, n);

			wrong += !cut || strcmp(pieces, cases[i].names) != 0;
			cuts++;
		}
	}
	ok(cuts > 100 && wrong == 0, "read in pieces of any size it finds the same (%zu tries)",
	   cuts);
}

/* The names that a box could create to make the table long. */
static void check_length(void)
{
	static const char line[] = LINE("");
	struct ab_unix_names names = { 0 };
	ab_autostrv struct ab_strv got = { 0 };

	for (size_t i = 0; i < (80 << 20) / sizeof(line); i++)
		ab_unix_names_feed(&names, line, sizeof(line) - 1);
	ab_unix_names_feed(&names, LINE(" /last"), strlen(LINE(" /last")));
	ok(names.line.room < 4096 && names.name.room < 4096, "80 MiB need no memory");
	for (size_t i = 0; i < 4096; i++)
		ab_unix_names_feed(&names, "0123456789abcdef", 16);
	ok(names.line.room < 4096, "nor does a line without an end");
	ab_unix_names_take(&names, &got);
	ok(got.len == 1 && strcmp(got.v[0], "/last") == 0, "and the name behind them is found");
}

static int bind_at(const char *path, int type)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	memcpy(un.sun_path, path, strlen(path) + 1);
	if (fd < 0 || bind(fd, (struct sockaddr *)&un, sizeof(un)) < 0)
		abort();
	return fd;
}

static void check_list(void)
{
	char top[] = "/tmp/agentbox-test-XXXXXX";
	char dir[PATH_MAX], stream[64], datagram[64], gone[64], link[64];
	char through[64], closed[64], inner[64];
	ab_autostrv struct ab_strv list = { 0 }, folders = { 0 };
	struct ab_error err = { 0 };
	int a, b, c, d, e;

	if (!mkdtemp(top) || !realpath(top, dir))
		abort();
	snprintf(stream, sizeof(stream), "%.40s/stream", dir);
	snprintf(datagram, sizeof(datagram), "%.40s/datagram", dir);
	snprintf(gone, sizeof(gone), "%.40s/gone", dir);
	snprintf(link, sizeof(link), "%.40s/link", dir);
	snprintf(through, sizeof(through), "%.40s/link/behind", dir);
	a = bind_at(stream, SOCK_STREAM);
	b = bind_at(datagram, SOCK_DGRAM);
	c = bind_at(gone, SOCK_STREAM);
	if (unlink(gone) < 0 || symlink(".", link) < 0)
		abort();
	d = bind_at(through, SOCK_STREAM);
	snprintf(closed, sizeof(closed), "%.40s/closed", dir);
	snprintf(inner, sizeof(inner), "%.40s/inner", closed);
	if (mkdir(closed, 0700) < 0)
		abort();
	e = bind_at(inner, SOCK_STREAM);
	chmod(closed, 0);
	ok(ab_unix_sockets_list(&list, &folders, &err) == 0, "the list of this machine");
	ok(ab_strv_has(&list, stream), "a stream socket");
	ok(ab_strv_has(&list, datagram), "a datagram socket: it takes messages without listening");
	ok(!ab_strv_has(&list, gone), "one whose name is gone is left out");
	snprintf(gone, sizeof(gone), "%.40s/behind", dir);
	ok(ab_strv_has(&list, gone), "one behind a link by its real path");
	ok(!ab_strv_has(&list, through), "and only so");
	if (geteuid() == 0)
		ok(ab_strv_has(&list, inner), "root enters every folder");
	else
		ok(ab_strv_has(&folders, closed) && !ab_strv_has(&list, inner),
		   "a folder that cannot be entered stands for its socket");
	chmod(closed, 0700);
	unlink(inner);
	rmdir(closed);
	close(e);
	close(a);
	close(b);
	close(c);
	close(d);
	unlink(stream);
	unlink(datagram);
	unlink(gone);
	unlink(link);
	rmdir(dir);
}

int main(void)
{
	check_cases();
	check_cuts();
	check_length();
	check_list();
	return done();
}
