/* The body that creates a container: what is refused, and the twin that is allowed. */
#include "containers/docker/create_body.h"

#include <jansson.h>
#include <stdlib.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "base/data/strv.h"
#include "containers/docker/refusal.h"
#include "tap.h"

static char *patterns[] = { (char[]){ "postgres:*" }, NULL };
static const struct ab_strv images = { patterns, 1 };
static const struct ab_mount_source mounts[] = { { "/link/p", "/home/me/p" } };

static const struct ab_create_terms strict = {
	.run = "7kq2x", .images = &images, .mounts = mounts, .nmounts = 1, .user = "1000:1000"
};

#define BODY(s) "{\"Image\":\"postgres:16\"," s "}"
#define HOST(s) BODY("\"HostConfig\":{" s "}")

/* Each with a body that differs in what matters, and is allowed. */
static const struct {
	const char *name, *refused, *allowed;
} pairs[] = {
	{ "image", "{\"Image\":\"evil:1\"}", "{\"Image\":\"postgres:1\"}" },
	{ "image in another registry", "{\"Image\":\"evil.example/postgres:16\"}",
	  "{\"Image\":\"docker.io/library/postgres:16\"}" },
	{ "no image", "{}", "{\"Image\":\"postgres\"}" },
	{ "two images", "{\"Image\":\"postgres:16\",\"Image\":\"evil\"}",
	  "{\"Image\":\"postgres:16\"}" },
	{ "not JSON", BODY("\"Cmd\":[") "x", BODY("\"Cmd\":[\"x\"]") },
	{ "a name in other letters", BODY("\"hostconfig\":{\"privileged\":true}"),
	  BODY("\"hostconfig\":{}") },
	{ "an unknown field", BODY("\"NewField\":1"), BODY("\"NewField\":null") },
	{ "Privileged", HOST("\"Privileged\":true"), HOST("\"Privileged\":false") },
	{ "PidMode", HOST("\"PidMode\":\"host\""), HOST("\"PidMode\":\"\"") },
	{ "PidMode of another", HOST("\"PidMode\":\"container:x\""),
	  HOST("\"PidMode\":\"private\"") },
	{ "IpcMode", HOST("\"IpcMode\":\"host\""), HOST("\"IpcMode\":\"private\"") },
	{ "IpcMode of another", HOST("\"IpcMode\":\"container:x\""), HOST("\"IpcMode\":\"none\"") },
	{ "UTSMode", HOST("\"UTSMode\":\"host\""), HOST("\"UTSMode\":\"\"") },
	{ "UsernsMode", HOST("\"UsernsMode\":\"host\""), HOST("\"UsernsMode\":\"\"") },
	{ "CgroupnsMode", HOST("\"CgroupnsMode\":\"host\""), HOST("\"CgroupnsMode\":\"private\"") },
	{ "NetworkMode host", HOST("\"NetworkMode\":\"host\""), HOST("\"NetworkMode\":\"none\"") },
	{ "NetworkMode of another", HOST("\"NetworkMode\":\"container:x\""),
	  HOST("\"NetworkMode\":\"default\"") },
	{ "NetworkMode bridge", HOST("\"NetworkMode\":\"bridge\""), HOST("\"NetworkMode\":\"\"") },
	{ "Devices", HOST("\"Devices\":[{\"PathOnHost\":\"/dev/sda\"}]"), HOST("\"Devices\":[]") },
	{ "DeviceRequests", HOST("\"DeviceRequests\":[{\"Count\":-1}]"),
	  HOST("\"DeviceRequests\":null") },
	{ "DeviceCgroupRules", HOST("\"DeviceCgroupRules\":[\"a *:* rwm\"]"),
	  HOST("\"DeviceCgroupRules\":[]") },
	{ "CapAdd", HOST("\"CapAdd\":[\"SYS_ADMIN\"]"), HOST("\"CapAdd\":null") },
	{ "SecurityOpt", HOST("\"SecurityOpt\":[\"seccomp=unconfined\"]"),
	  HOST("\"SecurityOpt\":[\"no-new-privileges:true\"]") },
	{ "SecurityOpt apparmor",
	  HOST("\"SecurityOpt\":[\"no-new-privileges\",\"apparmor=unconfined\"]"),
	  HOST("\"SecurityOpt\":[]") },
	{ "Sysctls", HOST("\"Sysctls\":{\"kernel.core_pattern\":\"|x\"}"), HOST("\"Sysctls\":{}") },
	{ "CgroupParent", HOST("\"CgroupParent\":\"/\""), HOST("\"CgroupParent\":\"\"") },
	{ "VolumesFrom", HOST("\"VolumesFrom\":[\"x\"]"), HOST("\"VolumesFrom\":[]") },
	{ "VolumeDriver", HOST("\"VolumeDriver\":\"local\""), HOST("\"VolumeDriver\":\"\"") },
	{ "Runtime", HOST("\"Runtime\":\"x\""), HOST("\"Runtime\":\"\"") },
	{ "GroupAdd", HOST("\"GroupAdd\":[\"0\"]"), HOST("\"GroupAdd\":[]") },
	{ "MaskedPaths", HOST("\"MaskedPaths\":[\"/x\"]"), HOST("\"MaskedPaths\":null") },
	{ "RestartPolicy", HOST("\"RestartPolicy\":{\"Name\":\"always\"}"),
	  HOST("\"RestartPolicy\":{\"Name\":\"no\",\"MaximumRetryCount\":0}") },
	{ "LogConfig", HOST("\"LogConfig\":{\"Type\":\"syslog\"}"),
	  HOST("\"LogConfig\":{\"Type\":\"json-file\",\"Config\":{}}") },
	{ "OomScoreAdj", HOST("\"OomScoreAdj\":-1000"), HOST("\"OomScoreAdj\":100") },
	{ "Ulimits", HOST("\"Ulimits\":[{\"Name\":\"memlock\",\"Soft\":-1,\"Hard\":-1}]"),
	  HOST("\"Ulimits\":[{\"Name\":\"nofile\",\"Soft\":10,\"Hard\":20}]") },
	{ "a folder", HOST("\"Binds\":[\"/:/w:ro\"]"), HOST("\"Binds\":[\"/home/me/p:/w:ro\"]") },
	{ "a folder in one", HOST("\"Binds\":[\"/home/me/p/x:/w:ro\"]"),
	  HOST("\"Binds\":[\"/link/p:/w:ro\"]") },
	{ "a folder by dots", HOST("\"Binds\":[\"/home/me/p/../../..:/w:ro\"]"),
	  HOST("\"Binds\":[\"/home/me/p:/w:ro,rprivate\"]") },
	{ "a writable folder", HOST("\"Binds\":[\"/home/me/p:/w\"]"),
	  HOST("\"Binds\":[\"/home/me/p:/w:ro\"]") },
	{ "propagation", HOST("\"Binds\":[\"/home/me/p:/w:ro,rshared\"]"),
	  HOST("\"Binds\":[\"/home/me/p:/w:ro,private\"]") },
	{ "relabelling", HOST("\"Binds\":[\"/home/me/p:/w:ro,Z\"]"),
	  HOST("\"Binds\":[\"/home/me/p:/w:ro\"]") },
	{ "a place in /proc", HOST("\"Binds\":[\"/home/me/p:/proc/x:ro\"]"),
	  HOST("\"Binds\":[\"/home/me/p:/process:ro\"]") },
	{ "a named volume", HOST("\"Binds\":[\"data:/w\"]"), HOST("\"Binds\":[]") },
	{ "a mount",
	  HOST("\"Mounts\":[{\"Type\":\"bind\",\"Source\":\"/etc\",\"Target\":\"/w\",\"ReadOnly\":true}]"),
	  HOST("\"Mounts\":[{\"Type\":\"bind\",\"Source\":\"/home/me/p\",\"Target\":\"/w\",\"ReadOnly\":true}]") },
	{ "a writable mount",
	  HOST("\"Mounts\":[{\"Type\":\"bind\",\"Source\":\"/home/me/p\",\"Target\":\"/w\"}]"),
	  HOST("\"Mounts\":[{\"Type\":\"tmpfs\",\"Target\":\"/w\",\"TmpfsOptions\":{\"SizeBytes\":1}}]") },
	{ "a driver",
	  HOST("\"Mounts\":[{\"Type\":\"volume\",\"Target\":\"/w\",\"VolumeOptions\":{\"DriverConfig\":{\"Name\":\"local\",\"Options\":{\"device\":\"/\",\"o\":\"bind\"}}}}]"),
	  HOST("\"Mounts\":[{\"Type\":\"volume\",\"Target\":\"/w\"}]") },
	{ "a named volume as a mount",
	  HOST("\"Mounts\":[{\"Type\":\"volume\",\"Source\":\"x\",\"Target\":\"/w\"}]"),
	  HOST("\"Mounts\":[{\"Type\":\"volume\",\"Source\":\"\",\"Target\":\"/w\"}]") },
	{ "propagation of a mount",
	  HOST("\"Mounts\":[{\"Type\":\"bind\",\"Source\":\"/home/me/p\",\"Target\":\"/w\",\"ReadOnly\":true,\"BindOptions\":{\"Propagation\":\"rshared\"}}]"),
	  HOST("\"Mounts\":[{\"Type\":\"bind\",\"Source\":\"/home/me/p\",\"Target\":\"/w\",\"ReadOnly\":true,\"BindOptions\":{\"Propagation\":\"rprivate\"}}]") },
	{ "a mount of the engine", HOST("\"Mounts\":[{\"Type\":\"npipe\",\"Target\":\"/w\"}]"),
	  HOST("\"Mounts\":[]") },
	{ "options of a tmpfs", HOST("\"Tmpfs\":{\"/w\":\"suid\"}"),
	  HOST("\"Tmpfs\":{\"/w\":\"rw,size=64m,noexec\"}") },
	{ "Volumes", BODY("\"Volumes\":{\"/w\":{\"x\":1}}"), BODY("\"Volumes\":{\"/w\":{}}") },
	{ "ports", HOST("\"PortBindings\":{\"80/tcp\":[{\"HostPort\":\"8080\"}]}"),
	  HOST("\"PortBindings\":{}") },
	{ "networks",
	  BODY("\"NetworkingConfig\":{\"EndpointsConfig\":{\"x\":{\"NetworkID\":\"y\"}}}"),
	  BODY("\"NetworkingConfig\":{\"EndpointsConfig\":{}}") },
	{ "a label of ours", BODY("\"Labels\":{\"agentbox.run\":\"other\"}"),
	  BODY("\"Labels\":{\"x\":\"y\"}") },
	{ "the user of a mount",
	  BODY("\"User\":\"0\",\"HostConfig\":{\"Binds\":[\"/link/p:/w:ro\"]}"),
	  BODY("\"User\":\"0\"") },
};

