#pragma once
/*
 * The mount plan: what each folder of the box is. Pure: facts in, a sorted list of
 * operations out. It looks up nothing, so every case can be tested with a table.
 * sandbox/mount/mounts.c applies it.
 *
 * Precedence: a mask (denyRead) over a closed path (denyWrite) over a
 * writable one over a layer over nothing. Paths are real: no component is a symbolic
 * link (except the last one for AB_AS_LINK).
 */
#include "base/base.h"

enum ab_mount_op {		     /* in order of precedence for one path */
		   AB_MOUNT_PIN,     /* a mount point, so that it cannot be renamed */
		   AB_MOUNT_SHOW,    /* the host's tree, read-only */
		   AB_MOUNT_LAYER,   /* the host's tree; writes go to a layer above it */
		   AB_MOUNT_WRITE,   /* the host's tree, writable */
		   AB_MOUNT_PRIVATE, /* an empty private folder */
		   AB_MOUNT_CLOSE,   /* read-only inside a writable tree */
		   AB_MOUNT_MASK,    /* exists, but is neither readable nor writable */
};

enum ab_as { AB_AS_DIR, AB_AS_FILE, AB_AS_LINK };

struct ab_mount {
	enum ab_mount_op op;
	enum ab_as as;
	bool may_vanish; /* a pin only for masks below it: it may be gone with them; what is shown: it
			    is gone */
	bool unmade;	 /* it was to be a layer, which could not be made: find_real_plan() */
	char *path;
};

struct ab_object {
	char *path;
	enum ab_as as;
};

struct ab_objects {
	struct ab_object *v;
	size_t len;
};

void ab_objects_add(struct ab_objects *list, const char *path, enum ab_as as);
void ab_objects_fini(struct ab_objects *list);
/* The one that contains this path, or NULL. */
const struct ab_object *ab_objects_around(const struct ab_objects *list, const char *path);

/*
 * A folder whose writes go to a layer: an overlay, with the host's folder below it. Programs outside
 * see nothing of the layer, so nothing in it is closed or pinned; masks still apply in it.
 */
struct ab_layer_mount {
	char *path;		/* in the box and on the host, real */
	char *upper, *work;	/* two names in one folder of the host; NULL: temporary, on the
				   staging tmpfs. Only `upper`: a full copy, mounted as it is */
	char *below;		/* a folder of the host between the layer and the host's own: the
				   upper of a layer that another box uses; or NULL */
	struct ab_strv hidden;	/* names below `path` that do not exist now and must not appear
				   during the run, whatever the box does; init gets only those of
				   `pieces`, which it must not copy */
	struct ab_strv parents; /* folders of these names; see ab_plan_take_layers() */
	/* of the host's folder, with a copy: for the proof */
	uint64_t host_dev, host_ino;
	bool hides;		/* there are `hidden` names */
	bool bare;		/* nothing of the host is below it, only what the plan shows */
	bool pieces;		/* something is mounted in the host's folder, so it cannot be below:
				   the files in it and in its `parents` are copied, and the folders
				   there are entries of the plan */
	bool optional;		/* a kept one may become temporary, and without it the host's folder
				   is visible, read-only; else the run does not start */
	struct ab_strv instead; /* variables of the command if it could not be made */
	int errnum;		/* set by ab_mounts_apply(): 0 made, else why not */
};

struct ab_layer_mounts {
	struct ab_layer_mount *v;
	size_t len;
};

enum {
	AB_LAYERS_MAX = 256,
	AB_PIECES_BYTES = 16 << 20, /* most that is copied for a layer of pieces */
	AB_LAYER_TEMPORARY = -2,    /* a special `errnum`: made, but temporary instead of kept */
};

/* How many files the tmpfs of a box may have. An empty one takes a kilobyte of kernel memory and nothing
 * of the size; a thousand are for the box's own. */
static inline uint64_t ab_plan_tmp_files(uint64_t tmp_size)
{
	return tmp_size / (16 << 10) + 1024;
}

static inline bool ab_layer_is_made(const struct ab_layer_mount *layer)
{
	return layer->errnum == 0 || layer->errnum == AB_LAYER_TEMPORARY;
}

/* The pointer is valid until the next one is added. */
struct ab_layer_mount *ab_layer_mounts_add(struct ab_layer_mounts *list, const char *path);
/* Remove the layers of this folder and of folders in it. */
void ab_layer_mounts_drop(struct ab_layer_mounts *list, const char *path);
struct ab_layer_mount *ab_layer_mounts_find(const struct ab_layer_mounts *list, const char *path);
void ab_layer_mounts_fini(struct ab_layer_mounts *list);

/* What the supervisor knows about the host. */
struct ab_facts {
	struct ab_strv privates;  /* /tmp, /run, ...; may nest */
	struct ab_objects write;  /* writable roots */
	struct ab_objects show;	  /* visible although a private folder
					   or a hidden root covers them */
	struct ab_objects closed; /* protected objects that exist */
	struct ab_objects pinned; /* folders that must stay in place */
	struct ab_objects masked; /* denied for reading, host sockets */
	struct ab_layer_mounts layers;
};

struct ab_plan {
	struct ab_mount *v; /* parents before children, each path once */
	size_t len;
};

void ab_plan_make(const struct ab_facts *facts, struct ab_plan *ret);
void ab_plan_fini(struct ab_plan *plan);
/* Take the layers that the plan has an entry for from the facts it was made of, and fill in their
 * `parents`: parents before children. */
void ab_plan_take_layers(const struct ab_plan *plan, struct ab_facts *facts,
			 struct ab_layer_mounts *ret);

/* The operation that applies to `path`: the deepest one at or above it; NULL if
 * that is only the read-only root. */
const struct ab_mount *ab_plan_find(const struct ab_plan *plan, const char *path);
/* The operation on `path` itself, or NULL. */
const struct ab_mount *ab_plan_at(const struct ab_plan *plan, const char *path);
/* Does the box see the host's file at this path? */
bool ab_plan_shows(const struct ab_plan *plan, bool hidden_root, const char *path);

/*
 * A repository whose configuration and hooks are closed: a new configuration file is prepared in
 * hooks, where the box cannot reach it (guard/walls/git_files.h). Is entry i one of its folders?
 */
enum ab_stage {
	AB_STAGE_NONE,
	AB_STAGE_TOP,	/* ".git", pinned */
	AB_STAGE_HOOKS, /* hooks; it follows its TOP, if there is one */
};
enum ab_stage ab_plan_stage(const struct ab_plan *plan, size_t i);
