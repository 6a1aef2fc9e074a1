#pragma once
/* From a request to the specification of its box: policy, facts about the host, plan, environment.
 * Only reads; nothing has started yet. */
#include "base/base.h"
#include "audit/write/copy.h"
#include "layer/giveback/share.h"
#include "sandbox/plan/spec.h"
#include "containers/host_engine.h"
#include "host/facts.h"
#include "host/home/home_return.h"
#include "policy/toolchains/registries.h"
#include "state/kept/kept.h"
#include "secrets/secrets.h"
#include "secrets/ssh_agent.h"
#include "state/claim.h"
#include "state/next_run.h"
#include "state/state.h"

struct ab_hidden_names;
struct ab_exporter;
struct ab_policy;
struct ab_request;

struct ab_prepared {
	struct ab_policy *policy;
	bool nested;			      /* we are already in a box */
	bool no_namespaces;		      /* the box that was launched has none */
	char *tmp;			      /* its folder for temporary files, or NULL */
	struct ab_state state;		      /* root -1 when nested */
	struct ab_next_run next;	      /* rules for this run only */
	struct ab_copy audit;		      /* copy of the record, for --audit */
	int output;			      /* --audit -: the caller's standard output; else -1 */
	struct ab_exporter *exporter;	      /* --audit otlp:URL; else NULL */
	struct ab_copy *result;		      /* for --result; owned by the run */
	const struct ab_hidden_names *denied; /* what deny_read means now; NULL: find out. Borrowed */
	bool again; /* made again, to compare: without what cannot have changed */
	struct ab_host_facts host;
	struct ab_kept_layers kept;
	struct ab_claim claim;	       /* to complete an interrupted apply */
	uint64_t claims;	       /* how many there were before the plan */
	struct ab_shares shares;       /* shared folders, and what was created on the way */
	struct ab_home_return returns; /* files that the home layer gives back */
	struct ab_safe safe;
	struct ab_registry_views
		views;		   /* settings that the box sees in part, until the plan has them */
	struct ab_ssh_agent agent; /* keys that the box may use */
	struct ab_host_engine engine; /* of containers */
	struct ab_layer_set *review;  /* the set of the workspace's layer; NULL: not reviewed */
	struct ab_spec spec;
	struct ab_strv notes;	/* for the user */
	struct ab_strv details; /* the same, with -v */
};

/*
 * Open and empty what --result names: an earlier run's result must not pass for this one's. Before
 * there is a policy, any link on the way may be a box's: `policy` NULL follows none, and returns 1 if
 * there is one. ab_prepare_record() opens it then.
 */
int ab_prepare_result(const struct ab_request *request, const struct ab_policy *policy,
		      struct ab_copy *ret, struct ab_error *err);
void ab_prepared_init(struct ab_prepared *ret); /* without a policy */
/* Load the policy; reports every error of the request itself. */
int ab_prepare(const struct ab_request *request, struct ab_prepared *ret, struct ab_error *err);
/* Open the places for the record. ab_prepare_spec() does it too. */
int ab_prepare_record(const struct ab_request *request, struct ab_prepared *prepared,
		      struct ab_error *err);
/* The box must not change its own record: add it to what the plan closes or masks. */
void ab_record_guard(struct ab_prepared *prepared);
/* Nor redirect its name by a link. */
int ab_record_check_links(const struct ab_prepared *prepared, const struct ab_request *request,
			  struct ab_error *err);
/* Read the values of secrets. Before anything else starts, so that a process that is forked later
 * has none. Does nothing without secrets, or in a box, where they are the outer run's. */
int ab_prepare_secrets(const struct ab_request *request, struct ab_prepared *prepared,
		       struct ab_error *err);
/* The rest, which needs facts about the host. */
int ab_prepare_spec(const struct ab_request *request, struct ab_prepared *prepared,
		    struct ab_error *err);
/* Parts of it. The words of the command. */
void ab_prepare_argv(const struct ab_request *request, struct ab_prepared *prepared);
/* It starts in the requested or in our current folder, if the box has it. */
int ab_prepare_cwd(const struct ab_request *request, struct ab_prepared *prepared,
		   struct ab_error *err);
/* The run has an id: describe its kept layers. */
int ab_prepare_layers(const struct ab_request *request, struct ab_prepared *prepared,
		      struct ab_error *err);
/* Choose the run's id, once. */
int ab_pick_run_id(struct ab_prepared *prepared, struct ab_error *err);
/* Files, locks and secrets; the memory stays. */
void ab_prepared_close(struct ab_prepared *prepared);
void ab_prepared_fini(struct ab_prepared *prepared);
