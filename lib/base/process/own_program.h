#pragma once
/* The path of our own program file, or NULL. Where it was replaced since the start (an update), the
 * new one has that path. */
char *ab_own_program(void);
