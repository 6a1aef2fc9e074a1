#ifndef AB_SESSION_RUN_PREPARE_H
#define AB_SESSION_RUN_PREPARE_H
/*
 * From a request to the specification of its box: policy, a look at the host,
 * the plan, the environment. Reads only; nothing has happened yet.
 */
#include "audit/write/copy.h"
#include "sandbox/plan/spec.h"
#include "session/host/facts.h"
#include "session/secrets/secrets.h"
#include "session/state/next_run.h"
#include "session/state/state.h"

struct ab_error;
struct ab_policy;
struct ab_request;

struct ab_prepared {
	struct ab_policy *policy;
	bool nested;		      /* we are in a box already */
	struct ab_state state;	      /* root -1 when nested */
	struct ab_next_run next;      /* rules that hold for this run only */
	struct ab_copy audit;	      /* of the record, where one was asked for */
	const struct ab_copy *result; /* where that goes; the run's */
	struct ab_host_facts site;
	struct ab_safe safe;
	struct ab_spec spec;
	struct ab_strv stripped; /* names of variables that stay outside */
	struct ab_strv notes;	 /* for the user */
};

/* The policy: everything that can be wrong with the request itself. */
int ab_prepare(const struct ab_request *request, struct ab_prepared *ret, struct ab_error *err);
/* Where the record goes. Part of the rest. */
int ab_prepare_record(const struct ab_request *request, struct ab_prepared *prepared,
		      struct ab_error *err);
/* The values of secrets, before anything else begins: what forks later has
 * none. Nothing where there are none, and in a box, where they are the outer
 * run's. */
int ab_prepare_secrets(const struct ab_request *request, struct ab_prepared *prepared,
		       struct ab_error *err);
/* The rest, for which a look at the host is needed. */
int ab_prepare_spec(const struct ab_request *request, struct ab_prepared *prepared,
		    struct ab_error *err);
void ab_prepared_fini(struct ab_prepared *prepared);

#endif
