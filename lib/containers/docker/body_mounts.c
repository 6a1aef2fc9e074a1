#include "containers/docker/body_mounts.h"

#include "base/text/units.h"
#include "base/text/words.h"
#include "containers/docker/body_fields.h"
#include "containers/docker/create_body.h"
#include "containers/docker/refusal.h"

enum { PATH_SHOWN = 160, TARGET_MAX = 1024 };

#define RULE "docker.mounts"

/* A place in a container: clean, and not one that the engine makes itself. */
static int check_target(struct ab_body *body, const char *path)
{
	static const char *const own[] = { "/proc", "/sys", "/dev" };
	const char *why = NULL;

	if (!path || path[0] != '/' || strlen(path) > TARGET_MAX || !path[1] ||
	    strstr(path, "//") || strstr(path, "/./") || strstr(path, "/../") || strchr(path, ':'))
		why = "is not a clean absolute path";
	for (const char *p = path; !why && p; p = strchr(p + 1, '/'))
		if (strcmp(p, "/.") == 0 || strcmp(p, "/..") == 0)
			why = "is not a clean absolute path";
	for (size_t i = 0; !why && i < AB_COUNT(own); i++)
		if (ab_path_within(path, own[i]))
			why = "is the engine's own";
	return why ? ab_refuse(body->why, 403, "docker", "the place %.*s in the container %s",
			       PATH_SHOWN, path ? path : "", why)
		   : 0;
}

static int add_mount(struct ab_body *body, json_t *to, json_t *mount)
{
	ab_body_append(to, "Mounts", mount);
	if (json_array_size(json_object_get(to, "Mounts")) > AB_MEMBERS_MAX)
		return ab_refuse(body->why, 403, "docker", "more than %d mounts", AB_MEMBERS_MAX);
	return 0;
}

/* Add a folder of the host. */
static int add_folder(struct ab_body *body, const char *source, const char *target, bool read_only,
		      json_t *to)
{
	const struct ab_create_terms *terms = body->terms;
	const char *real = NULL;

	if (check_target(body, target) < 0)
		return -1;
	for (size_t i = 0; i < terms->nmounts && !real; i++)
		if (strcmp(source, terms->mounts[i].path) == 0 ||
		    strcmp(source, terms->mounts[i].real) == 0)
			real = terms->mounts[i].real;
	if (!real)
		return ab_refuse(body->why, 403, RULE,
				 "the folder %.*s is not one of docker.mounts", PATH_SHOWN, source);
	if (!read_only)
		return ab_refuse(body->why, 403, RULE,
				 "the mount of %.*s is not read-only (:ro): the container could "
				 "write files that programs outside obey",
				 PATH_SHOWN, source);
	body->facts->mounts = true;
	return add_mount(body, to,
			 json_pack("{s:s, s:s, s:s, s:b, s:{s:s}}", "Type", "bind", "Source", real,
				   "Target", target, "ReadOnly", 1, "BindOptions", "Propagation",
				   "rprivate"));
}

static int refuse_named(struct ab_body *body, const char *volume)
{
	return ab_refuse(body->why, 403, "docker", "%.*s is a named volume, which outlives the run",
			 PATH_SHOWN, volume);
}

/* "ro,rprivate": false if there is another one. */
static bool read_options(const char *s, bool *ret_read_only)
{
	*ret_read_only = false;
	while (*s) {
		size_t n = strcspn(s, ",");

		if (n == 2 && memcmp(s, "ro", n) == 0)
			*ret_read_only = true;
		else if (!ab_word_listed("rw private rprivate", s, n))
			return false;
		s += n + (s[n] == ',');
	}
	return true;
}

/* "SOURCE:TARGET[:OPTIONS]" */
int ab_body_bind(struct ab_body *body, const char *name, const json_t *value, json_t *to)
{
	ab_autofree char *source = ab_strdup(json_string_value(value));
	char *target = strchr(source, ':'), *options = target ? strchr(target + 1, ':') : NULL;
	bool read_only = false;

	(void)name;
	if (target)
		*target++ = '\0';
	if (options)
		*options++ = '\0';
	if (source[0] != '/')
		return refuse_named(body, source);
	if (!target)
		return ab_refuse(body->why, 400, "docker",
				 "the field Binds: %.*s has no place in the container", PATH_SHOWN,
				 source);
	if (options && !read_options(options, &read_only))
		return ab_refuse(body->why, 403, "docker",
				 "the field Binds: the filter does not allow the options %.40s",
				 options);
	return add_folder(body, source, target, read_only, to);
}

