#ifndef AB_LAYER_JOURNAL_TREE_H
#define AB_LAYER_JOURNAL_TREE_H
/*
 * Copy and remove files and folders by descriptors. No link is followed, no other mount
 * entered, depth is bounded. All of them return -1 with errno.
 */
#include <sys/stat.h>

#define AB_TREE_DEPTH 256

/* Copy the content of a regular file into a new, empty one: as a clone where the file
 * system can, else with its holes. */
int ab_copy_content(int in, int out, const struct stat *st);

/* Copy `name` as a new object `as`, with modes and modification times. Set-id bits are
 * dropped. Anything except files, folders and links is EINVAL. */
int ab_tree_copy(int from, const char *name, int to, const char *as);

/* Remove it, whatever it is; nothing there is a success. */
int ab_tree_remove(int dir, const char *name);

/* Rename without replacing anything: EEXIST. Falls back to a look and a rename where the
 * file system does not have RENAME_NOREPLACE. */
int ab_rename_new(int from, const char *name, int to, const char *as);

/* Change the mode of what a descriptor, also one of O_PATH, refers to. */
int ab_fd_chmod(int fd, mode_t mode);

#endif
