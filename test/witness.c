/*
 * For faults.bats: the command of a box tries what no box may, and prints "HOLE: NAME" for each that works.
 *
 *	agentbox-witness -l DIR              be the host: print "PID PORT" and stay until it is killed
 *	agentbox-witness DIR PID PORT [FILE] try; then print "tried"
 *
 *	outside   a file is made in DIR
 *	hook      FILE is written
 *	key       DIR/home/.ssh/id_ed25519 is read
 *	socket    the Unix socket DIR/socket of the host answers
 *	abstract  so does the abstract one of that name
 *	port      so does PORT of 127.0.0.1
 *	mount     a file system is mounted
 *	unshare   a user namespace is made
 *
 * PID also gets SIGURG. It stays pending there, since in a box that number may be another process: whether it
 * came can be read in /proc/PID/status only.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { GREETING = 'h' };

static struct {
	const char *dir, *hook;
	unsigned short port;
} host;

struct address {
	union {
		struct sockaddr any;
		struct sockaddr_un local;
		struct sockaddr_in in;
	};
	socklen_t len;
};

/* ABSTRACT: its name begins with a zero byte. */
static struct address name_socket(bool abstract)
{
	struct address ret = { .local.sun_family = AF_UNIX };
	char *name = ret.local.sun_path + abstract;

	ret.len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + abstract +
			      (size_t)snprintf(name, sizeof(ret.local.sun_path) - abstract,
					       "%s/socket", host.dir));
	return ret;
}

static struct address name_port(void)
{
	struct address ret = { .in = { .sin_family = AF_INET,
				       .sin_port = htons(host.port),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) },
			       .len = sizeof(ret.in) };

	return ret;
}

/* Is the host there? An injected error of connect() can pass for a connection. */
static bool can_connect(struct address to)
{
	const struct timeval limit = { .tv_sec = 10 };
	int fd = socket(to.any.sa_family, SOCK_STREAM, 0);
	char byte;

	return fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) == 0 &&
	       connect(fd, &to.any, to.len) == 0 && read(fd, &byte, 1) == 1 && byte == GREETING;
}

static bool try_outside(void)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/outside", host.dir);
	return open(path, O_WRONLY | O_CREAT, 0600) >= 0;
}

static bool try_hook(void)
{
	int fd = host.hook ? open(host.hook, O_WRONLY | O_CREAT, 0700) : -1;

	return fd >= 0 && write(fd, "x\n", 2) == 2;
}

static bool try_key(void)
{
	char path[4096], byte;
	int fd;

	snprintf(path, sizeof(path), "%s/home/.ssh/id_ed25519", host.dir);
	fd = open(path, O_RDONLY);
	return fd >= 0 && read(fd, &byte, 1) == 1;
}

static bool try_socket(void)
{
	return can_connect(name_socket(false));
}

static bool try_abstract(void)
{
	return can_connect(name_socket(true));
}

static bool try_port(void)
{
	return can_connect(name_port());
}

static bool try_mount(void)
{
	return mount("witness", "/tmp", "tmpfs", 0, NULL) == 0;
}

static bool try_unshare(void)
{
	return unshare(CLONE_NEWUSER) == 0;
}

/* What changes the process is last. */
static const struct {
	const char *name;
	bool (*works)(void);
} attempts[] = {
	{ "outside", try_outside }, { "hook", try_hook },	  { "key", try_key },
	{ "socket", try_socket },   { "abstract", try_abstract }, { "port", try_port },
	{ "mount", try_mount },	    { "unshare", try_unshare },
};

static int listen_at(struct address at)
{
	int fd = socket(at.any.sa_family, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, &at.any, at.len) < 0 || listen(fd, 64) < 0) {
		perror("agentbox-witness");
		exit(1);
	}
	return fd;
}

static void greet(int fd)
{
	int peer = accept(fd, NULL, NULL);

	if (peer >= 0) {
		(void)!send(peer, &(char){ GREETING }, 1, MSG_NOSIGNAL);
		close(peer);
	}
}

static void be_host(void)
{
	struct address in = name_port();
	struct pollfd sockets[] = { { listen_at(name_socket(false)), POLLIN, 0 },
				    { listen_at(name_socket(true)), POLLIN, 0 },
				    { listen_at(in), POLLIN, 0 } };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGURG);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (getsockname(sockets[2].fd, &in.any, &in.len) < 0)
		exit(1);
	printf("%d %d\n", getpid(), ntohs(in.in.sin_port));
	fclose(stdout);
	fclose(stderr);
	while (poll(sockets, 3, -1) > 0)
		for (int i = 0; i < 3; i++)
			if (sockets[i].revents)
				greet(sockets[i].fd);
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "-l") == 0) {
		host.dir = argv[2];
		be_host();
	}
	if (argc < 4)
		return 2;
	host.dir = argv[1];
	host.port = (unsigned short)atoi(argv[3]);
	host.hook = argv[4];
	kill(atoi(argv[2]), SIGURG);
	for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++)
		if (attempts[i].works())
			printf("HOLE: %s\n", attempts[i].name);
	puts("tried");
	return 0;
}
