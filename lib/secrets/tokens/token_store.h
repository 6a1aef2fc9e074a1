#pragma once
/*
 * Refresh tokens that a service replaced by others, in the state folder: a new login
 * (another token in the source) starts anew. Two runs take turns, because a service
 * may take the second use of a token for theft.
 *
 *	oauth/ID	the token that replaces the one of the source
 *	oauth/ID.lock	locked while a token is exchanged
 */
#include "base/base.h"

struct ab_oauth;

struct ab_token_store {
	int dir, lock;
	char name[33];
};

/* For the token of the source. Waits for other runs, at most `ms`. */
int ab_token_store_open(int state, const struct ab_oauth *oauth, const char *token, size_t len,
			unsigned ms, struct ab_token_store *ret, struct ab_error *err);
void ab_token_store_close(struct ab_token_store *store);

/* The token to use in its place; NULL: there is none. The caller wipes and frees it. */
char *ab_token_store_get(const struct ab_token_store *store);
int ab_token_store_put(const struct ab_token_store *store, const char *token, struct ab_error *err);
/* It is not valid any more. */
void ab_token_store_forget(const struct ab_token_store *store);
