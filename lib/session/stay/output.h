#pragma once
/*
 * The terminal of a command that runs without a client: its output goes to a bounded file in the
 * run's folder and to the clients that are attached; their keys go to the command. If the file
 * cannot be written, the output is discarded, and the command keeps running.
 *
 * The output is the box's: only the client, which filters it, may show it on a terminal.
 */
#include "base/base.h"

struct ab_loop;
struct ab_output;

#define AB_OUTPUT_NAME "output"
#define AB_OUTPUT_MOST (10ull << 20)
enum { AB_OUTPUT_CLIENTS = 8 };

struct ab_output_setup {
	struct ab_loop *loop;
	int dir; /* the run's folder */
	/* Both files together: half of it is kept at least. */
	uint64_t most;
	uint16_t rows, cols;
	/* The file cannot be written; once. */
	void (*failed)(void *arg, const struct ab_error *err);
	void *arg;
};

struct ab_output *ab_output_new(const struct ab_output_setup *setup);
/* Takes over the master. */
int ab_output_begin(struct ab_output *output, int master, struct ab_error *err);
/* A client: takes over both descriptors. `bytes` is a stream, which gets the last output first;
 * messages of session/stay/stay_wire.h go over `sock`. */
int ab_output_attach(struct ab_output *output, int sock, int bytes, struct ab_error *err);
size_t ab_output_clients(const struct ab_output *output);
/* The command has ended: read the rest, and tell the clients. Frees it after the batch. */
void ab_output_end(struct ab_output *output, int status);
