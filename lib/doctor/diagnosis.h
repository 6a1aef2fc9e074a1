#pragma once

#include "base/base.h"
#include "sandbox/plan/engine.h"

struct ab_policy_input;

/*
 * What this machine can enforce, determined by trying. Rows are in the order of the
 * report; `seen` and `remedy` are text.
 */
enum ab_health { AB_HEALTH_OK, AB_HEALTH_WARN, AB_HEALTH_FAIL, AB_HEALTH_SKIP };

struct ab_finding {
	const char *name;
	enum ab_health health;
	char *seen;
	char *remedy; /* "": none is needed */
};

struct ab_diagnosis {
	struct ab_finding *v;
	size_t len;
	char *summary;	    /* which profiles this machine can run */
	const char *engine; /* that a box was built with; NULL: none was */
	char *better;	    /* what would give the next better engine; NULL: nothing */
	bool failed;	    /* a row has AB_HEALTH_FAIL */
	bool confined;	    /* one of them because of the container around us */
	bool apparmor;	    /* because of AppArmor's restriction */
	enum ab_container_need need;
};

int ab_doctor(const struct ab_policy_input *input, struct ab_diagnosis *ret, struct ab_error *err);
void ab_diagnosis_fini(struct ab_diagnosis *diagnosis);
char *ab_diagnosis_text(const struct ab_diagnosis *diagnosis);
char *ab_diagnosis_json(const struct ab_diagnosis *diagnosis);

/* The AppArmor profile that lets this program use user namespaces, the file that it
 * belongs in, and whether this machine needs it. Fails if the machine needs one and has
 * it already: a second one would not help. */
int ab_doctor_apparmor(char **ret_profile, char **ret_file, bool *ret_needed, struct ab_error *err);