static json_t *check_body(const char *text, const struct ab_create_terms *terms,
			  struct ab_refusal *why, struct ab_create_facts *facts)
{
	ab_autobuf struct ab_buf out = { 0 };

	if (ab_create_body(text, strlen(text), terms, &out, facts, why) < 0)
		return NULL;
	return json_loadb(out.data, out.len, JSON_REJECT_DUPLICATES, NULL);
}

static bool is_list(const json_t *host, const char *name, const char *only)
{
	const json_t *list = json_object_get(host, name);

	return json_array_size(list) == 1 &&
	       strcmp(json_string_value(json_array_get(list, 0)), only) == 0;
}

static bool is_text(const json_t *object, const char *name, const char *want)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text && strcmp(text, want) == 0;
}

/* What every container has. */
static bool has_walls(const json_t *made)
{
	const json_t *host = json_object_get(made, "HostConfig");

	return is_list(host, "CapDrop", "ALL") &&
	       is_list(host, "SecurityOpt", "no-new-privileges") &&
	       json_is_false(json_object_get(host, "Privileged")) &&
	       json_integer_value(json_object_get(host, "PidsLimit")) == 4096 &&
	       is_text(host, "NetworkMode", "none") && is_text(host, "CgroupnsMode", "private") &&
	       json_object_get(host, "IpcMode") && !json_object_get(host, "CapAdd") &&
	       is_text(json_object_get(made, "Labels"), AB_CONTAINER_LABEL, "7kq2x");
}

