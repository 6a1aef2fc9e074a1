#pragma once
/*
 * The files in which tools keep their registry, and what the box may see of them: the settings of
 * these tables and nothing else (policy/views). Keys are listed here if their values are not secret by
 * their meaning. Left out on purpose: logins and tokens, proxies (the box has its own), commands
 * that print a credential, variables that can have any value.
 */
#include "policy/views/view.h"

extern const struct ab_view_format ab_registry_npmrc;	 /* ~/.npmrc */
extern const struct ab_view_format ab_registry_yarn1;	 /* ~/.yarnrc */
extern const struct ab_view_format ab_registry_yarnrc;	 /* ~/.yarnrc.yml */
extern const struct ab_view_format ab_registry_bun;	 /* ~/.bunfig.toml */
extern const struct ab_view_format ab_registry_pnpm;	 /* pnpm/config.yaml */
extern const struct ab_view_format ab_registry_pip;	 /* pip.conf */
extern const struct ab_view_format ab_registry_uv;	 /* uv.toml */
extern const struct ab_view_format ab_registry_cargo;	 /* .cargo/config.toml */
extern const struct ab_view_format ab_registry_go;	 /* go/env */
extern const struct ab_view_format ab_registry_maven;	 /* settings.xml */
extern const struct ab_view_format ab_registry_gradle;	 /* gradle.properties */
extern const struct ab_view_format ab_registry_bundle;	 /* .bundle/config */
extern const struct ab_view_format ab_registry_gemrc;	 /* gemrc */
extern const struct ab_view_format ab_registry_composer; /* composer/config.json */
extern const struct ab_view_format ab_registry_nuget;	 /* NuGet.Config */

/* Add the URLs in the value of a variable. */
void ab_registry_variable(const char *text, struct ab_strv *ret_urls);
