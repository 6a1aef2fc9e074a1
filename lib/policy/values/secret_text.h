#pragma once
/*
 * Recognizes texts that are credentials by what they look like: keys of known
 * services, private keys, web tokens, webhooks, and the login in a URL. Pure and
 * linear. It errs on the side of "no": an ordinary text must not be one.
 */
#include "base/base.h"

/* What the text is or contains ("a private key"); NULL: nothing known. */
const char *ab_secret_text(const char *text);

/* A copy of the text without the user and the password of each URL in it that has
 * both; NULL: there is none. Free with free(). */
char *ab_secret_text_without_logins(const char *text);

/* The length of the login in `text` that begins here, behind "://"; 0: there is none. */
typedef size_t ab_login_fn(const char *text, const char *s);
/* The text without each login; NULL: there is none. Free it. */
char *ab_cut_logins(const char *text, ab_login_fn *measure);
