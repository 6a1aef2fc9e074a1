#pragma once
/*
 * A run as one self-contained HTML page for review, without scripts. Text from
 * the record is escaped twice: first hidden characters, then HTML.
 *
 * Memory is bounded: the page has the newest AB_PAGE_REQUESTS requests and the
 * first AB_PAGE_ROWS of everything else, and says how many more there were.
 */
#include "base/base.h"

struct ab_page;

enum { AB_PAGE_REQUESTS = 10000, AB_PAGE_ROWS = 1000 };

struct ab_page *ab_page_new(void);
void ab_page_free(struct ab_page *page);
void ab_page_add(struct ab_page *page, const char *line, size_t len);
/* `lost`: lines that could not be read. */
void ab_page_write(struct ab_page *page, uint64_t lost, struct ab_buf *b);

/* For every page, so that they look the same: everything up to <main>, with a title
 * (HTML) and more styles or "", and text with the characters of HTML escaped. */
void ab_page_begin(struct ab_buf *b, const char *title, const char *more_style);
void ab_page_markup(struct ab_buf *b, const char *text, size_t len);