static void test_pairs(void)
{
	for (size_t i = 0; i < AB_COUNT(pairs); i++) {
		struct ab_create_facts facts;
		struct ab_refusal why = { 0 };
		json_t *made = check_body(pairs[i].refused, &strict, &why, &facts);

		ok(!made && why.status >= 400 && why.reason[0] && why.rule, "%s is refused: %s",
		   pairs[i].name, why.reason);
		json_decref(made);
		why.reason[0] = '\0';
		made = check_body(pairs[i].allowed, &strict, &why, &facts);
		ok(made && has_walls(made), "%s: its twin is allowed %s", pairs[i].name,
		   why.reason);
		json_decref(made);
	}
}

/* The body of `docker run` has every field. */
static void test_client(void)
{
	static const char body[] =
		"{\"Hostname\":\"\",\"Domainname\":\"\",\"User\":\"\",\"AttachStdin\":false,"
		"\"AttachStdout\":true,\"AttachStderr\":true,\"Tty\":false,\"OpenStdin\":false,"
		"\"StdinOnce\":false,\"Env\":[\"A=b\"],\"Cmd\":[\"sleep\",\"1\"],"
		"\"Image\":\"postgres:16\",\"Volumes\":{},\"WorkingDir\":\"\",\"Entrypoint\":null,"
		"\"OnBuild\":null,\"Labels\":{},\"HostConfig\":{\"Binds\":null,"
		"\"ContainerIDFile\":\"\",\"LogConfig\":{\"Type\":\"\",\"Config\":{}},"
		"\"NetworkMode\":\"default\",\"PortBindings\":{},\"RestartPolicy\":{\"Name\":\"no\","
		"\"MaximumRetryCount\":0},\"AutoRemove\":true,\"VolumeDriver\":\"\","
		"\"VolumesFrom\":null,\"CapAdd\":null,\"CapDrop\":null,\"CgroupnsMode\":\"\","
		"\"Dns\":[],\"DnsOptions\":[],\"DnsSearch\":[],\"ExtraHosts\":null,\"GroupAdd\":null,"
		"\"IpcMode\":\"\",\"Cgroup\":\"\",\"Links\":null,\"OomScoreAdj\":0,\"PidMode\":\"\","
		"\"Privileged\":false,\"PublishAllPorts\":false,\"ReadonlyRootfs\":false,"
		"\"SecurityOpt\":null,\"UTSMode\":\"\",\"UsernsMode\":\"\",\"ShmSize\":0,"
		"\"ConsoleSize\":[0,0],\"Isolation\":\"\",\"CpuShares\":0,\"Memory\":0,\"NanoCpus\":0,"
		"\"CgroupParent\":\"\",\"BlkioWeight\":0,\"BlkioWeightDevice\":[],"
		"\"MemorySwappiness\":-1,\"OomKillDisable\":false,\"PidsLimit\":0,\"Ulimits\":null,"
		"\"MaskedPaths\":null,\"ReadonlyPaths\":null},"
		"\"NetworkingConfig\":{\"EndpointsConfig\":{}}}";
	struct ab_create_facts facts;
	struct ab_refusal why = { 0 };
	json_t *made = check_body(body, &strict, &why, &facts);

	ok(made && has_walls(made), "the body of docker run is allowed %s", why.reason);
	ok(json_is_true(json_object_get(json_object_get(made, "HostConfig"), "AutoRemove")),
	   "and keeps what is harmless");
	is_str(facts.image, "postgres:16", "and its image is known");
	json_decref(made);
	/* Cut anywhere, it is refused. */
	for (size_t n = 0; n < sizeof(body) - 1; n += 7) {
		ab_autobuf struct ab_buf out = { 0 };

		if (ab_create_body(body, n, &strict, &out, &facts, &why) == 0)
			ok(false, "a body cut at %zu is refused", n);
	}
}

