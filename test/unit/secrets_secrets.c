/* What a run does with its secrets before it starts: made-up policies, a real
 * vault, what the box would get to see. */
#include "secrets/secrets.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "policy/layers/layers.h"
#include "policy/model/policy.h"
#include "sandbox/plan/spec.h"
#include "secrets/uncovered.h"
#include "tap.h"

#define VALUE "tv-Zq81mmWx0LrPq72kk"
#define VALUE64 "dTp0di1acTgxbW1XeDBMclBxNzJraw==" /* u:VALUE */

static char top[] = "/tmp/agentbox-secrets-XXXXXX";

static char *at(const char *name)
{
	return ab_printf("%s/%s", top, name);
}

static char *write_file(const char *name, const char *text)
{
	char *path = at(name);
	FILE *f = fopen(path, "we");

	if (!f)
		abort();
	fputs(text, f);
	fclose(f);
	return path;
}

/* A run with one secret, MY_KEY, from the variable MY_KEY. */
struct stand {
	struct ab_secret secret;
	struct ab_policy policy;
	struct ab_policy_input input;
	char *environ[8];
	struct ab_strv notes;
	struct ab_safe safe;
	struct ab_spec spec;
	struct ab_error err;
};

static void set_up(struct stand *s)
{
	static char *const given[] = {
		(char *)"HOME=/nonexistent",
		(char *)"MY_KEY=" VALUE,
		(char *)"DB=pg://me:" VALUE "@db/x",
		(char *)"HEADER=" VALUE64,
		NULL,
	};

	*s = (struct stand){ .secret = { .name = "MY_KEY",
					 .origin = "test",
					 .env = "MY_KEY",
					 .life = AB_LIFE_RUN } };
	ab_strv_add(&s->secret.names, "MY_KEY");
	ab_strv_add(&s->secret.names, "MY_OTHER_KEY");
	ab_strv_add(&s->secret.hosts, "api.example.com:443");
	s->policy = (struct ab_policy){ .workspace = "", .home = top };
	s->policy.net.mode = AB_NET_BLOCKED;
	s->policy.net.upstream = "none";
	s->policy.secrets.v = &s->secret;
	s->policy.secrets.len = 1;
	for (size_t i = 0; given[i]; i++)
		s->environ[i] = ab_strdup(given[i]);
	s->input.environ = s->environ;
}

static void tear_down(struct stand *s)
{
	for (size_t i = 0; s->environ[i]; i++)
		free(s->environ[i]);
	ab_strv_fini(&s->secret.names);
	ab_strv_fini(&s->secret.hosts);
	ab_strv_fini(&s->secret.files);
	ab_strv_fini(&s->policy.env.set);
	ab_strv_fini(&s->policy.env.pass);
	ab_strv_fini(&s->policy.env.strip);
	ab_strv_fini(&s->notes);
	ab_safe_fini(&s->safe);
	ab_spec_fini(&s->spec);
}

static int open_safe(struct stand *s)
{
	return ab_safe_open(&s->policy, &s->input, -1, &s->safe, &s->notes, &s->err);
}

/* As prepare.c does. */
static int fill(struct stand *s)
{
	char *const *env = ab_safe_environ(&s->safe, &s->input);

	for (size_t i = 0; env[i]; i++)
		ab_strv_add(&s->spec.env, env[i]);
	for (size_t i = 0; i < s->policy.env.set.len; i++) {
		const char *entry = s->policy.env.set.v[i];
		ab_autofree char *name = ab_strndup(entry, strcspn(entry, "="));

		ab_env_set(&s->spec.env, name, entry + strlen(name) + 1);
	}
	return ab_safe_fill(&s->safe, &s->policy, &s->spec, &s->notes, &s->err);
}

static const char *placeholder(const struct stand *s)
{
	return ab_vault_at(s->safe.vault, 0)->placeholder;
}

static bool has_value(const struct ab_strv *words)
{
	for (size_t i = 0; i < words->len; i++)
		if (strstr(words->v[i], VALUE) || strstr(words->v[i], VALUE64))
			return true;
	return false;
}

