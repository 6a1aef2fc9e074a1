#include "session/home/home_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "base/data/strv.h"
#include "base/system/fd.h"
#include "base/system/path.h"
#include "workspace/tree/dir.h"

enum { ENTRIES_MAX = 4096 };

struct search {
	size_t left; /* entries that may be looked at */
	size_t found;
	char *first;
};

static void search_folder(struct search *s, int at, const char *name, const char *path, int levels)
{
	ab_autoclose int dir = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	ab_autolisting struct ab_listing l = { 0 };

	if (dir < 0 || ab_listing_read(&l, dir, s->left) < 0 || l.cut)
		return;
	s->left -= l.len;
	for (size_t i = 0; i < l.len; i++) {
		ab_autofree char *below = ab_path_join(path, l.v[i].name);
		struct stat st;

		if (fstatat(dir, l.v[i].name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0)
			continue;
		if (st.st_uid != geteuid() || st.st_gid != getegid()) {
			if (!s->found++)
				s->first = ab_strdup(below);
		} else if (S_ISDIR(st.st_mode) && levels > 1) {
			search_folder(s, dir, l.v[i].name, below, levels - 1);
		}
	}
}

void ab_home_files_note(const char *home, struct ab_strv *ret)
{
	struct search s = { .left = ENTRIES_MAX };
	ab_autofree char *shown = NULL;

	search_folder(&s, AT_FDCWD, home, home, 2);
	if (!s.found)
		return;
	shown = ab_escape(s.first);
	ab_strv_addf(
		ret,
		"%zu file%s in your home folder belong%s to another user or group, such as %s: "
		"the command can read but not change %s (EOVERFLOW)",
		s.found, s.found == 1 ? "" : "s", s.found == 1 ? "s" : "", shown,
		s.found == 1 ? "it" : "them");
	free(s.first);
}
