#include "layer/diff/labels.h"

#include <inttypes.h>

#include "layer/diff/label_state.h"
#include "workspace/tree/names.h"

enum {
	LARGE_NEW = 16 * 1024 * 1024, /* a new file */
	LARGE_GROWN = 1024 * 1024,    /* how much a file grew, at least */
	LARGE_TIMES = 10,	      /* and how many times */
};

/* clang-format off */
const struct ab_label ab_labels[AB_LABEL_COUNT] = {
	[AB_LABEL_GIT] = { "git", "runs on commit or checkout",
		"Version control runs its hooks and the programs that its settings name with your rights." },
	[AB_LABEL_FOLDER] = { "folder", "runs when a folder is opened",
		"Shell extensions, editors, debuggers and interpreters run or obey this file without asking." },
	[AB_LABEL_LOGIN] = { "login", "runs when a shell or session starts",
		"Your next shell or session runs it with your rights." },
	[AB_LABEL_CI] = { "ci", "runs in CI",
		"Your CI service runs it with the project's credentials." },
	[AB_LABEL_BUILD] = { "build", "runs on install or build",
		"Installing, building or testing the project outside the box runs it." },
	[AB_LABEL_REGISTRY] = { "registry", "takes packages from another place",
		"Code from a source that the project did not use before runs on the next install." },
	[AB_LABEL_PACKAGES] = { "packages", "is in a cache of packages or compiled code",
		"Installs and builds outside take code from it without downloading or compiling it again." },
	[AB_LABEL_AGENT] = { "agent", "instructs or configures an agent",
		"Agents obey instructions, start tool servers and run hooks from this file." },
	[AB_LABEL_CREDENTIALS] = { "credentials", "holds credentials or how to get them",
		"Programs log in with it, or run a program that it names to get a key." },
	[AB_LABEL_HOME] = { "home", "is in your home folder",
		"A program outside may obey it; only known caches of your home folder are exempt." },
	[AB_LABEL_EXECUTABLE] = { "executable", "is or becomes executable",
		"It can be run as a program, and what ran the old one runs the new one." },
	[AB_LABEL_SETID] = { "set-id", "has set-id bits",
		"It would run with the rights of its owner; apply removes these bits." },
	[AB_LABEL_LINK] = { "link", "is a link that leaves the tree",
		"Programs that follow it read or write files outside the project." },
	[AB_LABEL_DEVICE] = { "device", "is a device, FIFO or socket",
		"It is never applied." },
	[AB_LABEL_BINARY] = { "binary", "is binary",
		"The difference cannot be read, and it may be a program." },
	[AB_LABEL_HIDDEN] = { "hidden-text", "adds invisible or reordering characters",
		"The text is not what it looks like in an editor or terminal." },
	[AB_LABEL_SECRET] = { "secret", "adds what looks like a credential",
		"A key in a file is easily published by mistake." },
	[AB_LABEL_LARGE] = { "large", "is very large, or much larger than before",
		"It may not belong in the project." },
	[AB_LABEL_DELETION] = { "deletion", "deletes a folder",
		"Everything in it goes away." },
	[AB_LABEL_MASS] = { "mass-deletion", "is one of many deletions",
		"The changes delete a large part of the tree." },
	[AB_LABEL_UNCHECKED] = { "unchecked", "was not checked",
		"Its content is too large or cannot be read, so other labels may be missing." },
};
/* clang-format on */

/* Hits stay in the order of ids. */
void ab_label_add(struct ab_label_hits *hits, enum ab_label_id id, const char *who,
		  const char *detail)
{
	size_t i = hits->len;
	struct ab_label_hit *hit;

	if (hits->bits & AB_LABEL_BIT(id))
		return;
	hits->bits |= AB_LABEL_BIT(id);
	for (; i > 0 && hits->v[i - 1].id > id; i--)
		hits->v[i] = hits->v[i - 1];
	hit = &hits->v[i];
	hits->len++;
	*hit = (struct ab_label_hit){ .id = id };
	snprintf(hit->who, sizeof(hit->who), "%s", who ? who : "");
	if (detail) {
		ab_autobuf struct ab_buf safe = { 0 };
		size_t n;

		ab_buf_escape(&safe, detail);
		n = safe.len < sizeof(hit->detail) ? safe.len : sizeof(hit->detail) - 1;
		/* Do not cut within a character. */
		while (n > 0 && n < safe.len && (safe.data[n] & 0xc0) == 0x80)
			n--;
		if (n)
			memcpy(hit->detail, safe.data, n);
	}
}

