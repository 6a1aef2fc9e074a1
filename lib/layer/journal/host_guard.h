#ifndef AB_LAYER_JOURNAL_HOST_GUARD_H
#define AB_LAYER_JOURNAL_HOST_GUARD_H
/*
 * Asked before files of the host are changed: new files are staged beside their place, where a box
 * that can write there could change them. Given by the caller, who knows which boxes there are
 * (session/state/claim.h).
 */
struct ab_error;
struct ab_strv;

struct ab_host_guard {
	/* May `paths` in the folder `root` be changed (NULL: everything in it)? From then on until
	 * leave() nobody else does. */
	int (*enter)(struct ab_host_guard *guard, const char *root, const struct ab_strv *paths,
		     struct ab_error *err);
	void (*leave)(struct ab_host_guard *guard);
};

#endif
