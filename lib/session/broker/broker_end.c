/*
 * The broker's last work, when the box is gone: check everything once more, put back and remove what
 * the run needed, and answer the supervisor. If the supervisor died, finish the run in its place.
 */
#include "session/broker/broker_state.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/write/audit.h"
#include "audit/write/log.h"
#include "audit/write/seal.h"
#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/system/fd.h"
#include "session/cleanup/gc_layers.h"
#include "session/cleanup/hourly.h"
#include "session/cleanup/leftovers.h"
#include "session/cleanup/moved_files.h"
#include "session/cleanup/shared_folders.h"
#include "session/engine/tmp_folder.h"
#include "session/home/home_left.h"
#include "session/home/home_return.h"
#include "session/host/cgroup.h"
#include "session/moves/moves.h"
#include "session/state/state.h"
#include "session/walls/wall_watch.h"
#include "workspace/quarantine/quarantine.h"

enum { FINISH_MS = 5000 }; /* for jobs that must be done after the box */

void ab_broker_sweep_workspace(struct broker *b)
{
	if (b->swept)
		return;
	ab_moves_end(b->moves);
	ab_wall_watch_end(b->walls);
	ab_broker_report_walls(b);
	ab_quarantine_sweep(b->quarantine);
	ab_quarantine_review(b->quarantine);
	ab_moved_note(b->duty.run, ab_quarantine_report(b->quarantine), &b->noted);
	if (b->duty.cgroup)
		ab_cgroup_remove(b->duty.cgroup, b->duty.run->id);
	b->swept = true;
}

static void return_files(struct broker *b, struct ab_strv *lines)
{
	if (b->duty.returns)
		ab_home_return_end(b->duty.returns, b->duty.spec, b->stage, lines);
	/* It may have put a file into one. */
	if (b->duty.shares)
		ab_shared_folders_remove(b->duty.run->state, b->duty.run->id, b->duty.shares);
	ab_tmp_folder_remove(b->duty.tmp);
}

/* The box is gone with init: every process of its pid namespace died first. */
static void wait_for_box(struct broker *b)
{
	struct pollfd init = { .fd = b->duty.init, .events = POLLIN };

	while (poll(&init, 1, -1) < 0 && errno == EINTR)
		;
}

void ab_broker_clean_up(struct broker *b, size_t most)
{
	ab_hourly_cleanup(b->duty.run, &b->duty.keep, most);
	ab_gc_layers_hourly(b->duty.run, most);
	b->cleaned_up = true;
}

/* In a container nobody may reap what is left, so nothing is: the supervisor waits for us. */
_Noreturn void ab_broker_leave(struct broker *b)
{
	if (b->judge > 0) {
		kill(b->judge, SIGKILL);
		while (waitpid(b->judge, NULL, 0) < 0 && errno == EINTR)
			;
	}
	ab_quarantine_unwatch(b->quarantine);
	_exit(0);
}

/* The supervisor died: finish the run in its place. */
_Noreturn void ab_broker_finish_alone(struct broker *b)
{
	struct ab_log_setup setup = *b->duty.log;
	struct ab_log log = AB_LOG_NONE;
	struct ab_seal seal = { 0 };
	struct ab_buf line = { 0 };
	struct ab_error err;
	ab_autostrv struct ab_strv lines = { 0 };

	/* Before a shell draws its next prompt; the box could reach the terminal only through the
	 * supervisor. */
	ab_terminal_rescue(&b->duty.rescue);
	wait_for_box(b);
	ab_broker_sweep_workspace(b);
	ab_broker_save_project(b, &lines);
	return_files(b, &lines);
	ab_jobs_finish(b, FINISH_MS, &lines);
	ab_wall_watch_lines(b->walls, &lines);
	ab_moves_lines(b->moves, &lines);
	ab_leftovers_lines(b->quarantine, b->duty.run, &lines);
	ab_record_open(&line, b->duty.run->id, "end");
	ab_record_text(&line, "error", "the supervisor was killed");
	ab_record_list(&line, "findings", &lines);
	/* The record is best effort: nobody is left to report an error to. Opened by name: the file
	 * that the supervisor opened first may be full by now. */
	(void)ab_seal_load(b->duty.run->state->root, &seal, &err);
	setup.seal = &seal;
	if (ab_log_resume(&setup, &log, &err) == 0) {
		(void)ab_moved_record(b->duty.run, &log, &err);
		(void)ab_log_end(&log, &line, &err);
	}
	ab_broker_clean_up(b, AB_HOURLY_TURN);
	ab_run_retire(b->duty.run);
	ab_broker_leave(b);
}

/* First of all: with the last descriptor the kernel removes the mounts of the box and its tmpfs, which
 * takes a while: better in init's end than in ours, for which the supervisor waits. */
static void look_at_stage(struct broker *b, struct ab_strv *lines)
{
	ab_wall_watch_release(b->walls);
	if (b->hidden >= 0)
		close(ab_take_fd(&b->hidden));
	if (b->stage < 0)
		return;
	ab_home_left_lines(b->duty.spec, b->stage, b->duty.home, lines);
	if (!b->duty.returns || !b->duty.returns->paths.len)
		close(ab_take_fd(&b->stage));
}

/* The box is gone and nothing is left to watch: we may wait for the supervisor now. */
_Noreturn void ab_broker_answer_sweep(struct broker *b)
{
	static struct answer a = { .kind = ANSWER_SWEPT };
	ab_autostrv struct ab_strv lines = { 0 };
	size_t n = 0;

	look_at_stage(b, &lines);
	ab_broker_sweep_workspace(b);
	ab_broker_save_project(b, &lines);
	a.number = (uint32_t)lines.len;
	return_files(b, &lines);
	ab_jobs_finish(b, FINISH_MS, &lines);
	ab_wall_watch_lines(b->walls, &lines);
	ab_moves_lines(b->moves, &lines);
	ab_leftovers_lines(b->quarantine, b->duty.run, &lines);
	for (size_t i = 0; i < lines.len; i++) {
		size_t more = strlen(lines.v[i]) + 1;

		if (n + more > TEXT_ROOM)
			break;
		memcpy(a.lines + n, lines.v[i], more);
		n += more;
	}
	if (ab_quarantine_report(b->quarantine)->nstayed) {
		ab_fail(&a.error, AB_EPROPERTY, 0,
			"protected files that the run created could not be moved to quarantine");
		ab_hint(&a.error, "remove them before you use a tool that reads them");
		a.result = ab_step(&a.error, "protected names");
	}
	ab_broker_flush(b, 0);
	if (ab_send_fds(b->sock, &a, ANSWER_LEN(n), NULL, 0) < 0)
		ab_broker_finish_alone(b);
	/* While the supervisor ends, which then waits for us. */
	if (!b->cleaned_up && ab_hourly_is_turn(b->duty.run->id))
		ab_broker_clean_up(b, AB_HOURLY_TURN);
	ab_run_retire(b->duty.run);
	ab_broker_leave(b);
}
