#ifndef AB_DOCTOR_DIAGNOSIS_H
#define AB_DOCTOR_DIAGNOSIS_H
#include <stdbool.h>
#include <stddef.h>

struct ab_error;
struct ab_policy_input;

/*
 * What this machine can enforce, found out by trying. Rows come in the order
 * in which they are shown; `seen` and `remedy` are sentences.
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
	char *summary; /* which profiles this machine can run */
	bool failed;   /* a row has AB_HEALTH_FAIL */
	bool apparmor; /* because of AppArmor's restriction */
};

int ab_doctor(const struct ab_policy_input *input, struct ab_diagnosis *ret, struct ab_error *err);
void ab_diagnosis_fini(struct ab_diagnosis *diagnosis);
char *ab_diagnosis_text(const struct ab_diagnosis *diagnosis);
char *ab_diagnosis_json(const struct ab_diagnosis *diagnosis);

/* The AppArmor profile that lets this very program use user namespaces, and
 * whether that is what this machine lacks. */
int ab_doctor_apparmor(char **ret_profile, bool *ret_needed, struct ab_error *err);

#endif
