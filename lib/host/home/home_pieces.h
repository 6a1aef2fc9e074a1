#pragma once
/* A layered home that is put together of pieces, because something is mounted below it (home_mounts.h). */
#include "base/base.h"

struct ab_home_mounts;
struct ab_home_setup;
struct ab_host_facts;
struct ab_layer_mount;

/* Names of denied paths that do not exist, and must not appear in this layer. */
void ab_home_hide_missing(struct ab_layer_mount *layer, const struct ab_host_facts *host);

/* Add the pieces to the facts, and to `whole`, the layer of the home, what it has to know. False: there is
 * too much in it, so no layer can be made; what was added is of no use. */
bool ab_home_add_pieces(const struct ab_home_setup *setup, const struct ab_home_mounts *mounts,
			struct ab_host_facts *host, struct ab_layer_mount *whole,
			struct ab_strv *notes);
