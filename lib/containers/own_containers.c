#include "containers/own_containers.h"

void ab_own_containers_fini(struct ab_own_containers *own)
{
	ab_free_all(own->v, own->commands);
	*own = (struct ab_own_containers){ 0 };
}

bool ab_own_is_full(const struct ab_own_containers *own)
{
	return own->len >= AB_OWN_MAX;
}

void ab_own_add(struct ab_own_containers *own, const char *id, const char *name, bool mounts)
{
	struct ab_own_container *c;

	if (!own->v)
		own->v = ab_alloc(AB_OWN_MAX * sizeof(own->v[0]));
	if (ab_own_is_full(own))
		return;
	c = &own->v[own->len++];
	*c = (struct ab_own_container){ .mounts = mounts };
	snprintf(c->id, sizeof(c->id), "%s", id);
	snprintf(c->name, sizeof(c->name), "%s", name ? name : "");
}

void ab_own_remove(struct ab_own_containers *own, const char *id)
{
	for (size_t i = 0; i < own->len; i++)
		if (strcmp(own->v[i].id, id) == 0) {
			own->v[i] = own->v[--own->len];
			return;
		}
}

const struct ab_own_container *ab_own_find(const struct ab_own_containers *own, const char *name)
{
	const struct ab_own_container *found = NULL;
	size_t n = strlen(name);

	for (size_t i = 0; i < own->len; i++)
		if (strcmp(own->v[i].id, name) == 0 || strcmp(own->v[i].name, name) == 0)
			return &own->v[i];
	for (size_t i = 0; i < own->len; i++) {
		if (strncmp(own->v[i].id, name, n) != 0)
			continue;
		if (found)
			return NULL;
		found = &own->v[i];
	}
	return found;
}

void ab_own_add_command(struct ab_own_containers *own, const char *id)
{
	if (!own->commands)
		own->commands = ab_alloc(AB_OWN_COMMANDS * sizeof(own->commands[0]));
	memcpy(own->commands[own->ncommands++ % AB_OWN_COMMANDS], id, AB_ENGINE_ID);
}

const char *ab_own_find_command(const struct ab_own_containers *own, const char *id)
{
	size_t n = own->ncommands < AB_OWN_COMMANDS ? own->ncommands : AB_OWN_COMMANDS;

	for (size_t i = 0; i < n; i++)
		if (strcmp(own->commands[i], id) == 0)
			return own->commands[i];
	return NULL;
}
