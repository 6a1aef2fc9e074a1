/* The host's pathname sockets: the parser as a table, the list for real. */
#include "session/host/unix_sockets.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "tap.h"

#define HEAD "Num       RefCount Protocol Flags    Type St Inode Path\n"
#define LINE(path) "0000000000000000: 00000002 00000000 00010000 0001 01 20000" path "\n"

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
	{ HEAD "x /cut", "/cut", "a last line without its end" },
	{ HEAD LINE(" /run/a b /c"), "/run/a b /c", "a path with \" /\" in it" },
	{ "\n\n\n", "", "empty lines" },
	{ " /", "/", "the shortest" },
};

static void check_cases(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		ab_autostrv struct ab_strv got = { 0 };
		struct ab_buf b = { 0 };
		ab_autofree char *text = NULL;

		ab_unix_sockets_parse(cases[i].text, &got);
		for (size_t k = 0; k < got.len; k++)
			ab_buf_printf(&b, "%s%s", k ? "|" : "", got.v[k]);
		text = ab_buf_take(&b);
		is_str(text, cases[i].names, cases[i].name);
	}
}

static void check_cuts(void)
{
	size_t cuts = 0;

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		size_t len = strlen(cases[i].text);

		for (size_t n = 0; n <= len; n++) {
			/* Exactly as long, so that a sanitizer sees more. */
			ab_autofree char *text = ab_strndup(cases[i].text, n);
			ab_autostrv struct ab_strv got = { 0 };

			ab_unix_sockets_parse(text, &got);
			cuts++;
		}
	}
	ok(cuts > 100, "cut at each of %zu places it reads no further", cuts);
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
	char through[64];
	ab_autostrv struct ab_strv list = { 0 };
	int a, b, c, d;

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
	ab_unix_sockets_list(&list);
	ok(ab_strv_has(&list, stream), "a stream socket");
	ok(ab_strv_has(&list, datagram), "a datagram socket: it takes messages without listening");
	ok(!ab_strv_has(&list, gone), "one whose name is gone is left out");
	snprintf(gone, sizeof(gone), "%.40s/behind", dir);
	ok(ab_strv_has(&list, gone), "one behind a link by its real path");
	ok(!ab_strv_has(&list, through), "and only so");
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
	check_list();
	return done();
}
