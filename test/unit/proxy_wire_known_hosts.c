#include "proxy/wire/known_hosts.h"

#include "base/data/error.h"
#include "base/data/mem.h"
#include "proxy/io/tls_ssh_key.h"
#include "proxy_bytes.h"
#include "tap.h"

static size_t found, revoked;

static void count(void *arg, struct ab_ssh_text key, bool is_revoked)
{
	(void)arg;
	found += key.len == 51;
	revoked += is_revoked;
}

#define KEY "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOgb3ULcXFlkzeBhhJu5xI2tyNfH+1uP3xY3qVQE0EDQ"
/* Made by ssh-keygen -H. */
#define HASHED "|1|sFQWS5wC+q7/H4DzLPkIxdfhDDs=|HPVyEilJIpZ8PAJ+/FbCyWG1Nlo= " KEY

static const struct {
	const char *text, *host;
	uint16_t port;
	size_t found, revoked, authorities;
} cases[] = {
	{ "git.test " KEY, "git.test", 22, 1, 0, 0 },
	{ "git.test " KEY "\n", "git.test", 22, 1, 0, 0 },
	{ "  git.test\t" KEY " comment\r\n", "git.test", 22, 1, 0, 0 },
	{ "GIT.test " KEY, "git.test", 22, 1, 0, 0 },
	{ "git.test " KEY, "other.test", 22, 0, 0, 0 },
	{ "git.test " KEY, "git.test", 2222, 0, 0, 0 },
	{ "[git.test]:2222 " KEY, "git.test", 2222, 1, 0, 0 },
	{ "[git.test]:2222 " KEY, "git.test", 22, 0, 0, 0 },
	{ "a.test,git.test,1.2.3.4 " KEY, "1.2.3.4", 22, 1, 0, 0 },
	{ "*.test " KEY, "git.test", 22, 1, 0, 0 },
	{ "*.test,!git.test " KEY, "git.test", 22, 0, 0, 0 },
	{ "!git.test,*.test " KEY, "git.test", 22, 0, 0, 0 },
	{ "g?t.* " KEY, "git.test", 22, 1, 0, 0 },
	{ "* " KEY, "git.test", 22, 1, 0, 0 },
	{ "git.tes " KEY, "git.test", 22, 0, 0, 0 },
	{ HASHED, "git.test", 22, 1, 0, 0 },
	{ HASHED, "git.tess", 22, 0, 0, 0 },
	{ "|1|x|y " KEY, "git.test", 22, 0, 0, 0 },
	{ "|2|sFQWS5wC+q7/H4DzLPkIxdfhDDs=|HPVyEilJIpZ8PAJ+/FbCyWG1Nlo= " KEY, "git.test", 22, 0, 0,
	  0 },
	{ "# git.test " KEY, "git.test", 22, 0, 0, 0 },
	{ "@revoked * " KEY, "git.test", 22, 1, 1, 0 },
	{ "@cert-authority *.test " KEY, "git.test", 22, 0, 0, 1 },
	{ "@other git.test " KEY, "git.test", 22, 0, 0, 0 },
	{ "git.test ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAIOgb", "git.test", 22, 0, 0, 0 },
	{ "git.test ssh-ed25519 !!!!", "git.test", 22, 0, 0, 0 },
	{ "git.test ssh-ed25519", "git.test", 22, 0, 0, 0 },
	{ "git.test", "git.test", 22, 0, 0, 0 },
	{ "git.test " KEY "\ngit.test " KEY, "git.test", 22, 2, 0, 0 },
	{ "", "git.test", 22, 0, 0, 0 },
};

int main(void)
{
	struct ab_error err;

	ok(ab_ssh_key_prepare(&err) == 0, "prepare");
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		struct ab_known_hosts known = { .hash = ab_ssh_name_hash, .found = count };
		size_t len = strlen(cases[i].text);

		found = revoked = 0;
		ab_known_hosts_find(&known, (const char *)guarded(cases[i].text, len), len,
				    cases[i].host, cases[i].port);
		ok(found == cases[i].found && revoked == cases[i].revoked &&
			   known.authorities == cases[i].authorities,
		   "%.40s for %s:%u", cases[i].text, cases[i].host, cases[i].port);
		for (size_t cut = 0; cut < len; cut++)
			ab_known_hosts_find(&known, (const char *)guarded(cases[i].text, cut), cut,
					    cases[i].host, cases[i].port);
	}
	return done();
}
