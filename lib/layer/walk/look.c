#include "layer/walk/look.h"

#include <sys/sysmacros.h>

static enum ab_change_type type_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return AB_TYPE_FILE;
	case S_IFDIR:
		return AB_TYPE_DIR;
	case S_IFLNK:
		return AB_TYPE_LINK;
	default:
		return AB_TYPE_OTHER;
	}
}

static struct timespec time_of(struct statx_timestamp t)
{
	return (struct timespec){ .tv_sec = t.tv_sec, .tv_nsec = t.tv_nsec };
}

int ab_look_at(int dir, const char *name, struct ab_look *ret)
{
	struct statx st;

	if (statx(dir, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | (name[0] ? 0 : AT_EMPTY_PATH),
		  STATX_BASIC_STATS | STATX_BTIME, &st) < 0)
		return -1;
	*ret = (struct ab_look){
		.id = { .dev = makedev(st.stx_dev_major, st.stx_dev_minor),
			.ino = st.stx_ino,
			.size = st.stx_size,
			.mode = st.stx_mode,
			.mtime = time_of(st.stx_mtime),
			.ctime = time_of(st.stx_ctime) },
		.type = type_of(st.stx_mode),
		.blocks = st.stx_blocks,
		.device = makedev(st.stx_rdev_major, st.stx_rdev_minor),
		.mount = name[0] && (st.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) &&
			 (st.stx_attributes & STATX_ATTR_MOUNT_ROOT),
	};
	if (st.stx_mask & STATX_BTIME)
		ret->born = time_of(st.stx_btime);
	return 0;
}

int ab_look_open_file(int dir, const char *path)
{
	const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
	int fd = ab_open_same_mount(dir, path, flags | O_NOATIME);

	return fd < 0 && errno == EPERM ? ab_open_same_mount(dir, path, flags) : fd;
}

int ab_look_open_known(int dir, const char *path, const struct ab_identity *id, struct stat *ret)
{
	ab_autoclose int fd = ab_look_open_file(dir, path);

	if (fd < 0 || fstat(fd, ret) < 0)
		return -1;
	if (!S_ISREG(ret->st_mode) || ret->st_ino != id->ino || ret->st_dev != id->dev)
		return ab_errno(ESTALE);
	return ab_take_fd(&fd);
}

int ab_parent_open(struct ab_parent *cache, int root, const char *path, const char **ret_name)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;

	*ret_name = slash ? slash + 1 : path;
	if (!slash)
		return root;
	if (cache->fd >= 0 && strncmp(cache->path, path, len) == 0 && cache->path[len] == '\0')
		return cache->fd;
	ab_closep(&cache->fd);
	free(cache->path);
	cache->path = ab_strndup(path, len);
	cache->fd = ab_open_same_mount(root, cache->path, O_PATH | O_DIRECTORY | O_NOFOLLOW);
	return cache->fd;
}

void ab_parent_fini(struct ab_parent *cache)
{
	ab_closep(&cache->fd);
	free(cache->path);
	*cache = (struct ab_parent)AB_PARENT_NONE;
}

struct ab_identity ab_identity_of(const struct stat *st)
{
	return (struct ab_identity){
		.dev = st->st_dev,
		.ino = st->st_ino,
		.size = (uint64_t)st->st_size,
		.mode = st->st_mode,
		.mtime = st->st_mtim,
		.ctime = st->st_ctim,
	};
}

bool ab_identity_same(const struct ab_identity *a, const struct ab_identity *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->mode == b->mode &&
	       (S_ISDIR(a->mode) || (a->size == b->size && ab_time_same(a->mtime, b->mtime)));
}
