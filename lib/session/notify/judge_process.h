#ifndef AB_SESSION_NOTIFY_JUDGE_PROCESS_H
#define AB_SESSION_NOTIFY_JUDGE_PROCESS_H
/* The process of the judge (session/notify/program_judge.h), after the fork. */

struct ab_terms;
struct ab_trace_terms;

/* `sock` leads to the supervisor; everything else is closed. */
_Noreturn void ab_judge_be(const struct ab_terms *terms, const struct ab_trace_terms *trace,
			   int sock);

#endif
