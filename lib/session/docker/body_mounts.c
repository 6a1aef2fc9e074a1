#include "session/docker/body_mounts.h"

#include <stdio.h>
#include <string.h>

#include "base/data/mem.h"
#include "base/system/path.h"
#include "base/text/ascii.h"
#include "base/text/units.h"
#include "session/docker/body_fields.h"
#include "session/docker/create_body.h"
#include "session/docker/refusal.h"

enum { MOUNTS_MAX = 64, PATH_SHOWN = 160, TARGET_MAX = 1024 };

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

/* Add a folder of the host. */
static int add_folder(struct ab_body *body, const struct ab_create_terms *terms, const char *source,
		      const char *target, bool read_only, json_t *to)
{
	const char *real = NULL;
	json_t *list = json_object_get(to, "Mounts");

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
	if (!list) {
		list = json_array();
		json_object_set_new(to, "Mounts", list);
	}
	if (json_array_size(list) >= MOUNTS_MAX)
		return ab_refuse(body->why, 403, "docker", "more than %d mounts", MOUNTS_MAX);
	json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:b, s:{s:s}}", "Type", "bind",
					      "Source", real, "Target", target, "ReadOnly", 1,
					      "BindOptions", "Propagation", "rprivate"));
	return 0;
}

/* "ro,rprivate": false if there is another one. */
static bool read_options(const char *s, bool *ret_read_only)
{
	*ret_read_only = false;
	while (*s) {
		size_t n = strcspn(s, ",");

		if (n == 2 && memcmp(s, "ro", n) == 0)
			*ret_read_only = true;
		else if (!(n == 2 && memcmp(s, "rw", n) == 0) &&
			 !(n == 7 && memcmp(s, "private", n) == 0) &&
			 !(n == 8 && memcmp(s, "rprivate", n) == 0))
			return false;
		s += n + (s[n] == ',');
	}
	return true;
}

/* "SOURCE:TARGET[:OPTIONS]" */
static int take_bind(struct ab_body *body, const struct ab_create_terms *terms, const char *text,
		     json_t *to)
{
	ab_autofree char *source = ab_strdup(text);
	char *target = strchr(source, ':'), *options = target ? strchr(target + 1, ':') : NULL;
	bool read_only = false;

	if (target)
		*target++ = '\0';
	if (options)
		*options++ = '\0';
	if (source[0] != '/')
		return ab_refuse(body->why, 403, "docker",
				 "%.*s is a named volume, which outlives the run", PATH_SHOWN,
				 source);
	if (!target)
		return ab_refuse(body->why, 400, "docker",
				 "the field Binds: %.*s has no place in the container", PATH_SHOWN,
				 source);
	if (options && !read_options(options, &read_only))
		return ab_refuse(body->why, 403, "docker",
				 "the field Binds: the filter does not allow the options %.40s",
				 options);
	return add_folder(body, terms, source, target, read_only, to);
}

