#pragma once
/* Shared by learned.c and learned_risk.c. */
#include "base/base.h"
#include "steer/learn/learned.h"

/* Texts, sorted, each with its count. */
struct learned_item {
	char *text;
	char *why; /* or NULL */
	uint64_t count;
};
struct learned_list {
	struct learned_item *v;
	size_t len, most;
	uint64_t lost; /* texts that did not fit */
};

struct ab_learned {
	union {
		struct {
			struct learned_list reached;   /* entries for network.allow */
			struct learned_list failed;    /* entries of hosts not reached */
			struct learned_list denied;    /* hosts; why */
			struct learned_list unwritten; /* paths that filesystem.write denies */
			struct learned_list refused;   /* everything else; why */
			struct learned_list programs;
		};
		struct learned_list all[6];
	};
};

/* The folder to add to filesystem.write for a denied path; free it. NULL if
 * there is none, and *ret_why says why. */
char *ab_learned_folder(const char *path, const struct ab_learned_from *from, const char **ret_why);
/* The path as a person writes it: ".", "./x", "~/x". Free it. */
char *ab_learned_short(const char *path, const struct ab_learned_from *from);
/* Why this entry of network.allow deserves a second look, or NULL; free it. */
char *ab_learned_risk(const char *entry);
