#include "sandbox/start/launch.h"

#include <sched.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "landlock/landlock.h"
#include "sandbox/plan/engine.h"
#include "sandbox/start/caps.h"
#include "sandbox/start/init.h"

/* What the first child needs; it shares the supervisor's memory. */
struct birth {
	int sock;
	unsigned int uid, gid;
	const int *stdio; /* three descriptors; -1: as we have it */
	bool namespaces;
	struct ab_error *err;
	bool begins; /* what fails now may not fail without namespaces */
};

static int write_maps(const struct birth *b, struct ab_error *err)
{
	ab_autoclose int self = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	char map[64];

	/*
	 * Linux 3.19 and later accept an unprivileged gid_map only after
	 * setgroups is denied: dropping a group could otherwise gain access
	 * to a file that excludes it. (CVE-2014-8989)
	 */
	if (ab_write_file(self, "setgroups", "deny") < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "deny setgroups");
	snprintf(map, sizeof(map), "%u %u 1", b->uid, b->uid);
	if (ab_write_file(self, "uid_map", map) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "map uid %u", b->uid);
	snprintf(map, sizeof(map), "%u %u 1", b->gid, b->gid);
	if (ab_write_file(self, "gid_map", map) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "map gid %u", b->gid);
	return 0;
}

/*
 * The first child, between clone and exec. It shares the memory of the sleeping
 * supervisor (CLONE_VM|CLONE_VFORK), so it allocates nothing and changes nothing
 * except its own stack and what tells why it failed.
 */
__attribute__((no_sanitize("address", "undefined"))) static int run_first_child(void *arg)
{
	struct birth *b = arg;
	struct ab_error *err = b->err;
	char sock[12];
	char *argv[] = { (char *)AB_INIT_NAME, sock,
			 (char *)(b->namespaces ? AB_INIT_NAMESPACES : AB_INIT_NO_NAMESPACES),
			 NULL };
	char *env[] = { NULL };
	int r;

	b->begins = true;
	if (b->namespaces && write_maps(b, err) < 0)
		return ab_step(err, "identity maps");
	r = b->namespaces ? ab_caps_carry() : 0;
	if (r < 0)
		return ab_fail_step(err, "capabilities", -r, "keep capabilities");
	b->begins = false;
	for (int fd = 0; fd < 3; fd++)
		if (b->stdio[fd] >= 0 && dup2(b->stdio[fd], fd) < 0)
			return ab_fail_step(err, "streams", errno, "pass on descriptor %d", fd);
	snprintf(sock, sizeof(sock), "%d", b->sock);
	if (fcntl(b->sock, F_SETFD, 0) == 0)
		execve("/proc/self/exe", argv, env);
	return ab_fail_step(err, "re-execution", errno, "execute the agentbox binary again");
}

/* The machine forbids namespaces, or their use; or it has none left, or the kernel lacks one of them. */
static bool is_refusal(int errnum, bool unmade, const struct birth *b)
{
	if (errnum == EPERM || errnum == EACCES)
		return unmade || b->begins;
	return unmade && (errnum == ENOSPC || errnum == EUSERS || errnum == EINVAL);
}

enum launched { LAUNCHED, REFUSED, FAILED };

/* Create the first process. On failure nothing is left of it. */
static enum launched launch_once(struct birth *birth, struct ab_box *ret, struct ab_error *err)
{
	static char stack[64 * 1024] __attribute__((aligned(16)));
	int flags = CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD;
	struct ab_box box = { .pidfd = -1, .namespaces = birth->namespaces };
	int pair[2];
	bool unmade;

	*err = (struct ab_error){ 0 };
	birth->err = err;
	if (birth->namespaces)
		flags |= CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS |
			 CLONE_NEWCGROUP;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		ab_fail_step(err, "namespaces", errno, "create a socket pair");
		return FAILED;
	}
	birth->sock = pair[1];
	/*
	 * clone() instead of clone3(): the same flags, and it works even if a
	 * container's filter rejects clone3 with ENOSYS.
	 */
	box.pid = clone(run_first_child, stack + sizeof(stack), flags, birth, &box.pidfd);
	box.sock = pair[0];
	unmade = box.pid < 0;
	if (unmade) {
		ab_fail_step(err, "namespaces", errno, "create new namespaces");
		box.pidfd = -1;
	}
	close(pair[1]);
	if (err->code == AB_ENONE) {
		*ret = box;
		return LAUNCHED;
	}
	ab_box_fini(&box);
	ab_box_explain(err);
	return is_refusal(err->errnum, unmade, birth) ? REFUSED : FAILED;
}

