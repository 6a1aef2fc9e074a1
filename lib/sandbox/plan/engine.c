#include "sandbox/plan/engine.h"

#include "sandbox/plan/spec.h"

const struct ab_box_engine_traits ab_box_engines[AB_ENGINE_COUNT] = {
	[AB_ENGINE_FULL] = {
		.name = "full",
		.namespaces = true,
		.new_proc = true,
		.seals_user_ns = true,
		.without = "",
		.better = "",
	},
	/*
	 * The container around us covers parts of /proc, so the kernel mounts no new one. The pid
	 * namespace is the box's own nevertheless: only with it do signals, limits and priorities
	 * stay inside on every kernel, and does every process of the box end with init. The numbers
	 * in the shared /proc are those of the container. So its processes are not listed where ps
	 * and pkill look: they would take one number for another.
	 */
	[AB_ENGINE_SHARED_PROC] = {
		.name = "shared-proc",
		.namespaces = true,
		.lacks = AB_PROP_BIT(AB_PROP_PID_VIEW),
		.without = "the command can read names, arguments, mounts, limits and sockets of "
			   "processes outside, below " AB_SHARED_PROC
			   "; ps and pkill find no processes",
		.better = AB_ENGINE_UNMASK,
	},
	/*
	 * The machine creates no namespaces at all, as in a container with Docker's default filter.
	 * Landlock says which files can be read and written, the filter which calls can be made, and
	 * the guard makes what neither can judge. What needs a mount is not there.
	 */
	[AB_ENGINE_NO_NAMESPACES] = {
		.name = "no-namespaces",
		.lacks = AB_PROP_BIT(AB_PROP_USER_NS) | AB_PROP_BIT(AB_PROP_PID_VIEW) |
			 AB_PROP_BIT(AB_PROP_PROTECTED_NAMES),
		.spares = AB_PROP_BIT(AB_PROP_PID_FENCE) | AB_PROP_BIT(AB_PROP_READ_DENY) |
			  AB_PROP_BIT(AB_PROP_IPC_FENCE),
		.without = "no private /tmp (TMPDIR is a folder of its own), no home layer; processes "
			   "outside and names in hidden folders can be seen; protected files in "
			   "writable folders can be changed",
		.better = AB_ENGINE_NAMESPACES,
	},
};

const char *const ab_box_devices[AB_DEVICES] = {
	"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty",
};

const struct ab_container_remedy ab_container_remedies[AB_NEED_COUNT] = {
	[AB_NEED_NOTHING] = { "", "", "", "" },
	[AB_NEED_UNMASKED] = { "with unmasked system paths", AB_UNMASK_DOCKER, AB_UNMASK_PODMAN,
			       AB_UNMASK_KUBERNETES },
	[AB_NEED_UNFILTERED] = { "with a profile that allows user namespaces and mounts",
				 AB_UNFILTER_OPTION, AB_UNFILTER_OPTION, AB_UNFILTER_KUBERNETES },
	[AB_NEED_SETFCAP] = { "with the capability that root needs, or as another user",
			      AB_SETFCAP_OPTION, AB_SETFCAP_OPTION, AB_SETFCAP_KUBERNETES },
};

uint32_t ab_box_engine_reports(enum ab_box_engine engine)
{
	return ab_box_engines[engine].lacks | ab_box_engines[engine].spares;
}

uint32_t ab_box_engine_tells(enum ab_box_engine engine, const struct ab_spec *spec)
{
	uint32_t bits = spec->require | ab_box_engine_reports(engine);

	return spec->readable && *spec->readable ? bits | AB_PROP_BIT(AB_PROP_READ_DENY) : bits;
}

const char *ab_box_engine_word(enum ab_box_engine engine)
{
	return engine < AB_ENGINE_COUNT ? ab_box_engines[engine].name : "auto";
}

enum ab_box_engine ab_box_engine_find(const char *word)
{
	const struct ab_box_engine_traits *found =
		ab_find_row(ab_box_engines, AB_ENGINE_COUNT, name, word);

	return found ? (enum ab_box_engine)(found - ab_box_engines) : AB_ENGINE_AUTO;
}
