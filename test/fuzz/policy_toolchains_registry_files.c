/*
 * Any bytes as a file of registry settings: what the box would see has no login in a
 * URL, no byte outside of printable ASCII, and is read to itself. The readers of cargo and uv read
 * TOML, the one of Composer JSON.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/mem.h"
#include "policy/toolchains/registry_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static ab_registry_fn *const readers[] = {
	ab_registry_npmrc,  ab_registry_yarnrc, ab_registry_pip,      ab_registry_uv,
	ab_registry_cargo,  ab_registry_go,	ab_registry_maven,    ab_registry_variable,
	ab_registry_bundle, ab_registry_gemrc,	ab_registry_composer, ab_registry_nuget,
};

static void check_text(const char *text)
{
	for (const char *p = text; *p; p++)
		if ((*p < ' ' && *p != '\n') || *p > '~')
			abort();
	for (const char *p = text; (p = strstr(p, "://"));) {
		p += 3;
		if (memchr(p, '@', strcspn(p, "/ \n\"<")))
			abort();
	}
}

static void check_reader(ab_registry_fn *read, const char *text)
{
	ab_autoregistry struct ab_registry r = { 0 }, again = { 0 };
	const char *shown;

	read(text, &r);
	shown = r.shown.data ? r.shown.data : "";
	check_text(shown);
	read(shown, &again);
	if (strcmp(again.shown.data ? again.shown.data : "", shown) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ab_autofree char *text = ab_strndup((const char *)data, size);

	for (size_t i = 0; i < AB_COUNT(readers); i++)
		check_reader(readers[i], text);
	return 0;
}
