#pragma once
/*
 * What nearly every file includes, but for those of the rooms data and system: the usual headers of the
 * C library, and ours for memory, buffers, errors, descriptors, paths and characters. A file names only
 * what it needs besides.
 */
#include "base/data/libc.h"

#include "base/data/arena.h"
#include "base/data/ascii.h"
#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/data/strv.h"
#include "base/system/clock.h"
#include "base/system/fd.h"
#include "base/system/path.h"
