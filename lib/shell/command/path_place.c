#include "shell/command/path_place.h"

#include "shell/syntax/name_table.h"

/* Entirely unknown, or ".." after an unknown part. */
static bool is_unknown(struct ab_text t)
{
	if (ab_text_is(t, ".."))
		return true;
	for (uint32_t i = 0; i < t.len; i++)
		if (t.s[i] != AB_UNKNOWN)
			return false;
	return true;
}

/* How many bytes of a pattern match one byte of a name. */
static uint32_t measure_place(struct ab_text pattern, uint32_t at)
{
	const char *end;

	if (pattern.s[at] != '[' || at + 2 >= pattern.len)
		return 1;
	end = memchr(pattern.s + at + 2, ']', pattern.len - at - 2);
	return end ? (uint32_t)(end - pattern.s) - at + 1 : 1;
}

bool ab_pattern_reaches(struct ab_text pattern, struct ab_text name)
{
	uint32_t p = 0, n = 0, star = UINT32_MAX, from = 0;

	while (n < name.len) {
		char c = p < pattern.len ? pattern.s[p] : '/';
		uint32_t width = p < pattern.len ? measure_place(pattern, p) : 1;

		if (c == '*' || (c == AB_UNKNOWN && p < pattern.len)) {
			star = p++;
			from = n;
		} else if (c == '?' || width > 1 || c == name.s[n]) {
			p += width;
			n++;
		} else if (star != UINT32_MAX) {
			p = star + 1;
			n = ++from;
		} else {
			return false;
		}
	}
	while (p < pattern.len && (pattern.s[p] == '*' || pattern.s[p] == AB_UNKNOWN))
		p++;
	return p == pattern.len;
}

/* A pattern without a literal byte after a leading dot: "*", ".??*", "[^.]*". */
static bool matches_all(struct ab_text t)
{
	uint32_t i = t.len > 0 && t.s[0] == '.';
	bool some = false;

	while (i < t.len) {
		uint32_t width = measure_place(t, i);

		if (width == 1 && t.s[i] != '*' && t.s[i] != '?' && t.s[i] != AB_UNKNOWN)
			return false;
		some = true;
		i += width;
	}
	return some;
}

static bool part_is(const struct ab_path *path, size_t at, struct ab_text name)
{
	struct ab_text part = path->part[at];

	if (ab_text_same(part, name))
		return true;
	return path->pattern && !is_unknown(part) && ab_pattern_reaches(part, name);
}

static void add_parts(struct ab_path *path, struct ab_text text)
{
	while (text.len) {
		struct ab_text part = ab_text_cut(&text, '/');
		bool up = ab_text_is(part, "..");

		if (part.len == 0 || ab_text_is(part, "."))
			continue;
		if (up && path->len == 0 && path->anchored)
			continue;
		if (up && path->len > AB_PATH_PARTS) {
			path->len--;
		} else if (up && path->len > 0 &&
			   !ab_text_has(path->part[path->len - 1], AB_UNKNOWN) &&
			   !ab_text_is(path->part[path->len - 1], "..")) {
			path->len--;
		} else {
			if (path->len < AB_PATH_PARTS)
				path->part[path->len] = part;
			path->len++;
		}
	}
}

void ab_path_read(const struct ab_simple *command, const struct ab_field *field,
		  struct ab_path *ret)
{
	struct ab_text text = field->text;
	struct ab_text cwd = command->cwd;

	ret->scene = command->scene;
	ret->len = 0;
	ret->pattern = field->pattern;
	ret->remote = command->flags & AB_SIMPLE_REMOTE;
	ret->empty = text.len == 0;
	ret->anchored = text.len > 0 && text.s[0] == '/';
	if (!cwd.s && command->scene->cwd)
		cwd = ab_text_of(command->scene->cwd);
	if (!ret->anchored && (text.len == 0 || text.s[0] != AB_UNKNOWN) && !ret->remote) {
		ret->anchored = cwd.len > 0 && cwd.s[0] == '/';
		add_parts(ret, cwd);
	}
	add_parts(ret, text);
}

