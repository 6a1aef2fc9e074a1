#pragma once
/*
 * The containers that this run created, and the commands in them. A name that is not found here does
 * not exist for the box, whatever the engine has.
 */
#include "containers/docker/engine_reply.h"

enum { AB_OWN_MAX = 256, AB_OWN_COMMANDS = 1024 };

struct ab_own_container {
	char id[AB_ENGINE_ID];
	char name[129]; /* that the box chose, or "" */
	bool mounts;	/* it has folders of the host */
};

struct ab_own_containers {
	struct ab_own_container *v;
	size_t len;
	char (*commands)[AB_ENGINE_ID]; /* the last AB_OWN_COMMANDS */
	size_t ncommands;		/* of all time */
};

void ab_own_containers_fini(struct ab_own_containers *own);
void ab_own_add(struct ab_own_containers *own, const char *id, const char *name, bool mounts);
void ab_own_remove(struct ab_own_containers *own, const char *id);
/* By name, id, or the beginning of an id that only one of them has; or NULL. */
const struct ab_own_container *ab_own_find(const struct ab_own_containers *own, const char *name);
bool ab_own_is_full(const struct ab_own_containers *own);

void ab_own_add_command(struct ab_own_containers *own, const char *id);
/* Its id, or NULL. */
const char *ab_own_find_command(const struct ab_own_containers *own, const char *id);