static const struct ab_field bind_options[] = {
	{ "Propagation", AB_FIELD_WORD, .words = "private rprivate",
	  .why = "mounts of the container must not reach the host" },
	{ "NonRecursive", AB_FIELD_BOOL },
	{ "CreateMountpoint", AB_FIELD_EMPTY, .why = "the engine would write on the host" },
};

static const struct ab_field tmpfs_options[] = {
	{ "SizeBytes", AB_FIELD_INT, .max = 1LL << 40 },
	{ "Mode", AB_FIELD_INT, .max = 01777 },
};

static const struct ab_fields bind_fields = { "HostConfig.Mounts.", bind_options,
					      AB_COUNT(bind_options) };
static const struct ab_fields tmpfs_fields = { "HostConfig.Mounts.", tmpfs_options,
					       AB_COUNT(tmpfs_options) };

static const struct ab_field mount_fields[] = {
	{ "Type", AB_FIELD_WORD, .words = "bind tmpfs volume",
	  .why = "only bind, tmpfs and volume are allowed" },
	{ "Source Target", AB_FIELD_TEXT },
	{ "ReadOnly", AB_FIELD_BOOL },
	{ "Consistency", AB_FIELD_IGNORED },
	{ "BindOptions", AB_FIELD_CHECKED, .fields = &bind_fields },
	{ "TmpfsOptions", AB_FIELD_OBJECT, .fields = &tmpfs_fields },
	{ "VolumeOptions", AB_FIELD_EMPTY,
	  .why = "volumes with a driver, a subfolder or labels are the host's" },
};

/* An empty private folder, or a volume without a name, which goes with its container. */
static int add_unnamed(struct ab_body *body, const char *type, const json_t *mount, json_t *to)
{
	const char *source = json_string_value(json_object_get(mount, "Source"));
	const char *target = json_string_value(json_object_get(mount, "Target"));
	json_t *options = json_object_get(mount, "TmpfsOptions"), *made;

	if (source && *source)
		return refuse_named(body, source);
	if (check_target(body, target) < 0)
		return -1;
	made = json_pack("{s:s, s:s}", "Type", type, "Target", target);
	if (options)
		json_object_set(made, "TmpfsOptions", options);
	return add_mount(body, to, made);
}

int ab_body_mount(struct ab_body *body, const char *name, const json_t *mount, json_t *to)
{
	static const struct ab_fields fields = { "HostConfig.Mounts.", mount_fields,
						 AB_COUNT(mount_fields) };
	json_auto_t *checked = json_object();
	const char *type, *source;

	if (ab_fields_copy(body, &fields, mount, checked) < 0)
		return -1;
	type = json_string_value(json_object_get(checked, "Type"));
	source = json_string_value(json_object_get(checked, "Source"));
	if (!type)
		return ab_refuse(body->why, 400, "docker",
				 "the field HostConfig.%s: a mount has no type", name);
	if (strcmp(type, "bind") != 0)
		return add_unnamed(body, type, checked, to);
	return add_folder(body, source ? source : "",
			  json_string_value(json_object_get(checked, "Target")),
			  json_is_true(json_object_get(checked, "ReadOnly")), to);
}

int ab_body_volume(struct ab_body *body, const char *target, const json_t *value, json_t *to)
{
	if (json_object_size(value) || !json_is_object(value))
		return ab_refuse(body->why, 403, "docker",
				 "Volumes: only volumes without a name are allowed");
	json_object_set(to, target, (json_t *)(uintptr_t)value);
	return check_target(body, target);
}

