/*
 * Theory of operation.
 *
 *	CHOOSING	list the active runs every second; if there is only
 *			one, watch it at once
 *	WATCHING	read its log and its socket; request `status` every
 *			second and after new records, if the last request
 *			was answered
 *	OVER		the run has ended; read the rest of its log
 *
 * Never wait for the run: a stopped supervisor does not answer.
 */
#include "steer/watch/watch.h"

#include "audit/read/reader.h"
#include "consent/ask/process_chain.h"
#include "policy/layers/layers.h"
#include "state/state.h"
#include "steer/client/json.h"
#include "steer/client/steer.h"
#include "steer/watch/watch_model.h"
#include "steer/watch/watch_screen.h"

enum {
	FRAME_MS = 100,	  /* minimum between two frames */
	LOOK_MS = 200,	  /* between two reads of the log */
	SECOND_MS = 1000, /* between two checks of everything else */
	LINES_MAX = 5000, /* of a log at once, so that keys need not wait */
	ASKED_MAX = 32,	  /* unanswered requests */
	CHOICES_MAX = 64,
	KEYS_MAX = 64,
};

enum asked { ASKED_STATUS, ASKED_PENDING, ASKED_ANSWER, ASKED_OTHER };

struct watch {
	struct ab_state state;
	struct ab_watch_screen screen;
	bool colour, quit, dirty;

	struct ab_watch_choice choices[CHOICES_MAX];
	size_t nchoices, chosen;

	struct ab_watch_model *model; /* NULL while choosing */
	struct ab_run run;
	struct ab_reader reader;
	struct ab_steer steer;
	enum asked asked[ASKED_MAX];
	size_t nasked;
	uint64_t second, look, frame; /* when each is due */
};

/* --- the run --- */

static void disconnect_run(struct watch *w)
{
	if (w->steer.fd < 0)
		return;
	ab_steer_fini(&w->steer);
	w->nasked = 0;
	w->dirty = true;
	ab_watch_gone(w->model, ab_now_ms());
}

__attribute__((format(printf, 3, 4))) static bool send_request(struct watch *w, enum asked kind,
							       const char *pattern, ...)
{
	struct ab_error err;
	va_list ap;
	int result;

	if (w->steer.fd < 0 || w->nasked == ASKED_MAX)
		return false;
	va_start(ap, pattern);
	result = ab_steer_vsend(&w->steer, &err, pattern, ap);
	va_end(ap);
	if (result < 0) {
		disconnect_run(w);
		return false;
	}
	w->asked[w->nasked++] = kind;
	return true;
}

static void ask_pending(struct watch *w, json_int_t from)
{
	send_request(w, ASKED_PENDING, "'do':'pending','from':%jd", (intmax_t)from);
}

static void take_answer(struct watch *w, const json_t *packet)
{
	json_int_t n;
	enum asked kind;

	if (w->nasked == 0)
		return;
	kind = w->asked[0];
	w->nasked--;
	memmove(w->asked, w->asked + 1, w->nasked * sizeof(w->asked[0]));
	if (!json_is_true(json_object_get(packet, "ok"))) {
		const char *why = ab_json_text(packet, "error");

		ab_watch_say(w->model, ab_strdup(*why ? why : "the run refused the request"),
			     ab_now_ms());
		return;
	}
	switch (kind) {
	case ASKED_STATUS:
		ab_watch_status(w->model, packet, ab_now_ms());
		break;
	case ASKED_PENDING:
		ab_watch_pending(w->model, packet, ab_now_ms());
		n = json_integer_value(json_object_get(packet, "next"));
		if (n > 0)
			ask_pending(w, n);
		break;
	case ASKED_ANSWER:
		n = json_integer_value(json_object_get(packet, "released"));
		/* "No" releases none. */
		ab_watch_say(w->model,
			     n ? ab_printf("answered: %lld waiting connection%s released",
					   (long long)n, n == 1 ? "" : "s")
			       : ab_strdup("answered"),
			     ab_now_ms());
		break;
	case ASKED_OTHER:
		break;
	}
}

