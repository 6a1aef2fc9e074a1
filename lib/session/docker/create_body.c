/*
 * Theory of operation.
 *
 * Two tables name the fields of a container (Config and HostConfig of Docker's API 1.24 to 1.47).
 * Everything that gives a container something of the host is either refused or decided by the
 * settings; everything else that is harmless is copied. Then the filter adds what every container
 * must have. Nothing is passed on that no table names: a field of a newer API is refused by its
 * name, and a name in other letters, which the engine would read all the same, is such a field.
 */
#include "session/docker/create_body.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "base/data/strv.h"
#include "base/text/ascii.h"
#include "session/docker/body_fields.h"
#include "session/docker/body_mounts.h"
#include "session/docker/refusal.h"

enum {
	PIDS_MAX = 4096, /* processes of a container; also if it asks for no limit */
	SECOND_NS = 1000000000,
};

#define NOTHING_OF_HOST "it would give the container something of the host"
#define HOST_NAMESPACE "containers have namespaces of their own"
#define OWN_LIMITS "the engine's default applies"

static const struct ab_create_terms *terms_of(const struct ab_body *body)
{
	return body->terms;
}

static struct ab_create_facts *facts_of(const struct ab_body *body)
{
	return body->facts;
}

int ab_create_check_image(const struct ab_strv *patterns, const char *name,
			  char ret_name[AB_IMAGE_MAX + 16], struct ab_refusal *why)
{
	ab_autofree char *brief = ab_image_short(name, false);
	const char *last = strrchr(name, '/');

	if (!brief)
		return ab_refuse(why, 400, "docker.images", "%.100s is not the name of an image",
				 name);
	for (size_t i = 0; i < patterns->len; i++) {
		if (!ab_image_matches(patterns->v[i], brief))
			continue;
		/* Always with a tag: without one, some requests mean all of them. */
		snprintf(ret_name, AB_IMAGE_MAX + 16, "%s%s", name,
			 strpbrk(last ? last : name, ":@") ? "" : ":latest");
		return 0;
	}
	return ab_refuse(why, 403, "docker.images", "the image %.200s is not in docker.images",
			 brief);
}

static int take_image(struct ab_body *body, const char *name, const json_t *value, json_t *to)
{
	struct ab_create_facts *facts = facts_of(body);
	const char *image = json_string_value(value);

	if (!image ||
	    ab_create_check_image(terms_of(body)->images, image, facts->image, body->why) < 0)
		return image ? -1
			     : ab_refuse(body->why, 400, "docker.images",
					 "the name of the image is missing");
	json_object_set_new(to, name, json_string(facts->image));
	return 0;
}

static int take_labels(struct ab_body *body, const char *name, const json_t *value, json_t *to)
{
	static const struct ab_field labels = { "Labels", AB_FIELD_TEXT_MAP };
	static const struct ab_fields fields = { "", &labels, 1 };
	const char *label;
	json_t *one, *whole = json_pack("{s:O}", name, value);
	int r;

	r = ab_fields_copy(body, &fields, whole, to);
	json_decref(whole);
	json_object_foreach((json_t *)(uintptr_t)value, label,
			    one) if (r == 0 && strncmp(label, "agentbox.", 9) == 0) r =
		ab_refuse(body->why, 403, "docker",
			  "the field Labels: names that begin with agentbox. are the filter's");
	return r;
}

static const struct ab_field health_fields[] = {
	{ "Test", AB_FIELD_TEXTS },
	{ "Interval", AB_FIELD_INT, .max = 86400LL * SECOND_NS },
	{ "Timeout", AB_FIELD_INT, .max = 86400LL * SECOND_NS },
	{ "StartPeriod", AB_FIELD_INT, .max = 86400LL * SECOND_NS },
	{ "StartInterval", AB_FIELD_INT, .max = 86400LL * SECOND_NS },
	{ "Retries", AB_FIELD_INT, .max = 1000 },
};

