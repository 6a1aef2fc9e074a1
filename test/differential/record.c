/*
 * Append to $AB_RECORD, in one write because others do so at the same time: the number of the line
 * ($AB_NUMBER), how many words I have, and the words. Without a C library, whose start takes longer
 * than all of this.
 */
#include <fcntl.h>
#include <stddef.h>
#include <sys/syscall.h>

static long call(long number, long a, long b, long c, long d)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = d;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c, x3 __asm__("x3") = d;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	return x0;
#else
#error "no system calls for this machine"
#endif
}

static char text[1 << 16];
static size_t len;

/* The word and its end; a word that does not fit is not recorded, and so is missed. */
static void add(const char *word)
{
	do {
		if (len == sizeof(text))
			return;
		text[len++] = *word;
	} while (*word++);
}

static const char *value_of(char *const *env, const char *name)
{
	for (; *env; env++) {
		size_t i = 0;

		while (name[i] && (*env)[i] == name[i])
			i++;
		if (!name[i] && (*env)[i] == '=')
			return *env + i + 1;
	}
	return "";
}

/* From the stack as the kernel leaves it. */
__attribute__((used, noreturn)) void record(long *stack)
{
	char **argv = (char **)(stack + 1), **env = argv + stack[0] + 1;
	char count[24], *digit = count + sizeof(count) - 1;
	long left = stack[0], fd;

	*digit = '\0';
	do {
		*--digit = (char)('0' + left % 10);
	} while (left /= 10);
	add(value_of(env, "AB_NUMBER"));
	add(digit);
	while (*argv)
		add(*argv++);
	fd = call(SYS_openat, AT_FDCWD, (long)value_of(env, "AB_RECORD"), O_WRONLY | O_APPEND, 0);
	left = call(SYS_write, fd, (long)text, (long)len, 0);
	for (;;)
		call(SYS_exit_group, left != (long)len, 0, 0, 0);
}

#if defined(__x86_64__)
__asm__(".globl _start\n_start:\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n\tcall record\n");
#else
__asm__(".globl _start\n_start:\n\tmov x0, sp\n\tbl record\n");
#endif