/* The first `len` parts are: -1 apart from the folder, 0 the folder, 1 above it,
 * 2 in it. */
static int compare_folder(const struct ab_path *path, size_t len, const char *folder,
			  size_t *ret_depth)
{
	struct ab_text rest = ab_text_of(folder);
	size_t at = 0;

	while (rest.len) {
		struct ab_text name = ab_text_cut(&rest, '/');

		if (name.len == 0)
			continue;
		if (at == len)
			return 1;
		if (at >= AB_PATH_PARTS || !part_is(path, at, name))
			return -1;
		at++;
	}
	if (ret_depth)
		*ret_depth = at;
	return at == len ? 0 : 2;
}

static bool is_at_or_above(const struct ab_path *path, size_t len, const char *folder)
{
	int r = folder && folder[0] == '/' ? compare_folder(path, len, folder, NULL) : -1;

	return r == 0 || r == 1;
}

static bool first_is_listed(const struct ab_path *path, const char *list)
{
	struct ab_text name;

	while ((name = ab_list_next(&list)).len > 0)
		if (part_is(path, 0, name))
			return true;
	return false;
}

/* A folder of a system in "/"; also any lib*. */
static bool is_tree(const struct ab_path *path)
{
	return ab_text_starts(path->part[0], "lib") ||
	       first_is_listed(path,
			       "Applications Library System Users Volumes bin boot dev etc home "
			       "media mnt nix opt private proc root run sbin snap srv sys usr var");
}

static bool in_homes(const struct ab_path *path)
{
	return path->len > 1 &&
	       (ab_text_is(path->part[0], "home") || ab_text_is(path->part[0], "Users"));
}

/* `folder`, a parent of it, or its repository. */
static bool is_work(const struct ab_path *path, size_t len, const char *folder)
{
	size_t depth;

	if (path->remote || !folder || folder[0] != '/')
		return false;
	if (is_at_or_above(path, len, folder))
		return true;
	return compare_folder(path, len, folder, &depth) == 2 && len == depth + 1 &&
	       ab_text_is(path->part[depth], ".git");
}

/* The place of the first `len` parts. */
static enum ab_place get_place(const struct ab_path *path, size_t len)
{
	const struct ab_scene *scene = path->scene;

	if (len == 0 || is_at_or_above(path, len, scene->home))
		return AB_PLACE_ROOT;
	if (len == 1 && is_tree(path))
		return AB_PLACE_ROOT;
	if (is_work(path, len, scene->workspace) || is_work(path, len, scene->cwd))
		return AB_PLACE_WORKSPACE;
	if (len == 2 && in_homes(path))
		return AB_PLACE_ROOT;
	if (len == 1)
		return ab_text_has(path->part[0], AB_UNKNOWN) ? AB_PLACE_UNKNOWN : AB_PLACE_TOP;
	return AB_PLACE_ORDINARY;
}

enum ab_place ab_path_place(const struct ab_path *path)
{
	size_t len = path->len;
	enum ab_place place;
	bool open = false;

	if (path->empty || len > AB_PATH_PARTS)
		return AB_PLACE_ORDINARY;
	while (len > 0 && (is_unknown(path->part[len - 1]) ||
			   (path->pattern && matches_all(path->part[len - 1])))) {
		open = open || is_unknown(path->part[len - 1]);
		len--;
	}
	if (!path->anchored) {
		if (len > 0 || (path->remote && !open))
			return AB_PLACE_ORDINARY;
		return AB_PLACE_UNKNOWN;
	}
	place = get_place(path, len);
	if (len == path->len)
		return place;
	if (place == AB_PLACE_TOP)
		return AB_PLACE_ORDINARY;
	return open && place != AB_PLACE_ORDINARY ? AB_PLACE_UNKNOWN : place;
}

