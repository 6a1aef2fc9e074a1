#pragma once
/*
 * The home folder in the box (filesystem.home).
 *
 * A layered home is one overlay above the whole folder. If the kernel does not allow that (something
 * is mounted below it, a file system that cannot be below an overlay, a third overlay above two), the
 * folders that tools write to get an overlay each. A folder that does not exist, or gets none either,
 * is replaced by the tool's own variable, which points to the box's /dev/shm. init tries in this
 * order, and the supervisor reports what it got.
 */
#include "base/base.h"

struct ab_holds;
struct ab_host_facts;
struct ab_policy;
struct ab_spec;

struct ab_home_setup {
	const struct ab_policy *policy;
	char *const *env;
	const char *upper, *work; /* of a kept layer; NULL: temporary */
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
 * What the box has, for the record: "layered", "kept", "folders", "variables", "readonly", "private",
 * or "direct" (a writable folder of the host). `home` is the real path, or NULL.
 */
const char *ab_home_describe(const struct ab_policy *policy, const char *home,
			     const struct ab_spec *spec, const struct ab_holds *holds);
/* Sentences about what init could not do. */
void ab_home_report(const struct ab_policy *policy, const char *home, const struct ab_spec *spec,
		    const struct ab_holds *holds, struct ab_strv *ret_details,
		    struct ab_strv *ret_warnings);