void ab_label_fold(const char *path, struct ab_buf *ret)
{
	char name[NAME_MAX + 1];

	for (;;) {
		ab_name_fold(path, name);
		ab_buf_puts(ret, name);
		path += strcspn(path, "/");
		if (!*path)
			return;
		ab_buf_add(ret, "/", 1);
		path++;
	}
}

/* Does a link with this target at this path stay in the tree, whatever else is in it?
 * ".." behind another name depends on where that name leads, so it does not. */
static bool leaves_tree(const char *path, const char *target)
{
	size_t depth = 0;
	bool down = false;

	if (target[0] == '/')
		return true;
	for (const char *p = path; *p; p++)
		depth += *p == '/';
	for (const char *p = target; *p;) {
		size_t n = strcspn(p, "/");

		if (n == 2 && strncmp(p, "..", 2) == 0) {
			if (down || depth == 0)
				return true;
			depth--;
		} else if (n > 0 && !(n == 1 && *p == '.')) {
			down = true;
		}
		p += n + (p[n] == '/');
	}
	return false;
}

static void check_link(const struct ab_label_input *in, struct ab_label_hits *hits)
{
	ab_autofree char *target = NULL;

	if (in->change->is != AB_TYPE_LINK)
		return;
	if (!in->fresh.data) {
		ab_label_add(hits, AB_LABEL_LINK, NULL, NULL);
		return;
	}
	target = ab_strndup(in->fresh.data, in->fresh.len);
	if (leaves_tree(in->change->path, target))
		ab_label_add(hits, AB_LABEL_LINK, NULL, target);
}

/* `git init` makes a dozen of them, and git runs none. */
static bool is_sample_hook(const struct ab_label_input *in, const char *folded)
{
	const char *name = strrchr(folded, '/');
	size_t n = strlen(folded);

	return name && n > 7 && strcmp(folded + n - 7, ".sample") == 0 && name - folded >= 6 &&
	       strncmp(name - 6, "/hooks", 6) == 0 &&
	       (in->gitdir || ab_label_is_git_data(in->change->path));
}

static void check_mode(const struct ab_label_input *in, const char *folded,
		       struct ab_label_hits *hits)
{
	const struct ab_change *c = in->change;
	mode_t set = c->new_mode & (S_ISUID | S_ISGID);

	if (c->is == AB_TYPE_FILE && (c->new_mode & 0111) && !is_sample_hook(in, folded) &&
	    !(c->was == AB_TYPE_FILE && (c->old_mode & 0111)))
		ab_label_add(hits, AB_LABEL_EXECUTABLE, NULL, NULL);
	/* Whatever runs it outside, by hand or from a script, runs the new content. */
	if (c->was == AB_TYPE_FILE && (c->old_mode & 0111) && c->is != AB_TYPE_NONE &&
	    c->kind != AB_CHANGE_MODE)
		ab_label_add(hits, AB_LABEL_EXECUTABLE, NULL, "replaces a program");
	/* A folder's group bit only decides about the group of new files. */
	if ((c->is == AB_TYPE_FILE && set) ||
	    (c->is == AB_TYPE_DIR && (set & ~(c->was == AB_TYPE_DIR ? c->old_mode : 0))))
		ab_label_add(hits, AB_LABEL_SETID, NULL, NULL);
	if (c->is == AB_TYPE_OTHER)
		ab_label_add(hits, AB_LABEL_DEVICE, NULL, NULL);
}