static void test_settings(void)
{
	struct ab_create_terms open = strict;
	struct ab_create_facts facts;
	struct ab_refusal why = { 0 };
	json_t *made, *host, *port;

	open.bridge = open.publish = open.setup_caps = true;
	open.memory = 1 << 20;
	made = check_body(HOST("\"Memory\":99999999,\"PortBindings\":{\"80/tcp\":[{\"HostIp\":"
			       "\"0.0.0.0\",\"HostPort\":\"8080\"}],\"81/tcp\":null}"),
			  &open, &why, &facts);
	host = json_object_get(made, "HostConfig");
	port = json_array_get(json_object_get(json_object_get(host, "PortBindings"), "80/tcp"), 0);
	ok(is_text(port, "HostIp", "127.0.0.1") && is_text(port, "HostPort", "8080"),
	   "ports are published on localhost %s", why.reason);
	ok(is_text(host, "NetworkMode", "bridge"), "with a network");
	ok(json_array_size(json_object_get(host, "CapAdd")) == 5, "with a few capabilities");
	ok(json_integer_value(json_object_get(host, "Memory")) == 1 << 20,
	   "within the run's memory");
	json_decref(made);
	made = check_body(HOST("\"PortBindings\":{\"80/tcp\":[{\"HostIp\":\"192.168.0.1\"}]}"),
			  &open, &why, &facts);
	ok(!made, "not on another address");
	made = check_body(HOST("\"PortBindings\":{\"80/tcp\":[{\"HostPort\":\"80\"}]}"), &open,
			  &why, &facts);
	ok(!made, "not on a low port");
	made = check_body(HOST("\"Binds\":[\"/link/p:/w:ro\"]"), &open, &why, &facts);
	host = json_object_get(made, "HostConfig");
	ok(facts.mounts && !json_object_get(host, "CapAdd") && is_text(made, "User", "1000:1000"),
	   "a container with a mount has no capability and runs as the caller");
	is_str(json_string_value(json_object_get(json_array_get(json_object_get(host, "Mounts"), 0),
						 "Source")),
	       "/home/me/p", "and gets the real folder");
	json_decref(made);
}

