#include "containers/docker/engine_api.h"

#include "base/text/base64.h"
#include "base/text/words.h"
#include "containers/docker/refusal.h"
#include "proxy/wire/http.h"

enum {
	PATH_MAX_LEN = 1024,
	PARAMS_MAX = 16,
	PARAM_MAX = 4096,
	ID_MAX = 128,
	OLDEST = 24, /* API 1.24: older ones take the settings of a container when it is started */
};

/* Each method and path once. */
/* clang-format off */
const struct ab_api_route ab_api_routes[] = {
	{ "GET",    "_ping",		    AB_API_PLAIN, "" },
	{ "HEAD",   "_ping",		    AB_API_PLAIN, "" },
	{ "GET",    "version",		    AB_API_PLAIN, "" },
	{ "GET",    "info",		    AB_API_INFO, "" },
	{ "GET",    "containers/json",	    AB_API_LIST, "all limit size filters" },
	{ "POST",   "containers/create",    AB_API_CREATE, "name platform" },
	{ "GET",    "containers/*/json",    AB_API_CONTAINER, "size" },
	{ "GET",    "containers/*/logs",    AB_API_CONTAINER,
		"follow stdout stderr since until timestamps tail" },
	{ "GET",    "containers/*/stats",   AB_API_CONTAINER, "stream one-shot" },
	{ "POST",   "containers/*/start",   AB_API_START, "detachKeys" },
	{ "POST",   "containers/*/restart", AB_API_START, "t signal" },
	{ "POST",   "containers/*/stop",    AB_API_CONTAINER, "t signal" },
	{ "POST",   "containers/*/kill",    AB_API_CONTAINER, "signal" },
	{ "POST",   "containers/*/pause",   AB_API_CONTAINER, "" },
	{ "POST",   "containers/*/unpause", AB_API_CONTAINER, "" },
	{ "POST",   "containers/*/wait",    AB_API_CONTAINER, "condition" },
	{ "POST",   "containers/*/resize",  AB_API_CONTAINER, "h w" },
	{ "POST",   "containers/*/attach",  AB_API_CONTAINER,
		"logs stream stdin stdout stderr detachKeys", .streams = true },
	{ "DELETE", "containers/*",	    AB_API_REMOVE, "v force" },
	{ "POST",   "containers/*/exec",    AB_API_EXEC_CREATE, "" },
	{ "POST",   "exec/*/start",	    AB_API_EXEC_START, "", .streams = true },
	{ "POST",   "exec/*/resize",	    AB_API_EXEC, "h w" },
	{ "GET",    "exec/*/json",	    AB_API_EXEC, "" },
	{ "GET",    "images/json",	    AB_API_IMAGES, "all digests filters" },
	{ "GET",    "images/*/json",	    AB_API_IMAGE, "" },
	{ "POST",   "images/create",	    AB_API_PULL, "fromImage tag platform" },
};
/* clang-format on */
const unsigned int ab_api_route_count = AB_COUNT(ab_api_routes);

/* Why the rest of the API is closed, by the beginning of its path. */
static const struct {
	const char *path, *why;
} closed[] = {
	{ "build", "the filter does not build images" },
	{ "commit", "the filter does not make images" },
	{ "images/", "the filter shows images and downloads them, and does not change them" },
	{ "volumes", "the filter has no named volumes, which outlive a run" },
	{ "networks", "the filter has no networks of its own" },
	{ "events", "events of the engine are about other containers, too" },
	{ "system", "the filter does not show what else the engine has" },
	{ "auth", "the filter does not pass logins of registries" },
	{ "libpod", "this is Podman's own API; the filter knows Docker's: use a client of Docker" },
};

bool ab_api_is_id(const char *s)
{
	size_t n = strlen(s);

	return n <= ID_MAX && ab_is_alnum(s[0]) && ab_has_only(s, n, "_.-");
}

/* "/v1.41/": its length without the last "/"; 0: the path has no version. */
static size_t read_version(const char *path, unsigned *ret_minor)
{
	size_t n = strlen("/v1.");
	unsigned minor = 0;
	size_t digits = 0;

	if (strncmp(path, "/v1.", n) != 0)
		return 0;
	while (ab_is_digit(path[n]) && digits < 3) {
		minor = minor * 10 + (unsigned)(path[n++] - '0');
		digits++;
	}
	*ret_minor = minor;
	return digits && path[n] == '/' ? n : 0;
}

/* Match a path with that of a route, and take the part at "*". */
static bool matches_route(const char *path, const struct ab_api_route *route,
			  char ret_id[AB_IMAGE_MAX + 16])
{
	const char *star = strchr(route->path, '*');
	size_t head = star ? (size_t)(star - route->path) : strlen(route->path), n, tail;

	*ret_id = '\0';
	if (!star)
		return strcmp(path, route->path) == 0;
	n = strlen(path);
	tail = strlen(star + 1);
	if (n <= head + tail || n - head - tail > AB_IMAGE_MAX ||
	    strncmp(path, route->path, head) != 0 || strcmp(path + n - tail, star + 1) != 0)
		return false;
	memcpy(ret_id, path + head, n - head - tail);
	ret_id[n - head - tail] = '\0';
	return route->use == AB_API_IMAGE || ab_api_is_id(ret_id);
}

