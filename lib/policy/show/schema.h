#ifndef AB_POLICY_SHOW_SCHEMA_H
#define AB_POLICY_SHOW_SCHEMA_H
/* The JSON Schema of a settings file: share/agentbox.schema.json. */

extern const char ab_policy_schema[];

#endif
