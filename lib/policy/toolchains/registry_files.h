#ifndef AB_POLICY_TOOLCHAINS_REGISTRY_FILES_H
#define AB_POLICY_TOOLCHAINS_REGISTRY_FILES_H
/*
 * The files in which tools keep their registry: what the box may see of them. The result
 * has the settings about registries and nothing else, above all no login, token or
 * password. What is not understood is left out.
 *
 * Pure and linear. The caller bounds the length.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/data/buf.h"
#include "base/data/strv.h"

struct ab_registry {
	struct ab_strv urls; /* where the tool fetches, clean */
	struct ab_buf shown; /* the file for the box; empty: nothing to show */
};

void ab_registry_fini(struct ab_registry *r);
#define ab_autoregistry __attribute__((cleanup(ab_registry_fini)))

/* The text is terminated by NUL; what follows an earlier NUL is ignored. */
typedef void ab_registry_fn(const char *text, struct ab_registry *ret);

ab_registry_fn ab_registry_npmrc;    /* ~/.npmrc */
ab_registry_fn ab_registry_yarnrc;   /* ~/.yarnrc.yml */
ab_registry_fn ab_registry_pip;	     /* pip.conf */
ab_registry_fn ab_registry_uv;	     /* uv.toml */
ab_registry_fn ab_registry_cargo;    /* .cargo/config.toml */
ab_registry_fn ab_registry_go;	     /* go/env */
ab_registry_fn ab_registry_maven;    /* settings.xml */
ab_registry_fn ab_registry_bundle;   /* .bundle/config */
ab_registry_fn ab_registry_gemrc;    /* gemrc */
ab_registry_fn ab_registry_composer; /* composer/config.json */
ab_registry_fn ab_registry_nuget;    /* NuGet.Config */
ab_registry_fn ab_registry_variable; /* URLs in the value of a variable */

/*
 * A URL without user, password, query and fragment; NULL: it is not one, it has a variable in it
 * ("${TOKEN}"), or a part of it looks like a credential. Free it.
 */
char *ab_registry_url(const char *s, size_t len);
/* The text without the user and the password, or the token, in each web address; NULL: there is none.
 * Free it. */
char *ab_registry_without_logins(const char *text);

#endif