/* An object with fields of its own. */
static int take_object(struct ab_body *body, const struct ab_fields *fields, const char *name,
		       const json_t *value, json_t *to)
{
	json_t *object;
	int r;

	if (ab_body_is_empty(value))
		return 0;
	if (!json_is_object(value))
		return ab_refuse(body->why, 400, "docker", "%s is not an object", name);
	object = json_object();
	r = ab_fields_copy(body, fields, value, object);
	if (r == 0 && json_object_size(object))
		json_object_set(to, name, object);
	json_decref(object);
	return r;
}

static int take_health(struct ab_body *body, const char *name, const json_t *value, json_t *to)
{
	static const struct ab_fields fields = { "Healthcheck.", health_fields,
						 AB_COUNT(health_fields) };

	return take_object(body, &fields, name, value, to);
}

static const struct ab_field restart_fields[] = {
	{ "Name", AB_FIELD_WORD, .words = "no",
	  .why = "the engine would start the container again without the filter" },
	{ "MaximumRetryCount", AB_FIELD_EMPTY, .why = OWN_LIMITS },
};

static int take_restart(struct ab_body *body, const char *name, const json_t *value, json_t *to)
{
	static const struct ab_fields fields = { "HostConfig.RestartPolicy.", restart_fields,
						 AB_COUNT(restart_fields) };
	json_t *unused = json_object();
	int r = take_object(body, &fields, name, value, unused);

	(void)to;
	json_decref(unused);
	return r;
}

static const struct ab_field log_fields[] = {
	{ "Type", AB_FIELD_WORD, .words = "json-file local k8s-file none",
	  .why = "the engine would send the output somewhere" },
	{ "Config", AB_FIELD_EMPTY, .why = "the engine's own settings apply" },
};

static int take_log(struct ab_body *body, const char *name, const json_t *value, json_t *to)
{
	static const struct ab_fields fields = { "HostConfig.LogConfig.", log_fields,
						 AB_COUNT(log_fields) };

	return take_object(body, &fields, name, value, to);
}

static int take_network(struct ab_body *body, const char *name, const json_t *value, json_t *to)
{
	const char *mode = json_is_null(value) ? "" : json_string_value(value);
	bool bridge = terms_of(body)->bridge;

	if (!mode)
		return ab_refuse(body->why, 400, "docker",
				 "the field HostConfig.%s is not a string", name);
	if (strcmp(mode, "none") == 0)
		bridge = false;
	else if (strcmp(mode, "bridge") == 0 && !bridge)
		return ab_refuse(body->why, 403, "docker.network",
				 "the field HostConfig.%s: docker.network is \"none\"", name);
	else if (*mode && strcmp(mode, "default") != 0 && strcmp(mode, "bridge") != 0)
		return ab_refuse(
			body->why, 403, "docker",
			"the field HostConfig.%s: %.80s; containers have the network \"none\"%s",
			name, mode, bridge ? " or \"bridge\"" : "");
	json_object_set_new(to, name, json_string(bridge ? "bridge" : "none"));
	return 0;
}

/* "no-new-privileges" is what every container gets. */
static int take_security(struct ab_body *body, const char *name, const json_t *value, json_t *to)
{
	const json_t *one;
	size_t i;

	(void)to;
	if (!json_is_array(value) && !ab_body_is_empty(value))
		return ab_refuse(body->why, 400, "docker", "the field HostConfig.%s is not a list",
				 name);
	json_array_foreach(value, i, one)
	{
		const char *option = json_string_value(one);

		if (!option || (strcmp(option, "no-new-privileges") != 0 &&
				strcmp(option, "no-new-privileges:true") != 0 &&
				strcmp(option, "no-new-privileges=true") != 0))
			return ab_refuse(
				body->why, 403, "docker",
				"the field HostConfig.%s: %.80s; only no-new-privileges is allowed",
				name, option ? option : "?");
	}
	return 0;
}

static int take_binds(struct ab_body *body, const char *name, const json_t *value, json_t *to)
{
	(void)name;
	return ab_body_binds(body, terms_of(body), value, to, &facts_of(body)->mounts);
}

