#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/data/arena.h"
#include "base/data/buf.h"
#include "base/data/mem.h"
#include "base/data/strv.h"
#include "base/system/path.h"
#include "policy/model/policy.h"
#include "sandbox/plan/plan.h"
#include "session/notify/trace.h"
#include "shell/syntax/quote.h"
#include "workspace/tree/names.h"

/* The box's own, whoever the host's belong to. */
static const char *const furniture[] = { "/dev", "/sys" };

/* A C library asks these by itself, and does without. */
static const char *const asked_in_vain[] = {
	"/run/nscd/socket",
	"/var/run/nscd/socket",
	"/run/systemd/userdb/*",
	"/run/systemd/resolve/*",
};

static bool is_plain(const char *s)
{
	size_t left = strlen(s), n;

	while (left && (n = ab_printable(s, left)) > 0) {
		s += n;
		left -= n;
	}
	return left == 0;
}

/* "agentbox run --write /x -- ..."; nothing where it could not be typed. */
static const char *suggest(struct ab_arena *arena, const char *option, const char *mark,
			   const char *value)
{
	ab_autobuf struct ab_buf b = { 0 };
	ab_autofree char *word = ab_printf("%s%s", mark, value);

	if (!is_plain(word))
		return "";
	ab_buf_printf(&b, "agentbox run %s ", option);
	ab_quote(&b, word);
	ab_buf_puts(&b, " -- ...");
	return ab_arena_ndup(arena, b.data, b.len);
}

/* The deepest folder of the plan at or above the path; below a hidden root,
 * what is not named is as read-only as any. */
static const struct ab_mount *deciding(const struct ab_trace_terms *terms, const char *path)
{
	const struct ab_mount *m = ab_plan_find(terms->plan, path);

	return m && m->op == AB_MOUNT_PRIVATE && !m->path[1] ? NULL : m;
}

/* Which entry of denyWrite a closed path comes from, or NULL. */
static const char *entry_of(const struct ab_policy *policy, const char *path)
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
			 const struct ab_mount *m, const char *path, const char *reason,
			 struct ab_denied *ret)
{
	const char *entry = entry_of(terms->policy, m->path);

	*ret = (struct ab_denied){ .access = "write",
				   .path = path,
				   .rule = "filesystem.denyWrite",
				   .reason = reason,
				   .hint = "" };
	if (entry)
		ret->hint = suggest(arena, "--deny-write", "!", entry);
	return true;
}

/* Worth to be opened for one file: not the root, not a home as a whole, nor
 * what is protected in any folder that is writable. */
static bool is_small(const struct ab_trace_terms *terms, const char *path)
{
	bool holds;

	return path[1] && !ab_path_within(path, "/proc") &&
	       !(terms->home && ab_path_within(terms->home, path)) &&
	       !ab_names_opened(&terms->policy->fs.deny_write, path, &holds);
}

bool ab_trace_write(struct ab_arena *arena, const struct ab_trace_terms *terms, const char *path,
		    bool whole, struct ab_denied *ret)
{
	const struct ab_mount *m = deciding(terms, path);
	ab_autofree char *dir = ab_path_parent(path);
	const char *open = whole ? dir : path;

	for (size_t i = 0; i < AB_COUNT(furniture); i++)
		if (ab_path_within(path, furniture[i]))
			return false;
	if (m && m->op == AB_MOUNT_MASK)
		return ab_trace_mask(arena, terms, path, "write", ret);
	if (m && m->op == AB_MOUNT_CLOSE)
		return is_protected(arena, terms, m, path, "a protected name", ret);
	/* What is writable in the box, and yet is not, is so outside too. */
	if (m && m->op != AB_MOUNT_SHOW)
		return false;
	*ret = (struct ab_denied){ .access = "write",
				   .path = path,
				   .rule = "filesystem.write",
				   .reason = "outside the writable folders",
				   .hint = "" };
	if (is_small(terms, open))
		ret->hint = suggest(arena, "--write", "", open);
	return true;
}

bool ab_trace_unmount(struct ab_arena *arena, const struct ab_trace_terms *terms, const char *path,
		      struct ab_denied *ret)
{
	const struct ab_mount *m = ab_plan_find(terms->plan, path);

	if (!m || strcmp(m->path, path) != 0)
		return false;
	switch (m->op) {
	case AB_MOUNT_CLOSE:
		return is_protected(arena, terms, m, path, "a protected name", ret);
	case AB_MOUNT_PIN:
		return is_protected(arena, terms, m, path, "it leads to a protected name", ret);
	case AB_MOUNT_MASK:
		return ab_trace_mask(arena, terms, path, "write", ret);
	case AB_MOUNT_SHOW:
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

	/* A socket cannot be opened anyway. */
	if (!m || m->op != AB_MOUNT_MASK || ab_strv_has(terms->sockets, m->path))
		return false;
	*ret = (struct ab_denied){ .access = access,
				   .path = path,
				   .rule = "filesystem.denyRead",
				   .reason = "denied for reading",
				   .hint = "" };
	if (terms->state && ab_path_within(path, terms->state))
		ret->reason = "agentbox's own records";
	else
		ret->hint = suggest(arena, "--deny-read", "!", m->path);
	return true;
}

bool ab_trace_socket(struct ab_arena *arena, const struct ab_trace_terms *terms, const char *path,
		     struct ab_denied *ret)
{
	if (!ab_strv_has(terms->sockets, path))
		return false;
	for (size_t i = 0; i < AB_COUNT(asked_in_vain); i++)
		if (fnmatch(asked_in_vain[i], path, 0) == 0)
			return false;
	*ret = (struct ab_denied){ .access = "connect",
				   .path = path,
				   .rule = "filesystem.unix",
				   .reason = "a socket of the host",
				   .hint = suggest(arena, "--allow-unix", "", path) };
	return true;
}
