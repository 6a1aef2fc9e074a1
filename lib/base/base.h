#pragma once
/*
 * What nearly every file above this folder includes: the usual headers of the C library, and ours for
 * memory, buffers, errors, descriptors, paths and characters. A file names only what it needs besides.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "base/data/arena.h"
#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/data/strv.h"
#include "base/system/clock.h"
#include "base/system/fd.h"
#include "base/system/path.h"
#include "base/text/ascii.h"