/* Prefixes of disks in /dev. */
static const char disks[][7] = {
	"dm-", "hd", "loop", "md", "mmcblk", "nbd", "nvme", "rdisk", "sd", "vd", "xvd", "zram",
};

/* Names in /dev that any program may write to. */
static const char harmless[] =
	"fd full null ptmx pts random shm stderr stdin stdout tcp tty udp urandom zero";

bool ab_path_block_device(const struct ab_path *path)
{
	struct ab_text name;

	if (!path->anchored || path->len < 2 || !ab_text_is(path->part[0], "dev"))
		return false;
	name = path->part[1];
	if (path->len > 2)
		return (ab_text_is(name, "mapper") && !ab_text_is(path->part[2], "control")) ||
		       (ab_text_is(name, "disk") && path->len > 3);
	if (ab_text_starts(name, "disk"))
		return name.len > 4;
	for (size_t i = 0; i < AB_COUNT(disks); i++) {
		size_t len = strlen(disks[i]);

		if (name.len > len && ab_text_starts(name, disks[i]))
			return !ab_text_is(name, "loop-control");
	}
	return false;
}

/* Files in /proc that system-write does not cover. */
static bool is_harmless_proc(const struct ab_path *path)
{
	if (path->len == 2) /* shutdown-reboot covers it */
		return ab_text_is(path->part[1], "sysrq-trigger");
	return path->len > 3 && ab_text_is(path->part[2], "fd");
}

/* /dev/fd0: no machine has a floppy; the command means a descriptor. */
static bool is_floppy(struct ab_text name)
{
	if (name.len < 3 || !ab_text_starts(name, "fd"))
		return false;
	return ab_text_trim(name, "0123456789").len == 2;
}

bool ab_path_system(const struct ab_path *path)
{
	if (!path->anchored || path->remote || path->len == 0)
		return false;
	if (path->len > 1 && ab_text_is(path->part[0], "dev"))
		return !ab_listed(harmless, path->part[1]) && !is_floppy(path->part[1]);
	if (ab_text_is(path->part[0], "proc"))
		return !is_harmless_proc(path);
	if (ab_text_is(path->part[0], "dev") || ab_text_is(path->part[0], "lib") ||
	    (ab_text_starts(path->part[0], "lib") && path->len > 1))
		return true;
	return first_is_listed(path, "bin boot etc sbin sys usr");
}

size_t ab_path_home(const struct ab_path *path)
{
	size_t at = 0;

	if (!path->anchored) {
		while (at < path->len && at < AB_PATH_PARTS && is_unknown(path->part[at]))
			at++;
		return at;
	}
	if (path->scene->home && compare_folder(path, path->len, path->scene->home, &at) == 2 && at)
		return at;
	if (path->len > 2 && in_homes(path))
		return 2;
	return path->len > 1 && ab_text_is(path->part[0], "root");
}

size_t ab_path_workspace(const struct ab_path *path)
{
	const char *workspace = path->scene->workspace;
	size_t at = 0;

	if (!path->anchored || !workspace || workspace[0] != '/' ||
	    compare_folder(path, path->len, workspace, &at) != 2)
		return 0;
	return at;
}

static bool has_names(const struct ab_path *path, size_t at, struct ab_text names)
{
	for (; names.len; at++) {
		struct ab_text name;

		if (!ab_path_may_have(path, at, names.s[0]))
			return false;
		name = ab_text_cut(&names, '/');
		if (ab_text_has(name, '*') ? !ab_pattern_reaches(name, path->part[at])
					   : !part_is(path, at, name))
			return false;
	}
	return true;
}

bool ab_path_has(const struct ab_path *path, size_t at, const char *names)
{
	return has_names(path, at, ab_text_of(names));
}

bool ab_path_has_listed(const struct ab_path *path, size_t at, const char *list)
{
	struct ab_text names;

	while ((names = ab_list_next(&list)).len > 0)
		if (has_names(path, at, names))
			return true;
	return false;
}
