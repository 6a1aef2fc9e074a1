/* quick FILE TEXT: the command of a secret that writes a login into a tool's settings, and ends at once. In TEXT a |
 * is the end of a line. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0644) : -1;
	char *end;

	if (fd < 0)
		return 1;
	while ((end = strchr(argv[2], '|')))
		*end = '\n';
	if (write(fd, argv[2], strlen(argv[2])) < 0 || close(fd) < 0)
		return 1;
	return write(1, "value-of-the-secret\n", 20) != 20;
}