static int take_mounts(struct ab_body *body, const char *name, const json_t *value, json_t *to)
{
	(void)name;
	return ab_body_mounts(body, terms_of(body), value, to, &facts_of(body)->mounts);
}

static int take_ports(struct ab_body *body, const char *name, const json_t *value, json_t *to)
{
	(void)name;
	return ab_body_ports(body, terms_of(body), value, to);
}

static int take_tmpfs(struct ab_body *body, const char *name, const json_t *value, json_t *to)
{
	(void)name;
	return ab_body_tmpfs(body, value, to);
}

static int take_volumes(struct ab_body *body, const char *name, const json_t *value, json_t *to)
{
	return ab_body_volumes(body, name, value, to);
}

static int take_ulimits(struct ab_body *body, const char *name, const json_t *value, json_t *to)
{
	static const struct ab_field limit_fields[] = {
		{ "Name", AB_FIELD_WORD, .words = "nofile nproc core",
		  .why = "only nofile, nproc and core are allowed" },
		{ "Soft", AB_FIELD_INT, .max = 1 << 20 },
		{ "Hard", AB_FIELD_INT, .max = 1 << 20 },
	};
	static const struct ab_fields fields = { "HostConfig.Ulimits.", limit_fields,
						 AB_COUNT(limit_fields) };
	json_t *list, *one;
	size_t i;
	int r = 0;

	if (ab_body_is_empty(value))
		return 0;
	if (!json_is_array(value) || json_array_size(value) > 16)
		return ab_refuse(body->why, 400, "docker",
				 "the field HostConfig.%s is not a short list", name);
	list = json_array();
	json_array_foreach(value, i, one)
	{
		json_t *limit = json_object();

		r = json_is_object(one) ? ab_fields_copy(body, &fields, one, limit)
					: ab_refuse(body->why, 400, "docker",
						    "the field HostConfig.%s: not an object", name);
		json_array_append_new(list, limit);
		if (r < 0)
			break;
	}
	if (r == 0)
		json_object_set(to, name, list);
	json_decref(list);
	return r;
}

