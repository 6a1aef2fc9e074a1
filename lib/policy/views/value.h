#pragma once
/*
 * What a value must be to be shown, and how it is written anew. What comes out has no quote, no
 * backslash, no control character, no $, <, > and &: it can be written in every syntax. Pure.
 */
#include "base/base.h"

enum ab_view_kind {
	AB_VIEW_GROUP,	 /* no value: `more` is what an object or a list must have (view.h) */
	AB_VIEW_URL,	 /* ab_clean_url() */
	AB_VIEW_PROXIES, /* URLs, "direct" and "off", with commas or bars between them */
	AB_VIEW_FLAG,	 /* true and false; a text may also be yes, no, on, off, 1, 0 */
	AB_VIEW_NUMBER,	 /* digits */
	AB_VIEW_PATH,	 /* absolute or below ~/, of plain characters */
	AB_VIEW_HOST,	 /* with or without a port */
	AB_VIEW_NAME,	 /* letters, digits and the characters of `more`; not a credential */
	AB_VIEW_WORD,	 /* one of the words of `more` */
	AB_VIEW_CARGO, /* a command of cargo: known words, and names behind options that take one */
	AB_VIEW_EMPTY, /* nothing, as in <clear /> */
};

/* The value as it is shown; NULL: it is not of this kind. Free it. */
char *ab_view_value(enum ab_view_kind kind, const char *more, const char *value);

/* A name that the user gave, of letters, digits and these characters: not empty, not long, and not a
 * credential. */
bool ab_view_is_name(const char *s, size_t len, const char *more);

/*
 * A URL of a known scheme without user, password, query and fragment ("git@" stays in an ssh URL: it
 * is everybody's). NULL: it is not one, it has a variable in it ("${TOKEN}"), or a part of it looks
 * like a credential. Free it.
 */
char *ab_clean_url(const char *s, size_t len);
