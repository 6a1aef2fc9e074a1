/*
 * foldfs FOLDER MOUNTPOINT: a file system (FUSE) that shows FOLDER and does not tell spellings of a name apart:
 * letters of ASCII in any case, with or without U+200C; and ENVRC~1 is .envrc. As on SMB, and unlike ext4, the kernel has an entry for
 * every spelling that was looked up. It ends when it is unmounted.
 */
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/uio.h>
#include <unistd.h>

enum { NODES = 8192, ROOM = 1 << 17 };

/* Files that were looked up, with descriptors that keep their numbers from being used again. */
static struct {
	int fd;
	ino_t ino;
} nodes[NODES];
static size_t nnodes = FUSE_ROOT_ID;
static int kernel;

static const char *path_of(uint64_t node)
{
	static char path[2][32];
	static int turn;

	turn = !turn;
	snprintf(path[turn], sizeof(path[turn]), "/proc/self/fd/%d", nodes[node].fd);
	return path[turn];
}

static void fold(const char *name, char *ret)
{
	char *start = ret;

	for (; *name; name++)
		if (strncmp(name, "\xe2\x80\x8c", 3) == 0)
			name += 2;
		else
			*ret++ = *name >= 'A' && *name <= 'Z' ? *name + 32 : *name;
	*ret = '\0';
	/* A short name, as on vfat. */
	if (strcmp(start, "envrc~1") == 0)
		strcpy(start, ".envrc");
}

/* The name in that folder as it was created, or as it is asked for. */
static const char *find(uint64_t node, const char *name)
{
	static char found[2][256];
	static int turn;
	char wanted[256], other[256];
	struct dirent *d;
	struct stat st;
	DIR *dir;

	turn = !turn;
	snprintf(found[turn], sizeof(found[turn]), "%s", name);
	if (fstatat(nodes[node].fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return found[turn];
	fold(name, wanted);
	dir = opendir(path_of(node));
	while (dir && (d = readdir(dir)) != NULL) {
		fold(d->d_name, other);
		if (strcmp(wanted, other) == 0)
			snprintf(found[turn], sizeof(found[turn]), "%s", d->d_name);
	}
	if (dir)
		closedir(dir);
	return found[turn];
}

static void reply(uint64_t unique, int error, const void *data, size_t len)
{
	struct fuse_out_header head = { .len = (uint32_t)(sizeof(head) + (error ? 0 : len)),
					.error = -error,
					.unique = unique };
	struct iovec parts[2] = { { &head, sizeof(head) }, { (void *)data, error ? 0 : len } };

	if (writev(kernel, parts, 2) < 0 && errno != ENOENT)
		err(1, "reply");
}

static void put_attr(const struct stat *st, struct fuse_attr *ret)
{
	*ret = (struct fuse_attr){ .ino = st->st_ino,
				   .size = (uint64_t)st->st_size,
				   .blocks = (uint64_t)st->st_blocks,
				   .atime = (uint64_t)st->st_atim.tv_sec,
				   .mtime = (uint64_t)st->st_mtim.tv_sec,
				   .ctime = (uint64_t)st->st_ctim.tv_sec,
				   .atimensec = (uint32_t)st->st_atim.tv_nsec,
				   .mtimensec = (uint32_t)st->st_mtim.tv_nsec,
				   .ctimensec = (uint32_t)st->st_ctim.tv_nsec,
				   .mode = st->st_mode,
				   .nlink = (uint32_t)st->st_nlink,
				   .uid = st->st_uid,
				   .gid = st->st_gid,
				   .blksize = 4096 };
}

/* What the kernel is told of this name; an errno. */
static int put_entry(uint64_t node, const char *name, struct fuse_entry_out *ret)
{
	int fd = openat(nodes[node].fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	size_t i;

	*ret = (struct fuse_entry_out){ 0 };
	if (fd < 0)
		return errno;
	if (fstat(fd, &st) < 0)
		err(1, "fstat");
	for (i = FUSE_ROOT_ID; i < nnodes && nodes[i].ino != st.st_ino; i++)
		;
	if (i == NODES)
		errx(1, "too many files");
	if (i == nnodes) {
		nodes[nnodes].fd = fd;
		nodes[nnodes++].ino = st.st_ino;
	} else {
		close(fd);
	}
	ret->nodeid = i;
	put_attr(&st, &ret->attr);
	return 0;
}

static void reply_entry(uint64_t unique, int rc, uint64_t node, const char *name)
{
	struct fuse_entry_out out = { 0 };
	int error = rc < 0 ? errno : put_entry(node, name, &out);

	reply(unique, error, &out, sizeof(out));
}

static void reply_attr(uint64_t unique, int rc, uint64_t node)
{
	struct fuse_attr_out out = { 0 };
	struct stat st;

	if (rc == 0)
		rc = fstat(nodes[node].fd, &st);
	if (rc == 0)
		put_attr(&st, &out.attr);
	reply(unique, rc < 0 ? errno : 0, &out, sizeof(out));
}

static int set_attr(uint64_t node, const struct fuse_setattr_in *in)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_nsec = UTIME_OMIT } };

	if ((in->valid & FATTR_MODE) && chmod(path_of(node), in->mode) < 0)
		return -1;
	if ((in->valid & (FATTR_UID | FATTR_GID)) &&
	    chown(path_of(node), in->valid & FATTR_UID ? in->uid : (uid_t)-1,
		  in->valid & FATTR_GID ? in->gid : (gid_t)-1) < 0)
		return -1;
	if ((in->valid & FATTR_SIZE) && truncate(path_of(node), (off_t)in->size) < 0)
		return -1;
	if (in->valid & FATTR_MTIME)
		times[1] = (struct timespec){ (time_t)in->mtime, in->valid & FATTR_MTIME_NOW
									 ? UTIME_NOW
									 : in->mtimensec };
	if (in->valid & FATTR_ATIME)
		times[0] = (struct timespec){ (time_t)in->atime, in->valid & FATTR_ATIME_NOW
									 ? UTIME_NOW
									 : in->atimensec };
	return utimensat(AT_FDCWD, path_of(node), times, 0);
}

