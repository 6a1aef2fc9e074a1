#ifndef AB_BASE_SYSTEM_LATE_H
#define AB_BASE_SYSTEM_LATE_H
/*
 * The TLS library's pointers, which most runs never follow. A static,
 * position-independent program writes all pointers of its data at every
 * start; the build sorts these out (scripts/late-relocations), and they are
 * written here.
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
