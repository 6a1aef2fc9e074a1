#ifndef AB_SESSION_FETCH_FETCHER_H
#define AB_SESSION_FETCH_FETCHER_H
/*
 * A process that talks to a server for us, forked from one that can do more. In this order: leave
 * the caller, set up the client (http_client.h), confine, send.
 */
struct ab_error;

/* Nothing of the caller stays open but `keep`: its pipes must see their end. -1 keeps nothing. Exits
 * on failure. */
void ab_fetcher_leave(const char *name, int keep);
/* Wipes the variables, which are this process's own since the fork and may hold secrets; then Landlock
 * and the filter (session/lock/lockdown.h). */
int ab_fetcher_confine(char *const *variables, struct ab_error *err);

#endif
