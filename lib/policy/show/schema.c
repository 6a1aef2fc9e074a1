#include "policy/show/schema.h"

const char ab_policy_schema[] =
#include "policy/show/schema_text.h"
	;
