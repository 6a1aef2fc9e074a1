/*
 * Theory of operation.
 *
 * Two tables name the fields of a container (Config and HostConfig of Docker's API 1.24 to 1.47).
 * Everything that gives a container something of the host is either refused or decided by the
 * settings; everything else that is harmless is copied. Then the filter adds what every container
 * must have. Nothing is passed on that no table names: a field of a newer API is refused by its
 * name, and a name in other letters, which the engine would read all the same, is such a field.
 */
#include "containers/docker/create_body.h"

#include "containers/docker/body_fields.h"
#include "containers/docker/body_mounts.h"
#include "containers/docker/refusal.h"

enum {
	PIDS_MAX = 4096, /* processes of a container; also if it asks for no limit */
	ULIMITS_MAX = 16,
	SECOND_NS = 1000000000,
};

#define NOTHING_OF_HOST "it would give the container something of the host"
#define HOST_NAMESPACE "containers have namespaces of their own"
#define OWN_LIMITS "the engine's default applies"

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
	struct ab_create_facts *facts = body->facts;
	const char *image = json_string_value(value);

	if (!image ||
	    ab_create_check_image(body->terms->images, image, facts->image, body->why) < 0)
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
	json_auto_t *whole = json_pack("{s:O}", name, value);
	json_t *one;

	if (ab_fields_copy(body, &fields, whole, to) < 0)
		return -1;
	json_object_foreach((json_t *)(uintptr_t)value, label, one)
	{
		if (strncmp(label, "agentbox.", 9) == 0)
			return ab_refuse(
				body->why, 403, "docker",
				"the field Labels: names that begin with agentbox. are the filter's");
	}
	return 0;
}

static const struct ab_field health_fields[] = {
	{ "Test", AB_FIELD_TEXTS },
	{ "Interval Timeout StartPeriod StartInterval", AB_FIELD_INT, .max = 86400LL * SECOND_NS },
	{ "Retries", AB_FIELD_INT, .max = 1000 },
};

static const struct ab_fields health = { "Healthcheck.", health_fields, AB_COUNT(health_fields) };

static const struct ab_field restart_fields[] = {
	{ "Name", AB_FIELD_WORD, .words = "no",
	  .why = "the engine would start the container again without the filter" },
	{ "MaximumRetryCount", AB_FIELD_EMPTY, .why = OWN_LIMITS },
};

static const struct ab_fields restart_policy = { "HostConfig.RestartPolicy.", restart_fields,
						 AB_COUNT(restart_fields) };

static const struct ab_field log_fields[] = {
	{ "Type", AB_FIELD_WORD, .words = "json-file local k8s-file none",
	  .why = "the engine would send the output somewhere" },
	{ "Config", AB_FIELD_EMPTY, .why = "the engine's own settings apply" },
};

static const struct ab_fields log_config = { "HostConfig.LogConfig.", log_fields,
					     AB_COUNT(log_fields) };

static int take_network(struct ab_body *body, const char *name, const json_t *value, json_t *to)
{
	const char *mode = json_is_null(value) ? "" : json_string_value(value);
	bool bridge = body->terms->bridge;

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
	const char *option = json_string_value(value);

	(void)to;
	if (strcmp(option, "no-new-privileges") == 0 ||
	    strcmp(option, "no-new-privileges:true") == 0 ||
	    strcmp(option, "no-new-privileges=true") == 0)
		return 0;
	return ab_refuse(body->why, 403, "docker",
			 "the field HostConfig.%s: %.80s; only no-new-privileges is allowed", name,
			 option);
}

static int take_ulimit(struct ab_body *body, const char *name, const json_t *value, json_t *to)
{
	static const struct ab_field limit_fields[] = {
		{ "Name", AB_FIELD_WORD, .words = "nofile nproc core",
		  .why = "only nofile, nproc and core are allowed" },
		{ "Soft Hard", AB_FIELD_INT, .max = 1 << 20 },
	};
	static const struct ab_fields fields = { "HostConfig.Ulimits.", limit_fields,
						 AB_COUNT(limit_fields) };
	json_t *limit = json_object();

	ab_body_append(to, name, limit);
	if (json_array_size(json_object_get(to, name)) > ULIMITS_MAX)
		return ab_refuse(body->why, 400, "docker",
				 "the field HostConfig.%s is not a short list", name);
	return ab_fields_copy(body, &fields, value, limit);
}

