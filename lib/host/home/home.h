#pragma once
/*
 * The home folder in the box (filesystem.home).
 *
 * A layered home is one overlay above the whole folder. If something is mounted below it, it is put
 * together of pieces (home_pieces.h). If the kernel does not allow a layer at all (a file system that
 * cannot be below an overlay, a third overlay above two), it is read-only, and tools' own variables
 * point to the box's /dev/shm. The supervisor reports what init got.
 */
#include "base/base.h"

struct ab_holds;
struct ab_host_facts;
struct ab_policy;
struct ab_spec;

enum { AB_HOME_OTHER_LAYERS = 32 }; /* most layers beside those of pieces */

struct ab_home_setup {
	const struct ab_policy *policy;
	char *const *env;
	const char *upper, *work; /* of a kept layer; NULL: temporary */
	struct ab_strv *points;	  /* folders that are made in `upper` (layer/walk/points.h) */
	const char *below; /* upper of a kept layer, to show below a temporary one; or NULL */
	bool nested;	   /* in a box: nothing is mounted */
	bool no_mounts;	   /* the engine has none: as in a box */
	bool verbose;	   /* look for files of other owners */
};

/* Add what the home needs to the facts; after ab_host_facts_look(). `notes` and `details` get
 * sentences for the user. */
void ab_home_look(const struct ab_home_setup *setup, struct ab_host_facts *host,
		  struct ab_strv *notes, struct ab_strv *details);

/*
 * What the box has, for the record: "layered", "kept", "variables", "readonly", "private", or
 * "direct" (a writable folder of the host). `home` is the real path, or NULL.
 */
const char *ab_home_describe(const struct ab_policy *policy, const char *home,
			     const struct ab_spec *spec, const struct ab_holds *holds);
/* Sentences about what init could not do. */
void ab_home_report(const struct ab_policy *policy, const char *home, const struct ab_spec *spec,
		    const struct ab_holds *holds, struct ab_strv *ret_details,
		    struct ab_strv *ret_warnings);

/* Before a start: the same sentences, by trying. After ab_home_look(), before a review's layer is added. */
void ab_home_try(const struct ab_policy *policy, const struct ab_host_facts *host,
		 struct ab_strv *ret);
/* The same, and what ab_home_look() says about the layer, without a look at the rest of the host. False: the
 * policy wants none. */
bool ab_home_lines(const struct ab_policy *policy, struct ab_strv *ret);