static void check_environment(void)
{
	ab_autofree char *want = NULL;
	struct stand s;

	set_up(&s);
	ab_strv_add(&s.spec.argv, "curl");
	ab_strv_add(&s.spec.argv, "-HKey: " VALUE);
	ok(open_safe(&s) == 0, "opened: %s", s.err.text);
	ok(strcmp(s.environ[0], "HOME=/nonexistent") == 0 && strcmp(s.environ[1], "MY_KEY=") == 0 &&
		   strcmp(s.environ[2], "DB=") == 0 && strcmp(s.environ[3], "HEADER=") == 0,
	   "our own block has nothing of it");
	ok(s.notes.len == 1 && strstr(s.notes.v[0], "no secret is injected"),
	   "without a door it is told that nothing is put in");
	ok(fill(&s) == 0, "filled: %s", s.err.text);
	is_str(ab_env_get(&s.spec.env, "MY_KEY"), placeholder(&s),
	       "its variable has the placeholder");
	is_str(ab_env_get(&s.spec.env, "MY_OTHER_KEY"), placeholder(&s),
	       "and so has its other name");
	want = ab_printf("pg://me:%s@db/x", placeholder(&s));
	is_str(ab_env_get(&s.spec.env, "DB"), want, "another variable has it where the value was");
	is_str(ab_env_get(&s.spec.env, "HOME"), "/nonexistent",
	       "what has no value in it is as it was");
	ok(!has_value(&s.spec.env) && !has_value(&s.spec.argv),
	   "the value is in no variable and no word");
	is_str(s.spec.argv.v[0], "curl", "other words are as they were");
	ok(s.notes.len == 2 && strstr(s.notes.v[1], "command line"),
	   "that the command line had it is told");
	tear_down(&s);
}

static void check_missing(void)
{
	struct stand s;

	set_up(&s);
	s.secret.env = "UNSET_KEY";
	ok(open_safe(&s) == 0, "one that is not there is left out");
	ok(s.safe.details.len == 1 && strstr(s.safe.details.v[0], "UNSET_KEY"),
	   "which is told to who wants to know");
	ok(fill(&s) == 0 && !ab_env_get(&s.spec.env, "MY_OTHER_KEY"), "and nothing stands for it");
	tear_down(&s);

	set_up(&s);
	s.secret.env = "UNSET_KEY";
	s.secret.wanted = true;
	ok(open_safe(&s) < 0 && s.err.code == AB_EUSAGE &&
		   strstr(s.err.text, "UNSET_KEY is not set") && s.err.hint[0],
	   "one that was asked for must be there");
	tear_down(&s);

	set_up(&s);
	free(s.environ[1]);
	s.environ[1] = ab_strdup("MY_KEY=short");
	ok(open_safe(&s) < 0 && strstr(s.err.text, "MY_KEY") && !strstr(s.err.text, "=short"),
	   "one that is too short is refused: %s", s.err.text);
	tear_down(&s);
}

static void check_files(void)
{
	ab_autofree char *rc = write_file("rc", "a " VALUE "\nb " VALUE64 "\n");
	ab_autofree char *none = write_file("none", "nothing\n");
	ab_autofree char *link = at("link"), *gone = at("gone");
	struct stand s;

	if (symlink("rc", link) < 0 || chmod(rc, 0600) < 0)
		abort();
	set_up(&s);
	ab_strv_add(&s.secret.files, link);
	ab_strv_add(&s.secret.files, rc);
	ab_strv_add(&s.secret.files, none);
	ab_strv_add(&s.secret.files, gone);
	ok(open_safe(&s) == 0 && fill(&s) == 0, "filled: %s", s.err.text);
	ok(s.spec.nfiles == 1 && strcmp(s.spec.files[0].path, rc) == 0,
	   "a file once, where its link leads");
	ok(s.spec.nfiles == 1 && s.spec.files[0].over_mask && s.spec.files[0].mode == 0400 &&
		   memmem(s.spec.files[0].data, s.spec.files[0].len, placeholder(&s),
			  strlen(placeholder(&s))) &&
		   !memmem(s.spec.files[0].data, s.spec.files[0].len, VALUE, strlen(VALUE)) &&
		   !memmem(s.spec.files[0].data, s.spec.files[0].len, VALUE64, strlen(VALUE64)),
	   "it has placeholders instead of values");
	ok(s.notes.len == 2 && strstr(s.notes.v[0], none),
	   "one that has no value stays, and that is told");
	tear_down(&s);
}