/* The guard is not an ancestor of the box: Yama would not let it read what the box asks for. */
static int check_yama(struct ab_error *err)
{
	ab_autoclose int fd = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);
	char scope = '0';

	if (fd < 0 || read(fd, &scope, 1) != 1 || scope == '0')
		return 0;
	return ab_fail_step(
		err, "yama", 0,
		"the engine no-namespaces needs kernel.yama.ptrace_scope=0, and it is %c", scope);
}

/* Landlock is the only fence of files then: it must know every way to change one. */
static int check_landlock(const struct ab_error *refused, struct ab_error *err)
{
	int abi = ab_landlock_abi();

	if (abi >= AB_ENGINE_LANDLOCK)
		return 0;
	if (refused->code != AB_ENONE) {
		*err = *refused;
		return ab_wrap(err,
			       "without namespaces it needs Landlock ABI %d (Linux 6.7), and there "
			       "is %d",
			       AB_ENGINE_LANDLOCK, abi);
	}
	ab_fail(err, AB_ESYSTEM, 0,
		"the engine no-namespaces needs Landlock ABI %d (Linux 6.7), and there is %d",
		AB_ENGINE_LANDLOCK, abi);
	ab_hint(err, "agentbox doctor shows what this machine has; use --engine auto");
	return ab_step(err, "landlock");
}

int ab_box_launch(enum ab_box_engine engine, const int stdio[3], struct ab_box *ret,
		  struct ab_error *err)
{
	struct ab_error refused = { 0 };
	enum launched launched;
	struct birth birth = { .uid = getuid(), .gid = getgid(), .stdio = stdio };

	if (engine != AB_ENGINE_NO_NAMESPACES) {
		birth.namespaces = true;
		launched = launch_once(&birth, ret, &refused);
		if (launched == LAUNCHED)
			return 0;
		if (engine != AB_ENGINE_AUTO || launched == FAILED) {
			*err = refused;
			return -1;
		}
	}
	if (check_landlock(&refused, err) < 0)
		return -1;
	if (check_yama(err) < 0)
		return refused.hint[0]
			       ? ab_hint(err,
					 "as root: sysctl kernel.yama.ptrace_scope=0; for "
					 "another engine: %s",
					 refused.hint)
			       : ab_hint(err, "as root: sysctl kernel.yama.ptrace_scope=0, or "
					      "use --engine auto");
	birth.namespaces = false;
	if (launch_once(&birth, ret, err) != LAUNCHED)
		return -1;
	ret->refused = refused;
	return 0;
}

int ab_box_begin(const struct ab_box *box, const struct ab_begin *begin, struct ab_error *err)
{
	struct ab_msg msg = { .type = AB_MSG_BEGIN, .u.begin = *begin };

	if (!box->namespaces) {
		msg.u.begin.engine = AB_ENGINE_NO_NAMESPACES;
		msg.u.begin.net = AB_BOX_NET_HOST;
	}
	/* If it has ended, it has sent why. */
	if (ab_send_fds(box->sock, &msg, AB_MSG_LEN(sizeof(*begin)), NULL, 0) == 0 ||
	    errno == EPIPE || errno == ECONNRESET)
		return 0;
	return ab_fail_step(err, "begin", errno, "tell the box how to begin");
}

/*
 * Send a specification behind the head of a message, with these descriptors: in the message, or
 * sealed in a further descriptor before them if it is too long for that (`value` is 1 then).
 * A memfd costs as much as all the rest of this. -1: it cannot be written; else errno or 0.
 */
static int send_spec(const struct ab_box *box, enum ab_msg_type type, struct ab_spec *spec,
		     int *fds, size_t nfds, struct ab_error *err)
{
	struct ab_msg head = { .type = type };
	ab_autobuf struct ab_buf buf = { 0 };
	ab_autoclose int sealed = -1;
	size_t len = AB_MSG_LEN(0);

	ab_buf_add(&buf, &head, len);
	if (ab_spec_write(spec, &buf, err) < 0)
		return ab_step(err, "specification");
	if (buf.len <= sizeof(struct ab_spec_msg)) {
		len = buf.len;
	} else {
		sealed = fds[0] = ab_spec_seal_text(buf.data + len, buf.len - len, err);
		if (sealed < 0)
			return ab_step(err, "specification");
		((struct ab_msg *)buf.data)->value = 1;
	}
	return ab_send_fds(box->sock, buf.data, len, fds + (sealed < 0), nfds + (sealed >= 0)) < 0
		       ? errno
		       : 0;
}

