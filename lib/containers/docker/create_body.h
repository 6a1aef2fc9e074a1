#pragma once
/*
 * The body of a request that creates a container, or runs a command in one: hostile JSON in, the
 * JSON for the engine out. The result has only fields of a table with checked values, and what the
 * filter adds: the label of the run, no capabilities, no new privileges, namespaces of its own, no
 * network unless the settings say otherwise, limits. Pure.
 */
#include "policy/values/image.h"

struct ab_refusal;

/* On every container; its value is the id of the run. */
#define AB_CONTAINER_LABEL "agentbox.run"

enum { AB_ENGINE_BODY_MAX = 1 << 20 };

struct ab_mount_source {  /* a folder that a container may have */
	const char *path; /* as the box names it */
	const char *real; /* as the host does */
	dev_t dev;
	ino_t ino;
};

struct ab_create_terms {
	const char *run;	      /* its id */
	const struct ab_strv *images; /* patterns */
	const struct ab_mount_source *mounts;
	size_t nmounts;
	const char *user; /* "UID:GID" of the caller in a container: for those with mounts */
	bool bridge, publish, setup_caps; /* as in the policy */
	uint64_t memory;		  /* the most that a container may use; 0: no limit */
};

struct ab_create_facts {
	char image[AB_IMAGE_MAX + 16]; /* as the engine is told */
	bool mounts;		       /* it has folders of the host */
};

int ab_create_body(const char *text, size_t len, const struct ab_create_terms *terms,
		   struct ab_buf *ret, struct ab_create_facts *ret_facts, struct ab_refusal *why);
/* A command in a container; `user`: the only one that is allowed, or NULL. */
int ab_exec_body(const char *text, size_t len, const char *user, struct ab_buf *ret,
		 struct ab_refusal *why);
/* Its start. An empty body is allowed. Detached: the engine does not connect the client with it. */
int ab_exec_start_body(const char *text, size_t len, struct ab_buf *ret, bool *ret_detached,
		       struct ab_refusal *why);

/* Is the image allowed? -1: refused, else *ret_name is the name for the engine. */
int ab_create_check_image(const struct ab_strv *patterns, const char *name,
			  char ret_name[AB_IMAGE_MAX + 16], struct ab_refusal *why);