/* clang-format off */
static const struct ab_field host_fields[] = {
	{ "NetworkMode", AB_FIELD_OWN, .take = take_network },
	{ "Binds", AB_FIELD_OWN, .take = take_binds },
	{ "Mounts", AB_FIELD_OWN, .take = take_mounts },
	{ "PortBindings", AB_FIELD_OWN, .take = take_ports },
	{ "Tmpfs", AB_FIELD_OWN, .take = take_tmpfs },
	{ "RestartPolicy", AB_FIELD_OWN, .take = take_restart },
	{ "LogConfig", AB_FIELD_OWN, .take = take_log },
	{ "SecurityOpt", AB_FIELD_OWN, .take = take_security },
	{ "Ulimits", AB_FIELD_OWN, .take = take_ulimits },
	{ "AutoRemove", AB_FIELD_BOOL },
	{ "ReadonlyRootfs", AB_FIELD_BOOL },
	{ "Init", AB_FIELD_BOOL },
	{ "CapDrop", AB_FIELD_IGNORED }, /* all of them are */
	{ "ConsoleSize", AB_FIELD_IGNORED },
	{ "Memory", AB_FIELD_INT, .max = 1LL << 50 },
	{ "MemoryReservation", AB_FIELD_INT, .max = 1LL << 50 },
	{ "MemorySwap", AB_FIELD_INT, .min = -1, .max = 1LL << 50 },
	{ "MemorySwappiness", AB_FIELD_IGNORED },
	{ "ShmSize", AB_FIELD_INT, .max = 1LL << 40 },
	{ "NanoCpus", AB_FIELD_INT, .max = 1LL << 50 },
	{ "CpuShares", AB_FIELD_INT, .max = 1 << 18 },
	{ "CpuPeriod", AB_FIELD_INT, .max = 1000000 },
	{ "CpuQuota", AB_FIELD_INT, .min = -1, .max = 1LL << 40 },
	{ "PidsLimit", AB_FIELD_INT, .min = -1, .max = 1LL << 40 },
	{ "OomScoreAdj", AB_FIELD_INT, .max = 1000,
		.why = "it would protect the container from the host's memory limit" },
	{ "Dns", AB_FIELD_TEXTS },
	{ "DnsOptions", AB_FIELD_TEXTS },
	{ "DnsSearch", AB_FIELD_TEXTS },
	{ "ExtraHosts", AB_FIELD_TEXTS },
	{ "IpcMode", AB_FIELD_WORD, .words = "private none", .why = HOST_NAMESPACE },
	{ "PidMode", AB_FIELD_WORD, .words = "private", .why = HOST_NAMESPACE },
	{ "UTSMode", AB_FIELD_WORD, .words = "private", .why = HOST_NAMESPACE },
	{ "CgroupnsMode", AB_FIELD_WORD, .words = "private", .why = HOST_NAMESPACE },
	{ "Isolation", AB_FIELD_WORD, .words = "default", .why = "the engine's default applies" },
	{ "UsernsMode", AB_FIELD_EMPTY, .why = "the engine's user namespace applies" },
	{ "Privileged", AB_FIELD_EMPTY, .why = NOTHING_OF_HOST },
	{ "CapAdd", AB_FIELD_EMPTY, .why = "containers have no capabilities",
		.rule = "docker.capabilities" },
	{ "Capabilities", AB_FIELD_EMPTY, .why = "containers have no capabilities" },
	{ "Devices", AB_FIELD_EMPTY, .why = NOTHING_OF_HOST },
	{ "DeviceCgroupRules", AB_FIELD_EMPTY, .why = NOTHING_OF_HOST },
	{ "DeviceRequests", AB_FIELD_EMPTY, .why = NOTHING_OF_HOST },
	{ "GroupAdd", AB_FIELD_EMPTY, .why = "groups of the host can have rights to files" },
	{ "Sysctls", AB_FIELD_EMPTY, .why = "settings of the kernel stay as they are" },
	{ "CgroupParent", AB_FIELD_EMPTY, .why = NOTHING_OF_HOST },
	{ "Cgroup", AB_FIELD_EMPTY, .why = NOTHING_OF_HOST },
	{ "VolumesFrom", AB_FIELD_EMPTY, .why = "another container's mounts are not this one's" },
	{ "VolumeDriver", AB_FIELD_EMPTY, .why = NOTHING_OF_HOST },
	{ "StorageOpt", AB_FIELD_EMPTY, .why = OWN_LIMITS },
	{ "Runtime", AB_FIELD_EMPTY, .why = "another runtime may not confine the container" },
	{ "PublishAllPorts", AB_FIELD_EMPTY, .why = "ports are published one by one" },
	{ "Links", AB_FIELD_EMPTY, .why = "other containers are not this one's" },
	{ "ContainerIDFile", AB_FIELD_EMPTY, .why = NOTHING_OF_HOST },
	{ "OomKillDisable", AB_FIELD_EMPTY, .why = "the host may end the container" },
	{ "MaskedPaths", AB_FIELD_EMPTY, .why = "the engine's list applies" },
	{ "ReadonlyPaths", AB_FIELD_EMPTY, .why = "the engine's list applies" },
	{ "Annotations", AB_FIELD_EMPTY, .why = "runtimes obey some of them" },
};

static const struct ab_fields host_config = { "HostConfig.", host_fields, AB_COUNT(host_fields) };

static int take_host(struct ab_body *body, const char *name, const json_t *value, json_t *to);

