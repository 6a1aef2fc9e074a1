#pragma once
/*
 * The descriptors that a command of the box hands to the broker of the tools. They come from the box:
 * only kinds that a program expects on 0-2 are taken, and none that means more to its holder outside
 * than in the box.
 */
#include "base/base.h"

enum { AB_TOOL_FDS = 4, AB_TOOL_FD_CWD = 3 };

/* What is wrong with one that shall become 0, 1 or 2; NULL: nothing. */
const char *ab_tool_stream_check(int fd);
/* What is wrong with the caller's folder, which is to be the same as `folder`; NULL: nothing. */
const char *ab_tool_cwd_check(int fd, int folder);
