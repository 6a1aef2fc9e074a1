/* quick FILE: the command of a secret that writes a login into a tool's settings, and ends at once. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static const char text[] =
		"[global]\nindex-url = https://me:hunter2word@mirror.test/simple\n";
	int fd = argc == 2 ? open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0644) : -1;

	if (fd < 0 || write(fd, text, strlen(text)) < 0 || close(fd) < 0)
		return 1;
	return write(1, "value-of-the-secret\n", 20) != 20;
}
