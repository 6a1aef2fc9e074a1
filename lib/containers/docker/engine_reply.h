#pragma once
/*
 * Replies of the engine that the box does not get as they are, and filters that it does not get to
 * choose. Pure.
 */
#include "base/base.h"

struct ab_refusal;

enum { AB_ENGINE_ID = 65, AB_ENGINE_REPLY_MAX = 8 << 20 };

/* -1: the reply is not what the API says. */
int ab_reply_info(const char *text, size_t len, struct ab_buf *ret);
int ab_reply_containers(const char *text, size_t len, const char *run, struct ab_buf *ret);
int ab_reply_images(const char *text, size_t len, const struct ab_strv *patterns,
		    struct ab_buf *ret);
/* The 64 digits of "Id". */
int ab_reply_id(const char *text, size_t len, char ret[AB_ENGINE_ID]);
/* The ids of a list of containers. */
int ab_reply_ids(const char *text, size_t len, struct ab_strv *ret);

/* The filters of a list of containers, with the label of the run. `filters` may be NULL. */
int ab_reply_filters(const char *filters, const char *run, struct ab_buf *ret,
		     struct ab_refusal *why);
/* {"message": ...}, as clients show it. */
void ab_reply_message(struct ab_buf *ret, const char *message);
