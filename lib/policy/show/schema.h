#pragma once
/* The JSON Schema of a settings file: share/agentbox.schema.json. */

extern const char ab_policy_schema[];