static void read_socket(struct watch *w)
{
	while (w->steer.fd >= 0) {
		json_auto_t *packet = NULL;
		int r = ab_steer_hear(&w->steer, &packet);

		if (r == 0)
			break;
		if (r < 0) {
			disconnect_run(w);
			return;
		}
		if (json_object_get(packet, "ok"))
			take_answer(w, packet);
		else
			ab_watch_event(w->model, packet, ab_now_ms());
		w->dirty = true;
	}
	if (w->model->missed) {
		w->model->missed = false;
		ask_pending(w, 0);
	}
}

static void read_log(struct watch *w)
{
	struct ab_error err;
	const char *line;
	size_t len;

	for (size_t n = 0; n < LINES_MAX; n++) {
		if (ab_reader_next(&w->reader, &line, &len, &err) <= 0)
			return;
		ab_watch_record(w->model, line, len, ab_now_ms());
		w->dirty = true;
	}
	/* There is more: continue without a pause. */
	w->look = 0;
}

/* Fails while the run is starting or ending; the caller tries again. */
static int attach_run(struct watch *w, const char *id, struct ab_error *err)
{
	if (ab_state_find_live(&w->state, id, &w->run, err) < 0)
		return -1;
	if (ab_steer_open_run(&w->run, &w->steer, err) < 0 ||
	    ab_reader_open(w->run.dir, &w->reader, err) < 0) {
		ab_steer_fini(&w->steer);
		ab_run_fini(&w->run);
		return -1;
	}
	w->model = ab_watch_model_new(w->steer.id, ab_now_ms());
	w->nasked = 0;
	w->second = 0;
	w->dirty = true;
	send_request(w, ASKED_OTHER, "'do':'follow'");
	ask_pending(w, 0);
	read_log(w);
	return 0;
}

/* --- choosing --- */

static void free_choices(struct watch *w)
{
	for (size_t i = 0; i < w->nchoices; i++)
		ab_free_all(w->choices[i].name, w->choices[i].command);
	w->nchoices = 0;
}

static void add_choice(struct ab_run *run, void *arg)
{
	struct watch *w = arg;
	json_auto_t *start = w->nchoices < CHOICES_MAX ? ab_run_start(run) : NULL;
	struct ab_watch_choice *choice = &w->choices[w->nchoices];
	struct ab_buf command = { 0 };

	if (w->nchoices == CHOICES_MAX)
		return;
	ab_process_chain_command(&command, json_object_get(start, "command"), AB_WATCH_TEXT);
	*choice = (struct ab_watch_choice){
		.name = ab_strdup(ab_text_or_null(ab_json_text(start, "name"))),
		.command = ab_buf_take(&command),
	};
	memcpy(choice->id, run->id, sizeof(run->id));
	w->nchoices++;
}

static int compare_ids(const void *a, const void *b)
{
	const struct ab_watch_choice *x = a, *y = b;

	return strcmp(x->id, y->id);
}

static void list_runs(struct watch *w)
{
	char chosen[8] = "";
	struct ab_error err;

	if (w->chosen < w->nchoices)
		memcpy(chosen, w->choices[w->chosen].id, sizeof(chosen));
	free_choices(w);
	(void)ab_state_each_live(&w->state, add_choice, w);
	qsort(w->choices, w->nchoices, sizeof(w->choices[0]), compare_ids);
	w->chosen = 0;
	for (size_t i = 0; i < w->nchoices; i++)
		if (strcmp(w->choices[i].id, chosen) == 0)
			w->chosen = i;
	w->dirty = true;
	if (w->nchoices == 1)
		attach_run(w, w->choices[0].id, &err);
}

static void choose_by_key(struct watch *w, int key)
{
	struct ab_error err;

	w->dirty = true;
	if (key == 'q' || key == 3)
		w->quit = true;
	else if ((key == 'k' || key == AB_KEY_UP) && w->chosen > 0)
		w->chosen--;
	else if ((key == 'j' || key == AB_KEY_DOWN) && w->chosen + 1 < w->nchoices)
		w->chosen++;
	else if ((key == '\r' || key == '\n') && w->chosen < w->nchoices)
		attach_run(w, w->choices[w->chosen].id, &err);
}

/* --- keys --- */

static void send_answer(struct watch *w, const char *answer)
{
	if (!send_request(w, ASKED_ANSWER, "'do':'answer','id':%s,'answer':%s", w->model->selected,
			  answer))
		ab_watch_say(w->model, ab_strdup("the run does not answer"), ab_now_ms());
}