static const struct ab_field config_fields[] = {
	{ "Image", AB_FIELD_OWN, .take = take_image },
	{ "HostConfig", AB_FIELD_OWN, .take = take_host },
	{ "Labels", AB_FIELD_OWN, .take = take_labels },
	{ "Healthcheck", AB_FIELD_OWN, .take = take_health },
	{ "Volumes", AB_FIELD_OWN, .take = take_volumes },
	{ "Cmd", AB_FIELD_TEXTS },
	{ "Entrypoint", AB_FIELD_TEXTS },
	{ "Shell", AB_FIELD_TEXTS },
	{ "Env", AB_FIELD_TEXTS },
	{ "User", AB_FIELD_TEXT },
	{ "WorkingDir", AB_FIELD_TEXT },
	{ "Hostname", AB_FIELD_TEXT },
	{ "Domainname", AB_FIELD_TEXT },
	{ "StopSignal", AB_FIELD_TEXT },
	{ "StopTimeout", AB_FIELD_INT, .min = -1, .max = 86400 },
	{ "ExposedPorts", AB_FIELD_SET },
	{ "AttachStdin", AB_FIELD_BOOL },
	{ "AttachStdout", AB_FIELD_BOOL },
	{ "AttachStderr", AB_FIELD_BOOL },
	{ "Tty", AB_FIELD_BOOL },
	{ "OpenStdin", AB_FIELD_BOOL },
	{ "StdinOnce", AB_FIELD_BOOL },
	{ "NetworkDisabled", AB_FIELD_BOOL },
	{ "ArgsEscaped", AB_FIELD_IGNORED },
	{ "NetworkingConfig", AB_FIELD_EMPTY, .why = "the filter has no networks of its own" },
	{ "MacAddress", AB_FIELD_EMPTY, .why = "the engine chooses the address" },
	{ "OnBuild", AB_FIELD_EMPTY, .why = "the filter does not build images" },
};
/* clang-format on */

static const struct ab_fields container_config = { "", config_fields, AB_COUNT(config_fields) };

static int take_host(struct ab_body *body, const char *name, const json_t *value, json_t *to)
{
	json_t *host = json_object();

	json_object_set_new(to, name, host);
	if (json_is_null(value))
		return 0;
	if (!json_is_object(value))
		return ab_refuse(body->why, 400, "docker", "%s is not an object", name);
	return ab_fields_copy(body, &host_config, value, host);
}

/* The smaller of two limits; 0, and less, is none. */
static void limit_field(json_t *host, const char *name, uint64_t most)
{
	json_int_t asked = json_integer_value(json_object_get(host, name));

	if (most && (asked <= 0 || (uint64_t)asked > most))
		json_object_set_new(host, name, json_integer((json_int_t)most));
}

/* What every container has, whatever was asked for. */
static int add_walls(struct ab_body *body, json_t *config)
{
	const struct ab_create_terms *terms = terms_of(body);
	bool mounts = facts_of(body)->mounts;
	json_t *host = json_object_get(config, "HostConfig"),
	       *labels = json_object_get(config, "Labels");
	const char *user = json_string_value(json_object_get(config, "User"));

	if (!host) {
		host = json_object();
		json_object_set_new(config, "HostConfig", host);
	}
	if (!labels) {
		labels = json_object();
		json_object_set_new(config, "Labels", labels);
	}
	if (mounts && user && strcmp(user, terms->user) != 0)
		return ab_refuse(body->why, 403, "docker.mounts",
				 "the field User: a container with a mount runs as %s",
				 terms->user);
	if (mounts)
		json_object_set_new(config, "User", json_string(terms->user));
	json_object_set_new(labels, AB_CONTAINER_LABEL, json_string(terms->run));
	if (!json_object_get(host, "NetworkMode"))
		json_object_set_new(host, "NetworkMode",
				    json_string(terms->bridge ? "bridge" : "none"));
	if (!json_object_get(host, "IpcMode"))
		json_object_set_new(host, "IpcMode", json_string("private"));
	json_object_set_new(host, "CgroupnsMode", json_string("private"));
	json_object_set_new(host, "Privileged", json_false());
	json_object_set_new(host, "CapDrop", json_pack("[s]", "ALL"));
	if (terms->setup_caps && !mounts)
		json_object_set_new(host, "CapAdd",
				    json_pack("[sssss]", "CHOWN", "DAC_OVERRIDE", "FOWNER",
					      "SETGID", "SETUID"));
	json_object_set_new(host, "SecurityOpt", json_pack("[s]", "no-new-privileges"));
	limit_field(host, "PidsLimit", PIDS_MAX);
	limit_field(host, "Memory", terms->memory);
	return 0;
}

