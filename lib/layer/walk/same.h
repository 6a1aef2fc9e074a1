#pragma once
/*
 * Do two files have the same content? Read in chunks; parts that are holes on both
 * sides are not read, so a sparse file of any size takes no time.
 */
#include "base/base.h"

struct ab_change;
struct ab_layer_view;

/* A file that both sides have, with the same size. */
struct ab_pair {
	size_t change; /* its number in the list */
	int same;      /* 1: equal, 0: different, -1: `errnum` */
	int errnum;    /* ESTALE: not the files that were looked at */
};

/* Compare all of them. */
void ab_same_files(const struct ab_layer_view *view, const struct ab_change *changes,
		   struct ab_pair *pairs, size_t len);
/* 1: equal, 0: different, -1 with errno. */
int ab_same_links(int upper, int lower, const char *name);
