/*
 * The broker's last work, when the box is gone: check everything once more, put back and remove what
 * the run needed, and answer the supervisor. If the supervisor died, finish the run in its place.
 */
#include "broker/broker_state.h"

#include "audit/write/audit.h"
#include "broker/cleanup/gc_layers.h"
#include "broker/cleanup/hourly.h"
#include "broker/cleanup/leftovers.h"
#include "broker/cleanup/moved_files.h"
#include "broker/cleanup/shared_folders.h"
#include "guard/engine/tmp_folder.h"
#include "guard/moves/moves.h"
#include "guard/walls/wall_watch.h"
#include "host/cgroup.h"
#include "host/home/home_left.h"
#include "host/home/home_return.h"
#include "state/state.h"
#include "workspace/quarantine/quarantine.h"

enum { FINISH_MS = 5000 }; /* for jobs that must be done after the box */

/* Were folders made? Programs of the box that never made a call that the kernel holds have made none. That
 * it holds no calls is said before the supervisor asks for the sweep, and maybe after the box has ended. */
static bool is_touched(const struct broker *b)
{
	return b->guard || b->unheld || b->duty.containers;
}

bool ab_broker_knows_search(const struct broker *b)
{
	return b->asked || is_touched(b);
}

void ab_broker_sweep_workspace(struct broker *b)
{
	if (b->swept)
		return;
	ab_moves_end(b->moves);
	ab_wall_watch_end(b->walls);
	ab_broker_report_walls(b);
	ab_quarantine_sweep(b->quarantine);
	ab_quarantine_review(b->quarantine,
			     b->asked && !is_touched(b) ? AB_SEARCH_SHORT : AB_SEARCH_USUAL,
			     b->spots);
	ab_moved_note(b->duty.run, ab_quarantine_report(b->quarantine), &b->noted);
	if (b->duty.cgroup)
		b->cgroup_left = ab_cgroup_remove(b->duty.cgroup, b->duty.run->id) < 0;
	b->swept = true;
}

/* With a cgroup it stays live, unlocked: the next start removes that. Without an end of its record it would be
 * swept again then. */
static void retire(const struct broker *b)
{
	if (!b->cgroup_left || !ab_run_ended(b->duty.run))
		ab_run_retire(b->duty.run);
}

static void remove_folders(const struct broker *b)
{
	if (b->duty.shares)
		ab_shared_folders_remove(b->duty.run->state, b->duty.run->id, b->duty.shares);
	ab_tmp_folder_remove(b->duty.tmp);
}

static void return_files(struct broker *b, struct ab_strv *lines)
{
	if (b->duty.returns)
		ab_home_return_end(b->duty.returns, b->duty.spec, b->stage, lines);
	/* It may have put a file into one. */
	remove_folders(b);
}

void ab_broker_abandon_run(const struct broker *b)
{
	if (b->duty.cgroup)
		(void)ab_cgroup_remove(b->duty.cgroup, b->duty.run->id);
	remove_folders(b);
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
	if (b->guard > 0) {
		kill(b->guard, SIGKILL);
		(void)ab_await(b->guard);
	}
	ab_quarantine_unwatch(b->quarantine);
	_exit(0);
}

/* Everything that is left to do, and sentences about it: the first *ret_notes are about settings. */
static void finish_work(struct broker *b, struct ab_strv *lines, uint32_t *ret_notes)
{
	ab_broker_sweep_workspace(b);
	ab_broker_save_project(b, lines);
	*ret_notes = (uint32_t)lines->len;
	return_files(b, lines);
	ab_jobs_finish(b, FINISH_MS, lines);
	ab_wall_watch_lines(b->walls, lines);
	ab_moves_lines(b->moves, lines);
	ab_leftovers_lines(b->quarantine, b->duty.run, lines);
}

bool ab_broker_is_alone(ssize_t received)
{
	/* The reset: there was an answer that the supervisor had not read. */
	return received == 0 || (received < 0 && errno == ECONNRESET);
}

static void write_end(const struct broker *b, const struct ab_strv *lines)
{
	struct ab_buf line = { 0 };

	ab_record_open(&line, b->duty.run->id, "end");
	ab_record_text(&line, "error", "the supervisor was killed");
	ab_record_list(&line, "findings", lines);
	/* The record is best effort: nobody is left to report an error to. Opened by name: the file
	 * that the supervisor opened first may be full by now. */
	ab_leftovers_record(b->duty.run, b->duty.log, &line);
}

/* The supervisor died: finish the run in its place. */
_Noreturn void ab_broker_finish_alone(struct broker *b)
{
	ab_autostrv struct ab_strv lines = { 0 };
	uint32_t notes;

	/* Before a shell draws its next prompt; the box could reach the terminal only through the
	 * supervisor. */
	ab_terminal_rescue(&b->duty.rescue);
	/* The box is gone with init: every process of its pid namespace died first. */
	(void)ab_poll(b->duty.init, POLLIN, -1);
	finish_work(b, &lines, &notes);
	write_end(b, &lines);
	ab_broker_clean_up(b, AB_HOURLY_TURN);
	retire(b);
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

/* Has the supervisor written the end of the record? It says so, or dies. */
static bool hear_leave(struct broker *b)
{
	static struct ask ask;

	for (;;) {
		ssize_t n;

		b->passed.len = AB_COUNT(b->passed.v);
		n = ab_recv_fds(b->sock, &ask, ASK_LEN(TEXT_ROOM), b->passed.v, &b->passed.len, 0);
		if (ab_broker_is_alone(n))
			return false;
		/* It may live: the run stays live, until the next start has looked at its record. */
		if (n < 0)
			_exit(1);
		ab_fds_close(&b->passed);
		if (n >= (ssize_t)ASK_LEN(0) && ask.kind == ASK_LEAVE)
			return true;
	}
}

/* The box is gone and nothing is left to watch: we may wait for the supervisor now. */
_Noreturn void ab_broker_answer_sweep(struct broker *b)
{
	static struct answer a = { .kind = ANSWER_SWEPT };
	ab_autostrv struct ab_strv lines = { 0 };
	size_t n = 0;

	look_at_stage(b, &lines);
	finish_work(b, &lines, &a.number);
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
	if (b->duty.cgroup)
		ab_cgroup_remove_left(b->duty.cgroup);
	if (!b->cleaned_up && ab_hourly_is_turn(b->duty.run->id))
		ab_broker_clean_up(b, AB_HOURLY_TURN);
	/* If both of us are killed before, the run stays live, and the next start ends its record. */
	if (!hear_leave(b) && !ab_run_ended(b->duty.run))
		write_end(b, &lines);
	retire(b);
	ab_broker_leave(b);
}
