#pragma once
/*
 * The files of /etc that programs use to resolve names, for a box with a filtered network: it has
 * one name server, its own, and no other way to a name (nss-resolve, mDNS, and the like talk to the
 * host).
 *
 * A file that the host does not have cannot be covered, and need not be: the C libraries then ask a
 * name server on 127.0.0.1, after /etc/hosts.
 */
struct ab_spec;

/* Adds to spec->files; the plan must exist. */
void ab_etc_fill(struct ab_spec *spec);

/* Pure: the host's nsswitch.conf with "files dns" for hosts; NULL when it has that already. */
char *ab_etc_nsswitch(const char *text);

/* Pure. */
char *ab_etc_hosts(const char *hostname);

/* Follow links to the end. The last one may lead to something that does not exist (but will, in the
 * box's own /run); NULL when there is nothing at `path`. */
char *ab_etc_follow(const char *path);
