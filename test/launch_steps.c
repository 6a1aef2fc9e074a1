/*
 * For scripts/launch-order: runs a program step by step, with all processes that it creates, until
 * they execute another program, and prints the addresses of its code (16 bytes each, without the load
 * address) in the order in which they are executed for the first time.
 *
 *	launch_steps PROGRAM WORD...
 */
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CODE_MAX = 64 << 20, PIECE = 16, PROCESSES_MAX = 32 };

#if defined(__aarch64__)
#define PC pc
#elif defined(__x86_64__)
#define PC rip
#endif

struct process {
	pid_t pid;
	uint64_t base;
};

static bool seen[CODE_MAX / PIECE];
static struct process processes[PROCESSES_MAX];
static size_t nprocesses;

static struct process *find_process(pid_t pid)
{
	for (size_t i = 0; i < nprocesses; i++)
		if (processes[i].pid == pid)
			return &processes[i];
	if (nprocesses == PROCESSES_MAX)
		exit(1);
	processes[nprocesses] = (struct process){ .pid = pid };
	return &processes[nprocesses++];
}

/* Where the program is; 0 if the process has executed another one. */
static uint64_t find_base(pid_t pid, const struct stat *program)
{
	char path[64];
	struct stat st;
	uint64_t base = 0;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	if (stat(path, &st) < 0 || st.st_dev != program->st_dev || st.st_ino != program->st_ino)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "r");
	if (!maps)
		return 0;
	for (char line[4096]; !base && fgets(line, sizeof(line), maps);) {
		uint64_t from, ino;

		if (sscanf(line, "%" SCNx64 "-%*x %*s %*x %*s %" SCNu64, &from, &ino) == 2 &&
		    ino == program->st_ino)
			base = from;
	}
	fclose(maps);
	return base;
}

#if defined(__aarch64__)
static uint32_t peek(pid_t pid, uint64_t at)
{
	return (uint32_t)ptrace(PTRACE_PEEKTEXT, pid, at, NULL);
}

/*
 * Between a load-exclusive and its store-exclusive each step would clear the monitor, and the loop around
 * them would not end: run to what follows the loop.
 */
static void step(pid_t pid, uint64_t pc, int signal)
{
	enum { LONGEST = 16, EXCLUSIVE = 0x3fc00000, LOAD = 0x08400000, STORE = 0x08000000 };
	static const uint32_t trap = 0xd4200000;
	uint64_t at, word;
	int i = 0, status;

	if ((peek(pid, pc) & EXCLUSIVE) == LOAD)
		while (i < LONGEST && (peek(pid, pc + 4 * (uint64_t)i) & EXCLUSIVE) != STORE)
			i++;
	if (i == 0 || i == LONGEST) {
		ptrace(PTRACE_SINGLESTEP, pid, NULL, signal);
		return;
	}
	at = pc + 4 * (uint64_t)(i + 2);
	word = (uint64_t)ptrace(PTRACE_PEEKTEXT, pid, at, NULL);
	ptrace(PTRACE_POKETEXT, pid, at, (word & ~0xffffffffull) | trap);
	ptrace(PTRACE_CONT, pid, NULL, signal);
	while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status) &&
	       WSTOPSIG(status) != SIGTRAP)
		ptrace(PTRACE_CONT, pid, NULL, NULL);
	ptrace(PTRACE_POKETEXT, pid, at, word);
	ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);
}
#else
static void step(pid_t pid, uint64_t pc, int signal)
{
	(void)pc;
	ptrace(PTRACE_SINGLESTEP, pid, NULL, signal);
}
#endif

/* Returns the address. */
static uint64_t note_step(const struct process *p)
{
	struct user_regs_struct regs;
	struct iovec iov = { &regs, sizeof(regs) };
	uint64_t at;

	if (ptrace(PTRACE_GETREGSET, p->pid, (void *)NT_PRSTATUS, &iov) < 0)
		return 0;
	at = (uint64_t)regs.PC - p->base;
	if (at < CODE_MAX && !seen[at / PIECE]) {
		seen[at / PIECE] = true;
		printf("%" PRIx64 "\n", at / PIECE * PIECE);
	}
	return regs.PC;
}

int main(int argc, char **argv)
{
	static const long options = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
				    PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
	struct stat program;
	pid_t first;
	int status;

	if (argc < 2 || stat(argv[1], &program) < 0)
		return 2;
	first = fork();
	if (first == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 1);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		execv(argv[1], argv + 1);
		_exit(127);
	}
	waitpid(first, &status, 0);
	ptrace(PTRACE_SETOPTIONS, first, NULL, options);
	ptrace(PTRACE_CONT, first, NULL, NULL);
	for (pid_t pid; (pid = waitpid(-1, &status, __WALL)) > 0;) {
		struct process *p = find_process(pid);
		int event = status >> 16, signal = WSTOPSIG(status);

		if (!WIFSTOPPED(status)) {
			*p = processes[--nprocesses];
			continue;
		}
		if (!p->base || event == PTRACE_EVENT_EXEC)
			p->base = find_base(pid, &program);
		if (!p->base) {
			ptrace(event || signal == SIGSTOP ? PTRACE_CONT : PTRACE_DETACH, pid, NULL,
			       NULL);
			continue;
		}
		if (event || signal == SIGTRAP || signal == SIGSTOP)
			signal = 0;
		step(pid, note_step(p), signal);
	}
	return 0;
}
