#include "host/box_ports.h"

#include "netns/capture.h"
#include "sandbox/start/listening_ports.h"

/* Servers come early in a table: the kernel lists listening sockets first. */
enum { TABLE_MAX = 64 << 10 };

/* net.ipv4.ip_local_port_range of every new namespace. */
enum { PICKED_FIRST = 32768, PICKED_LAST = 60999 };

void ab_box_ports_open(pid_t init, struct ab_box_ports *ret)
{
	static const char names[2][8] = { "tcp", "tcp6" };
	char path[48];

	*ret = (struct ab_box_ports)AB_BOX_PORTS_NONE;
	for (size_t i = 0; i < AB_COUNT(names); i++) {
		snprintf(path, sizeof(path), "/proc/%d/net/%s", init, names[i]);
		ret->tables[i] = open(path, O_RDONLY | O_CLOEXEC);
	}
}

void ab_box_ports_fini(struct ab_box_ports *ports)
{
	for (size_t i = 0; i < AB_COUNT(ports->tables); i++)
		ab_closep(&ports->tables[i]);
}

static size_t read_table(int fd, uint16_t *ports, size_t n)
{
	ab_autofree char *text = ab_alloc(TABLE_MAX + 1);
	ssize_t len = 0;

	if (fd < 0 || lseek(fd, 0, SEEK_SET) < 0)
		return n;
	len = ab_read_full(fd, text, TABLE_MAX);
	text[len > 0 ? len : 0] = '\0';
	return ab_ports_parse(text, ports, n, AB_BOX_PORTS);
}

static bool is_picked_or_ours(uint16_t port)
{
	return port == AB_PORT_DNS || port == AB_PORT_DOOR || port == AB_PORT_CAPTURED ||
	       (port >= PICKED_FIRST && port <= PICKED_LAST);
}

static bool had_port(const struct ab_box_ports *ports, uint16_t port)
{
	for (size_t i = 0; i < ports->nlast; i++)
		if (ports->last[i] == port)
			return true;
	return false;
}

uint16_t ab_box_ports_look(struct ab_box_ports *ports, bool (*skip)(const void *arg, uint16_t port),
			   const void *arg)
{
	uint16_t now[AB_BOX_PORTS], found = 0;
	size_t n = 0;

	for (size_t i = 0; i < AB_COUNT(ports->tables); i++)
		n = read_table(ports->tables[i], now, n);
	for (size_t i = 0; i < n; i++)
		if (!is_picked_or_ours(now[i]) && !skip(arg, now[i]) && had_port(ports, now[i]) &&
		    (!found || now[i] < found))
			found = now[i];
	memcpy(ports->last, now, n * sizeof(now[0]));
	ports->nlast = n;
	return found;
}
