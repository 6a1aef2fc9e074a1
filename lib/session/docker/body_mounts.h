#ifndef AB_SESSION_DOCKER_BODY_MOUNTS_H
#define AB_SESSION_DOCKER_BODY_MOUNTS_H
/*
 * What a container may have mounted, and its ports. Pure.
 *
 * A folder of the host is mounted read-only, and it is one of those that the settings name
 * (docker.mounts), never one in it: the engine resolves the path when it starts the container, and
 * the box could have put a link in the way by then. The named folders cannot be replaced by the box.
 * Writable mounts are refused: the container is not behind the walls of the box, so it could write
 * the files there that programs outside obey.
 */
#include <jansson.h>
#include <stdbool.h>

struct ab_body;
struct ab_create_terms;

/* HostConfig.Binds and HostConfig.Mounts: both are added to Mounts. */
int ab_body_binds(struct ab_body *body, const struct ab_create_terms *terms, const json_t *value,
		  json_t *to, bool *mounts);
int ab_body_mounts(struct ab_body *body, const struct ab_create_terms *terms, const json_t *value,
		   json_t *to, bool *mounts);
/* HostConfig.PortBindings, HostConfig.Tmpfs, and Volumes. */
int ab_body_ports(struct ab_body *body, const struct ab_create_terms *terms, const json_t *value,
		  json_t *to);
int ab_body_tmpfs(struct ab_body *body, const json_t *value, json_t *to);
int ab_body_volumes(struct ab_body *body, const char *name, const json_t *value, json_t *to);

#endif