static void test_exec(void)
{
	static const struct {
		const char *body, *user;
		bool allowed;
	} cases[] = {
		{ "{\"Cmd\":[\"id\"],\"AttachStdout\":true}", NULL, true },
		{ "{\"Cmd\":[\"id\"],\"Privileged\":true}", NULL, false },
		{ "{\"Cmd\":[\"id\"],\"privileged\":true}", NULL, false },
		{ "{\"Cmd\":[\"id\"],\"Privileged\":false}", NULL, true },
		{ "{\"Cmd\":[\"id\"],\"User\":\"0\"}", NULL, true },
		{ "{\"Cmd\":[\"id\"],\"User\":\"0\"}", "1000:1000", false },
		{ "{\"Cmd\":[\"id\"],\"User\":\"1000:1000\"}", "1000:1000", true },
		{ "[]", NULL, false },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		ab_autobuf struct ab_buf out = { 0 };
		struct ab_refusal why = { 0 };

		ok((ab_exec_body(cases[i].body, strlen(cases[i].body), cases[i].user, &out, &why) ==
		    0) == cases[i].allowed,
		   "exec %s %s", cases[i].body, why.reason);
	}
}

int main(void)
{
	test_pairs();
	test_client();
	test_settings();
	test_exec();
	return done();
}
