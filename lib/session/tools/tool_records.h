#ifndef AB_SESSION_TOOLS_TOOL_RECORDS_H
#define AB_SESSION_TOOLS_TOOL_RECORDS_H
/* The records of calls of tools, and what is said about denied ones at the end. */
#include <stdint.h>

#include "base/data/strv.h"

struct ab_error;
struct ab_log;
struct ab_tool_note;
struct ab_tool_records;

struct ab_tool_records *ab_tool_records_new(const char *run_id, struct ab_log *log);
void ab_tool_records_free(struct ab_tool_records *records);
/* Write what the note tells: a denial, a start, an end. */
int ab_tool_records_take(struct ab_tool_records *records, const struct ab_tool_note *note,
			 struct ab_error *err);
/* Write the answer to the question of this number (enum ab_host_answer), and who gave it. */
int ab_tool_records_answer(struct ab_tool_records *records, uint32_t number, int answer,
			   const char *by, struct ab_error *err);
/* Lines for the user; nothing if nothing was denied. */
void ab_tool_records_summary(const struct ab_tool_records *records, struct ab_strv *ret);

#endif
