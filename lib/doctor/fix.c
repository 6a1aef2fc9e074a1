#include "doctor/doctor.h"

/* Quote a path for apparmor_parser: special characters get a backslash. */
static int add_quoted(struct ab_buf *b, const char *path)
{
	ab_buf_puts(b, "\"");
	for (; *path; path++) {
		if ((unsigned char)*path < 0x20 || *path == 0x7f)
			return -1;
		if (strchr("*?[]{}^,\\\"@", *path))
			ab_buf_puts(b, "\\");
		ab_buf_add(b, path, 1);
	}
	ab_buf_puts(b, "\"");
	return 0;
}

/*
 * "unconfined" with one rule: AppArmor does not restrict agentbox, and lets it
 * use the user namespaces that it creates. Newer parsers accept the rule only
 * with the features of version 4; older ones have neither that file nor the
 * restriction.
 */
char *ab_apparmor_profile(const char *name, const char *path, bool abi4)
{
	struct ab_buf b = { 0 };

	if (path[0] != '/')
		return NULL;
	if (abi4)
		ab_buf_puts(&b, "abi <abi/4.0>,\n");
	ab_buf_printf(&b, "include <tunables/global>\n\nprofile %s ", name);
	if (add_quoted(&b, path) < 0) {
		ab_buf_fini(&b);
		return NULL;
	}
	ab_buf_puts(&b, " flags=(unconfined) {\n  userns,\n}\n");
	return ab_buf_take(&b);
}

int ab_doctor_apparmor(char **ret_profile, char **ret_file, bool *ret_needed, struct ab_error *err)
{
	ab_autostrv struct ab_strv files = { 0 };
	ab_autofree char *name = NULL, *profile = NULL, *shown = NULL;
	struct ab_verdict v;
	ab_autofree char *path = ab_read_link(AT_FDCWD, "/proc/self/exe");
	bool taken;

	if (!path)
		return ab_fail(err, AB_ESYSTEM, errno, "find the agentbox program file");
	shown = ab_escape(path);
	if (access(path, X_OK) < 0) {
		ab_fail(err, AB_ESYSTEM, errno, "the agentbox program file is no longer at %s",
			shown);
		return ab_hint(err, "install agentbox, then run the installed agentbox doctor");
	}
	ab_apparmor_find(AB_APPARMOR_DIR, path, &files, &taken);
	name = ab_apparmor_name(path, taken);
	profile = ab_apparmor_profile(name, path, access(AB_APPARMOR_DIR "/abi/4.0", F_OK) == 0);
	if (!profile) {
		ab_fail(err, AB_EUSAGE, 0, "an AppArmor profile cannot name %s", shown);
		return ab_hint(err, "install agentbox under a path without control characters");
	}
	ab_check_run(&ab_checks[0], NULL, &v);
	if (v.apparmor && files.len > 0) {
		ab_fail(err, AB_EUSAGE, 0, "there is a profile for %s already: %s", shown,
			files.v[0]);
		return ab_hint(err, "%s", v.remedy);
	}
	*ret_profile = ab_take(profile);
	*ret_file = ab_printf(AB_APPARMOR_DIR "/%s", name);
	*ret_needed = v.apparmor;
	return 0;
}
