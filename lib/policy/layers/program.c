/* The program that will run, which can choose the profile. */
#include "policy/layers/environment.h"
#include "policy/layers/load.h"
#include "policy/values/paths.h"

/* The file of the program, by its name alone; links in its folder are followed. */
static char *find_program(const struct ab_policy_input *in, const char *path)
{
	ab_autofree char *file = ab_program_find(in->program, path);
	ab_autofree char *folder = file ? ab_path_parent(file) : NULL;
	ab_autofree char *real = folder ? realpath(folder, NULL) : NULL;

	return real ? ab_path_join(real, in->program) : NULL;
}

/* The same with the PATH that a box of this policy has. */
static char *find_in_box(const struct ab_policy_input *in, const struct ab_policy *policy)
{
	const char *path = ab_environ_get(in->environ, "PATH"), *now;
	ab_autofree char *entry = path ? ab_printf("PATH=%s", path) : NULL;
	ab_autostrv struct ab_strv env = { 0 };
	char *const caller[] = { entry, NULL };

	ab_environment_build(policy, caller, &env, NULL);
	now = ab_env_get(&env, "PATH");
	return find_program(in, now ? now : "/usr/local/bin:/usr/bin:/bin");
}

/*
 * A profile is chosen by the program, the program is found on the PATH of the run, and a profile can set
 * PATH. So the caller's PATH is only the first try. A program that is not found again with its own profile
 * chooses none.
 */
int ab_policy_load(const struct ab_policy_input *in, struct ab_policy **ret_policy,
		   struct ab_strv *ret_notes, struct ab_error *err)
{
	const char *path = ab_environ_get(in->environ, "PATH");
	size_t told = ret_notes ? ret_notes->len : 0;
	struct ab_policy_input with = *in;
	ab_autofree char *file = NULL;
	int tries = 0;

	if (in->program && !strchr(in->program, '/') && !in->profile) {
		file = find_program(in, path);
		tries = 2;
	}
	for (;; tries--) {
		ab_autofree char *found = NULL;

		with.program = tries ? file : NULL;
		if (ab_load_policy(&with, true, NULL, ret_policy, ret_notes, err) < 0)
			return -1;
		found = tries ? find_in_box(in, *ret_policy) : NULL;
		if (!tries || strcmp(file ? file : "", found ? found : "") == 0)
			return 0;
		ab_policy_free(ab_take(*ret_policy));
		while (ret_notes && ret_notes->len > told)
			ab_strv_remove(ret_notes, ret_notes->len - 1);
		free(file);
		file = ab_take(found);
	}
}
