/*
 * A machine that lacks something: run a command under a filter that answers
 * for a kernel without it.
 *
 *	refuse netfilter CMD...		no nftables
 *	refuse routes CMD...		no routes can be made
 *	refuse NUMBER CMD...		without this system call
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ARG(n) (offsetof(struct seccomp_data, args) + 8 * (n))
#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (offset))
#define UNLESS(test, value, skip) BPF_JUMP(BPF_JMP | (test) | BPF_K, (value), 0, (skip))
#define ANSWER(what) BPF_STMT(BPF_RET | BPF_K, (what))

/* The architecture does not matter: nobody is kept out by this. */
static struct sock_filter netfilter[] = {
	LOAD(offsetof(struct seccomp_data, nr)),
	UNLESS(BPF_JEQ, SYS_socket, 5),
	LOAD(ARG(0)),
	UNLESS(BPF_JEQ, AF_NETLINK, 3),
	LOAD(ARG(2)),
	UNLESS(BPF_JEQ, NETLINK_NETFILTER, 1),
	ANSWER(SECCOMP_RET_ERRNO | EPROTONOSUPPORT),
	ANSWER(SECCOMP_RET_ALLOW),
};

/* All of a box's routes go in one message, and nothing else that is sent
 * before the command runs has such a length. */
static struct sock_filter routes[] = {
	LOAD(offsetof(struct seccomp_data, nr)),
	UNLESS(BPF_JEQ, SYS_sendto, 5),
	LOAD(ARG(2)),
	UNLESS(BPF_JGE, 200, 3),
	BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 300, 2, 0),
	ANSWER(SECCOMP_RET_ERRNO | EPERM),
	ANSWER(SECCOMP_RET_ALLOW),
	ANSWER(SECCOMP_RET_ALLOW),
};

static struct sock_filter call[] = {
	LOAD(offsetof(struct seccomp_data, nr)),
	UNLESS(BPF_JEQ, 0, 1),
	ANSWER(SECCOMP_RET_ERRNO | ENOSYS),
	ANSWER(SECCOMP_RET_ALLOW),
};

int main(int argc, char *argv[])
{
	struct sock_fprog prog = { .len = sizeof(routes) / sizeof(routes[0]), .filter = routes };

	if (argc > 1 && strcmp(argv[1], "netfilter") == 0)
		prog = (struct sock_fprog){ .len = sizeof(netfilter) / sizeof(netfilter[0]),
					    .filter = netfilter };
	if (argc > 1 && atoi(argv[1]) > 0) {
		call[1].k = (unsigned int)atoi(argv[1]);
		prog = (struct sock_fprog){ .len = sizeof(call) / sizeof(call[0]), .filter = call };
	}
	if (argc < 3 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) < 0) {
		perror("refuse");
		return 2;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 2;
}
