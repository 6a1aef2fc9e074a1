/* What listens inside: the parser as a table, dial and list on a real one. */
#include "sandbox/start/listening_ports.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "tap.h"

#define HEAD "  sl  local_address rem_address   st tx_queue rx_queue ...\n"
#define LINE(local, state)                                           \
	"   0: " local " 00000000:0000 " state " 00000000:00000000 " \
	"00:00000000 00000000  1000        0 12345 1 0 100 0 0 10 0\n"
#define V6 "00000000000000000000000001000000"

static const struct {
	const char *text, *ports, *name;
} cases[] = {
	{ "", "", "nothing" },
	{ HEAD, "", "only the head" },
	{ HEAD LINE("0100007F:1F90", "0A"), "8080", "one listener" },
	{ HEAD LINE("0100007F:1F90", "01"), "", "a connection is none" },
	{ HEAD LINE("00000000:0016", "0A") LINE("0100007F:0BB8", "0A"), "22 3000", "two" },
	{ HEAD LINE("00000000:0016", "0A") LINE("0100007F:0016", "0A"), "22", "each once" },
	{ HEAD "   0: " V6 ":FFFF " V6 ":0000 0A 0 0\n", "65535", "IPv6" },
	{ HEAD LINE("0100007F:0000", "0A"), "", "port 0 is none" },
	{ HEAD LINE("0100007F:1FFFF", "0A"), "", "nor is one above 65535" },
	{ HEAD LINE("0100007F:0050", "06") LINE("0100007F:0051", "0A"), "81",
	  "the ones between are skipped" },
	{ HEAD "   0: 0100007F:1F90 00000000:0000 0A", "", "a line that is cut behind its state" },
	{ HEAD "   0: 0100007F:1F90", "", "or behind the port" },
	{ HEAD "garbage\n" LINE("0100007F:0051", "0A"), "81", "a line without an address" },
	{ HEAD "no colon at all\n", "", "no address at all" },
};

static char *list(const uint16_t *ports, size_t n)
{
	struct ab_buf b = { 0 };

	for (size_t i = 0; i < n; i++)
		ab_buf_printf(&b, "%s%u", i ? " " : "", ports[i]);
	return ab_buf_take(&b);
}

static void check_cases(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		uint16_t ports[8];
		size_t n = ab_ports_parse(cases[i].text, ports, 0, AB_COUNT(ports));
		ab_autofree char *got = list(ports, n);

		is_str(got, cases[i].ports, cases[i].name);
	}
}

/* Each case cut at every byte, its end at the end of a page. */
static void check_cuts(void)
{
	long page = sysconf(_SC_PAGESIZE);
	char *guard = mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool bounded = true;

	if (guard == MAP_FAILED || mprotect(guard + page, (size_t)page, PROT_NONE) < 0)
		abort();
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		size_t len = strlen(cases[i].text);

		for (size_t n = 0; n <= len; n++) {
			char *at = guard + page - n - 1;
			uint16_t ports[1];

			memcpy(at, cases[i].text, n);
			at[n] = '\0';
			bounded &= ab_ports_parse(at, ports, 0, 1) <= 1;
		}
	}
	ok(bounded, "cut anywhere it reads no further");
	munmap(guard, 2 * (size_t)page);
}

static void check_full(void)
{
	uint16_t ports[2] = { 22, 0 };

	ok(ab_ports_parse(HEAD LINE("00000000:0016", "0A") LINE("00000000:0017", "0A")
				  LINE("00000000:0018", "0A"),
			  ports, 1, 2) == 2 &&
		   ports[1] == 23,
	   "adds to what is there, up to the room");
}

static int listen_on(int family, uint16_t *ret_port)
{
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = family == AF_INET ? sizeof(v4) : sizeof(v6);
	struct sockaddr *at = family == AF_INET ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6;
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, at, len) < 0 || listen(fd, 4) < 0 || getsockname(fd, at, &len) < 0) {
		ab_closep(&fd);
		return -1;
	}
	*ret_port = ntohs(family == AF_INET ? v4.sin_port : v6.sin6_port);
	return fd;
}

static bool lists(uint16_t port)
{
	static const char *const tables[] = { "/proc/self/net/tcp", "/proc/self/net/tcp6" };
	static uint16_t ports[4096];
	size_t n = 0;

	for (size_t i = 0; i < AB_COUNT(tables); i++) {
		ab_autoclose int fd = open(tables[i], O_RDONLY | O_CLOEXEC);
		ab_autofree char *text = NULL;
		size_t len;

		if (fd >= 0 && ab_read_all(fd, 4 << 20, &text, &len) == 0)
			n = ab_ports_parse(text, ports, n, AB_COUNT(ports));
	}
	for (size_t i = 0; i < n; i++)
		if (ports[i] == port)
			return true;
	return false;
}

static void check_live(int family, const char *name)
{
	uint16_t port;
	int listener = listen_on(family, &port);
	struct pollfd p = { .events = POLLOUT };
	struct pollfd waiting = { .fd = listener, .events = POLLIN };
	int fd = -1, peer = -1;

	if (listener < 0) {
		lacks(name, "no such address");
		return;
	}
	ok(lists(port), "%s: a listener is listed", name);
	ok(ab_listening_ports_dial(port, &fd) == 0 && fd >= 0, "%s: and dialed", name);
	p.fd = fd;
	if (poll(&waiting, 1, 60000) == 1)
		peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	ok(peer >= 0 && poll(&p, 1, 60000) == 1 && (p.revents & POLLOUT),
	   "%s: the connection is made", name);
	ok(send(fd, "x", 1, MSG_NOSIGNAL) == 1, "%s: and carries bytes", name);
	close(peer);
	close(fd);
	close(listener);
	fd = -1;
	ok(!lists(port), "%s: a closed one is not listed", name);
	ok(ab_listening_ports_dial(port, &fd) == ECONNREFUSED && fd == -1, "%s: and refuses", name);
}

int main(void)
{
	int fd = -1;

	check_cases();
	check_cuts();
	check_full();
	check_live(AF_INET, "IPv4");
	check_live(AF_INET6, "IPv6");
	ok(ab_listening_ports_dial(0, &fd) == EINVAL &&
		   ab_listening_ports_dial(65536, &fd) == EINVAL &&
		   ab_listening_ports_dial(-1, &fd) == EINVAL && fd == -1,
	   "what is no port is refused");
	return done();
}
