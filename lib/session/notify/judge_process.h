#ifndef AB_SESSION_NOTIFY_JUDGE_PROCESS_H
#define AB_SESSION_NOTIFY_JUDGE_PROCESS_H
/* The judge of session/notify/program_judge.h: its own process, from the fork on. */

struct ab_terms;
struct ab_trace_terms;

/* `sock` is the supervisor's; everything else is closed. */
_Noreturn void ab_judge_be(const struct ab_terms *terms, const struct ab_trace_terms *trace,
			   int sock);

#endif