int ab_box_specify(const struct ab_box *box, struct ab_spec *spec, struct ab_error *err)
{
	int sealed, r = send_spec(box, AB_MSG_SPEC, spec, &sealed, 0, err);

	return r > 0 ? ab_fail_step(err, "specification", r, "send the specification") : r;
}

/* AB_STREAM_*, or NULL: it cannot enter a box that exists. */
static const char *choose_stream(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return NULL;
	if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))
		return AB_STREAM_PASSED;
	return S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3) ? AB_STREAM_KEPT : NULL;
}

bool ab_box_takes(const int stdio[3])
{
	for (int fd = 0; fd < 3; fd++)
		if (!choose_stream(stdio[fd] >= 0 ? stdio[fd] : fd))
			return false;
	return true;
}

int ab_box_hand(const struct ab_box *box, const struct ab_spec *spec, const int stdio[3], int go,
		struct ab_error *err)
{
	/* What is not the command's is the box's; strings are borrowed. */
	struct ab_spec command = {
		.argv = spec->argv, .env = spec->env, .cwd = spec->cwd, .run_id = spec->run_id
	};
	ab_autostrv struct ab_strv streams = { 0 };
	int fds[5], r;
	size_t nfds = 0;

	for (int fd = 0; fd < 3; fd++) {
		int from = stdio[fd] >= 0 ? stdio[fd] : fd;
		const char *word = choose_stream(from);

		ab_strv_add(&streams, word ? word : AB_STREAM_KEPT);
		if (word && strcmp(word, AB_STREAM_PASSED) == 0)
			fds[1 + nfds++] = from;
	}
	fds[1 + nfds++] = go;
	command.streams = streams;
	r = send_spec(box, AB_MSG_COMMAND, &command, fds, nfds, err);
	if (r <= 0)
		return r;
	if (r == EPIPE || r == ECONNRESET)
		return 1;
	return ab_fail_step(err, "specification", r, "send the command to its box");
}

