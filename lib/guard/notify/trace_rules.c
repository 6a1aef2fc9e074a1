#include <fnmatch.h>

#include "guard/notify/trace.h"
#include "policy/model/policy.h"
#include "sandbox/plan/plan.h"
#include "shell/syntax/quote.h"
#include "workspace/tree/names.h"

/* The box has its own, independent of the host's. */
static const char *const furniture[] = { "/dev", "/sys" };

/* C libraries try these on their own, and work without them. */
static const char *const optional_sockets[] = {
	"/run/nscd/socket",
	"/var/run/nscd/socket",
	"/run/systemd/userdb/*",
	"/run/systemd/resolve/*",
};

/* "agentbox run --write /x -- ..."; "" if the value cannot be typed. */
static const char *suggest_option(struct ab_arena *arena, const char *option, const char *mark,
				  const char *value)
{
	ab_autobuf struct ab_buf b = { 0 };
	ab_autofree char *word = ab_printf("%s%s", mark, value);

	if (!ab_all_printable(word))
		return "";
	ab_buf_printf(&b, "agentbox run %s ", option);
	ab_quote(&b, word);
	ab_buf_puts(&b, " -- ...");
	return ab_arena_ndup(arena, b.data, b.len);
}

/* The deepest folder of the plan at or above the path. Below a hidden root, unnamed paths are
 * read-only like any other. */
static const struct ab_mount *find_mount(const struct ab_trace_terms *terms, const char *path)
{
	const struct ab_mount *m = ab_plan_find(terms->plan, path);

	return m && m->op == AB_MOUNT_PRIVATE && !m->path[1] ? NULL : m;
}

const char *ab_trace_entry(const struct ab_policy *policy, const char *path)
{
	for (size_t i = 0; i < policy->fs.deny_write.len; i++) {
		const char *entry = policy->fs.deny_write.v[i];
		ab_autofree char *any = ab_printf("*/%s", entry);

		if (fnmatch(entry[0] == '/' ? entry : any, path, 0) == 0)
			return entry;
	}
	return NULL;
}

static bool is_protected(struct ab_arena *arena, const struct ab_trace_terms *terms,
			 const char *object, const char *path, const char *reason,
			 struct ab_denied *ret)
{
	const char *entry = ab_trace_entry(terms->policy, object);
	const char *hint = entry ? suggest_option(arena, "--deny-write", "!", entry) : "";

	*ret = (struct ab_denied){ "write", path, "filesystem.denyWrite", reason, hint };
	return true;
}

void ab_trace_protected(struct ab_arena *arena, const struct ab_trace_terms *terms,
			const char *path, struct ab_denied *ret)
{
	is_protected(arena, terms, path, path, "a protected name", ret);
}

/* May the hint suggest it for the sake of one file? Not the root, nor a whole home, nor a name that
 * is protected in every writable folder. */
static bool may_suggest(const struct ab_trace_terms *terms, const char *path)
{
	bool holds;

	return path[1] && !ab_path_within(path, "/proc") &&
	       !(terms->home && ab_path_within(terms->home, path)) &&
	       !ab_names_opened(&terms->policy->fs.deny_write, path, &holds);
}

bool ab_trace_write(struct ab_arena *arena, const struct ab_trace_terms *terms, const char *path,
		    bool whole, struct ab_denied *ret)
{
	const struct ab_mount *m = find_mount(terms, path);
	ab_autofree char *dir = ab_path_parent(path);
	const char *open = whole ? dir : path, *hint;
	bool unmade;

	for (size_t i = 0; i < AB_COUNT(furniture); i++)
		if (ab_path_within(path, furniture[i]))
			return false;
	if (m && m->op == AB_MOUNT_MASK)
		return ab_trace_mask(arena, terms, path, "write", ret);
	if (m && m->op == AB_MOUNT_CLOSE)
		return is_protected(arena, terms, m->path, path, "a protected name", ret);
	/* A path that is writable in the box but fails is not writable outside either. */
	if (m && m->op != AB_MOUNT_SHOW)
		return false;
	hint = may_suggest(terms, open) ? suggest_option(arena, "--write", "", open) : "";
	unmade = m && m->unmade && terms->home && ab_path_within(m->path, terms->home);
	/* What does not exist cannot be made writable by name. */
	if (unmade && strcmp(m->path, terms->home) == 0)
		hint = suggest_option(arena, "--home", "", "private");
	*ret = (struct ab_denied){ "write", path, "filesystem.write",
				   unmade ? "your home folder has no layer here (doctor says why)"
					  : "outside the writable folders",
				   hint };
	return true;
}

bool ab_trace_unmount(struct ab_arena *arena, const struct ab_trace_terms *terms, const char *path,
		      struct ab_denied *ret)
{
	const struct ab_mount *m = ab_plan_at(terms->plan, path);

	if (!m)
		return false;
	switch (m->op) {
	case AB_MOUNT_CLOSE:
		return is_protected(arena, terms, m->path, path, "a protected name", ret);
	case AB_MOUNT_PIN:
		return is_protected(arena, terms, m->path, path, "it leads to a protected name",
				    ret);
	case AB_MOUNT_MASK:
		return ab_trace_mask(arena, terms, path, "write", ret);
	case AB_MOUNT_SHOW:
	case AB_MOUNT_LAYER:
	case AB_MOUNT_WRITE:
	case AB_MOUNT_PRIVATE:
		break;
	}
	return false;
}

bool ab_trace_mask(struct ab_arena *arena, const struct ab_trace_terms *terms, const char *path,
		   const char *access, struct ab_denied *ret)
{
	const struct ab_mount *m = ab_plan_find(terms->plan, path);

	/* open() fails on a socket anyway. */
	if (!m || m->op != AB_MOUNT_MASK || ab_strv_has(terms->sockets, m->path))
		return false;
	*ret = (struct ab_denied){ access, path, "filesystem.denyRead",
				   strcmp(access, "read") == 0 ? "reading is denied"
							       : "it is hidden",
				   "" };
	if (terms->state && ab_path_within(path, terms->state))
		ret->reason = "agentbox's own records";
	else
		ret->hint = suggest_option(arena, "--read", "", m->path);
	return true;
}

bool ab_trace_socket(struct ab_arena *arena, const char *path, struct ab_denied *ret)
{
	for (size_t i = 0; i < AB_COUNT(optional_sockets); i++)
		if (fnmatch(optional_sockets[i], path, 0) == 0)
			return false;
	*ret = (struct ab_denied){ "connect", path, "filesystem.unix", "a socket of the host",
				   suggest_option(arena, "--allow-unix", "", path) };
	return true;
}
