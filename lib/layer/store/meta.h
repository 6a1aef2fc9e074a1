#pragma once
/*
 * meta.json of a set of layers: what it belongs to, and what the host's files were like when it was
 * first used. Overlay keeps none of this: nothing in an upper says what a file was copied from.
 *
 * Reading and writing are pure. A reader rejects everything that it does not expect: unknown or
 * missing keys, wrong types, values out of bounds.
 */
#include "base/base.h"

struct stat;

enum {
	AB_LAYER_META_MAX = 256 * 1024, /* bytes of the file */
	AB_LAYER_RUNS_MAX = 64,		/* the newest ids are kept */
	AB_LAYER_RETURNS_MAX = 256,
	AB_LAYER_PLACEHOLDERS_MAX = 2048,
};

enum ab_layer_form {
	AB_LAYER_FORM_NONE,    /* no layer above the workspace */
	AB_LAYER_FORM_OVERLAY, /* project/upper */
	AB_LAYER_FORM_COPY,    /* project/copy */
};

/* A file of the host as it was when the last run started (filesystem.return). */
struct ab_layer_file {
	char *path;  /* relative to home */
	bool exists; /* else the numbers are 0 */
	uint64_t ino, size;
	int64_t mtime_ns, ctime_ns; /* since 1970 */
};

struct ab_layer_meta {
	char *key;
	char *name;	 /* of --name, or NULL */
	char *profile;	 /* of the last run */
	char *workspace; /* of the last run; "" if there was none */
	char *home;	 /* the layer lies above this folder */
	char *kernel;	 /* release that mounted it last */
	char *policy;	 /* digest of the settings of the last run */
	/* Nanoseconds since 1970. A host file that changed after first_ns may differ from what the
	 * box saw. */
	int64_t created_ns, first_ns, last_ns;
	struct ab_strv runs; /* ids of the runs that used it, the newest last */
	/* The beginnings of placeholders that a box with this home may have stored in it: no value with one is
	 * returned. None is forgotten: with AB_LAYER_PLACEHOLDERS_MAX there may be more, and nothing is. */
	struct ab_strv placeholders;
	struct ab_layer_file *returns;
	size_t nreturns;
	enum ab_layer_form form;
	int64_t project_ns; /* the first start above the workspace's present state; 0: none */
	int64_t waiting;    /* changes of the workspace to apply; -1: not counted yet */
};

int ab_layer_meta_read(const char *text, size_t len, struct ab_layer_meta *ret,
		       struct ab_error *err);
void ab_layer_meta_write(const struct ab_layer_meta *meta, struct ab_buf *ret);
void ab_layer_meta_fini(struct ab_layer_meta *meta);

/* A run with this id uses the set. */
void ab_layer_meta_add_run(struct ab_layer_meta *meta, const char *id);
void ab_layer_meta_add_placeholder(struct ab_layer_meta *meta, const char *text);
/* `st` NULL: the file does not exist. Replaces an entry with the same path. */
void ab_layer_meta_set_return(struct ab_layer_meta *meta, const char *path, const struct stat *st);
const struct ab_layer_file *ab_layer_meta_return(const struct ab_layer_meta *meta,
						 const char *path);
/* Is the file what it was? */
bool ab_layer_file_same(const struct ab_layer_file *file, const struct stat *st);
