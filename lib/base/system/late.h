#pragma once
/*
 * Writes the pointers of TLS and HTTP/2, which most runs never use. A static,
 * position-independent program writes all pointers in its data at every start; the
 * build separates these (scripts/late-relocations), so that they are written here
 * only if they are needed.
 *
 * Do not call anything in libssl, libcrypto or libnghttp2 before: their tables are not
 * valid yet.
 * Only ab_tls_site_new() and ab_ssh_key_prepare() call this, before anything else.
 */
struct ab_error;

/*
 * Runs once per process; later calls do nothing. Call it before there are threads and
 * before the process confines itself (it changes the protection of pages). It does
 * nothing in a program that the script has not processed.
 */
int ab_late_relocate(struct ab_error *err);
