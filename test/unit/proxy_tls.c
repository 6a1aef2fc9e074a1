/*
 * TLS at both doors: what is checked, what is refused and how it is said, and
 * that bytes arrive whole whatever the sockets do.
 */
#include "proxy/tls.h"

#include "tls_help.h"

static struct ab_tls_site *box; /* looks like api.example.com to clients */
static struct ab_tls_site *out; /* trusts the authority of `box` */

static void say_and_hear(struct ab_tls *a, struct ab_tls *b, const char *name)
{
	char text[64];

	wake();
	ok(ab_tls_write(a, "hello", 5) == 5 && read_all(b, text, 5) == 5 &&
		   memcmp(text, "hello", 5) == 0 &&
		   ab_tls_write(b, "answer", 6) == 6 &&
		   read_all(a, text, 6) == 6 && memcmp(text, "answer", 6) == 0,
	   "%s: bytes pass both ways", name);
}

static void meet(const char *as, const char *to, bool good, const char *why)
{
	struct ab_tls *a, *b;

	open_pair(0);
	a = accept_as(box, as);
	b = connect_to(out, &far, to);
	ok(shake(a, b) == good, "%s is %s as %s", as,
	   good ? "taken" : "refused", to);
	is_str(ab_tls_why(b), why, "and why");
	if (good)
		say_and_hear(a, b, as);
	ab_tls_free(a);
	ab_tls_free(b);
	close_pair();
}

int main(void)
{
	ok(ab_tls_initialised() == 0, "the library is not touched before");
	box = site_for("", 0, "api.example.com", "*.wild.example.com");
	if (!box)
		return done();
	out = site_for(ab_tls_site_pem(box), strlen(ab_tls_site_pem(box)),
		       "unused.example", NULL);
	ok(ab_tls_initialised() == 1, "two sites initialise it once");
	meet("api.example.com", "api.example.com", true, "");
	meet("a.wild.example.com", "a.wild.example.com", true, "");
	meet("api.example.com", "api2.example.com", false,
	     "its certificate is for api.example.com, not for api2.example.com");
	meet("api.example.org", "api.example.org", false,
	     "its certificate has a name that its authority may not certify");
	meet("127.0.0.1", "127.0.0.1", false,
	     "its certificate has a name that its authority may not certify");
	ab_tls_site_free(box);
	ab_tls_site_free(out);
	return done();
}
