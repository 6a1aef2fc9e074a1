#include "workspace/quarantine/repo_places.h"

#include <linux/openat2.h>
#include <sys/syscall.h>

#include "workspace/git/gitlead.h"
#include "workspace/quarantine/quarantine_state.h"
#include "workspace/survey/survey.h"
#include "workspace/tree/dir.h"

#define ADDRESSES_MAX 64 /* of one file: each is looked at */

/* git tries these behind the path of a repository. */
static const char *const endings[] = { "/.git", "", ".git/.git", ".git" };

/* A push obeys the settings of the repository that it reaches, but not the addresses there. */
static bool is_any_address(void *arg, const char *path)
{
	(void)arg;
	(void)path;
	return true;
}

/* git only fetches from one. */
static bool is_bundle(const char *real)
{
	static const char *const starts[] = { "# v2 git bundle\n", "# v3 git bundle\n" };
	ab_autoclose int fd = ab_open_beneath(AT_FDCWD, real, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	char start[17] = "";

	return fd >= 0 && read(fd, start, 16) == 16 && ab_has_word(starts, AB_COUNT(starts), start);
}

/* `real`: something in a folder that the run can write. */
static bool is_harmless_repo(const struct ab_quarantine *q, const char *real)
{
	static const struct ab_gitkeys_terms terms = { .made = true,
						       .is_safe_address = is_any_address };
	ab_autofree char *lead = NULL;
	ab_autoclose int fd = -1;
	struct stat st;

	if (ab_strv_has(&q->survey->repos, real))
		return true;
	fd = ab_open_beneath(AT_FDCWD, real, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return errno == ENOTDIR && is_bundle(real);
	if (fstatat(fd, "HEAD", &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT; /* no repository */
	lead = ab_gitdir_lead(fd, &terms);
	return !lead;
}

/* What is not there runs nothing, and what the run cannot write is not its work. */
static bool is_harmless_place(const struct ab_quarantine *q, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_MAGICLINKS };
	ab_autoclose int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
	ab_autofree char *real = NULL;

	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR;
	real = ab_fd_path(fd);
	return real && (!ab_quarantine_is_writable(q, real) || is_harmless_repo(q, real));
}

/* A full path only: a relative one means another place in each checkout. */
static bool is_safe_address(void *arg, const char *value)
{
	static const char scheme[] = "file://";
	struct ab_repo_places *places = arg;
	bool url = strncmp(value, scheme, strlen(scheme)) == 0;
	const char *path = url ? value + strlen(scheme) : value;
	size_t n = strlen(path);

	if (ab_strv_has(&places->safe, value))
		return true;
	if (path[0] != '/' || (url && strchr(path, '%')) || ++places->naddresses > ADDRESSES_MAX)
		return false;
	while (n > 1 && path[n - 1] == '/')
		n--;
	for (size_t i = 0; i < AB_COUNT(endings); i++) {
		ab_autofree char *full = ab_printf("%.*s%s", (int)n, path, endings[i]);

		if (!is_harmless_place(places->q, full))
			return false;
	}
	ab_strv_add(&places->safe, value);
	return true;
}

/* The real path, as far as there is one; NULL: it goes up again behind that, or leads nowhere. */
static char *resolve_start(const char *path)
{
	ab_autofree char *head = ab_strdup(path), *real = NULL;
	struct stat st;

	while (!(real = realpath(head, NULL))) {
		char *slash = strrchr(head, '/');

		if (errno != ENOENT || slash == head || strcmp(slash, "/..") == 0 ||
		    lstat(head, &st) == 0)
			return NULL;
		*slash = '\0';
	}
	return ab_printf("%s%s", real, path + strlen(head));
}

static bool is_safe_worktree(void *arg, const char *value)
{
	const struct ab_repo_places *places = arg;
	ab_autofree char *full =
		value[0] == '/' ? ab_strdup(value) : ab_path_join(places->path, value);
	ab_autofree char *real = resolve_start(full);

	return real && ab_quarantine_is_writable(places->q, real);
}

/* In a checkout, or in a bare repository. */
static bool is_path(void *arg, const char *name)
{
	const struct ab_repo_places *places = arg;
	struct stat st;

	for (size_t i = 0; i < places->tops.len; i++) {
		ab_autofree char *full = ab_path_join(places->tops.v[i], name);
		ab_autofree char *git = ab_printf("%s.git", full);

		if (lstat(full, &st) == 0 || lstat(git, &st) == 0)
			return true;
	}
	return false;
}

void ab_repo_places_open(struct ab_repo_places *ret, struct ab_quarantine *q, int gitdir,
			 const char *path)
{
	*ret = (struct ab_repo_places){ .q = q, .path = path };
	ab_strv_add(&ret->tops, path);
	ab_repos_tops(gitdir, path, &ret->tops);
	ret->terms = (struct ab_gitkeys_terms){ .made = true,
						.unsettled = q->live,
						.repos = &q->survey->repos,
						.arg = ret,
						.is_safe_address = is_safe_address,
						.is_safe_worktree = is_safe_worktree,
						.is_path = is_path };
}

void ab_repo_places_close(struct ab_repo_places *places)
{
	ab_strv_fini(&places->tops);
	ab_strv_fini(&places->safe);
}
