#pragma once
/*
 * `agentbox policy test`: does the policy of this folder answer as a file expects?
 *
 *	{ "tests": [
 *		{ "reach": "github.com", "expect": "allow" },
 *		{ "read": "~/.ssh/id_rsa", "expect": "deny" },
 *		{ "write": "./out", "expect": "allow" },
 *		{ "run": "git push", "expect": "ask" }
 *	] }
 *
 * The file is JSON with comments, as a settings file. The answers are those of `why`.
 */
#include "base/base.h"

struct ab_policy_input;

struct ab_policy_tested {
	char *text; /* one line for each test, escaped; or JSON */
	size_t tests, failed;
};

/* Fails if the file or the settings have a mistake, not if a test fails. */
int ab_policy_test(const struct ab_policy_input *input, const char *file, bool json,
		   struct ab_policy_tested *ret, struct ab_error *err);