/* "size=64m,mode=1777,noexec" */
static bool is_tmpfs_options(const char *s)
{
	static const char *const values[] = { "size=", "mode=" };

	while (*s) {
		size_t n = strcspn(s, ","), digits;
		bool known = ab_word_listed("rw ro noexec nosuid nodev", s, n);

		for (size_t i = 0; i < AB_COUNT(values) && !known; i++) {
			size_t head = strlen(values[i]);

			if (n <= head || memcmp(s, values[i], head) != 0)
				continue;
			digits = strspn(s + head, "0123456789");
			known = digits && (head + digits == n ||
					   (head + digits + 1 == n && strchr("kKmMgG", s[n - 1])));
		}
		if (!known)
			return false;
		s += n + (s[n] == ',');
	}
	return true;
}

int ab_body_tmpfs(struct ab_body *body, const char *target, const json_t *value, json_t *to)
{
	const char *options = json_string_value(value);

	if (!options || !is_tmpfs_options(options))
		return ab_refuse(
			body->why, 403, "docker",
			"the field HostConfig.Tmpfs: the filter does not allow the options "
			"%.60s",
			options ? options : "?");
	json_object_set(to, target, (json_t *)(uintptr_t)value);
	return check_target(body, target);
}

/* "5432/tcp" */
static bool is_port(const char *s)
{
	size_t digits = strspn(s, "0123456789");
	uint64_t port = 0;

	return digits && ab_parse_digits(s, digits, &port) && port > 0 && port < 65536 &&
	       (strcmp(s + digits, "/tcp") == 0 || strcmp(s + digits, "/udp") == 0);
}

/* 0 is a port that the engine chooses. */
static void append_binding(json_t *list, unsigned port)
{
	char text[12] = "";

	if (port)
		snprintf(text, sizeof(text), "%u", port);
	json_array_append_new(list,
			      json_pack("{s:s, s:s}", "HostIp", "127.0.0.1", "HostPort", text));
}

/* One place on the host. */
static int add_binding(struct ab_body *body, const json_t *binding, json_t *list)
{
	static const struct ab_field binding_fields[] = {
		{ "HostIp", AB_FIELD_WORD, .words = "127.0.0.1 0.0.0.0 localhost",
		  .why = "ports are published on 127.0.0.1 only" },
		{ "HostPort", AB_FIELD_TEXT },
	};
	static const struct ab_fields fields = { "HostConfig.PortBindings.", binding_fields,
						 AB_COUNT(binding_fields) };
	json_auto_t *checked = json_object();
	const char *port;
	uint64_t n = 0;

	if (!json_is_object(binding))
		return ab_refuse(body->why, 400, "docker",
				 "the field HostConfig.PortBindings: not an object");
	if (ab_fields_copy(body, &fields, binding, checked) < 0)
		return -1;
	port = json_string_value(json_object_get(checked, "HostPort"));
	if (port && (!ab_parse_digits(port, strlen(port), &n) || n > 65535 || (n > 0 && n < 1024)))
		return ab_refuse(
			body->why, 403, "docker",
			"the field HostConfig.PortBindings: the port %.40s of the host is not "
			"between 1024 and 65535",
			port);
	append_binding(list, (unsigned)n);
	return 0;
}

int ab_body_port(struct ab_body *body, const char *port, const json_t *bindings, json_t *ports)
{
	json_t *list = json_array(), *one;
	size_t i;

	json_object_set_new(ports, port, list);
	if (!body->terms->publish)
		return ab_refuse(body->why, 403, "docker.ports",
				 "the field HostConfig.PortBindings: docker.ports is \"none\"");
	if (!body->terms->bridge)
		return ab_refuse(
			body->why, 403, "docker.network",
			"the field HostConfig.PortBindings: a container without a network has no "
			"ports; docker.network is \"none\"");
	if (!is_port(port))
		return ab_refuse(body->why, 400, "docker",
				 "the field HostConfig.PortBindings: %.40s is not a port", port);
	if (!json_is_array(bindings) && !ab_body_is_empty(bindings))
		return ab_refuse(body->why, 400, "docker",
				 "the field HostConfig.PortBindings: not a list");
	json_array_foreach(bindings, i, one) if (add_binding(body, one, list) < 0) return -1;
	if (!json_array_size(list))
		append_binding(list, 0);
	return 0;
}
