#ifndef AB_TEST_POLICY_HELP_H
#define AB_TEST_POLICY_HELP_H
/*
 * A machine of its own for tests of the policy: a folder with a home, a
 * workspace, a system file and a state folder; and a load from it.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/data/strv.h"
#include "policy/layers/layers.h"

static char top[4096]; /* real path */
static struct ab_policy_input input;
static struct ab_strv environment;
static struct ab_setting settings[16];
static struct ab_strv notes, texts;
static struct ab_error error;

/* A path in that folder; good until the end. */
static inline const char *at(const char *name)
{
	ab_strv_addf(&texts, "%s/%s", top, name);
	return texts.v[texts.len - 1];
}

static inline void make_dir(const char *name)
{
	char path[8300];

	snprintf(path, sizeof(path), "%s/%s", top, name);
	for (char *p = path + strlen(top) + 1; *p; p++)
		if (*p == '/') {
			*p = '\0';
			mkdir(path, 0755);
			*p = '/';
		}
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		abort();
}

static inline void put_file(const char *name, const char *text)
{
	FILE *f;

	unlink(at(name));
	f = fopen(at(name), "w");
	if (!f || fputs(text, f) < 0 || fclose(f) != 0)
		abort();
}

static inline void remove_file(const char *name)
{
	unlink(at(name));
}

static inline int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

static inline void world_fini(void)
{
	nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	ab_strv_fini(&environment);
	ab_strv_fini(&notes);
	ab_strv_fini(&texts);
}

static inline void set_env(const char *name, const char *value)
{
	ab_env_set(&environment, name, value);
	input.environ = environment.v;
}

static inline void reset_input(void)
{
	input = (struct ab_policy_input){
		.cwd = at("home/work"),
		.home = at("home"),
		.system_config = at("system.json"),
		.settings = settings,
		.details = true,
	};
	ab_strv_fini(&environment);
	set_env("PATH", "/bin");
}

static inline void world_init(void)
{
	char name[] = "/tmp/agentbox-test-XXXXXX";

	if (!mkdtemp(name) || !realpath(name, top))
		abort();
	make_dir("home/work/sub");
	make_dir("home/.config/agentbox/profiles");
	reset_input();
}

#define USER_FILE "home/.config/agentbox/config.json"
#define PROJECT_FILE "home/work/.agentbox.json"
#define SYSTEM_FILE "system.json"
#define PROFILE_FILE(name) "home/.config/agentbox/profiles/" name ".json"

static inline void add_flag(const char *key, const char *value, const char *origin)
{
	settings[input.nsettings++] = (struct ab_setting){ key, value, origin };
}

/* The policy, or NULL with `error` filled. */
static inline struct ab_policy *load(void)
{
	struct ab_policy *p = NULL;

	ab_strv_fini(&notes);
	memset(&error, 0, sizeof(error));
	return ab_policy_load(&input, &p, &notes, &error) < 0 ? NULL : p;
}

/* "a b c" */
static inline const char *joined(const struct ab_strv *sv)
{
	static char buf[4][4096];
	static int next;
	char *p = buf[next++ % 4];
	size_t n = 0;

	p[0] = '\0';
	for (size_t i = 0; i < sv->len && n < sizeof(buf[0]); i++)
		n += (size_t)snprintf(p + n, sizeof(buf[0]) - n, "%s%s", i ? " " : "", sv->v[i]);
	return p;
}

#endif