static void reply_open(uint64_t unique, int fd)
{
	struct fuse_open_out out = { .fh = (uint64_t)fd, .open_flags = FOPEN_DIRECT_IO };

	reply(unique, fd < 0 ? errno : 0, &out, sizeof(out));
}

static void reply_list(uint64_t unique, const struct fuse_read_in *in)
{
	DIR *dir = fdopendir(dup((int)in->fh));
	static char out[1 << 16];
	size_t len = 0, most = in->size < sizeof(out) ? in->size : sizeof(out);
	struct dirent *d;

	/* By position: the number of the entry. */
	rewinddir(dir);
	for (uint64_t at = 0; (d = readdir(dir)) != NULL; at++) {
		size_t n = strlen(d->d_name);
		struct fuse_dirent *e = (void *)(out + len);

		if (at < in->offset)
			continue;
		if (len + FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + n) > most)
			break;
		memset(e, 0, FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + n));
		*e = (struct fuse_dirent){
			.ino = d->d_ino, .off = at + 1, .namelen = (uint32_t)n, .type = d->d_type
		};
		memcpy(e->name, d->d_name, n);
		len += FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + n);
	}
	closedir(dir);
	reply(unique, 0, out, len);
}

static void reply_statfs(uint64_t unique)
{
	struct fuse_statfs_out out = { 0 };
	struct statfs fs;

	if (fstatfs(nodes[FUSE_ROOT_ID].fd, &fs) < 0)
		err(1, "statfs");
	out.st.blocks = fs.f_blocks;
	out.st.bfree = out.st.bavail = fs.f_bfree;
	out.st.files = out.st.ffree = 1 << 20;
	out.st.bsize = out.st.frsize = (uint32_t)fs.f_bsize;
	out.st.namelen = 255;
	reply(unique, 0, &out, sizeof(out));
}

