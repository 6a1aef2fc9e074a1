#ifndef AB_BASE_SYSTEM_LATE_H
#define AB_BASE_SYSTEM_LATE_H
/*
 * The TLS library's pointers, which most runs never follow. A static,
 * position-independent program writes all pointers of its data at every
 * start; the build sorts these out (scripts/late-relocations), and they are
 * written here.
 *
 * What this is worth: a start writes 5,885 pointers instead of 24,032 and takes
 * 46 page faults instead of 145. `agentbox --version` would take 1.75 times as
 * long without it and 2.2 times with RELR instead; a program at a fixed address
 * takes 0.95 of the time. A launch starts the program twice: `run -- true` would
 * need 1.2 times the CPU time without it, and 1.3 times with RELR. Method and
 * figures: docs/decisions/late-relocations.md.
 *
 * Nothing of libssl or libcrypto may be called before: its tables point
 * nowhere. ab_tls_site_new() is the one place that calls this, first of all.
 */
struct ab_error;

/*
 * Once in a process; later calls do nothing. Before there are threads and
 * before the process is locked in (it changes the protection of pages). In a
 * program that was not treated there is nothing to do.
 */
int ab_late_relocate(struct ab_error *err);

#endif
