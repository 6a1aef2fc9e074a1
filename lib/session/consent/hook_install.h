#ifndef AB_SESSION_CONSENT_HOOK_INSTALL_H
#define AB_SESSION_CONSENT_HOOK_INSTALL_H
/* Settings files of agents, for `hook install` and `hook status`. */
struct ab_error;
struct ab_hook_dialect;

/* "" if the file does not exist. */
int ab_hook_read_settings(const char *path, char **ret, struct ab_error *err);

/* Refuse a path with a symbolic link below the folder `top`. */
int ab_hook_check_links(const char *path, const char *top, struct ab_error *err);

/* The command of our hook in these settings, or NULL; free it. */
int ab_hook_find_installed(const struct ab_hook_dialect *dialect, const char *path,
			   char **ret_command, struct ab_error *err);

#endif
