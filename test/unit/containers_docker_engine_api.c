/* Which requests to the container engine have a route, and how they are written anew. */
#include "containers/docker/engine_api.h"

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "containers/docker/refusal.h"
#include "proxy/wire/http.h"
#include "tap.h"

static const struct {
	const char *method, *path;
	const char *target; /* with "ID" for the id; NULL: refused */
} cases[] = {
	{ "GET", "/_ping", "/_ping" },
	{ "GET", "/v1.41/_ping", "/v1.41/_ping" },
	{ "HEAD", "/_ping", "/_ping" },
	{ "GET", "/containers/json?all=1&filters=%7B%7D", "/containers/json?all=1&filters=%7B%7D" },
	{ "GET", "/containers/json?all=1&&limit=2", "/containers/json?all=1&limit=2" },
	{ "POST", "/v1.41/containers/create?name=a", "/v1.41/containers/create?name=a" },
	{ "GET", "/containers/abc/logs?stdout=1&tail=all",
	  "/containers/ID/logs?stdout=1&tail=all" },
	{ "DELETE", "/containers/abc?force=1&v=1", "/containers/ID?force=1&v=1" },
	{ "POST", "/exec/0a/start", "/exec/ID/start" },
	{ "GET", "/images/docker.io/library/x:1/json", "/images/ID/json" },
	{ "POST", "/images/create?fromImage=x&tag=1", "/images/create?fromImage=x&tag=1" },
	{ "GET", "/containers/json?all=%31", "/containers/json?all=1" },
	{ "GET", "/v1.23/_ping", NULL },
	{ "GET", "/v2.0/_ping", NULL },
	{ "GET", "/v1.41", NULL },
	{ "GET", "//_ping", NULL },
	{ "GET", "/_ping/", NULL },
	{ "GET", "/%5fping", NULL },
	{ "GET", "/containers/json?all=1&all=0", NULL },
	{ "GET", "/containers/json?all=%3", NULL },
	{ "GET", "/containers/json?all=%00", NULL },
	{ "GET", "/containers/json?evil=1", NULL },
	{ "GET", "/containers/a/b/json", NULL },
	{ "GET", "/containers/../images/json", NULL },
	{ "GET", "/containers/..%2Fx/json", NULL },
	{ "GET", "/containers/a/top?ps_args=x", NULL },
	{ "GET", "/containers/a/archive?path=/", NULL },
	{ "PUT", "/containers/a/archive?path=/", NULL },
	{ "POST", "/containers/a/update", NULL },
	{ "POST", "/containers/a/rename?name=b", NULL },
	{ "POST", "/containers/prune", NULL },
	{ "POST", "/containers/a/start?HostConfig=x", NULL },
	{ "GET", "/containers/a/export", NULL },
	{ "GET", "/containers/a/attach/ws", NULL },
	{ "POST", "/images/create?fromSrc=-", NULL },
	{ "POST", "/images/load", NULL },
	{ "DELETE", "/images/x:1", NULL },
	{ "POST", "/images/x/tag?repo=y", NULL },
	{ "POST", "/build", NULL },
	{ "POST", "/commit", NULL },
	{ "GET", "/volumes", NULL },
	{ "POST", "/networks/create", NULL },
	{ "GET", "/events", NULL },
	{ "POST", "/auth", NULL },
	{ "POST", "/session", NULL },
	{ "POST", "/grpc", NULL },
	{ "POST", "/swarm/init", NULL },
	{ "POST", "/plugins/pull", NULL },
	{ "GET", "/v4.0.0/libpod/containers/json", NULL },
	{ "GET", "/libpod/_ping", NULL },
	{ "CONNECT", "/_ping", NULL },
};

static void try_case(const char *method, const char *path, const char *want)
{
	ab_autofree char *head =
		ab_printf("%s %s HTTP/1.1\r\nHost: /run/docker.sock\r\n\r\n", method, path);
	struct ab_http_scan scan = { .local = true };
	static struct ab_http_request rq;
	struct ab_api_call call = { 0 };
	struct ab_refusal why = { 0 };
	ab_autobuf struct ab_buf target = { 0 };
	bool read = ab_http_read_request(&scan, head, strlen(head), &rq) > 0 &&
		    ab_api_read(&rq, &call, &why) == 0;

	if (read)
		ab_api_write_target(&target, &call, "ID");
	ok(read ? want && strcmp(target.data, want) == 0 : !want, "%s %s: %s", method, path,
	   read ? target.data : why.reason);
	ab_api_call_fini(&call);
}

int main(void)
{
	struct ab_http_scan scan = { 0 };
	static struct ab_http_request rq;
	unsigned same = 0;
	static const char head[] = "GET /_ping HTTP/1.1\r\nHost: /run/docker.sock\r\n\r\n";

	for (size_t i = 0; i < AB_COUNT(cases); i++)
		try_case(cases[i].method, cases[i].path, cases[i].target);
	for (unsigned i = 0; i < ab_api_route_count; i++)
		for (unsigned k = 0; k < i; k++)
			same += strcmp(ab_api_routes[i].method, ab_api_routes[k].method) == 0 &&
				strcmp(ab_api_routes[i].path, ab_api_routes[k].path) == 0;
	ok(same == 0, "every route is there once");
	ok(ab_http_read_request(&scan, head, strlen(head), &rq) < 0,
	   "a Host that is not one is malformed in the proxy");
	return done();
}
