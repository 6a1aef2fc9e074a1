#pragma once
/*
 * What is below a layer of pieces: a copy of the host's folder without what is in its folders. Something
 * is mounted there, and the kernel puts no overlay above that.
 *
 * Where the plan has an entry, only what it can be mounted on is made: what is hidden is not copied.
 */
struct ab_layer_mount;
struct ab_spec;

/* In the empty folder `to`, and in its folders `parents`, which exist; with umask 0. -1 with errno. */
int ab_pieces_copy(const struct ab_spec *spec, const struct ab_layer_mount *layer, int from,
		   int to);