/* `set` as --env, and whether a run may begin with it. */
static const struct {
	const char *set;
	bool filtered;
	const char *refused; /* what the error has; NULL: fine */
} sets[] = {
	{ "MY_KEY=other", false, "sets MY_KEY" },
	{ "MY_OTHER_KEY=other", false, "sets MY_OTHER_KEY" },
	{ "MY_KEY=" VALUE, false, NULL },
	{ "FINE=x", false, NULL },
	{ "HTTPS_PROXY=http://10.0.0.1:80", false, NULL },
	{ "HTTPS_PROXY=http://10.0.0.1:80", true, "sets HTTPS_PROXY" },
	{ "no_proxy=*", true, "sets no_proxy" },
	{ "HTTPS_PROXY=http://127.0.0.1:61080", true, NULL },
	{ "SSL_CERT_FILE=/x", true, "sets SSL_CERT_FILE" },
	{ "SSL_CERT_FILE=/x", false, NULL },
};

static void check_collisions(void)
{
	for (size_t i = 0; i < AB_COUNT(sets); i++) {
		struct ab_setting option = { .key = "env.set",
					     .value = sets[i].set,
					     .origin = "--env" };
		struct stand s;
		int r;

		set_up(&s);
		s.input.settings = &option;
		s.input.nsettings = 1;
		ab_strv_add(&s.policy.env.set, sets[i].set);
		if (sets[i].filtered)
			s.policy.net.mode = AB_NET_FILTERED;
		r = open_safe(&s) == 0 ? fill(&s) : -2;
		if (sets[i].refused)
			ok(r == -1 && strstr(s.err.text, sets[i].refused) &&
				   strstr(s.err.text, "--env") && s.err.hint[0],
			   "refused: %s (%s)", sets[i].set, s.err.text);
		else
			ok(r == 0, "fine: %s (%s)", sets[i].set, s.err.text);
		tear_down(&s);
	}
}

static void check_interception(void)
{
	struct ab_http_rule rules[2] = { 0 };
	struct stand s;

	set_up(&s);
	s.policy.net.mode = AB_NET_FILTERED;
	ab_host_entry_parse("x.example.org", 13, &rules[0].host, NULL);
	ab_host_entry_parse("y.example.org:8443", 18, &rules[1].host, NULL);
	s.policy.net.http.v = rules;
	s.policy.net.http.len = 2;
	ok(open_safe(&s) == 0 && s.safe.site, "an authority: %s", s.err.text);
	ok(s.safe.intercepted.len == 4 && ab_strv_has(&s.safe.intercepted, "api.example.com:443") &&
		   ab_strv_has(&s.safe.intercepted, "x.example.org:80") &&
		   ab_strv_has(&s.safe.intercepted, "x.example.org:443") &&
		   ab_strv_has(&s.safe.intercepted, "y.example.org:8443"),
	   "hosts of secrets and of rules are looked into");
	ok(fill(&s) == 0 && ab_env_get(&s.spec.env, "SSL_CERT_FILE"), "clients are told of it");
	tear_down(&s);

	set_up(&s);
	s.policy.net.mode = AB_NET_FILTERED;
	s.policy.secrets.len = 0;
	s.policy.net.http.v = rules;
	s.policy.net.http.len = 2;
	ok(ab_safe_needed(&s.policy) && open_safe(&s) == 0 && !s.safe.vault && s.safe.site &&
		   s.safe.intercepted.len == 3 && fill(&s) == 0,
	   "rules without secrets: %s", s.err.text);
	is_str(ab_env_get(&s.spec.env, "MY_KEY"), VALUE, "and variables as they were");
	tear_down(&s);

	set_up(&s);
	s.policy.net.mode = AB_NET_FILTERED;
	s.secret.provider = ab_provider_find("OPENAI_API_KEY");
	s.secret.via = AB_VIA_GATEWAY;
	ok(open_safe(&s) == 0 && s.safe.site && s.safe.intercepted.len == 0,
	   "a gateway looks into nothing: %s", s.err.text);
	ok(fill(&s) == 0 && !ab_env_get(&s.spec.env, "SSL_CERT_FILE"),
	   "and needs no authority inside");
	is_str(ab_env_get(&s.spec.env, "OPENAI_BASE_URL"), "http://127.0.0.1:61080/openai/v1",
	       "but a base URL");
	tear_down(&s);

	set_up(&s);
	s.policy.secrets.len = 0;
	ok(!ab_safe_needed(&s.policy), "without secrets there is nothing");
	tear_down(&s);
}

