#pragma once
/*
 * The state of `watch`: records, packets of the control socket and keys go in.
 * Pure, and bounded whatever a run does. Texts are stored as they came; the view
 * escapes them.
 *
 *	watch_model.c	records, packets and keys
 *	watch_view.c	the screen
 */
#include <jansson.h>

#include "base/base.h"

enum {
	AB_WATCH_ROWS = 1000,

	AB_WATCH_QUESTIONS = 1024,
	AB_WATCH_OPEN = 64,
	AB_WATCH_TEXT = 512, /* maximum of one row; the record has the rest */
};

struct ab_stats;

struct ab_watch_row {
	const char *mark; /* of the sentence: "ok", "denied", "failed", "asked", ... */
	bool denied;
	char time[9]; /* "12:34:56" */
	char *text;   /* what it is about, and what happened */
	char *more;   /* details, or "" */
};

struct ab_watch_open { /* an open connection */
	char *target;  /* "x.y:443" */
	char *host;
	uint64_t up, down, ms;
};

struct ab_watch_question {
	char *id;
	char *target;
	char *asker; /* ASCII */
	bool held, punycode;
	bool doubtful; /* may be answered already */
	uint64_t ends; /* by the caller's clock */
};

struct ab_watch_model {
	char id[8];
	char *name, *profile; /* or NULL */
	char *command;	      /* as a shell reads it */
	uint64_t started;     /* by the caller's clock */
	bool ended;
	int status; /* -1: unknown */
	uint64_t ended_at;

	uint64_t allowed, denied, failed, up, down;
	uint64_t refused; /* programs, files, calls */

	struct ab_watch_row rows[AB_WATCH_ROWS]; /* a ring */
	uint64_t nrows;				 /* ever, including those overwritten */
	struct ab_stats *hosts;			 /* audit/read/stats.h: their rows */
	struct ab_watch_open open[AB_WATCH_OPEN];
	size_t nopen;

	struct ab_watch_question *questions[AB_WATCH_QUESTIONS];
	size_t nquestions;
	uint64_t lost_questions;
	bool missed;	   /* events were lost: request all questions again */
	char *selected;	   /* the id of a question; NULL: none */
	uint64_t readable; /* keys before then do not answer */

	bool denied_only, paused, help;
	uint64_t paused_at; /* nrows */
	char *message;	    /* or NULL */
	uint64_t message_ends;
};

struct ab_watch_model *ab_watch_model_new(const char *id, uint64_t now);
void ab_watch_model_free(struct ab_watch_model *model);

/* A line of the log. */
void ab_watch_record(struct ab_watch_model *model, const char *line, size_t len, uint64_t now);
/* A packet of the control socket: {"event":...}. */
void ab_watch_event(struct ab_watch_model *model, const json_t *packet, uint64_t now);
/* Answers to "status" and "pending". */
void ab_watch_status(struct ab_watch_model *model, const json_t *answer, uint64_t now);
void ab_watch_pending(struct ab_watch_model *model, const json_t *answer, uint64_t now);
/* The run is gone. */
void ab_watch_gone(struct ab_watch_model *model, uint64_t now);

/* Show a line at the bottom for a while. Takes ownership of `text`. */
void ab_watch_say(struct ab_watch_model *model, char *text, uint64_t now);

enum ab_watch_do {
	AB_WATCH_NOTHING,
	AB_WATCH_QUIT,
	AB_WATCH_STOP,	 /* Ctrl-Z */
	AB_WATCH_ANSWER, /* the selected question: *ret_answer */
};
enum ab_watch_do ab_watch_key(struct ab_watch_model *model, int key, uint64_t now,
			      const char **ret_answer);

/* The index of the selected question; -1: none. */
long ab_watch_selected(const struct ab_watch_model *model);

struct ab_watch_look {
	size_t rows, cols;
	bool colour;
	uint64_t now;
};

/* The screen: one string per row, escape sequences included, without moving to
 * the beginning of the row. */
void ab_watch_view(const struct ab_watch_model *model, const struct ab_watch_look *look,
		   struct ab_strv *ret);

/* If several runs are active, the user chooses one. */
struct ab_watch_choice {
	char id[8];
	char *name;    /* or NULL */
	char *command; /* as a shell reads it */
};
void ab_watch_choose(const struct ab_watch_choice *v, size_t n, size_t selected,
		     const struct ab_watch_look *look, struct ab_strv *ret);
