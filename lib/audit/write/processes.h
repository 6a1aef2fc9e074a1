#ifndef AB_AUDIT_WRITE_PROCESSES_H
#define AB_AUDIT_WRITE_PROCESSES_H
/*
 * Who did something in the box, as records have it: a JSON array, the nearest
 * process first, [{"pid":3,"exe":"/usr/bin/curl","argv":["curl"]}, ...]. What
 * is in it comes from the box. Pure.
 */

enum { AB_PROCESSES_MAX = 8 * 1024 };

/* The same on one line; NULL: it is no such array, or longer than that. To be
 * freed. */
char *ab_processes_line(const char *json);
/* "curl, pid 3" for people, escaped; NULL: nobody is known. To be freed. */
char *ab_processes_nearest(const char *json);

#endif
