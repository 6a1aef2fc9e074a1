#pragma once
/*
 * What the settings about containers mean on this host: which socket is the engine's, and which
 * folders a container may have. Looks only if they are in use.
 */
#include "containers/docker/create_body.h"

struct ab_facts;
struct ab_plan;
struct ab_policy;

/* The filter's socket in the box. */
#define AB_ENGINE_FOLDER "/run/agentbox"
#define AB_ENGINE_SOCKET AB_ENGINE_FOLDER "/docker.sock"

struct ab_host_engine {
	char *socket;			/* real; NULL: there is no filter in this run */
	struct ab_mount_source *mounts; /* strings are its own */
	size_t nmounts;
	char user[32]; /* struct ab_create_terms */
};

/*
 * Find the engine, and pin the folders, so that the box cannot put others in their place. What
 * cannot be had is left out, with a note. -1: the settings name a socket that a box could replace.
 * `layered`: the box writes to a layer above the workspace.
 */
int ab_host_engine_find(const struct ab_policy *policy, char *const *env, bool layered,
			struct ab_facts *facts, struct ab_host_engine *ret, struct ab_strv *notes,
			struct ab_error *err);
/* Leave out folders in which the plan hides something from the box. */
void ab_host_engine_check(struct ab_host_engine *engine, const struct ab_plan *plan,
			  struct ab_strv *notes);
/* Is a folder no longer the one that it was? Its path, or NULL. */
const char *ab_host_engine_moved(const struct ab_host_engine *engine);
/* Set the variables by which clients find the filter. */
void ab_host_engine_variables(struct ab_strv *env);
void ab_host_engine_fini(struct ab_host_engine *engine);
