#include "policy/layers/environment.h"

#include <time.h>

#include "netns/capture.h"
#include "policy_help.h"
#include "tap.h"

#define AT "127.0.0.1:61080"
#define OWN "localhost,127.0.0.1,::1"
#define DOOR                                                                       \
	"HTTP_PROXY=http://" AT " http_proxy=http://" AT " HTTPS_PROXY=http://" AT \
	" https_proxy=http://" AT " FTP_PROXY=http://" AT " ftp_proxy=http://" AT  \
	" ALL_PROXY=socks5h://" AT " all_proxy=socks5h://" AT " NO_PROXY=" OWN " no_proxy=" OWN
_Static_assert(AB_PORT_DOOR == 61080, "where the door is");

static struct ab_strv env, stripped;

static void build(const struct ab_policy *p, const char *const *caller)
{
	ab_strv_fini(&env);
	ab_strv_fini(&stripped);
	ab_environment_build(p, (char *const *)(uintptr_t)caller, &env, &stripped);
}

static bool passes(const struct ab_policy *p, const char *name)
{
	ab_autofree char *entry = ab_printf("%s=v", name);
	const char *caller[] = { entry, NULL };

	build(p, caller);
	return ab_env_get(&env, name) != NULL;
}

static void test_defaults(struct ab_policy *p)
{
	static const char *const gone[] = {
		"GITHUB_TOKEN",
		"github_token",
		"GHTOKEN",
		"NPM_TOKEN",
		"AWS_SECRET_ACCESS_KEY",
		"AWS_ACCESS_KEY_ID",
		"AWS_SESSION_TOKEN",
		"AWS_WEB_IDENTITY_TOKEN_FILE",
		"OPENAI_API_KEY",
		"ANTHROPIC_API_KEY",
		"MY_APIKEY",
		"DB_PASSWORD",
		"PGPASSWORD",
		"MYSQL_PWD",
		"SSHPASS",
		"GOOGLE_APPLICATION_CREDENTIALS",
		"SENTRY_DSN",
		"DATABASE_URL",
		"APP_DATABASE_URL",
		"SSH_AUTH_SOCK",
		"GPG_AGENT_INFO",
		"DBUS_SESSION_BUS_ADDRESS",
		"DOCKER_HOST",
		"WAYLAND_DISPLAY",
		"DISPLAY",
		"XAUTHORITY",
		"LD_PRELOAD",
		"LD_LIBRARY_PATH",
		"GLIBC_TUNABLES",
		"BASH_ENV",
		"ENV",
		"PERL5OPT",
		"PYTHONSTARTUP",
		"AGENTBOX_STATE",
		"VSCODE_IPC_HOOK_CLI",
		"TMUX",
		"GIT_CONFIG_VALUE_0",
		"GIT_ASKPASS",
		"NOTIFY_SOCKET",
		"RSYNC_PROXY",
		"grpc_proxy",
	};
	static const char *const stay[] = {
		"PATH",
		"HOME",
		"USER",
		"LANG",
		"LC_ALL",
		"TERM",
		"EDITOR",
		"NODE_OPTIONS",
		"JAVA_HOME",
		"GOPATH",
		"CARGO_HOME",
		"PWD",
		"OLDPWD",
		"TOKENIZERS_PARALLELISM",
		"XDG_RUNTIME_DIR",
		"KEYBOARD",
		"MONKEY",
		"PASSENGER",
		"GIT_DIR",
		"AWS_REGION",
		"CI",
		"VIRTUAL_ENV",
		"ENVIRONMENT",
		"DISPLAY_NAME",
	};

	for (size_t i = 0; i < AB_COUNT(gone); i++)
		ok(!passes(p, gone[i]), "%s is not passed", gone[i]);
	for (size_t i = 0; i < AB_COUNT(stay); i++)
		ok(passes(p, stay[i]), "%s is passed", stay[i]);
}

