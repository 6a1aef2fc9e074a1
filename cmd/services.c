/*
 * No database of services in a static program: libc's would load NSS modules
 * of whatever version the machine has. c-ares names these two functions but
 * calls them for questions that we never ask; here they know nothing. They
 * stand in the program, not in the library, which must not take them away
 * from others.
 */
#include <errno.h>
#include <netdb.h>
#include <stddef.h>

struct servent *getservbyname(const char *name, const char *proto)
{
	(void)name;
	(void)proto;
	return NULL;
}

int getservbyport_r(int port, const char *proto, struct servent *result_buf,
		    char *buf, size_t buflen, struct servent **result)
{
	(void)port;
	(void)proto;
	(void)result_buf;
	(void)buf;
	(void)buflen;
	*result = NULL;
	return ENOENT;
}
