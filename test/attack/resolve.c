/*
 * resolve HOST PORT LINE: what a static program does that knows no proxy:
 * getaddrinfo, connect to each address in turn, send the line, print what
 * comes back. The line "http" is a whole request. Built with musl too, whose
 * resolver is its own.
 */
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int talk(int fd, const char *host, const char *line)
{
	char text[1024], buf[4096];
	ssize_t n;

	if (strcmp(line, "http") == 0)
		snprintf(text, sizeof(text), "GET / HTTP/1.0\r\nHost: %s\r\n\r\n", host);
	else
		snprintf(text, sizeof(text), "%s\r\n", line);
	if (send(fd, text, strlen(text), MSG_NOSIGNAL) < 0) {
		perror("send");
		return 1;
	}
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		fwrite(buf, 1, (size_t)n, stdout);
	if (n < 0)
		perror("read");
	return n < 0;
}

int main(int argc, char **argv)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG }, *list,
			*ai;
	int err, fd;

	if (argc != 4)
		return 2;
	err = getaddrinfo(argv[1], argv[2], &hints, &list);
	if (err) {
		printf("%s: %s\n", argv[1], gai_strerror(err));
		return 1;
	}
	for (ai = list; ai; ai = ai->ai_next) {
		fd = socket(ai->ai_family, ai->ai_socktype, 0);
		if (fd >= 0 && connect(fd, ai->ai_addr, ai->ai_addrlen) == 0)
			return talk(fd, argv[1], argv[3]);
		perror("connect");
		close(fd);
	}
	return 1;
}
