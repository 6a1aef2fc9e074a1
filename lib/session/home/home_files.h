#ifndef AB_SESSION_HOME_HOME_FILES_H
#define AB_SESSION_HOME_HOME_FILES_H
/*
 * Files in the home folder that belong to another user or group. In a layer they can be read, but
 * every change fails with EOVERFLOW: only one user and one group exist in the box.
 */
struct ab_strv;

/* A sentence about those in the first two levels, if there are any. */
void ab_home_files_note(const char *home, struct ab_strv *ret);

#endif
