/*
 * What a static program leaves out: libc's own would load NSS modules, or
 * whatever is asked for, of whatever version the machine has. c-ares and the
 * TLS library name these functions but call them for questions that we never
 * ask; here they know nothing. They stand in the program, not in the library,
 * which must not take them away from others.
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

int getservbyport_r(int port, const char *proto, struct servent *result_buf, char *buf,
		    size_t buflen, struct servent **result)
{
	(void)port;
	(void)proto;
	(void)result_buf;
	(void)buf;
	(void)buflen;
	*result = NULL;
	return ENOENT;
}

struct hostent *gethostbyname(const char *name)
{
	(void)name;
	h_errno = NO_RECOVERY;
	return NULL;
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *req,
		struct addrinfo **pai)
{
	(void)name;
	(void)service;
	(void)req;
	*pai = NULL;
	return EAI_FAIL;
}

void freeaddrinfo(struct addrinfo *ai)
{
	(void)ai;
}

int getnameinfo(const struct sockaddr *sa, socklen_t salen, char *host, socklen_t hostlen,
		char *serv, socklen_t servlen, int flags)
{
	(void)sa;
	(void)salen;
	(void)host;
	(void)hostlen;
	(void)serv;
	(void)servlen;
	(void)flags;
	return EAI_FAIL;
}

/* The linker puts this in dlopen's place: libc refers to its own. */
void *__wrap_dlopen(const char *file, int mode);
void *__wrap_dlopen(const char *file, int mode)
{
	(void)file;
	(void)mode;
	return NULL;
}
