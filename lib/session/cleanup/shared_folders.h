#ifndef AB_SESSION_CLEANUP_SHARED_FOLDERS_H
#define AB_SESSION_CLEANUP_SHARED_FOLDERS_H
/* Folders that a run created to share them (filesystem.share, layer/giveback/share.h). */
struct ab_run;
struct ab_strv;

/* The box is gone: remove those that are still empty, unless another run can write to them. */
void ab_shared_folders_remove(const struct ab_run *run, const struct ab_strv *created);

#endif
