#pragma once
/*
 * What a run would be allowed to do, found out the way a run does it: the same layers, the same look
 * at the host, the same mount plan, the same judge. Nothing is started, written, locked or asked, so
 * it says nothing about what only a start proves: guarantees, overlays, the values of secrets.
 */
#include "base/base.h"
#include "consent/request.h"
#include "host/facts.h"
#include "sandbox/plan/plan.h"
#include "shell/judge/judge.h"

/* What becomes of the command. */
enum ab_preview_verdict {
	AB_PREVIEW_NONE, /* there is no command */
	AB_PREVIEW_RUNS,
	AB_PREVIEW_APPROVED, /* by a remembered answer or --yes */
	AB_PREVIEW_ASKED,    /* a person or the approver decides */
	AB_PREVIEW_REFUSED,
};

struct ab_preview {
	struct ab_policy *policy;
	bool nested; /* we are in a box: the outer run limits this one */
	char *state; /* real path of the state folder, or NULL */
	struct ab_host_facts host;
	struct ab_plan plan;
	struct ab_arena arena; /* of the judgement */
	struct ab_judgement judgement;
	enum ab_preview_verdict verdict;
	struct ab_strv notes; /* for the user */
	struct ab_strv home;  /* what is different in the home folder (host/home/home.h) */
};

/* `request` may have no command. `judging`: any folder will do as the workspace. */
int ab_preview_open(const struct ab_request *request, bool judging, struct ab_preview *ret,
		    struct ab_error *err);
void ab_preview_fini(struct ab_preview *preview);

/* `verbose`: also each path that is hidden or protected. `columns`: wrap to this width; 0: do not
 * wrap. */
char *ab_preview_text(const struct ab_request *request, const struct ab_preview *preview,
		      bool verbose, size_t columns);
char *ab_preview_json(const struct ab_request *request, const struct ab_preview *preview);

/* What the judge says, as a clause: "forbidden by the rule ...: ...". */
void ab_preview_say_verdict(const struct ab_preview *preview, struct ab_buf *b);
