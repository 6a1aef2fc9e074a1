#include "session/supervise/command_stops.h"

#include "consent/ask/host_prompt.h"
#include "session/control/steering.h"
#include "session/supervise/failure.h"
#include "session/supervise/supervisor.h"
#include "terminal/terminal.h"

enum {
	CLAIMS_MAX = 16,   /* stops for the terminal ... */
	CLAIMS_MS = 10000, /* ... within this time */
};

void ab_command_stops_ask(struct ab_command_stops *stops)
{
	ab_box_tell(stops->what->box, AB_MSG_SIGNAL, SIGTSTP);
	stops->asked = true;
}

static void stop_with_command(const struct ab_supervision *what)
{
	if (what->terminal)
		ab_terminal_suspend(what->terminal);
	if (what->steering->prompt)
		ab_host_prompt_suspend(what->steering->prompt);
	kill(getpid(), SIGSTOP);
}

void ab_command_stops_resume(struct ab_command_stops *stops)
{
	const struct ab_supervision *what = stops->what;
	bool front = what->terminal && ab_terminal_resume(what->terminal);

	ab_box_tell(what->box, AB_MSG_RESUME, front);
	if (what->steering->prompt)
		ab_host_prompt_resume(what->steering->prompt);
	ab_steering_resumed(stops->steering);
}

/*
 * A command that stops again whenever it gets the terminal would keep us busy for
 * ever, and no key would reach it. No person types this fast.
 */
static bool claims_too_often(struct ab_command_stops *stops)
{
	int64_t now = ab_now_ms();

	if (stops->claims == 0 || now - stops->first_claim > CLAIMS_MS) {
		stops->first_claim = now;
		stops->claims = 0;
	}
	return ++stops->claims >= CLAIMS_MAX;
}

/* If the command was stopped because it uses the terminal, take the terminal and resume it. */
static bool claim_terminal(struct ab_command_stops *stops, int sig)
{
	struct ab_error *err = stops->failure->err;

	if ((sig != SIGTTIN && sig != SIGTTOU) || !stops->what->terminal ||
	    !ab_terminal_claim(stops->what->terminal))
		return false;
	if (claims_too_often(stops)) {
		ab_fail(err, AB_ESYSTEM, 0,
			"the command stopped for the terminal %d times in %d seconds", CLAIMS_MAX,
			CLAIMS_MS / 1000);
		ab_hint(err, "run it without a terminal to read: agentbox run ... </dev/null");
		ab_failure_end(stops->failure);
		return true;
	}
	ab_box_tell(stops->what->box, AB_MSG_RESUME, true);
	return true;
}

void ab_command_stops_take(struct ab_command_stops *stops, int sig)
{
	/* Without a terminal, and if we did not forward SIGTSTP, nobody could resume the command
	 * through us. */
	if (claim_terminal(stops, sig))
		return;
	if (stops->what->terminal || stops->asked)
		stop_with_command(stops->what);
	stops->asked = false;
}
