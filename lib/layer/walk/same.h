#ifndef AB_LAYER_WALK_SAME_H
#define AB_LAYER_WALK_SAME_H
/*
 * Do two files have the same content? Read in chunks; parts that are holes on both
 * sides are not read, so a sparse file of any size takes no time.
 */
struct ab_look;

/* 1: equal, 0: different, -1 with errno (ESTALE: not the files that were looked at). */
int ab_same_files(int upper, int lower, const char *name, const struct ab_look *is,
		  const struct ab_look *was);
int ab_same_links(int upper, int lower, const char *name);

#endif
