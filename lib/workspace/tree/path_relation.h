#pragma once
/* How a pattern relates to a path, component by component. Pure: it compares text. */
#include "base/base.h"

enum ab_path_relation {
	AB_PATH_APART,
	AB_PATH_SAME,
	AB_PATH_ABOVE, /* the path is below what the pattern names */
	AB_PATH_BELOW, /* the pattern names something below the path */
};

enum ab_path_relation ab_path_relate(const char *pattern, const char *path);

/* May "**" stand where it does? Not below "/", since the whole file system is not searched; nor twice, nor in
 * an exception, which says which folders stay hidden. */
bool ab_path_can_search(const char *pattern, bool exception);
