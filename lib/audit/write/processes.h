#pragma once
/*
 * Which process did something in the box, as records have it: a JSON array, the
 * nearest process first, [{"pid":3,"exe":"/usr/bin/curl","argv":["curl"]}, ...].
 * The box chose its content. Pure.
 */

enum { AB_PROCESSES_MAX = 8 * 1024 };

/* The same on one line; free it. NULL if it is not such an array, or is longer
 * than AB_PROCESSES_MAX. */
char *ab_processes_line(const char *json);
/* "curl, pid 3", escaped; free it. NULL if no process is known. */
char *ab_processes_nearest(const char *json);
