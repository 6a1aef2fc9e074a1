#ifndef AB_STEER_LEARNED_STATE_H
#define AB_STEER_LEARNED_STATE_H
/* Inside session/learned.h: what was collected, and what is risky of it. */
#include <stdbool.h>
#include <stdint.h>

#include "steer/learned.h"

/* Texts, each once and in order, with how often they came. */
struct learned_item {
	char *text;
	char *why;		/* or NULL */
	uint64_t count;
};
struct learned_list {
	struct learned_item *v;
	size_t len, most;
	uint64_t lost;		/* that there was no room for */
};

struct ab_learned {
	struct learned_list reached;	/* entries for network.allow */
	struct learned_list failed;	/* the same, of those that were not */
	struct learned_list denied;	/* hosts; why */
	struct learned_list unwritten;	/* paths, by filesystem.write */
	struct learned_list refused;	/* what else; why */
	struct learned_list programs;
};

bool ab_learned_has(const struct learned_list *list, const char *text);

/* A folder for filesystem.write that a refused path calls for; NULL: none, and
 * *ret_why says why not. Free it. */
char *ab_learned_folder(const char *path, const struct ab_learned_from *from,
			const char **ret_why);
/* As a person writes it: ".", "./x", "~/x". Free it. */
char *ab_learned_short(const char *path, const struct ab_learned_from *from);
/* Why such an entry of network.allow is worth a second look; NULL: it is not.
 * Free it. */
char *ab_learned_risk(const char *entry);
/* The folders, as they go into the policy; none within another. */
void ab_learned_folders(const struct ab_learned *learned,
			const struct ab_learned_from *from,
			struct ab_strv *ret);

#endif
