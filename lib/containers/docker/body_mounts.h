#pragma once
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

#include "base/base.h"

struct ab_body;

/* One of HostConfig.Binds, and of HostConfig.Mounts: both are added to Mounts. */
int ab_body_bind(struct ab_body *body, const char *name, const json_t *value, json_t *to);
int ab_body_mount(struct ab_body *body, const char *name, const json_t *mount, json_t *to);
/* One of HostConfig.PortBindings, HostConfig.Tmpfs, and Volumes. */
int ab_body_port(struct ab_body *body, const char *port, const json_t *bindings, json_t *ports);
int ab_body_tmpfs(struct ab_body *body, const char *target, const json_t *value, json_t *to);
int ab_body_volume(struct ab_body *body, const char *target, const json_t *value, json_t *to);