/* clang-format off */
static const struct ab_field host_fields[] = {
	{ "NetworkMode", AB_FIELD_OWN, .take = take_network },
	{ "Binds", AB_FIELD_EACH_TEXT, .take = ab_body_bind },
	{ "Mounts", AB_FIELD_EACH_OBJECT, .take = ab_body_mount },
	{ "PortBindings", AB_FIELD_EACH_MEMBER, .take = ab_body_port },
	{ "Tmpfs", AB_FIELD_EACH_MEMBER, .take = ab_body_tmpfs },
	{ "RestartPolicy", AB_FIELD_CHECKED, .fields = &restart_policy },
	{ "LogConfig", AB_FIELD_OBJECT, .fields = &log_config },
	{ "SecurityOpt", AB_FIELD_EACH_TEXT, .take = take_security },
	{ "Ulimits", AB_FIELD_EACH_OBJECT, .take = take_ulimit },
	{ "AutoRemove ReadonlyRootfs Init", AB_FIELD_BOOL },
	{ "CapDrop ConsoleSize MemorySwappiness", AB_FIELD_IGNORED }, /* all capabilities are dropped */
	{ "Memory MemoryReservation NanoCpus", AB_FIELD_INT, .max = 1LL << 50 },
	{ "MemorySwap", AB_FIELD_INT, .min = -1, .max = 1LL << 50 },
	{ "ShmSize", AB_FIELD_INT, .max = 1LL << 40 },
	{ "CpuShares", AB_FIELD_INT, .max = 1 << 18 },
	{ "CpuPeriod", AB_FIELD_INT, .max = 1000000 },
	{ "CpuQuota PidsLimit", AB_FIELD_INT, .min = -1, .max = 1LL << 40 },
	{ "OomScoreAdj", AB_FIELD_INT, .max = 1000,
	  .why = "it would protect the container from the host's memory limit" },
	{ "Dns DnsOptions DnsSearch ExtraHosts", AB_FIELD_TEXTS },
	{ "IpcMode", AB_FIELD_WORD, .words = "private none", .why = HOST_NAMESPACE },
	{ "PidMode UTSMode CgroupnsMode", AB_FIELD_WORD, .words = "private", .why = HOST_NAMESPACE },
	{ "Isolation", AB_FIELD_WORD, .words = "default", .why = "the engine's default applies" },
	{ "UsernsMode", AB_FIELD_EMPTY, .why = "the engine's user namespace applies" },
	{ "Privileged Devices DeviceCgroupRules DeviceRequests CgroupParent Cgroup "
	  "VolumeDriver ContainerIDFile",
	  AB_FIELD_EMPTY, .why = NOTHING_OF_HOST },
	{ "CapAdd", AB_FIELD_EMPTY, .why = "containers have no capabilities",
	  .rule = "docker.capabilities" },
	{ "Capabilities", AB_FIELD_EMPTY, .why = "containers have no capabilities" },
	{ "GroupAdd", AB_FIELD_EMPTY, .why = "groups of the host can have rights to files" },
	{ "Sysctls", AB_FIELD_EMPTY, .why = "settings of the kernel stay as they are" },
	{ "VolumesFrom", AB_FIELD_EMPTY, .why = "another container's mounts are not this one's" },
	{ "StorageOpt", AB_FIELD_EMPTY, .why = OWN_LIMITS },
	{ "Runtime", AB_FIELD_EMPTY, .why = "another runtime may not confine the container" },
	{ "PublishAllPorts", AB_FIELD_EMPTY, .why = "ports are published one by one" },
	{ "Links", AB_FIELD_EMPTY, .why = "other containers are not this one's" },
	{ "OomKillDisable", AB_FIELD_EMPTY, .why = "the host may end the container" },
	{ "MaskedPaths ReadonlyPaths", AB_FIELD_EMPTY, .why = "the engine's list applies" },
	{ "Annotations", AB_FIELD_EMPTY, .why = "runtimes obey some of them" },
};

static const struct ab_fields host_config = { "HostConfig.", host_fields, AB_COUNT(host_fields) };

static int take_host(struct ab_body *body, const char *name, const json_t *value, json_t *to);

