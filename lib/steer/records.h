#ifndef AB_STEER_RECORDS_H
#define AB_STEER_RECORDS_H
/*
 * The records of a run, or of all of them, as they are written: what `log`
 * reads. Nothing in the state folder is changed.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_error;
struct ab_policy_input;
struct ab_records;

/* `run` by id or name, NULL: the newest; `all`: every one, oldest first. */
int ab_records_open(const struct ab_policy_input *input, const char *run,
		    bool all, struct ab_records **ret, struct ab_error *err);
void ab_records_close(struct ab_records *records);

/* The next line, good until the next call; 1, 0 when there is none (yet), -1.
 * Hostile text without a NUL. */
int ab_records_next(struct ab_records *records, const char **ret_line,
		    size_t *ret_len, struct ab_error *err);
/* After a 0, for one run: wait for more. 0: it has ended, and this is all. */
int ab_records_wait(struct ab_records *records);
/* Lines that could not be read. */
uint64_t ab_records_lost(const struct ab_records *records);

/* Replace a file by these bytes at once, or leave it as it was; 0600. */
int ab_records_save(const char *path, const char *data, size_t len,
		    struct ab_error *err);

#endif
