#pragma once
/*
 * The engines: what a box is built of where the machine does not allow everything. One table, which
 * the launch, the proof, the messages and the doctor read.
 *
 * An engine is chosen by building it. Init begins with the best one that the policy permits, and
 * steps down when the machine refuses what it needs (sandbox/start/init.c). The proof then tries
 * every guarantee, whatever the table says.
 */
#include "base/base.h"
#include "policy/model/policy.h"

struct ab_box_engine_traits {
	const char *name;
	bool namespaces;    /* and mounts; else Landlock, the filter and the guard alone */
	bool new_proc;	    /* /proc is new; else the one outside is shared, read-only */
	bool seals_user_ns; /* the kernel forbids more user namespaces; else only the filter does */
	uint32_t lacks;	    /* guarantees that it cannot give: AB_PROP_BIT()s */
	uint32_t spares;    /* and those that depend on the machine and the files there: the default
			     * profile does without them, and it is said if they do not hold */
	const char *without; /* what that means; "" if it lacks nothing */
	const char *better;  /* what gives the next better engine; "" if this is the best */
};

/* Best first. */
extern const struct ab_box_engine_traits ab_box_engines[AB_ENGINE_COUNT];

/* What the engine no-namespaces needs: an ABI that fences truncation too, on a kernel whose other
 * parts are of the same age. */
enum { AB_ENGINE_LANDLOCK = 4 };

struct ab_spec;

/* The guarantees whose absence is reported even if nobody requires them. */
uint32_t ab_box_engine_reports(enum ab_box_engine engine);
/* These, the required ones, and read-deny where a hidden file can be read under another name. */
uint32_t ab_box_engine_tells(enum ab_box_engine engine, const struct ab_spec *spec);
/* "auto", or the name of an engine. */
const char *ab_box_engine_word(enum ab_box_engine engine);
/* The engine of this word; AB_ENGINE_AUTO if it is none. */
enum ab_box_engine ab_box_engine_find(const char *word);

/* The devices of every box: their paths. */
#define AB_DEVICES 6
extern const char *const ab_box_devices[AB_DEVICES];

/* In a shared /proc: where the processes outside are, and the box's own under the numbers that they
 * have there. */
#define AB_SHARED_PROC_NAME ".shared"
#define AB_SHARED_PROC "/proc/" AB_SHARED_PROC_NAME

/* What a container needs: for each cause the words of each runtime. */
enum ab_container_need {
	AB_NEED_NOTHING,
	AB_NEED_UNMASKED,   /* a /proc that nothing covers */
	AB_NEED_UNFILTERED, /* a filter that allows namespaces and mounts */
	AB_NEED_SETFCAP,    /* a capability, without which root cannot map itself */
	AB_NEED_COUNT,
};

struct ab_container_remedy {
	const char *does; /* "" or what it means, for "start the container ..." */
	const char *docker, *podman, *kubernetes;
};
extern const struct ab_container_remedy ab_container_remedies[AB_NEED_COUNT];

#define AB_UNMASK_DOCKER "--security-opt systempaths=unconfined"
#define AB_UNMASK_PODMAN "--security-opt unmask=ALL"
#define AB_UNMASK_KUBERNETES "hostUsers: false and securityContext.procMount: Unmasked"
#define AB_UNFILTER_OPTION "--security-opt seccomp=unconfined"
#define AB_UNFILTER_KUBERNETES "securityContext.seccompProfile.type: Unconfined"
#define AB_SETFCAP_OPTION "--cap-add SETFCAP"
#define AB_SETFCAP_KUBERNETES "securityContext.capabilities.add: [SETFCAP]"

/* The same as one text, where the runtime is not known. */
#define AB_ENGINE_UNMASK                                                            \
	"start the container with unmasked system paths (Docker: " AB_UNMASK_DOCKER \
	"; Podman: " AB_UNMASK_PODMAN "; Kubernetes: " AB_UNMASK_KUBERNETES ")"
#define AB_ENGINE_UNFILTER                                                                         \
	"start the container with a profile that allows them (Docker, Podman: " AB_UNFILTER_OPTION \
	"; Kubernetes: " AB_UNFILTER_KUBERNETES ")"
#define AB_ENGINE_NAMESPACES                                                         \
	"start the container with a profile that allows user namespaces and mounts " \
	"(Docker, Podman: " AB_UNFILTER_OPTION "; Kubernetes: " AB_UNFILTER_KUBERNETES ")"
#define AB_ENGINE_SETFCAP                                                 \
	"start the container with it (Docker, Podman: " AB_SETFCAP_OPTION \
	"; Kubernetes: " AB_SETFCAP_KUBERNETES "), or as another user than root"
