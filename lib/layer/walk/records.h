#pragma once
/*
 * Small binary files that only agentbox writes: numbers of fixed size and
 * length-prefixed bytes, with a kind in front and a checksum behind. A name in them is
 * never parsed as text, so no byte of a name can become another record.
 *
 * A file is written under another name and then renamed, so it is there as a whole or
 * not at all. A reader checks kind, length and checksum first; a get beyond the end
 * sets `bad`, gives zero, and everything after it is zero too.
 */
#include "base/base.h"

struct ab_identity;

void ab_record_put(struct ab_buf *b, uint64_t number);
void ab_record_put_text(struct ab_buf *b, const char *text);
void ab_record_put_list(struct ab_buf *b, const struct ab_strv *list); /* of texts */
void ab_record_put_time(struct ab_buf *b, struct timespec t);
void ab_record_put_identity(struct ab_buf *b, const struct ab_identity *id);

struct ab_record_reader {
	const char *at;
	size_t left;
	bool bad;
};

uint64_t ab_record_get(struct ab_record_reader *r);
/* A copy without NUL bytes in it; "" if it is bad. Free it. */
char *ab_record_get_text(struct ab_record_reader *r);
void ab_record_get_list(struct ab_record_reader *r, struct ab_strv *ret);
struct timespec ab_record_get_time(struct ab_record_reader *r);
void ab_record_get_identity(struct ab_record_reader *r, struct ab_identity *ret);

/* Both -1 with errno; reading a damaged file is EBADMSG. */
int ab_record_file_save(int dir, const char *name, const char kind[8],
			const struct ab_buf *records);
/* *ret_file owns the memory that `ret` reads. */
int ab_record_file_load(int dir, const char *name, const char kind[8], char **ret_file,
			struct ab_record_reader *ret);

/*
 * A file of a set with one list, where no box can write.
 *
 * AB_RECORD_WITHHELD: what a full copy of the workspace leaves out because the box may not read it. The copy
 * has placeholders there: a box can rename the folders of its copy, and would find the files under another
 * name where nothing masks them. Relative to the workspace; it goes away with the copy.
 * AB_RECORD_POINTS: layer/walk/points.h.
 */
#define AB_RECORD_WITHHELD "project/withheld"
#define AB_RECORD_POINTS "home/points"

/* Both -1 with errno. `dir`: that of the set. ENOENT: there is no list. */
int ab_record_list_save(int dir, const char *name, const struct ab_strv *list);
int ab_record_list_load(int dir, const char *name, struct ab_strv *ret);