static int take_key(struct watch *w, int key, struct ab_error *err)
{
	const char *answer;

	if (!w->model && key != 26) {
		choose_by_key(w, key);
		return 0;
	}
	w->dirty = true;
	switch (w->model ? ab_watch_key(w->model, key, ab_now_ms(), &answer) : AB_WATCH_STOP) {
	case AB_WATCH_NOTHING:
		break;
	case AB_WATCH_QUIT:
		w->quit = true;
		break;
	case AB_WATCH_STOP:
		return ab_watch_screen_yield(&w->screen, true, err);
	case AB_WATCH_ANSWER:
		send_answer(w, answer);
		break;
	}
	return 0;
}

static int take_keys(struct watch *w, struct ab_error *err)
{
	int keys[KEYS_MAX];
	long n = ab_watch_screen_keys(&w->screen, keys, KEYS_MAX);

	/* Ignore pasted text: it must not answer a question. */
	if (n > 4)
		return 0;
	w->quit = n < 0;
	for (long i = 0; i < n && !w->quit; i++)
		if (take_key(w, keys[i], err) < 0)
			return -1;
	return 0;
}

/* --- the loop --- */

static void draw_frame(struct watch *w, uint64_t now)
{
	struct ab_watch_look look = {
		.rows = w->screen.rows, .cols = w->screen.cols, .colour = w->colour, .now = now
	};
	ab_autostrv struct ab_strv lines = { 0 };

	if (w->model)
		ab_watch_view(w->model, &look, &lines);
	else
		ab_watch_choose(w->choices, w->nchoices, w->chosen, &look, &lines);
	ab_watch_screen_draw(&w->screen, &lines);
	w->dirty = false;
	w->frame = now + FRAME_MS;
}

static void run_due(struct watch *w, uint64_t now)
{
	if (ab_watch_screen_look(&w->screen))
		w->dirty = true;
	if (now >= w->second) {
		w->second = now + SECOND_MS;
		/* Ages and remaining times change. */
		w->dirty = true;
		if (!w->model)
			list_runs(w);
		else if (w->nasked == 0)
			send_request(w, ASKED_STATUS, "'do':'status'");
	}
	if (w->model && now >= w->look) {
		uint64_t rows = w->model->nrows;

		w->look = now + LOOK_MS;
		read_log(w);
		/* The totals are the run's own: they follow the table at once. */
		if (w->model->nrows != rows && w->nasked == 0)
			send_request(w, ASKED_STATUS, "'do':'status'");
	}
	if (w->dirty && now >= w->frame)
		draw_frame(w, now);
}

static int run_loop(struct watch *w, struct ab_error *err)
{
	while (!w->quit) {
		struct ab_watch_wait wait;
		uint64_t now = ab_now_ms();

		run_due(w, now);
		ab_watch_screen_wait(&w->screen, w->model ? w->steer.fd : -1,
				     w->look == 0 ? 0
				     : w->dirty	  ? FRAME_MS
						  : LOOK_MS,
				     &wait);
		if (wait.other)
			read_socket(w);
		if (wait.signal) {
			w->dirty = true;
			if (ab_watch_screen_yield(&w->screen, false, err) < 0)
				return -1;
		}
		if (wait.keys && take_keys(w, err) < 0)
			return -1;
	}
	return 0;
}

int ab_watch(const struct ab_policy_input *input, const char *run, bool colour,
	     struct ab_error *err)
{
	struct watch w = {
		.colour = colour, .run = { .dir = -1 }, .steer = { .fd = -1 }, .look = 1
	};
	int result;

	if (ab_steer_state(input, &w.state, err) < 0)
		return -1;
	/* A named run must exist; report that before taking the screen. */
	if ((run && attach_run(&w, run, err) < 0) || ab_watch_screen_open(&w.screen, err) < 0) {
		result = -1;
	} else {
		result = run_loop(&w, err);
		ab_watch_screen_close(&w.screen);
	}
	if (w.model) {
		ab_steer_fini(&w.steer);
		ab_reader_fini(&w.reader);
		ab_run_fini(&w.run);
	}
	ab_watch_model_free(w.model);
	free_choices(&w);
	ab_state_fini(&w.state);
	return result;
}
