#pragma once
/*
 * Files of filesystem.return: the host and a kept home layer each have one, and a service may renew
 * it on either side. When a run starts, a copy in the layer that is older than the host's file is
 * replaced by it. When the box is gone, a copy that differs is written back to the host, if the
 * host's file is still what it was at the start. meta.json has the host's file as both sides knew
 * it last (struct ab_layer_file).
 *
 * The layer is hostile: a file in it is opened beneath the upper without links, and it must be a
 * regular file that the user owns, with one name and a bounded size. credentials.h decides about its content.
 * On the host no link is followed either, missing folders are created 0700, and the file is
 * replaced at once.
 *
 * The caller has locked the set, and the box is gone or does not exist yet.
 */
struct ab_layer_file;
struct ab_strv;
struct stat;

enum ab_giveback {
	AB_GIVEBACK_SAME, /* nothing to return */
	AB_GIVEBACK_DONE,
	AB_GIVEBACK_REFUSED,
};

/* `upper` and `home` are folders, `path` is relative to them; `entry` is the file's name in the
 * policy, which decides about its content. `was`: the host's file at the start, or NULL. `placeholders`
 * that may be in the layer are not returned; or NULL. *ret_st: the host's new file, if DONE; *ret_why: a clause, if REFUSED. */
enum ab_giveback ab_giveback_file(int upper, int home, const char *path, const char *entry,
				  const struct ab_layer_file *was,
				  const struct ab_strv *placeholders, struct stat *ret_st,
				  const char **ret_why);

/* Before the box. Replace or remove the layer's copy if the host's file is not `was` (NULL: never
 * seen). *ret_now: the host's file; st_nlink is 0 if there is none. -1 with errno: the copy is
 * older and could not be replaced. */
int ab_giveback_refresh(int upper, int home, const char *path, const struct ab_layer_file *was,
			struct stat *ret_now);
