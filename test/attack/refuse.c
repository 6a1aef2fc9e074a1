/*
 * A machine that lacks something: run a command under a filter that answers
 * for a kernel without it.
 *
 *	refuse netfilter CMD...		no nftables
 *	refuse netlink CMD...		no routes either
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ARG(n) (offsetof(struct seccomp_data, args) + 8 * (n))
#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (offset))
#define UNLESS(value, skip) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (skip))

int main(int argc, char *argv[])
{
	int all = argc > 1 && strcmp(argv[1], "netlink") == 0;
	/* The architecture does not matter: nobody is kept out by this. */
	struct sock_filter code[] = {
		LOAD(offsetof(struct seccomp_data, nr)),
		UNLESS(SYS_socket, 5),
		LOAD(ARG(0)),
		UNLESS(AF_NETLINK, 3),
		LOAD(ARG(2)),
		BPF_JUMP(all ? BPF_JMP | BPF_JGE | BPF_K :
			       BPF_JMP | BPF_JEQ | BPF_K,
			 all ? 0 : NETLINK_NETFILTER, 0, 1),
		BPF_STMT(BPF_RET | BPF_K,
			 SECCOMP_RET_ERRNO | EPROTONOSUPPORT),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { .len = sizeof(code) / sizeof(code[0]),
				   .filter = code };

	if (argc < 3 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) < 0) {
		perror("refuse");
		return 2;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 2;
}