static void answer(const struct fuse_in_header *head, const void *in)
{
	static char data[ROOM];
	uint64_t node = head->nodeid, unique = head->unique;
	int at = nodes[node].fd;
	const char *text = in, *name;
	ssize_t n;

	switch (head->opcode) {
	case FUSE_INIT: {
		struct fuse_init_out out = { .major = FUSE_KERNEL_VERSION,
					     .minor = FUSE_KERNEL_MINOR_VERSION,
					     .max_readahead = 4096,
					     .max_write = 65536 };

		reply(unique, 0, &out, sizeof(out));
		return;
	}
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		return;
	case FUSE_LOOKUP:
		reply_entry(unique, 0, node, find(node, text));
		return;
	case FUSE_GETATTR:
		reply_attr(unique, 0, node);
		return;
	case FUSE_SETATTR:
		reply_attr(unique, set_attr(node, in), node);
		return;
	case FUSE_READLINK:
		n = readlinkat(at, "", data, sizeof(data));
		reply(unique, n < 0 ? errno : 0, data, (size_t)n);
		return;
	case FUSE_SYMLINK:
		name = find(node, text);
		reply_entry(unique, symlinkat(text + strlen(text) + 1, at, name), node, name);
		return;
	case FUSE_MKNOD: {
		const struct fuse_mknod_in *make = in;

		name = find(node, (const char *)(make + 1));
		reply_entry(unique, mknodat(at, name, make->mode, make->rdev), node, name);
		return;
	}
	case FUSE_MKDIR: {
		const struct fuse_mkdir_in *make = in;

		name = find(node, (const char *)(make + 1));
		reply_entry(unique, mkdirat(at, name, make->mode), node, name);
		return;
	}
	case FUSE_UNLINK:
	case FUSE_RMDIR:
		n = unlinkat(at, find(node, text), head->opcode == FUSE_RMDIR ? AT_REMOVEDIR : 0);
		reply(unique, n < 0 ? errno : 0, NULL, 0);
		return;
	case FUSE_RENAME:
	case FUSE_RENAME2: {
		bool two = head->opcode == FUSE_RENAME2;
		uint64_t to = *(const uint64_t *)in;
		const char *old = text + (two ? sizeof(struct fuse_rename2_in)
					      : sizeof(struct fuse_rename_in));
		const char *as = old + strlen(old) + 1;

		n = renameat2(at, find(node, old), nodes[to].fd, find(to, as),
			      two ? ((const struct fuse_rename2_in *)in)->flags : 0);
		reply(unique, n < 0 ? errno : 0, NULL, 0);
		return;
	}
	case FUSE_LINK: {
		const struct fuse_link_in *link = in;

		name = find(node, (const char *)(link + 1));
		reply_entry(unique,
			    linkat(AT_FDCWD, path_of(link->oldnodeid), at, name, AT_SYMLINK_FOLLOW),
			    node, name);
		return;
	}
	case FUSE_OPEN:
		reply_open(unique, open(path_of(node), ((const struct fuse_open_in *)in)->flags &
							       ~(O_CREAT | O_EXCL | O_NOFOLLOW)));
		return;
	case FUSE_OPENDIR:
		reply_open(unique, open(path_of(node), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
		return;
	case FUSE_CREATE: {
		const struct fuse_create_in *make = in;
		struct {
			struct fuse_entry_out entry;
			struct fuse_open_out open;
		} out = { 0 };
		int fd, error = 0;

		name = find(node, (const char *)(make + 1));
		fd = openat(at, name, (int)make->flags | O_CREAT | O_CLOEXEC, make->mode);
		error = fd < 0 ? errno : put_entry(node, name, &out.entry);
		out.open =
			(struct fuse_open_out){ .fh = (uint64_t)fd, .open_flags = FOPEN_DIRECT_IO };
		reply(unique, error, &out, sizeof(out));
		return;
	}
	case FUSE_READ: {
		const struct fuse_read_in *want = in;

		n = pread((int)want->fh, data, want->size < ROOM ? want->size : ROOM,
			  (off_t)want->offset);
		reply(unique, n < 0 ? errno : 0, data, (size_t)n);
		return;
	}
	case FUSE_WRITE: {
		const struct fuse_write_in *write = in;
		struct fuse_write_out out = { 0 };

		n = pwrite((int)write->fh, write + 1, write->size, (off_t)write->offset);
		out.size = (uint32_t)n;
		reply(unique, n < 0 ? errno : 0, &out, sizeof(out));
		return;
	}
	case FUSE_READDIR:
		reply_list(unique, in);
		return;
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
		close((int)((const struct fuse_release_in *)in)->fh);
		reply(unique, 0, NULL, 0);
		return;
	case FUSE_FLUSH:
	case FUSE_FSYNC:
	case FUSE_FSYNCDIR:
		reply(unique, 0, NULL, 0);
		return;
	case FUSE_STATFS:
		reply_statfs(unique);
		return;
	default:
		reply(unique, ENOSYS, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	static _Alignas(uint64_t) char request[ROOM];
	struct stat st;
	char options[128];

	if (argc != 3)
		errx(2, "foldfs FOLDER MOUNTPOINT");
	umask(0);
	kernel = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	nodes[nnodes].fd = open(argv[1], O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (kernel < 0 || nodes[nnodes].fd < 0 || fstat(nodes[nnodes].fd, &st) < 0)
		err(1, "open");
	nodes[nnodes++].ino = st.st_ino;
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=%d,group_id=%d,allow_other,default_permissions",
		 kernel, (int)getuid(), (int)getgid());
	if (mount("foldfs", argv[2], "fuse", MS_NOSUID | MS_NODEV, options) < 0)
		err(1, "mount");
	for (;;) {
		ssize_t n = read(kernel, request, sizeof(request));
		const struct fuse_in_header *head = (const void *)request;

		if (n < 0 && errno == ENODEV)
			return 0;
		if (n < 0 && errno != EINTR && errno != ENOENT)
			err(1, "read");
		if (n >= (ssize_t)sizeof(*head))
			answer(head, head + 1);
	}
}
