/*
 * Words about hosts while requests are under way: whatever comes in between,
 * what a record names is still there.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>

#include "proxy_help.h"

#define NO_403 "HTTP/1.1 403"

static struct ab_proxy *proxy;
static bool over;
static int words; /* that may be said before the next request: a slow proxy must get to it */

static void *repeat(void *arg)
{
	const struct ab_grant *grant = arg;

	while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
		if (__atomic_fetch_sub(&words, 1, __ATOMIC_RELAXED) > 0)
			ab_proxy_grant(proxy, grant, "control");
		usleep(300);
	}
	return NULL;
}

/* A name is allowed, the address that it leads to is denied for this run, by a
 * word that is said again and again. */
static void test_address_denied_anew(void)
{
	struct ab_grant deny = { .entry = "127.0.0.1", .deny = true };
	struct ab_grant deny6 = { .entry = "::1", .deny = true };
	struct ab_policy policy;
	struct ab_proxy_setup setup;
	struct ab_proxy_report report;
	ab_autofree char *allowed = ab_printf("localhost:%u", origin);
	pthread_t talker;
	int refused = 0;

	fill_policy(&policy, allowed, AB_UNKNOWN_DENY);
	ab_strv_add(&policy.net.allow_private, "::1");
	setup = setup_of(&policy);
	proxy = start_proxy(&setup);
	ab_proxy_grant(proxy, &deny, "control");
	ab_proxy_grant(proxy, &deny6, "control");
	if (pthread_create(&talker, NULL, repeat, &deny6) != 0)
		abort();
	for (int i = 0; i < 100; i++) {
		int fd;
		const char *heard;

		__atomic_store_n(&words, 50, __ATOMIC_RELAXED);
		fd = ask_for("localhost", origin);
		heard = hear(fd, 4000);
		if (strncmp(heard, NO_403, 12) == 0 && strstr(heard, "denied for this run (::1)"))
			refused++;
		else
			printf("# answer %d: %s\n", i, heard);
		close(fd);
	}
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	pthread_join(talker, NULL);
	ok(refused == 100, "each is refused, and told by which: %d", refused);
	report = stop_proxy(proxy);
	ab_strv_fini(&report.lines);
	free_policy(&policy);
}

int main(void)
{
	world_init();
	test_address_denied_anew();
	world_fini();
	return done();
}