int ab_body_binds(struct ab_body *body, const struct ab_create_terms *terms, const json_t *value,
		  json_t *to, bool *mounts)
{
	json_t *one;
	size_t i;

	if (ab_body_is_empty(value))
		return 0;
	if (!json_is_array(value))
		return ab_refuse(body->why, 400, "docker",
				 "the field HostConfig.Binds is not a list");
	json_array_foreach(value, i, one)
	{
		const char *text = json_string_value(one);

		if (!text)
			return ab_refuse(body->why, 400, "docker",
					 "the field HostConfig.Binds: not a string");
		if (take_bind(body, terms, text, to) < 0)
			return -1;
		*mounts = true;
	}
	return 0;
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

static const struct ab_field mount_fields[] = {
	{ "Type", AB_FIELD_WORD, .words = "bind tmpfs volume",
	  .why = "only bind, tmpfs and volume are allowed" },
	{ "Source", AB_FIELD_TEXT },
	{ "Target", AB_FIELD_TEXT },
	{ "ReadOnly", AB_FIELD_BOOL },
	{ "Consistency", AB_FIELD_IGNORED },
	{ "BindOptions", AB_FIELD_IGNORED }, /* take_mount() */
	{ "TmpfsOptions", AB_FIELD_IGNORED },
	{ "VolumeOptions", AB_FIELD_EMPTY,
	  .why = "volumes with a driver, a subfolder or labels are the host's" },
};

/* The options of a mount must be those of its type; 0 and *ret, or -1. */
static int copy_options(struct ab_body *body, const json_t *mount, const char *name,
			const struct ab_field *v, size_t n, json_t *ret)
{
	const struct ab_fields fields = { "HostConfig.Mounts.", v, n };
	const json_t *options = json_object_get(mount, name);

	if (!options || json_is_null(options))
		return 0;
	if (!json_is_object(options))
		return ab_refuse(body->why, 400, "docker",
				 "the field HostConfig.Mounts.%s is not an object", name);
	return ab_fields_copy(body, &fields, options, ret);
}

/* An empty private folder, or a volume without a name, which goes with its container. */
static int add_unnamed(struct ab_body *body, const char *type, const json_t *mount,
		       const json_t *options, json_t *to)
{
	const char *source = json_string_value(json_object_get(mount, "Source"));
	const char *target = json_string_value(json_object_get(mount, "Target"));
	json_t *list = json_object_get(to, "Mounts"), *made;

	if (source && *source)
		return ab_refuse(body->why, 403, "docker",
				 "%.*s is a named volume, which outlives the run", PATH_SHOWN,
				 source);
	if (check_target(body, target) < 0)
		return -1;
	if (!list) {
		list = json_array();
		json_object_set_new(to, "Mounts", list);
	}
	if (json_array_size(list) >= MOUNTS_MAX)
		return ab_refuse(body->why, 403, "docker", "more than %d mounts", MOUNTS_MAX);
	made = json_pack("{s:s, s:s}", "Type", type, "Target", target);
	if (json_object_size(options))
		json_object_set(made, "TmpfsOptions", (json_t *)(uintptr_t)options);
	json_array_append_new(list, made);
	return 0;
}

static int take_mount(struct ab_body *body, const struct ab_create_terms *terms,
		      const json_t *mount, json_t *to, bool *mounts)
{
	static const struct ab_fields fields = { "HostConfig.Mounts.", mount_fields,
						 AB_COUNT(mount_fields) };
	json_t *checked = json_object(), *bind = json_object(), *tmpfs = json_object();
	const char *type, *source;
	int r = -1;

	if (ab_fields_copy(body, &fields, mount, checked) < 0 ||
	    copy_options(body, mount, "BindOptions", bind_options, AB_COUNT(bind_options), bind) <
		    0 ||
	    copy_options(body, mount, "TmpfsOptions", tmpfs_options, AB_COUNT(tmpfs_options),
			 tmpfs) < 0)
		goto out;
	type = json_string_value(json_object_get(checked, "Type"));
	source = json_string_value(json_object_get(checked, "Source"));
	if (!type) {
		r = ab_refuse(body->why, 400, "docker",
			      "the field HostConfig.Mounts: a mount has no type");
	} else if (strcmp(type, "bind") == 0) {
		r = add_folder(body, terms, source ? source : "",
			       json_string_value(json_object_get(checked, "Target")),
			       json_is_true(json_object_get(checked, "ReadOnly")), to);
		*mounts = true;
	} else {
		r = add_unnamed(body, type, checked, tmpfs, to);
	}
out:
	json_decref(checked);
	json_decref(bind);
	json_decref(tmpfs);
	return r;
}

int ab_body_mounts(struct ab_body *body, const struct ab_create_terms *terms, const json_t *value,
		   json_t *to, bool *mounts)
{
	json_t *one;
	size_t i;

	if (ab_body_is_empty(value))
		return 0;
	if (!json_is_array(value))
		return ab_refuse(body->why, 400, "docker",
				 "the field HostConfig.Mounts is not a list");
	json_array_foreach(value, i, one)
	{
		if (!json_is_object(one))
			return ab_refuse(body->why, 400, "docker",
					 "the field HostConfig.Mounts: not an object");
		if (take_mount(body, terms, one, to, mounts) < 0)
			return -1;
	}
	return 0;
}

int ab_body_volumes(struct ab_body *body, const char *name, const json_t *value, json_t *to)
{
	const char *target;
	json_t *one;

	if (ab_body_is_empty(value) && !json_object_size(value))
		return 0;
	if (!json_is_object(value) || json_object_size(value) > MOUNTS_MAX)
		return ab_refuse(body->why, 400, "docker", "%s is not a short object", name);
	json_object_foreach((json_t *)(uintptr_t)value, target, one)
	{
		if (json_object_size(one) || !json_is_object(one))
			return ab_refuse(body->why, 403, "docker",
					 "%s: only volumes without a name are allowed", name);
		if (check_target(body, target) < 0)
			return -1;
	}
	json_object_set(to, name, (json_t *)(uintptr_t)value);
	return 0;
}

/* "size=64m,mode=1777,noexec" */
static bool is_tmpfs_options(const char *s)
{
	static const char *const words[] = { "rw", "ro", "noexec", "nosuid", "nodev" };
	static const char *const values[] = { "size=", "mode=" };

	while (*s) {
		size_t n = strcspn(s, ","), digits;
		bool known = false;

		for (size_t i = 0; i < AB_COUNT(words) && !known; i++)
			known = strlen(words[i]) == n && memcmp(s, words[i], n) == 0;
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

int ab_body_tmpfs(struct ab_body *body, const json_t *value, json_t *to)
{
	const char *target;
	json_t *one;

	if (ab_body_is_empty(value) && !json_object_size(value))
		return 0;
	if (!json_is_object(value) || json_object_size(value) > MOUNTS_MAX)
		return ab_refuse(body->why, 400, "docker",
				 "the field HostConfig.Tmpfs is not a short object");
	json_object_foreach((json_t *)(uintptr_t)value, target, one)
	{
		const char *options = json_string_value(one);

		if (!options || !is_tmpfs_options(options))
			return ab_refuse(
				body->why, 403, "docker",
				"the field HostConfig.Tmpfs: the filter does not allow the options "
				"%.60s",
				options ? options : "?");
		if (check_target(body, target) < 0)
			return -1;
	}
	json_object_set(to, "Tmpfs", (json_t *)(uintptr_t)value);
	return 0;
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
	json_t *checked = json_object();
	const char *port;
	uint64_t n = 0;
	int r = -1;

	if (!json_is_object(binding)) {
		ab_refuse(body->why, 400, "docker",
			  "the field HostConfig.PortBindings: not an object");
	} else if (ab_fields_copy(body, &fields, binding, checked) == 0) {
		port = json_string_value(json_object_get(checked, "HostPort"));
		if (port &&
		    (!ab_parse_digits(port, strlen(port), &n) || n > 65535 || (n > 0 && n < 1024)))
			ab_refuse(
				body->why, 403, "docker",
				"the field HostConfig.PortBindings: the port %.40s of the host is not "
				"between 1024 and 65535",
				port);
		else
			r = 0;
	}
	if (r == 0)
		append_binding(list, (unsigned)n);
	json_decref(checked);
	return r;
}

static int add_port(struct ab_body *body, const char *port, const json_t *bindings, json_t *ports)
{
	json_t *list = json_array(), *one;
	size_t i;

	json_object_set_new(ports, port, list);
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

int ab_body_ports(struct ab_body *body, const struct ab_create_terms *terms, const json_t *value,
		  json_t *to)
{
	const char *port;
	json_t *one, *ports;

	if (!json_object_size(value) && ab_body_is_empty(value))
		return 0;
	if (!json_is_object(value) || json_object_size(value) > MOUNTS_MAX)
		return ab_refuse(body->why, 400, "docker",
				 "the field HostConfig.PortBindings is not a short object");
	if (!terms->publish)
		return ab_refuse(body->why, 403, "docker.ports",
				 "the field HostConfig.PortBindings: docker.ports is \"none\"");
	if (!terms->bridge)
		return ab_refuse(
			body->why, 403, "docker.network",
			"the field HostConfig.PortBindings: a container without a network has no "
			"ports; docker.network is \"none\"");
	ports = json_object();
	json_object_set_new(to, "PortBindings", ports);
	json_object_foreach((json_t *)(uintptr_t)value, port,
			    one) if (add_port(body, port, one, ports) < 0) return -1;
	return 0;
}
