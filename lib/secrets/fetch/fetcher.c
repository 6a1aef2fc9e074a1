#include "secrets/fetch/fetcher.h"

#include "host/lock/lockdown.h"

int ab_fetcher_confine(char *const *variables, struct ab_error *err)
{
	for (char *const *v = variables; *v; v++)
		explicit_bzero(*v, strlen(*v));
	return ab_lock_fetcher(err);
}
