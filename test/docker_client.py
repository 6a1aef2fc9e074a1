"""A client of Docker's API over DOCKER_HOST, as test libraries have one.

    docker_client.py flow IMAGE        a container from creation to removal
    docker_client.py hostile IMAGE     bodies that must be refused, each with a twin that is not
    docker_client.py stranger NAME     a container that is not of this run
    docker_client.py mount IMAGE DIR   DIR in a container
    docker_client.py keep IMAGE FILE   a container that is left running; then wait for FILE
    docker_client.py streams IMAGE     attach, exec and logs, with and without an upgrade
    docker_client.py detached IMAGE FILE BODY...   detached commands that are started with these bodies, and behind
                                       each a container that makes FILE on the host
    docker_client.py lies WAYS NAME... the answers of lying_engine.py, and a second request
"""
import http.client
import json
import os
import socket
import sys
import time


class Connection(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(100)
        self.sock.connect(os.environ["DOCKER_HOST"][len("unix://"):])


def call(method, path, body=None):
    connection = Connection("docker")
    headers = {"Content-Type": "application/json"} if body is not None else {}
    text = body if isinstance(body, str) or body is None else json.dumps(body)
    connection.request(method, "/v1.41" + path, text, headers)
    reply = connection.getresponse()
    data = reply.read()
    connection.close()
    return reply.status, data


def read(method, path, body=None):
    status, data = call(method, path, body)
    return status, json.loads(data) if data else None


def expect(want, got, what):
    if got[0] != want:
        sys.exit(f"{what}: expected {want}, got {got}")
    return got[1]


def frames(data):
    """The text in the frames of an attached stream."""
    text = b""
    while len(data) >= 8:
        size = int.from_bytes(data[4:8], "big")
        text += data[8:8 + size]
        data = data[8 + size:]
    return text.decode()


class Stream:
    """A connection that may become a stream: a request, then bytes."""

    def __init__(self, path, body=b"", headers=b"", upgrade=True, method=b"POST"):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(30)
        self.sock.connect(os.environ["DOCKER_HOST"][len("unix://"):])
        if upgrade:
            headers += b"Connection: Upgrade\r\nUpgrade: tcp\r\n"
        if b"Transfer-Encoding" not in headers:
            headers += b"Content-Length: %d\r\n" % len(body)
        self.sock.sendall(b"%s %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n%s\r\n"
                          % (method, path.encode(), headers) + body)
        self.data = b""

    def read_head(self):
        while b"\r\n\r\n" not in self.data:
            more = self.sock.recv(4096)
            if not more:
                return 0
            self.data += more
        head, self.data = self.data.split(b"\r\n\r\n", 1)
        return int(head.split(b" ")[1])

    def send(self, data, end=True):
        try:
            self.sock.sendall(data)
            if end:
                self.sock.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def read(self):
        try:
            while True:
                more = self.sock.recv(4096)
                if not more:
                    break
                self.data += more
        except OSError:
            pass
        return self.data


def run_command(container, words, typed=b""):
    """The output of a command in a container, through an upgraded connection."""
    body = {"Cmd": words, "AttachStdin": True, "AttachStdout": True, "AttachStderr": True}
    command = expect(201, read("POST", f"/containers/{container}/exec", body), "exec")["Id"]
    stream = socket.socket(socket.AF_UNIX)
    stream.settimeout(100)
    stream.connect(os.environ["DOCKER_HOST"][len("unix://"):])
    body = b'{"Detach":false,"Tty":false}'
    stream.sendall(b"POST /exec/%s/start HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n"
                   b"Upgrade: tcp\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                   % (command.encode(), len(body)) + body)
    data = b""
    while b"\r\n\r\n" not in data:
        data += stream.recv(4096)
    head, data = data.split(b"\r\n\r\n", 1)
    if b" 101 " not in head.split(b"\r\n")[0]:
        sys.exit(f"no stream: {head}")
    stream.sendall(typed)
    stream.shutdown(socket.SHUT_WR)
    while True:
        more = stream.recv(4096)
        if not more:
            break
        data += more
    ended = expect(200, read("GET", f"/exec/{command}/json"), "exec inspect")
    return frames(data), ended["ExitCode"]


def create(image, name, words, **host):
    body = {"Image": image, "Cmd": words, "HostConfig": host}
    return expect(201, read("POST", f"/containers/create?name={name}", body), "create")["Id"]


def flow(image):
    expect(200, call("GET", "/_ping"), "ping")
    expect(200, call("HEAD", "/_ping"), "ping")
    expect(200, read("GET", "/version"), "version")
    info = expect(200, read("GET", "/info"), "info")
    if "Containers" in info or "DockerRootDir" in info:
        sys.exit("info tells too much")
    if [i["RepoTags"] for i in expect(200, read("GET", "/images/json"), "images")] != [[image]]:
        sys.exit("other images are listed")
    expect(200, read("GET", f"/images/{image}/json"), "image")
    one = create(image, "one", ["sh", "-c", "cat /proc/self/status /proc/net/dev; sleep 100"])
    expect(204, call("POST", "/containers/one/start"), "start")
    listed = expect(200, read("GET", "/containers/json"), "list")
    if [c["Id"] for c in listed] != [one]:
        sys.exit(f"the list is {listed}")
    text, status = run_command(one[:12], ["cat"], b"typed\n")
    if (text, status) != ("typed\n", 0):
        sys.exit(f"exec: {text} {status}")
    # The output is there when the command has begun to sleep; ask until then.
    for _ in range(200):
        output = frames(expect(200, call("GET", "/containers/one/logs?stdout=1&stderr=1"), "logs"))
        if "lo:" in output:
            break
        time.sleep(0.1)
    for line in ("CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1"):
        if line not in output:
            sys.exit(f"{line} is not in {output}")
    devices = [word for word in output.split() if word.endswith(":") and word != "face"]
    if [d for d in devices if d in ("eth0:", "tap0:")]:
        sys.exit(f"a network: {devices}")
    expect(204, call("POST", "/containers/one/kill"), "kill")
    ended = expect(200, read("POST", "/containers/one/wait"), "wait")
    if ended["StatusCode"] != 137:
        sys.exit(f"wait: {ended}")
    expect(200, read("GET", f"/containers/{one}/json"), "inspect")
    expect(204, call("DELETE", "/containers/one?force=1&v=1"), "remove")
    expect(404, call("GET", "/containers/one/json"), "gone")


# Pairs: what is refused, and the same without what makes it dangerous.
HOSTILE = [
    ({"Privileged": True}, {"Privileged": False}),
    ({"PidMode": "host"}, {"PidMode": ""}),
    ({"PidMode": "container:host-one"}, {"PidMode": "private"}),
    ({"IpcMode": "host"}, {"IpcMode": "private"}),
    ({"UTSMode": "host"}, {"UTSMode": ""}),
    ({"UsernsMode": "host"}, {"UsernsMode": ""}),
    ({"CgroupnsMode": "host"}, {"CgroupnsMode": "private"}),
    ({"NetworkMode": "host"}, {"NetworkMode": "none"}),
    ({"NetworkMode": "container:host-one"}, {"NetworkMode": "default"}),
    ({"NetworkMode": "bridge"}, {"NetworkMode": ""}),
    ({"Binds": ["/:/host:ro"]}, {"Binds": []}),
    ({"Binds": ["/etc/shadow:/s:ro"]}, {"Binds": None}),
    ({"Binds": ["/proc/1/root:/r:ro"]}, {"Tmpfs": {"/r": "size=1m"}}),
    ({"Binds": ["named:/data"]}, {"Mounts": [{"Type": "volume", "Target": "/data"}]}),
    ({"Binds": [os.getcwd() + ":/w"]}, {"Binds": [os.getcwd() + ":/w:ro"]}),
    ({"Binds": [os.getcwd() + "/.git:/w:ro"]}, {"Binds": [os.getcwd() + ":/w:ro,rprivate"]}),
    ({"Binds": [os.getcwd() + "/..:/w:ro"]}, {"Binds": [os.getcwd() + ":/x:ro"]}),
    ({"Binds": [os.getcwd() + ":/w:ro,rshared"]}, {"Binds": [os.getcwd() + ":/w:ro,private"]}),
    ({"Mounts": [{"Type": "bind", "Source": "/", "Target": "/h", "ReadOnly": True}]},
     {"Mounts": [{"Type": "bind", "Source": os.getcwd(), "Target": "/h", "ReadOnly": True}]}),
    ({"Mounts": [{"Type": "bind", "Source": os.getcwd(), "Target": "/h"}]},
     {"Mounts": [{"Type": "tmpfs", "Target": "/h"}]}),
    ({"Mounts": [{"Type": "volume", "Target": "/h", "VolumeOptions": {"DriverConfig": {
        "Name": "local", "Options": {"type": "none", "o": "bind", "device": "/"}}}}]},
     {"Mounts": []}),
    ({"VolumesFrom": ["host-one"]}, {"VolumesFrom": None}),
    ({"Devices": [{"PathOnHost": "/dev/mem", "PathInContainer": "/dev/mem"}]}, {"Devices": []}),
    ({"DeviceCgroupRules": ["a *:* rwm"]}, {"DeviceCgroupRules": None}),
    ({"CapAdd": ["ALL"]}, {"CapAdd": [], "CapDrop": ["NET_RAW"]}),
    ({"SecurityOpt": ["seccomp=unconfined"]}, {"SecurityOpt": ["no-new-privileges"]}),
    ({"SecurityOpt": ["unmask=ALL"]}, {"SecurityOpt": []}),
    ({"Sysctls": {"kernel.core_pattern": "|/x"}}, {"Sysctls": {}}),
    ({"CgroupParent": "/"}, {"CgroupParent": ""}),
    ({"Runtime": "/bin/sh"}, {"Runtime": ""}),
    ({"GroupAdd": ["0"]}, {"GroupAdd": None}),
    ({"RestartPolicy": {"Name": "always"}}, {"RestartPolicy": {"Name": "no"}}),
    ({"PortBindings": {"80/tcp": [{"HostPort": "8080"}]}}, {"PortBindings": {}}),
    ({"LogConfig": {"Type": "syslog", "Config": {"syslog-address": "udp://x"}}},
     {"LogConfig": {"Type": "json-file"}}),
    ({"Annotations": {"run.oci.handler": "x"}}, {"Annotations": {}}),
    ({"FieldOfTomorrow": 1}, {"FieldOfTomorrow": None}),
]


def hostile(image):
    for bad, good in HOSTILE:
        status, data = call("POST", "/containers/create", {"Image": image, "Cmd": ["id"], "HostConfig": bad})
        if status != 403 or b"denied by agentbox" not in data:
            sys.exit(f"{bad} was not refused: {status} {data}")
        made = expect(201, read("POST", "/containers/create",
                                {"Image": image, "Cmd": ["id"], "HostConfig": good}),
                      f"the twin {good}")["Id"]
        expect(204, call("DELETE", f"/containers/{made}?force=1"), "remove")
    raw = ['{"Image":"%s","HostConfig":{"Privileged":false,"Privileged":true}}' % image,
           '{"Image":"%s","hostconfig":{"privileged":true}}' % image,
           '{"Image":"evil","Image":"%s"}' % image, "[]", '{"Image":"%s"}x' % image]
    for body in raw:
        status, data = call("POST", "/containers/create", body)
        if status not in (400, 403):
            sys.exit(f"{body} was not refused: {status} {data}")
    if expect(200, read("GET", "/containers/json?all=1"), "list"):
        sys.exit("a refused container was created")
    for path in ("/networks", "/volumes", "/events", "/system/df", "/libpod/info",
                 "/images/evil:1/json"):
        if call("GET", path)[0] != 403:
            sys.exit(f"{path} was not refused")
    for path in ("/build", "/commit", "/images/load", "/session", "/containers/prune",
                 f"/images/create?fromImage={image}"):
        if call("POST", path)[0] != 403:
            sys.exit(f"{path} was not refused")
    print(f"{len(HOSTILE)} refused")


def stranger(name):
    if expect(200, read("GET", "/containers/json?all=1"), "list"):
        sys.exit("it is listed")
    filters = '%7B%22label%22%3A%5B%22agentbox.run%3Dother%22%5D%7D'
    if expect(200, read("GET", f"/containers/json?all=1&filters={filters}"), "list"):
        sys.exit("it is listed with a filter")
    for method, path in (("GET", "json"), ("GET", "logs?stdout=1"), ("POST", "start"),
                         ("POST", "stop"), ("POST", "kill"), ("POST", "attach"), ("POST", "wait")):
        expect(404, call(method, f"/containers/{name}/{path}"), path)
    expect(404, call("POST", f"/containers/{name}/exec", {"Cmd": ["id"]}), "exec")
    expect(404, call("DELETE", f"/containers/{name}?force=1"), "remove")


def mount(image, folder):
    one = create(image, "one", ["sleep", "100"], Binds=[f"{folder}:/w:ro"])
    expect(204, call("POST", f"/containers/{one}/start"), "start")
    print(run_command(one, ["sh", "-c", "cat /w/file; id -u; touch /w/new /w/.git/hooks/x; ls /w"])[0])
    status, data = call("POST", f"/containers/{one}/exec", {"Cmd": ["id"], "User": "12345"})
    print(status, data.decode())


def keep(image, file):
    expect(204, call("POST", f"/containers/{create(image, 'kept', ['sleep', '1000'])}/start"), "start")
    print("kept", flush=True)
    for _ in range(1000):
        if os.path.exists(file):
            break
        time.sleep(0.1)


def post(path, body):
    return (b"POST /v1.41%s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
            % (path.encode(), len(body), body))


# What a box would send where it gets a connection of its own to the engine.
def second_request(image, file="/owned", name="evil"):
    body = json.dumps({"Image": image, "Cmd": ["touch", "/host" + file], "HostConfig": {
        "Privileged": True, "Binds": ["/:/host"], "NetworkMode": "none"}}).encode()
    return post(f"/containers/create?name={name}", body) + post(f"/containers/{name}/start", b"")


def make_exec(container, words, **more):
    body = {"Cmd": words, "AttachStdin": True, "AttachStdout": True, "AttachStderr": True, **more}
    return expect(201, read("POST", f"/containers/{container}/exec", body), "exec")["Id"]


def streams(image):
    for upgrade in (True, False):
        words = ["sh", "-c", "read x; echo got $x; read y; echo then $y"]
        body = {"Image": image, "Cmd": words, "OpenStdin": True, "StdinOnce": True,
                "AttachStdin": True, "AttachStdout": True, "AttachStderr": True}
        one = expect(201, read("POST", "/containers/create", body), "create")["Id"]
        stream = Stream(f"/containers/{one}/attach?stream=1&stdin=1&stdout=1&stderr=1", upgrade=upgrade)
        status = stream.read_head()
        expect(204, call("POST", f"/containers/{one}/start"), "start")
        stream.send(b"a\n", end=False)
        stream.send(b"b\n")
        print("attach", status, frames(stream.read()).split())
        expect(204, call("DELETE", f"/containers/{one}?force=1"), "remove")
    one = create(image, "one", ["sh", "-c", "echo begin; sleep 1; echo end"])
    expect(204, call("POST", f"/containers/{one}/start"), "start")
    # Podman without a record of events follows the log of a container that has ended.
    following = Stream(f"/containers/{one}/logs?follow=1&stdout=1", method=b"GET", upgrade=False)
    while b"end\n" not in following.data:
        following.data += following.sock.recv(4096)
    following.sock.close()
    print("logs", b"begin\n" in following.data)
    expect(204, call("DELETE", f"/containers/{one}?force=1"), "remove")
    two = create(image, "two", ["sleep", "100"])
    expect(204, call("POST", f"/containers/{two}/start"), "start")
    for upgrade in (True, False):
        for tty in (False, True):
            command = make_exec(two, ["sh", "-c", "read x; echo got $x"], Tty=tty)
            body = json.dumps({"Detach": False, "Tty": tty}).encode()
            stream = Stream(f"/exec/{command}/start", body, upgrade=upgrade)
            status = stream.read_head()
            stream.send(b"typed\n", end=not tty)
            data = stream.read()
            print("exec", status, (data.decode() if tty else frames(data)).split()[-2:])
    expect(204, call("DELETE", f"/containers/{two}?force=1"), "remove")


def detached(image, file, *bodies):
    one = create(image, "one", ["sleep", "100"])
    expect(204, call("POST", f"/containers/{one}/start"), "start")
    for number, body in enumerate(bodies):
        headers = b"Transfer-Encoding: chunked\r\n" if body.endswith("\r\n") else b""
        command = make_exec(one, ["touch", f"/tmp/{number}"], Detach=number % 2 == 0)
        stream = Stream(f"/exec/{command}/start", body.encode(), headers)
        status = stream.read_head()
        stream.send(second_request(image, file, f"evil-{time.time_ns()}"))
        print("detached", status, b"HTTP" in stream.read())
    # It did run, and nothing else was made.
    for _ in range(100):
        made = run_command(one, ["ls", "/tmp"])[0].split()
        if len(made) == len(bodies):
            break
        time.sleep(0.1)
    print(made, [c["Names"] for c in expect(200, read("GET", "/containers/json?all=1"), "list")])


# Is it upgraded, and is it detached?
WAYS = {"attached": ((True, False), (False, False)), "detached": ((True, True),)}


def lies(ways, *names):
    one = create("stand-in:1", "one", ["x"])
    for name in names:
        for upgrade, detach in WAYS[ways]:
            body = json.dumps({"Detach": detach}).encode()
            stream = Stream(f"/exec/{make_exec(one, [name])}/start", body, upgrade=upgrade)
            status = stream.read_head()
            stream.send(second_request("x"))
            for _ in range(2):
                expect(200, call("GET", "/version"), "version")
            streamed = second_request("x") in stream.read()
            print(name, f"{status}{', a stream' if streamed else ''}", flush=True)


globals()[sys.argv[1]](*sys.argv[2:])