static void check_seed(void)
{
	ab_autofree char *file = at("placeholders.key");
	ab_autoclose int dir = open(top, O_RDONLY | O_DIRECTORY);
	uint8_t one[AB_VAULT_SEED], two[AB_VAULT_SEED];
	struct ab_error err = { 0 };
	struct stat st;

	ok(ab_safe_seed(dir, one, &err) == 0 && ab_safe_seed(dir, two, &err) == 0 &&
		   memcmp(one, two, sizeof(one)) == 0,
	   "made once, the same ever after");
	ok(lstat(file, &st) == 0 && (st.st_mode & 07777) == 0600 && st.st_nlink == 1, "ours alone");
	if (chmod(file, 0640) < 0)
		abort();
	ok(ab_safe_seed(dir, one, &err) < 0 && err.hint[0], "refused when others may read it");
	if (unlink(file) < 0 || symlink("/etc/passwd", file) < 0)
		abort();
	ok(ab_safe_seed(dir, one, &err) < 0, "refused when it is a link");
	unlink(file);
}

static void check_uncovered(void)
{
	ab_autofree char *aws = at(".aws"), *file = NULL;
	char *env[] = { (char *)"A_TOKEN=abc", (char *)"B_TOKEN=abc", (char *)"MY_KEY=abc", NULL };
	ab_autostrv struct ab_strv found = { 0 }, left = { 0 };
	struct stand s;

	set_up(&s);
	ab_strv_add(&s.policy.env.strip, "*_TOKEN");
	ab_strv_add(&s.policy.env.strip, "*_KEY");
	ab_strv_add(&s.policy.env.pass, "A_TOKEN");
	ab_strv_add(&s.policy.env.pass, "MY_KEY");
	ab_uncovered_find(&s.policy, env, NULL, &left);
	ok(left.len == 1 && strncmp(left.v[0], "A_TOKEN ", 8) == 0,
	   "what is passed, but not what is stripped or covered");
	mkdir(aws, 0700);
	file = write_file(".aws/credentials", "x");
	ab_uncovered_find(&s.policy, env, NULL, &found);
	ok(found.len == 2 && strstr(found.v[0], "/.aws/credentials"), "a file that can be read");
	ab_strv_add(&s.policy.fs.deny_read, aws);
	ab_strv_fini(&found);
	ab_uncovered_find(&s.policy, env, NULL, &found);
	ok(found.len == 1, "but not when it is denied");
	ab_strv_fini(&s.policy.fs.deny_read);
	tear_down(&s);
}

int main(void)
{
	ab_autofree char *clean = NULL;

	if (!mkdtemp(top))
		return 1;
	check_environment();
	check_missing();
	check_files();
	check_collisions();
	check_interception();
	check_seed();
	check_uncovered();
	clean = ab_printf("rm -rf %s", top);
	if (system(clean) != 0)
		return 1;
	return done();
}