int ab_box_tell(const struct ab_box *box, enum ab_msg_type type, int value)
{
	struct ab_msg msg = { .type = type, .value = value };
	ssize_t n;

	do {
		n = send(box->sock, &msg, AB_MSG_LEN(0), MSG_NOSIGNAL | MSG_DONTWAIT);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -1 : 0;
}

/* The exact length of each message from init; 0: it sends no such message. */
static size_t message_len(uint32_t type)
{
	static const uint16_t lens[] = {
		[AB_MSG_FAILED] = AB_MSG_LEN(sizeof(struct ab_error)),
		[AB_MSG_NETWORK] = AB_MSG_LEN(sizeof(struct ab_handover)),
		[AB_MSG_ASKS] = AB_MSG_LEN(sizeof(struct ab_holds)),
		[AB_MSG_HOLDS] = AB_MSG_LEN(sizeof(struct ab_holds)),
		[AB_MSG_READY] = AB_MSG_LEN(sizeof(struct ab_holds)),
		[AB_MSG_TTY... AB_MSG_TOOLS] = AB_MSG_LEN(0),
		[AB_MSG_AGENT... AB_MSG_RUNS] = AB_MSG_LEN(0),
	};

	return type < AB_COUNT(lens) ? lens[type] : 0;
}

/* Check the content of AB_MSG_NETWORK. */
static bool is_valid_handover(const struct ab_msg *msg, const struct ab_fds *fds)
{
	const struct ab_handover *h = &msg->u.network;

	if (h->n > AB_LISTENERS_MAX || h->n != fds->len)
		return false;
	for (size_t i = 0; i < h->n; i++)
		if (h->listeners[i].kind >= AB_LISTENER_HANDED)
			return false;
	return true;
}

static bool has_proof(const struct ab_msg *msg)
{
	return msg->type == AB_MSG_HOLDS || msg->type == AB_MSG_READY;
}

static bool is_valid(const struct ab_msg *msg, ssize_t n, const struct ab_fds *fds)
{
	return n >= (ssize_t)AB_MSG_LEN(0) && n == (ssize_t)message_len(msg->type) &&
	       (msg->type != AB_MSG_NETWORK || is_valid_handover(msg, fds)) &&
	       (!has_proof(msg) || msg->u.holds.engine < AB_ENGINE_COUNT);
}

static ssize_t receive(int sock, struct ab_msg *ret, struct ab_fds *ret_fds, int flags)
{
	ssize_t n;

	ret_fds->len = AB_COUNT(ret_fds->v);
	n = ab_recv_fds(sock, ret, sizeof(*ret), ret_fds->v, &ret_fds->len, flags);
	if (n < 0)
		ret_fds->len = 0;
	return n;
}

int ab_box_hear(const struct ab_box *box, struct ab_msg *ret, struct ab_fds *ret_fds, int flags)
{
	ssize_t n = receive(box->sock, ret, ret_fds, flags);

	/*
	 * Init ended before it had read everything we sent. The kernel reports
	 * that once, before it delivers the messages of init.
	 */
	if (n < 0 && errno == ECONNRESET)
		n = receive(box->sock, ret, ret_fds, flags);
	if (n <= 0)
		return n < 0 && errno == ECONNRESET ? 0 : (int)n;
	if (!is_valid(ret, n, ret_fds)) {
		ab_fds_close(ret_fds);
		return ab_errno(EPROTO);
	}
	if (ret->type == AB_MSG_FAILED) {
		ret->u.error.step[sizeof(ret->u.error.step) - 1] = '\0';
		ret->u.error.text[sizeof(ret->u.error.text) - 1] = '\0';
		ret->u.error.hint[sizeof(ret->u.error.hint) - 1] = '\0';
	}
	if (has_proof(ret)) {
		ret->u.holds.missing[sizeof(ret->u.holds.missing) - 1] = '\0';
		ret->u.holds.blocked[sizeof(ret->u.holds.blocked) - 1] = '\0';
	}
	return 1;
}

void ab_box_kill(const struct ab_box *box)
{
	/* Killed, init would leave the others behind. */
	if (!box->namespaces) {
		shutdown(box->sock, SHUT_WR);
		return;
	}
	syscall(SYS_pidfd_send_signal, box->pidfd, SIGKILL, NULL, 0);
}

void ab_box_fini(struct ab_box *box)
{
	siginfo_t info = { 0 };

	/* If it still waits for us: it ends with the socket. */
	if (!box->namespaces && box->sock >= 0)
		shutdown(box->sock, SHUT_WR);
	if (box->pidfd >= 0) {
		while (waitid(P_PIDFD, (id_t)box->pidfd, &info, WEXITED) < 0 && errno == EINTR)
			;
		close(box->pidfd);
		box->end = info.si_code == CLD_EXITED ? info.si_status << 8 : info.si_status;
	}
	ab_closep(&box->sock);
	/* The engine and the rest stay known. */
	box->pid = 0;
	box->pidfd = box->sock = -1;
}

void ab_box_explain_end(const struct ab_box *box, struct ab_error *err)
{
	ab_fail_step(err, ab_init_step(WEXITSTATUS(box->end)), 0,
		     "the box's first process ended without a report");
}

void ab_box_namespaces(uint64_t ret[])
{
	static const char *const paths[AB_NS_COUNT] = {
		"/proc/self/ns/net",
		"/proc/self/ns/ipc",
	};

	for (size_t i = 0; i < AB_NS_COUNT; i++) {
		struct stat st;

		ret[i] = stat(paths[i], &st) == 0 ? st.st_ino : 0;
	}
}

/*
 * Any program that contains this library becomes init here, before its main(), if
 * it is executed with init's name.
 */
__attribute__((constructor)) static void become_init(int argc, char **argv)
{
	bool namespaces;

	if (argc != 3 || strcmp(argv[0], AB_INIT_NAME) != 0)
		return;
	namespaces = strcmp(argv[2], AB_INIT_NAMESPACES) == 0;
	if (namespaces ? getpid() == 1 : strcmp(argv[2], AB_INIT_NO_NAMESPACES) == 0)
		ab_init_main((int)strtol(argv[1], NULL, 10), namespaces);
}