static int dump_body(const json_t *body, struct ab_buf *ret, struct ab_refusal *why)
{
	ab_autofree char *text = json_dumps(body, JSON_COMPACT | JSON_ENSURE_ASCII);

	if (!text)
		return ab_refuse(why, 400, "docker", "the body cannot be written");
	ab_buf_puts(ret, text);
	return 0;
}

int ab_create_body(const char *text, size_t len, const struct ab_create_terms *terms,
		   struct ab_buf *ret, struct ab_create_facts *ret_facts, struct ab_refusal *why)
{
	struct ab_body body = { .terms = terms, .facts = ret_facts, .why = why };
	json_t *from, *to;
	int r;

	*ret_facts = (struct ab_create_facts){ 0 };
	from = ab_body_read(text, len, why);
	if (!from)
		return -1;
	to = json_object();
	r = ab_fields_copy(&body, &container_config, from, to);
	if (r == 0 && !ret_facts->image[0])
		r = ab_refuse(why, 400, "docker.images", "the name of the image is missing");
	if (r == 0)
		r = add_walls(&body, to);
	if (r == 0)
		r = dump_body(to, ret, why);
	json_decref(from);
	json_decref(to);
	return r;
}

static const struct ab_field exec_fields[] = {
	{ "Cmd", AB_FIELD_TEXTS },
	{ "Env", AB_FIELD_TEXTS },
	{ "User", AB_FIELD_TEXT },
	{ "WorkingDir", AB_FIELD_TEXT },
	{ "DetachKeys", AB_FIELD_TEXT },
	{ "AttachStdin", AB_FIELD_BOOL },
	{ "AttachStdout", AB_FIELD_BOOL },
	{ "AttachStderr", AB_FIELD_BOOL },
	{ "Tty", AB_FIELD_BOOL },
	{ "Detach", AB_FIELD_BOOL },
	{ "ConsoleSize", AB_FIELD_IGNORED },
	{ "Privileged", AB_FIELD_EMPTY, .why = NOTHING_OF_HOST },
	{ "Container", AB_FIELD_IGNORED },
};

/* One of the bodies about a command in a container. */
static int check_exec(const char *text, size_t len, const struct ab_fields *fields,
		      const char *user, struct ab_buf *ret, struct ab_refusal *why)
{
	struct ab_body body = { .why = why };
	json_t *from = ab_body_read(text, len, why), *to;
	const char *asked;
	int r;

	if (!from)
		return -1;
	to = json_object();
	r = ab_fields_copy(&body, fields, from, to);
	asked = json_string_value(json_object_get(to, "User"));
	if (r == 0 && user && asked && strcmp(asked, user) != 0)
		r = ab_refuse(why, 403, "docker.mounts",
			      "the field User: a command in a container with a mount runs as %s",
			      user);
	if (r == 0 && user)
		json_object_set_new(to, "User", json_string(user));
	if (r == 0)
		r = dump_body(to, ret, why);
	json_decref(from);
	json_decref(to);
	return r;
}

int ab_exec_body(const char *text, size_t len, const char *user, struct ab_buf *ret,
		 struct ab_refusal *why)
{
	static const struct ab_fields fields = { "", exec_fields, AB_COUNT(exec_fields) };

	return check_exec(text, len, &fields, user, ret, why);
}

int ab_exec_start_body(const char *text, size_t len, struct ab_buf *ret, struct ab_refusal *why)
{
	static const struct ab_field start_fields[] = {
		{ "Detach", AB_FIELD_BOOL },
		{ "Tty", AB_FIELD_BOOL },
		{ "ConsoleSize", AB_FIELD_IGNORED },
	};
	static const struct ab_fields fields = { "", start_fields, AB_COUNT(start_fields) };

	return check_exec(len ? text : "{}", len ? len : 2, &fields, NULL, ret, why);
}
