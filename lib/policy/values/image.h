#pragma once
/*
 * Names of container images: [HOST[:PORT]/]PATH[:TAG][@sha256:DIGEST], and patterns of them, in which
 * "*" is any text. One image has one short name: without "docker.io/" and "library/", and with
 * ":latest" if there is neither a tag nor a digest. Pure.
 */
#include "base/base.h"

enum { AB_IMAGE_MAX = 512 };

/* The short name of an image, or of a pattern if `pattern`; NULL: it is neither. */
char *ab_image_short(const char *name, bool pattern);
/* Does the short pattern match the short name? Another pattern counts as a name: then it matches
 * every image that the other one matches. */
bool ab_image_matches(const char *pattern, const char *name);