static const struct ab_field config_fields[] = {
	{ "Image", AB_FIELD_OWN, .take = take_image },
	{ "HostConfig", AB_FIELD_OWN, .take = take_host },
	{ "Labels", AB_FIELD_OWN, .take = take_labels },
	{ "Healthcheck", AB_FIELD_OBJECT, .fields = &health },
	{ "Volumes", AB_FIELD_EACH_MEMBER, .take = ab_body_volume },
	{ "Cmd Entrypoint Shell Env", AB_FIELD_TEXTS },
	{ "User WorkingDir Hostname Domainname StopSignal", AB_FIELD_TEXT },
	{ "StopTimeout", AB_FIELD_INT, .min = -1, .max = 86400 },
	{ "ExposedPorts", AB_FIELD_SET },
	{ "AttachStdin AttachStdout AttachStderr Tty OpenStdin StdinOnce NetworkDisabled",
	  AB_FIELD_BOOL },
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

/* Add the members that are not there yet. Takes over `members`. */
static void add_missing(json_t *object, json_t *members)
{
	json_object_update_missing(object, members);
	json_decref(members);
}

/* What every container has, whatever was asked for. */
static int add_walls(struct ab_body *body, json_t *config)
{
	const struct ab_create_terms *terms = body->terms;
	bool mounts = body->facts->mounts;
	const char *user = json_string_value(json_object_get(config, "User"));
	json_t *host;

	if (!body->facts->image[0])
		return ab_refuse(body->why, 400, "docker.images",
				 "the name of the image is missing");
	add_missing(config, json_pack("{s:{}, s:{}}", "HostConfig", "Labels"));
	host = json_object_get(config, "HostConfig");
	if (mounts && user && strcmp(user, terms->user) != 0)
		return ab_refuse(body->why, 403, "docker.mounts",
				 "the field User: a container with a mount runs as %s",
				 terms->user);
	if (mounts)
		json_object_set_new(config, "User", json_string(terms->user));
	json_object_set_new(json_object_get(config, "Labels"), AB_CONTAINER_LABEL,
			    json_string(terms->run));
	add_missing(host, json_pack("{s:s, s:s}", "NetworkMode", terms->bridge ? "bridge" : "none",
				    "IpcMode", "private"));
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

/* Check a body with the table; `finish` adds the rest. */
static int check_body(const char *text, size_t len, const struct ab_fields *fields,
		      int (*finish)(struct ab_body *body, json_t *made), struct ab_body *body,
		      struct ab_buf *ret)
{
	json_auto_t *from = ab_body_read(text, len, body->why), *to = json_object();

	if (!from || ab_fields_copy(body, fields, from, to) < 0 || finish(body, to) < 0)
		return -1;
	return ab_body_write(to, ret) < 0
		       ? ab_refuse(body->why, 400, "docker", "the body cannot be written")
		       : 0;
}

int ab_create_body(const char *text, size_t len, const struct ab_create_terms *terms,
		   struct ab_buf *ret, struct ab_create_facts *ret_facts, struct ab_refusal *why)
{
	struct ab_body body = { .terms = terms, .facts = ret_facts, .why = why };

	*ret_facts = (struct ab_create_facts){ 0 };
	return check_body(text, len, &container_config, add_walls, &body, ret);
}

static const struct ab_field exec_fields[] = {
	{ "Cmd Env", AB_FIELD_TEXTS },
	{ "User WorkingDir DetachKeys", AB_FIELD_TEXT },
	{ "AttachStdin AttachStdout AttachStderr Tty", AB_FIELD_BOOL },
	/* The start of the command says whether it is detached. */
	{ "ConsoleSize Container Detach", AB_FIELD_IGNORED },
	{ "Privileged", AB_FIELD_EMPTY, .why = NOTHING_OF_HOST },
};

/* With the user as terms, if there is only one. */
static int set_user(struct ab_body *body, json_t *to)
{
	const char *asked = json_string_value(json_object_get(to, "User"));
	const char *user = body->terms->user;

	if (user && asked && strcmp(asked, user) != 0)
		return ab_refuse(body->why, 403, "docker.mounts",
				 "the field User: a command in a container with a mount runs as %s",
				 user);
	if (user)
		json_object_set_new(to, "User", json_string(user));
	return 0;
}

static int check_exec(const char *text, size_t len, const struct ab_fields *fields,
		      const char *user, struct ab_buf *ret, struct ab_refusal *why)
{
	const struct ab_create_terms terms = { .user = user };
	struct ab_body body = { .terms = &terms, .why = why };

	return check_body(text, len, fields, set_user, &body, ret);
}

int ab_exec_body(const char *text, size_t len, const char *user, struct ab_buf *ret,
		 struct ab_refusal *why)
{
	static const struct ab_fields fields = { "", exec_fields, AB_COUNT(exec_fields) };

	return check_exec(text, len, &fields, user, ret, why);
}

static const struct ab_field start_fields[] = {
	{ "Detach Tty", AB_FIELD_BOOL },
	{ "ConsoleSize", AB_FIELD_IGNORED },
};

int ab_exec_start_body(const char *text, size_t len, struct ab_buf *ret, bool *ret_detached,
		       struct ab_refusal *why)
{
	static const struct ab_fields fields = { "", start_fields, AB_COUNT(start_fields) };
	json_auto_t *made = NULL;

	if (check_exec(len ? text : "{}", len ? len : 2, &fields, NULL, ret, why) < 0)
		return -1;
	/* Of the body that the engine gets, not of the one that the box wrote. */
	made = json_loadb(ret->data, ret->len, 0, NULL);
	*ret_detached = !made || json_is_true(json_object_get(made, "Detach"));
	return 0;
}
