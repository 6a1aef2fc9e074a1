#include <string.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/path.h"
#include "steer/permit/permit_state.h"
#include "workspace/tree/names.h"

/* Not the caller's own work, although it may be his to write. */
static const struct {
	const char *path, *words;
} system_folders[] = {
	{ "/bin", "programs of this machine" },
	{ "/boot", "what this machine starts with" },
	{ "/etc", "settings of this machine" },
	{ "/lib", "libraries of this machine" },
	{ "/lib64", "libraries of this machine" },
	{ "/opt", "programs of this machine" },
	{ "/sbin", "programs of this machine" },
	{ "/usr", "programs and libraries of this machine" },
	{ "/var", "data of this machine's services" },
};

/* What the box has of its own. */
static const char *const own_folders[] = { "/dev", "/proc", "/sys" };

static int refuse(struct ab_error *err, const char *path, const char *why)
{
	ab_fail(err, AB_EREFUSED, 0, "%s cannot be allowed: %s", path, why);
	return ab_hint(err, "name the folder, or the file, that is needed");
}

static int check_protected(const struct ab_strv *names, const char *path, struct ab_error *err)
{
	static const char why[] = "protected, because programs outside the box "
				  "run or believe it (filesystem.denyWrite)";
	ab_autofree char *taken = NULL, *flag = NULL;
	bool holds;
	const char *name = ab_names_opened(names, path, &holds);

	if (!name)
		return 0;
	if (holds) {
		ab_fail(err, AB_EREFUSED, 0, "%s cannot be allowed: in it is %s, which is %s", path,
			name, why);
		return ab_hint(err, "name what is needed in it");
	}
	taken = ab_printf("!%s", name);
	flag = ab_permit_flag("--deny-write", taken);
	ab_fail(err, AB_EREFUSED, 0, "%s cannot be allowed: %s is %s", path, name, why);
	return ab_hint(err, "in a new run, if you are sure:  agentbox run %s -- ...", flag);
}

static void note_system(const char *path, struct ab_strv *notes)
{
	for (size_t i = 0; i < AB_COUNT(system_folders); i++)
		if (ab_path_within(path, system_folders[i].path))
			ab_strv_addf(notes, "%s: here are %s", path, system_folders[i].words);
}

int ab_permit_place(const struct ab_place *place, const char *path, struct ab_strv *notes,
		    struct ab_error *err)
{
	const char *const ours[] = { place->state, place->config, "/etc/agentbox" };

	if (strcmp(path, "/") == 0)
		return refuse(err, path, "it is the whole file system");
	if (place->home && ab_path_within(place->home, path))
		return refuse(err, path,
			      strcmp(path, place->home) == 0 ? "it is your home folder"
							     : "your home folder is in it");
	for (size_t i = 0; i < AB_COUNT(ours); i++)
		if (ours[i] && ab_path_within(path, ours[i])) {
			ab_fail(err, AB_EREFUSED, 0,
				"%s cannot be allowed: it is agentbox's own, "
				"and a box never writes it",
				path);
			return -1;
		}
	for (size_t i = 0; i < AB_COUNT(own_folders); i++)
		if (ab_path_within(path, own_folders[i]))
			return refuse(err, path,
				      "a box has a folder of that name of its "
				      "own");
	if (check_protected(place->deny_write, path, err) < 0)
		return -1;
	if (!place->home || !ab_path_within(path, place->home))
		note_system(path, notes);
	return 0;
}
