/*
 * Stubs for the static program: libc's own functions would load NSS modules or
 * other libraries in whatever version the machine has. c-ares and the TLS
 * library refer to these functions but call them only for features that we do
 * not use, so here they always fail. They are in the program, not in the
 * library, because a library must not replace them for its users.
 */
#include <errno.h>
#include <netdb.h>
#include <stddef.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

struct servent *getservbyname(const char *name, const char *proto)
{
	return NULL;
}

int getservbyname_r(const char *name, const char *proto, struct servent *result_buf, char *buf,
		    size_t buflen, struct servent **result)
{
	*result = NULL;
	return ENOENT;
}

int getservbyport_r(int port, const char *proto, struct servent *result_buf, char *buf,
		    size_t buflen, struct servent **result)
{
	*result = NULL;
	return ENOENT;
}

struct hostent *gethostbyname(const char *name)
{
	h_errno = NO_RECOVERY;
	return NULL;
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *req,
		struct addrinfo **pai)
{
	*pai = NULL;
	return EAI_FAIL;
}

void freeaddrinfo(struct addrinfo *ai)
{
}

int getnameinfo(const struct sockaddr *sa, socklen_t salen, char *host, socklen_t hostlen,
		char *serv, socklen_t servlen, int flags)
{
	return EAI_FAIL;
}

/* The linker replaces dlopen with this (--wrap), because libc calls its own. */
void *__wrap_dlopen(const char *file, int mode);
void *__wrap_dlopen(const char *file, int mode)
{
	return NULL;
}

/*
 * libc would find out where the program is, for names of libraries to load that begin with $ORIGIN:
 * a fifth of its start before main(). There are none. This is how it says that it does not know.
 */
const char *_dl_get_origin(void);
const char *_dl_get_origin(void)
{
	return (const char *)-1;
}