static void test_build(void)
{
	static const char *const caller[] = {
		"PATH=/bin", "A_TOKEN=x", "novalue",   "=odd",	"PATH=/evil",
		"EMPTY=",    "TMPDIR=/u", "B_TOKEN=y", "K=a=b", NULL,
	};
	static const char *const none[] = { NULL };
	static const char *const proxied[] = { "https_proxy=http://corp:1", "grpc_proxy=x", NULL };
	struct ab_policy *p;

	p = load();
	build(p, caller);
	is_str(joined(&env),
	       "PATH=/bin EMPTY= TMPDIR=/tmp K=a=b TMP=/tmp TEMP=/tmp TMPPREFIX=/tmp/zsh " DOOR
	       " SANDBOX_RUNTIME=1",
	       "kept, dropped, set: all of it, in order");
	is_str(joined(&stripped), "A_TOKEN B_TOKEN", "what was stripped is named");
	build(p, none);
	is_str(joined(&env),
	       "TMPDIR=/tmp TMP=/tmp TEMP=/tmp TMPPREFIX=/tmp/zsh " DOOR " SANDBOX_RUNTIME=1",
	       "nothing in, only ours out");
	test_defaults(p);
	ab_policy_free(p);

	add_flag("env.pass", "A_TOKEN", "--pass-env");
	add_flag("env.pass", "Q*X", "--pass-env");
	add_flag("env.set", "NEW=1", "--env");
	add_flag("env.set", "PATH=/mine", "--env");
	add_flag("env.set", "TMPDIR=/mine", "--env");
	add_flag("env.strip", "K", "env.strip");
	p = load();
	build(p, caller);
	is_str(joined(&env),
	       "PATH=/mine A_TOKEN=x EMPTY= TMPDIR=/mine TMP=/tmp TEMP=/tmp TMPPREFIX=/tmp/zsh " DOOR
	       " NEW=1 SANDBOX_RUNTIME=1",
	       "pass beats strip, set beats all");
	ok(passes(p, "Q_TOKENX") && !passes(p, "q_token"),
	   "pass takes patterns, in the case as written");
	ab_policy_free(p);

	reset_input();
	add_flag("env.mode", "listed", "--env-mode");
	add_flag("env.pass", "K", "--pass-env");
	p = load();
	build(p, caller);
	is_str(joined(&env),
	       "PATH=/bin K=a=b TMPDIR=/tmp TMP=/tmp TEMP=/tmp TMPPREFIX=/tmp/zsh " DOOR
	       " SANDBOX_RUNTIME=1",
	       "listed: nothing else passes");
	ab_policy_free(p);

	reset_input();
	p = load();
	build(p, proxied);
	is_str(ab_env_get(&env, "https_proxy"), "http://" AT,
	       "the door is the proxy, whatever the caller's is");
	ab_policy_free(p);
	add_flag("env.pass", "*_proxy", "--pass-env");
	p = load();
	build(p, proxied);
	is_str(ab_env_get(&env, "https_proxy"), "http://" AT, "also when it was to be passed");
	ok(!ab_env_get(&env, "grpc_proxy"), "and with it any other proxy");
	ab_policy_free(p);
	add_flag("env.set", "https_proxy=", "--env");
	p = load();
	build(p, proxied);
	is_str(ab_env_get(&env, "https_proxy"), "", "set beats it");
	ab_policy_free(p);
	add_flag("network.mode", "blocked", "--net");
	p = load();
	build(p, none);
	ok(!ab_env_get(&env, "HTTP_PROXY") && ab_env_get(&env, "SANDBOX_RUNTIME") &&
		   ab_env_get(&env, "TMPDIR"),
	   "without a door there is none");
	ab_policy_free(p);

	reset_input();
	input.profile = "development";
	p = load();
	build(p, none);
	ok(!ab_env_get(&env, "HTTP_PROXY") && ab_env_get(&env, "SANDBOX_RUNTIME") &&
		   ab_env_get(&env, "TMPDIR"),
	   "nor on the host's network");
	ok(passes(p, "HTTPS_PROXY"), "the host's network keeps the host's proxy");
	ab_policy_free(p);
	reset_input();
}

static void test_matches(void)
{
	static const struct {
		const char *pattern, *name;
		bool match;
	} cases[] = {
		{ "A", "A", true },    { "A", "AB", false },	   { "A*", "A", true },
		{ "*A", "BA", true },  { "*A", "AB", false },	   { "*", "", true },
		{ "", "", true },      { "", "A", false },	   { "?", "A", true },
		{ "?", "", false },    { "*A*B*", "xAyBz", true }, { "*A*B*", "xByAz", false },
		{ "A*A", "A", false }, { "A*A", "AA", true },	   { "*ab", "aab", true },
		{ "**", "x", true },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++)
		ok(ab_name_matches(cases[i].pattern, cases[i].name, false) == cases[i].match,
		   "\"%s\" and \"%s\"", cases[i].pattern, cases[i].name);
	ok(ab_name_matches("*_token", "A_TOKEN", true) &&
		   !ab_name_matches("*_token", "A_TOKEN", false),
	   "case counts unless folded");
}

/* The buckets are only a shortcut: the same answer as one by one. */
static void test_buckets(void)
{
	struct ab_policy *p;
	uint32_t seed = 5, differ = 0;

	p = load();
	for (int i = 0; i < 20000; i++) {
		static const char *const parts[] = {
			"A", "_",   "TOKEN", "KEY",   "SECRET", "LD",
			"X", "JWT", "S",     "_PASS", "DBUS",	"ENV",
		};
		char name[64];
		bool strip = false;
		size_t len = 0;

		for (int k = 0; k < 4; k++) {
			seed = seed * 1664525 + 1013904223;
			len += (size_t)snprintf(name + len, sizeof(name) - len, "%s",
						parts[(seed >> 8) % AB_COUNT(parts)]);
		}
		for (size_t k = 0; k < p->env.strip.len; k++)
			strip |= ab_name_matches(p->env.strip.v[k], name, true);
		differ += passes(p, name) == strip;
	}
	ok(differ == 0, "20000 names are judged as one by one");
	ab_policy_free(p);
}

static void test_speed(void)
{
	struct ab_policy *p = load();
	const char *caller[201];
	struct timespec a, b;
	double best = 1e9;

	for (int i = 0; i < 200; i++) {
		ab_strv_addf(&texts, "VARIABLE_NUMBER_%d=some value", i);
		caller[i] = texts.v[texts.len - 1];
	}
	caller[200] = NULL;
	for (int i = 0; i < 20; i++) {
		double us;

		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
		build(p, caller);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
		us = (double)(b.tv_sec - a.tv_sec) * 1e6 + (double)(b.tv_nsec - a.tv_nsec) / 1e3;
		best = us < best ? us : best;
	}
	/* Processor time, and a hundred times the aim: only a wrong algorithm fails. */
	ok(best < 3000, "200 variables take %.1f us", best);
	ab_policy_free(p);
}

int main(void)
{
	world_init();
	test_build();
	test_matches();
	test_buckets();
	test_speed();
	ab_strv_fini(&env);
	ab_strv_fini(&stripped);
	world_fini();
	return done();
}