static int refuse_route(const char *method, const char *path, struct ab_refusal *why)
{
	for (size_t i = 0; i < AB_COUNT(closed); i++)
		if (strncmp(path, closed[i].path, strlen(closed[i].path)) == 0)
			return ab_refuse(why, 403, "docker", "%s", closed[i].why);
	return ab_refuse(why, 403, "docker", "the filter does not allow %s /%.200s", method, path);
}

static int read_param(const char *s, size_t len, struct ab_api_call *call, struct ab_refusal *why)
{
	const char *equals = memchr(s, '=', len);
	size_t n = equals ? (size_t)(equals - s) : len;
	ab_autobuf struct ab_buf name = { 0 }, value = { 0 };

	if (!ab_percent_add(&name, s, n, true) ||
	    !ab_percent_add(&value, s + n + !!equals, len - n - !!equals, true) ||
	    name.len > PARAM_MAX || value.len > PARAM_MAX)
		return ab_refuse(why, 400, "docker", "the query of the request is malformed");
	if (!ab_word_listed(call->route->params, name.data, strlen(name.data)))
		return ab_refuse(why, 403, "docker",
				 "the filter does not allow the parameter %.100s", name.data);
	if (ab_env_get(&call->params, name.data) || call->params.len == PARAMS_MAX)
		return ab_refuse(why, 400, "docker", "the query has %.100s twice", name.data);
	ab_strv_addf(&call->params, "%s=%s", name.data, value.data);
	return 0;
}

static int read_query(const char *s, struct ab_api_call *call, struct ab_refusal *why)
{
	while (*s) {
		size_t n = strcspn(s, "&");

		if (n && read_param(s, n, call, why) < 0)
			return -1;
		s += n + (s[n] == '&');
	}
	return 0;
}

int ab_api_read(const struct ab_http_request *rq, struct ab_api_call *ret, struct ab_refusal *why)
{
	ab_autofree char *text = ab_strndup(rq->path.s, rq->path.len);
	ab_autofree char *method = ab_strndup(rq->method.s, rq->method.len);
	char *query = strchr(text, '?'), *path = text;
	unsigned minor = OLDEST;
	size_t version;

	*ret = (struct ab_api_call){ 0 };
	if (query)
		*query++ = '\0';
	if (rq->form == AB_HTTP_AUTHORITY || rq->form == AB_HTTP_ASTERISK || text[0] != '/' ||
	    strlen(text) > PATH_MAX_LEN || strpbrk(text, "%\\") || strstr(text, "//"))
		return ab_refuse(why, 400, "docker", "the path of the request is malformed");
	version = read_version(path, &minor);
	if (minor < OLDEST)
		return ab_refuse(why, 400, "docker",
				 "the filter knows version 1.%d of the API and later", OLDEST);
	snprintf(ret->version, sizeof(ret->version), "%.*s", (int)version, path);
	path += version + 1;
	for (size_t i = 0; i < AB_COUNT(ab_api_routes) && !ret->route; i++)
		if (strcmp(ab_api_routes[i].method, method) == 0 &&
		    matches_route(path, &ab_api_routes[i], ret->id))
			ret->route = &ab_api_routes[i];
	if (!ret->route)
		return refuse_route(method, path, why);
	return read_query(query ? query : "", ret, why);
}

void ab_api_call_fini(struct ab_api_call *call)
{
	ab_strv_fini(&call->params);
	*call = (struct ab_api_call){ 0 };
}

const char *ab_api_param(const struct ab_api_call *call, const char *name)
{
	return ab_env_get(&call->params, name);
}

static void encode_part(struct ab_buf *out, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (ab_is_alnum(s[i]) || strchr("-._~", s[i]))
			ab_buf_add(out, s + i, 1);
		else
			ab_buf_printf(out, "%%%02X", (unsigned char)s[i]);
}

void ab_api_write_target(struct ab_buf *out, const struct ab_api_call *call, const char *id)
{
	const char *star = strchr(call->route->path, '*');
	size_t head = star ? (size_t)(star - call->route->path) : strlen(call->route->path);

	ab_buf_printf(out, "%s/%.*s", call->version, (int)head, call->route->path);
	if (star)
		ab_buf_printf(out, "%s%s", id, star + 1);
	for (size_t i = 0; i < call->params.len; i++) {
		const char *param = call->params.v[i];
		size_t n = strcspn(param, "=");

		ab_buf_puts(out, i ? "&" : "?");
		encode_part(out, param, n);
		ab_buf_puts(out, "=");
		encode_part(out, param + n + 1, strlen(param + n + 1));
	}
}