static void check_size(const struct ab_change *c, struct ab_label_hits *hits)
{
	uint64_t old = c->was == AB_TYPE_FILE ? c->old_size : 0;

	if (c->is != AB_TYPE_FILE)
		return;
	if ((old == 0 && c->new_size >= LARGE_NEW) ||
	    (old > 0 && c->new_size > old && c->new_size - old >= LARGE_GROWN &&
	     c->new_size / old >= LARGE_TIMES))
		ab_label_add(hits, AB_LABEL_LARGE, NULL, NULL);
}

bool ab_change_deletes(const struct ab_change *c)
{
	return c->kind == AB_CHANGE_DELETED || (c->was == AB_TYPE_DIR && c->is != AB_TYPE_DIR);
}

/* git removes folders of its own, but none of these. */
static bool is_passing_git_folder(const char *path, const char *name)
{
	static const char *const stay[] = { "heads", "objects", "pack", "refs" };

	for (size_t i = 0; i < AB_COUNT(stay); i++)
		if (strcmp(name, stay[i]) == 0)
			return false;
	return ab_label_is_git_data(path);
}

static void check_deletion(const struct ab_change *c, const char *name, struct ab_label_hits *hits)
{
	char files[48];

	if (!ab_change_deletes(c) || c->was != AB_TYPE_DIR || !c->count ||
	    is_passing_git_folder(c->path, name))
		return;
	snprintf(files, sizeof(files), "%" PRIu64 " file%s", c->files, c->files == 1 ? "" : "s");
	ab_label_add(hits, AB_LABEL_DELETION, NULL, files);
}

void ab_labels_find(const struct ab_label_input *in, struct ab_label_hits *ret)
{
	const struct ab_change *c = in->change;
	ab_autobuf struct ab_buf folded = { 0 };
	const char *name;

	ret->bits = 0;
	ret->len = 0;
	ab_label_fold(c->path, &folded);
	name = strrchr(folded.data, '/') ? strrchr(folded.data, '/') + 1 : folded.data;
	ab_label_names(c, folded.data, ret);
	ab_label_git(in, folded.data, ret);
	if (!ab_label_is_git_data(c->path)) {
		ab_label_packages(in, name, ret);
		ab_label_content(in, name, ret);
	}
	check_link(in, ret);
	check_mode(in, folded.data, ret);
	check_size(c, ret);
	if (c->is != AB_TYPE_NONE && !ab_all_printable(c->path))
		ab_label_add(ret, AB_LABEL_HIDDEN, NULL, "in the name");
	if (in->mass && ab_change_deletes(c))
		ab_label_add(ret, AB_LABEL_MASS, NULL, NULL);
	/* A label that says more is enough. */
	if (!ret->bits)
		check_deletion(c, name, ret);
	if (in->home && !ret->bits && !ab_label_is_home_cache(c))
		ab_label_add(ret, AB_LABEL_HOME, NULL, NULL);
}

void ab_labels_find_name(const char *path, struct ab_label_hits *ret)
{
	ab_autofree char *copy = ab_strdup(path);
	struct ab_change change = {
		.path = copy,
		.kind = AB_CHANGE_MODIFIED,
		.was = AB_TYPE_FILE,
		.is = AB_TYPE_FILE,
	};
	struct ab_label_input in = { .change = &change };

	ab_labels_find(&in, ret);
	/* Nothing was looked at. */
	for (size_t i = 0; i < ret->len; i++)
		if (ret->v[i].id == AB_LABEL_UNCHECKED) {
			memmove(&ret->v[i], &ret->v[i + 1], (ret->len - i - 1) * sizeof(ret->v[0]));
			ret->len--;
			ret->bits &= ~AB_LABEL_BIT(AB_LABEL_UNCHECKED);
			break;
		}
}

bool ab_changes_mass(const struct ab_changes *changes)
{
	uint64_t files = 0;

	for (size_t i = 0; i < changes->len && files < AB_LABEL_MASS_FILES; i++) {
		const struct ab_change *c = &changes->v[i];

		if (ab_change_deletes(c))
			files += c->was == AB_TYPE_DIR ? c->count : 1;
	}
	return files >= AB_LABEL_MASS_FILES;
}
