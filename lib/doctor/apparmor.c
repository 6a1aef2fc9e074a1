/*
 * AppArmor profiles of this machine that are for a program file.
 *
 * The kernel attaches the profile whose path matches best. If two are for exactly the
 * same path it attaches neither, and says so only in its log: the program is then
 * restricted as if it had no profile. Two profiles of one name do not conflict: the one
 * that is loaded later replaces the other, with its path.
 */
#include "base/system/folder.h"
#include "doctor/doctor.h"

#define MOST_BYTES (1024 * 1024)
#define MOST_WORDS 4 /* of a profile's first line: more say nothing about its path */

struct reader {
	const char *at, *end;
	char *words[MOST_WORDS];
	size_t len;
	int depth; /* inside the braces of a profile */
};

static void forget_words(struct reader *r)
{
	for (size_t i = 0; i < r->len; i++)
		free(r->words[i]);
	r->len = 0;
}

/* Skip spaces and comments. True if a line ended. */
static bool skip_spaces(struct reader *r)
{
	bool ended = false;

	while (r->at < r->end && (ab_is_space(*r->at) || *r->at == '#')) {
		if (*r->at == '#') {
			const char *line = memchr(r->at, '\n', (size_t)(r->end - r->at));

			r->at = line ? line : r->end;
			continue;
		}
		ended |= *r->at == '\n';
		r->at++;
	}
	return ended;
}

/* The next word without its quotes and backslashes, and how many braces it leaves open:
 * those of "@{HOME}" and "/{usr/,}bin" are closed again. NULL at the end. */
static char *next_word(struct reader *r, int *ret_open)
{
	struct ab_buf word = { 0 };
	bool quoted = false;

	*ret_open = 0;
	if (r->at >= r->end)
		return NULL;
	for (; r->at < r->end && (quoted || !ab_is_space(*r->at)); r->at++) {
		if (*r->at == '"') {
			quoted = !quoted;
			continue;
		}
		if (*r->at == '\\' && r->at + 1 < r->end)
			r->at++;
		else
			*ret_open += (*r->at == '{') - (*r->at == '}');
		ab_buf_add(&word, r->at, 1);
	}
	return ab_buf_take(&word);
}

/* "include", "abi", "alias" and variables end with their line; a profile does not. */
static bool ends_with_line(const struct reader *r)
{
	return r->len > 0 && strcmp(r->words[0], "profile") != 0 && r->words[0][0] != '/';
}

/* The words before the brace are those of a profile: what is it called, what is it for? */
static void note_profile(const struct reader *r, const char *path, struct ab_apparmor_seen *seen)
{
	bool named = r->len > 1 && strcmp(r->words[0], "profile") == 0;
	const char *name = named ? r->words[1] : r->len > 0 ? r->words[0] : "";
	const char *attached = named && r->len > 2 && r->words[2][0] == '/' ? r->words[2] : name;

	if (strcmp(attached, path) == 0)
		seen->path = true;
	else if (strcmp(name, AB_APPARMOR_NAME) == 0)
		seen->name = true;
}

void ab_apparmor_read(const char *text, size_t len, const char *path, struct ab_apparmor_seen *seen)
{
	struct reader r = { .at = text, .end = text + len };
	char *word;
	int open;

	for (;;) {
		if (skip_spaces(&r) && r.depth == 0 && ends_with_line(&r))
			forget_words(&r);
		word = next_word(&r, &open);
		if (!word)
			break;
		if (r.depth == 0 && (open > 0 || word[0] == '{')) {
			note_profile(&r, path, seen);
			forget_words(&r);
		} else if (r.depth == 0 && open == 0 && r.len < MOST_WORDS) {
			r.words[r.len++] = ab_take(word);
		}
		free(word);
		r.depth += open;
		if (r.depth < 0)
			r.depth = 0;
	}
	forget_words(&r);
}

/* AppArmor itself skips copies that package managers and editors leave. */
static bool is_skipped(const char *name)
{
	static const char *const ends[] = { "~",	 ".dpkg-new", ".dpkg-old", ".dpkg-dist",
					    ".dpkg-bak", ".rpmnew",   ".rpmsave",  ".orig",
					    ".rej",	 ".swp" };

	for (size_t i = 0; i < AB_COUNT(ends); i++)
		if (ab_ends_with(name, ends[i]))
			return true;
	return name[0] == '.';
}

static void read_profiles(int dir, const char *name, const char *path,
			  struct ab_apparmor_seen *seen)
{
	ab_autofree char *disabled = ab_printf("disable/%s", name);
	ab_autofree char *text = NULL;
	size_t len;

	if (!is_skipped(name) && faccessat(dir, disabled, F_OK, 0) < 0 &&
	    ab_read_file(dir, name, 0, MOST_BYTES, &text, &len) == 0)
		ab_apparmor_read(text, len, path, seen);
}

void ab_apparmor_find(const char *dir, const char *path, struct ab_strv *ret_files, bool *ret_taken)
{
	ab_autoclose int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ab_autodir DIR *list = fd < 0 ? NULL : ab_folder_list(fd, ".");
	const char *name;

	*ret_taken = false;
	while ((name = ab_folder_next(list)) != NULL) {
		struct ab_apparmor_seen seen = { 0 };

		read_profiles(fd, name, path, &seen);
		if (seen.path)
			ab_strv_addf(ret_files, "%s/%s", dir, name);
		*ret_taken |= seen.name;
	}
	ab_strv_sort(ret_files);
}

char *ab_apparmor_name(const char *path, bool taken)
{
	char *name;

	if (!taken)
		return ab_strdup(AB_APPARMOR_NAME);
	name = ab_strdup(path + (path[0] == '/'));
	for (char *c = name; *c; c++)
		if (*c == '/')
			*c = '.';
		else if (!ab_has_only(c, 1, "._-"))
			*c = '_';
	return name;
}

void ab_apparmor_explain(const char *path, struct ab_verdict *v)
{
	ab_autostrv struct ab_strv files = { 0 };
	ab_autofree char *name = NULL;
	bool taken;

	v->apparmor = true;
	ab_apparmor_find(AB_APPARMOR_DIR, path, &files, &taken);
	name = ab_apparmor_name(path, taken);
	if (files.len > 1) {
		ab_verdict_set(
			v, AB_HEALTH_FAIL,
			"AppArmor uses no profile for agentbox, because two are for the same path: %s and %s\n"
			"keep one, as root:  apparmor_parser -R %s && rm %s && apparmor_parser -r %s",
			files.v[0], files.v[1], files.v[1], files.v[1], files.v[0]);
		return;
	}
	ab_verdict_set(
		v, AB_HEALTH_FAIL,
		"the kernel creates one, but does not let us use it (apparmor_restrict_unprivileged_userns=1)");
	if (files.len == 1)
		ab_verdict_remedy(v,
				  "load the profile that is there, as root:  apparmor_parser -r %s",
				  files.v[0]);
	else
		ab_verdict_remedy(
			v,
			"fix, once, as root:  agentbox doctor --fix | sudo tee " AB_APPARMOR_DIR
			"/%s && sudo apparmor_parser -r " AB_APPARMOR_DIR "/%s",
			name, name);
}
