#ifndef AB_TEST_WORKSPACE_HELP_H
#define AB_TEST_WORKSPACE_HELP_H
/* Real folders, real git, and the result of a survey as questions. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/path.h"
#include "policy/model/policy.h"
#include "run_sh.h"
#include "tap.h"
#include "workspace/survey/survey.h"

static char top[PATH_MAX]; /* a fresh folder, real path */

static inline void start(void)
{
	char name[] = "/tmp/agentbox-test-XXXXXX";

	if (!mkdtemp(name) || !realpath(name, top))
		abort();
	setenv("T", top, 1);
	setenv("HOME", top, 1);
	setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
	setenv("GIT_CONFIG_SYSTEM", "/dev/null", 1);
	setenv("GIT_AUTHOR_NAME", "a", 1);
	setenv("GIT_AUTHOR_EMAIL", "a@example.org", 1);
	setenv("GIT_COMMITTER_NAME", "a", 1);
	setenv("GIT_COMMITTER_EMAIL", "a@example.org", 1);
	/* Submodules by path are closed by default since CVE-2022-39253. */
	setenv("GIT_CONFIG_COUNT", "3", 1);
	setenv("GIT_CONFIG_KEY_0", "protocol.file.allow", 1);
	setenv("GIT_CONFIG_VALUE_0", "always", 1);
	setenv("GIT_CONFIG_KEY_1", "init.defaultBranch", 1);
	setenv("GIT_CONFIG_VALUE_1", "main", 1);
	setenv("GIT_CONFIG_KEY_2", "gc.auto", 1);
	setenv("GIT_CONFIG_VALUE_2", "0", 1);
}

static inline void finish(void)
{
	sh("chmod -R u+rwx $T; rm -rf $T");
}

static inline char *at(const char *rel)
{
	return ab_path_join(top, rel); /* lives as long as the test */
}

static const char *const usual_names[] = {
	".git/hooks", ".git/config",  ".gitmodules", ".bashrc",	  ".vscode",
	".envrc",     ".config/fish", ".claude",     ".mcp.json",
};

/* For survey(); NULL: the usual ones. */
static const struct ab_survey_limits *limits;

/* A survey of roots (relative to top, NULL-terminated). */
static inline struct ab_survey survey(const char *root, ...)
{
	struct ab_policy p = { .home = top };
	struct ab_survey s = { 0 };
	struct ab_error err = { 0 };
	va_list ap;

	va_start(ap, root);
	for (; root; root = va_arg(ap, const char *))
		ab_strv_give(&p.fs.write, root[0] == '/' ? ab_strdup(root) : at(root));
	va_end(ap);
	for (size_t i = 0; i < AB_COUNT(usual_names); i++)
		ab_strv_add(&p.fs.deny_write, usual_names[i]);
	ok(ab_survey_make(&p, environ, limits, &s, &err) == 0, "survey %s", err.text);
	ab_strv_fini(&p.fs.write);
	ab_strv_fini(&p.fs.deny_write);
	return s;
}

static inline bool closed(const struct ab_survey *s, enum ab_node kind, const char *rel)
{
	ab_autofree char *path = at(rel);

	for (size_t i = 0; i < s->nclosed; i++)
		if (s->closed[i].kind == kind && strcmp(s->closed[i].path, path) == 0)
			return true;
	return false;
}

static inline bool watched(const struct ab_survey *s, const char *rel, const char *name)
{
	ab_autofree char *path = rel[0] ? at(rel) : ab_strdup(top);

	for (size_t i = 0; i < s->nwatch; i++)
		if (strcmp(s->watch[i].dir, path) == 0)
			return ab_strv_has(&s->watch[i].names, name);
	return false;
}

static inline bool writable(const struct ab_survey *s, const char *rel)
{
	ab_autofree char *path = at(rel);

	return ab_strv_has(&s->write, path);
}

static inline bool said(const struct ab_strv *sentences, const char *part)
{
	for (size_t i = 0; i < sentences->len; i++)
		if (strstr(sentences->v[i], part))
			return true;
	return false;
}

#endif
