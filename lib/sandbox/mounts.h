#ifndef AB_SANDBOX_MOUNTS_H
#define AB_SANDBOX_MOUNTS_H
/*
 * Carry out the mount plan, in the box's own mount namespace, as its init
 * with CAP_SYS_ADMIN. Nothing is ever created on a file system of the host.
 */
struct ab_spec;
struct ab_error;

int ab_mounts_apply(const struct ab_spec *spec, struct ab_error *err);

#endif
