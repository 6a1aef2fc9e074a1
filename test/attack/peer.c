/*
 * Somebody on the host whom the box must not reach.
 *
 *	peer stream|dgram|tcp|udp NAME LOG
 *
 * NAME is a path, "@abstract", or "ADDRESS/PORT" (port 0: any). LOG gets a
 * first line when it is ready ("ready PORT"), and one for each connection or
 * message ("heard"). Ends with its parent.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int open_local(int type, const char *name)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	socklen_t len;
	int fd = socket(AF_UNIX, type, 0);

	if (strlen(name) >= sizeof(un.sun_path))
		return -1;
	memcpy(un.sun_path, name, strlen(name));
	if (name[0] == '@')
		un.sun_path[0] = '\0';
	len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name) + (name[0] != '@'));
	return bind(fd, (struct sockaddr *)&un, len) < 0 ? -1 : fd;
}

static int open_internet(int type, const char *name, int *ret_port)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	socklen_t len = sizeof(in);
	char address[64];
	unsigned int port;
	int fd = socket(AF_INET, type, 0);

	if (sscanf(name, "%63[^/]/%u", address, &port) != 2 ||
	    inet_pton(AF_INET, address, &in.sin_addr) != 1)
		return -1;
	in.sin_port = htons((in_port_t)port);
	if (bind(fd, (struct sockaddr *)&in, len) < 0 ||
	    getsockname(fd, (struct sockaddr *)&in, &len) < 0)
		return -1;
	*ret_port = ntohs(in.sin_port);
	return fd;
}

int main(int argc, char **argv)
{
	int port = 0, fd = -1;
	FILE *log;

	if (argc != 4)
		return 2;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (strcmp(argv[1], "stream") == 0)
		fd = open_local(SOCK_STREAM, argv[2]);
	else if (strcmp(argv[1], "dgram") == 0)
		fd = open_local(SOCK_DGRAM, argv[2]);
	else if (strcmp(argv[1], "tcp") == 0)
		fd = open_internet(SOCK_STREAM, argv[2], &port);
	else if (strcmp(argv[1], "udp") == 0)
		fd = open_internet(SOCK_DGRAM, argv[2], &port);
	log = fopen(argv[3], "a");
	if (fd < 0 || !log) {
		perror("peer");
		return 1;
	}
	listen(fd, 8); /* only where it means something */
	setvbuf(log, NULL, _IOLBF, 0);
	fprintf(log, "ready %d\n", port);
	for (;;) {
		char byte;
		int one = accept(fd, NULL, NULL);

		if (one >= 0)
			close(one);
		else if (recv(fd, &byte, 1, 0) < 0)
			return 1;
		fprintf(log, "heard\n");
	}
}
