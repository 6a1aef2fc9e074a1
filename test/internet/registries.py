"""Package registries at 203.0.113.91, one for each tool: npm, PyPI, crates.io,
the Go module proxy and Maven Central. Each offers the package "tiny", which says
where it came from. What was asked for is in the origin's record. mirror.test has npm,
PyPI and the index of crates again, below /npm, /pypi and /crates.

Maven's plugins are stand-ins: whatever version of them mvn asks for is a jar of the
classes in DIR/maven (Step.java, which the test compiles)."""
import asyncio
import base64
import gzip
import hashlib
import io
import json
import os
import re
import ssl
import tarfile
import zipfile

from dns import REGISTRIES
from origin import Origin

CRATE_TOML = '[package]\nname = "tiny"\nversion = "1.0.0"\nedition = "2018"\n'
GO_MOD = b"module example.com/tiny\n\ngo 1.18\n"
POM = """<project><modelVersion>4.0.0</modelVersion><groupId>%s</groupId>
<artifactId>%s</artifactId><version>%s</version><packaging>%s</packaging></project>"""

MIRRORED = {"/npm": "registry.npmjs.org", "/pypi": "pypi.org", "/crates": "index.crates.io"}

# The goals of the plugins that "mvn package" runs. A plugin is named by the artifact.
GOALS = {
    "maven-resources-plugin": ("resources", "testResources"),
    "maven-compiler-plugin": ("compile", "testCompile"),
    "maven-surefire-plugin": ("test",),
    "maven-jar-plugin": ("jar",),
}
PLUGIN = """<plugin><groupId>org.apache.maven.plugins</groupId><artifactId>%s</artifactId>
<version>%s</version><goalPrefix>%s</goalPrefix><mojos>%s</mojos></plugin>"""
MOJO = """<mojo><goal>%s</goal><implementation>Step</implementation><language>java</language>
<requiresDependencyResolution>compile</requiresDependencyResolution>
<instantiationStrategy>per-lookup</instantiationStrategy>
<parameters>%s</parameters><configuration>%s</configuration></mojo>"""
# The fields of Step: type and value (none: the goal).
FIELDS = {
    "goal": ("java.lang.String", ""),
    "classpath": ("java.util.List", "${project.compileClasspathElements}"),
    "sources": ("java.io.File", "${project.build.sourceDirectory}"),
    "classes": ("java.io.File", "${project.build.outputDirectory}"),
    "jar": ("java.io.File", "${project.build.directory}/"
            "${project.build.finalName}.jar"),
}


def mojo(goal):
    parameters = "".join(
        "<parameter><name>%s</name><type>%s</type></parameter>" % (name, kind)
        for name, (kind, _) in FIELDS.items())
    values = "".join(
        '<%s implementation="%s" default-value="%s"/>'
        % (name, kind, value or goal)
        for name, (kind, value) in FIELDS.items())
    return MOJO % (goal, parameters, values)


def tar_gz(files):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    return gzip.compress(out.getvalue(), mtime=0)


def zip_of(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data)   # always the same time
    return out.getvalue()


def sri(kind, data):
    return kind + "-" + base64.b64encode(hashlib.new(kind, data).digest()).decode()


def npm():
    about = {"name": "tiny", "version": "1.0.0", "main": "index.js"}
    data = tar_gz({"package/package.json": json.dumps(about),
                   "package/index.js": "module.exports = 'tiny from npm'\n"})
    url = "https://registry.npmjs.org/tiny/-/tiny-1.0.0.tgz"
    version = dict(about, dist={
        "tarball": url, "integrity": sri("sha512", data),
        "shasum": hashlib.sha1(data).hexdigest()})
    yield url, data
    yield "https://registry.npmjs.org/tiny", json.dumps({
        "name": "tiny", "dist-tags": {"latest": "1.0.0"},
        "versions": {"1.0.0": version}}).encode()
    yield "https://registry.npmjs.org/-/npm/v1/security/advisories/bulk", b"{}"


def pypi():
    info = "tiny-1.0.dist-info/"
    files = {
        "tiny.py": "print('tiny from pypi')\n",
        info + "METADATA": "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
        info + "WHEEL": "Wheel-Version: 1.0\nGenerator: x\n"
                        "Root-Is-Purelib: true\nTag: py3-none-any\n"}
    files[info + "RECORD"] = "".join(
        name + ",,\n" for name in [*files, info + "RECORD"])
    data = zip_of(files)
    name = "tiny-1.0-py3-none-any.whl"
    url = "https://files.pythonhosted.org/packages/" + name
    yield url, data
    yield "https://pypi.org/simple/tiny/", (
        '<!DOCTYPE html><html><body><a href="%s#sha256=%s">%s</a></body></html>'
        % (url, hashlib.sha256(data).hexdigest(), name)).encode()


def crates():
    data = tar_gz({
        "tiny-1.0.0/Cargo.toml": CRATE_TOML,
        "tiny-1.0.0/src/lib.rs":
            'pub fn say() -> &\'static str { "tiny from crates.io" }\n'})
    yield "https://static.crates.io/crates/tiny/1.0.0/download", data
    yield "https://index.crates.io/config.json", json.dumps({
        "dl": "https://static.crates.io/crates",
        "api": "https://crates.io"}).encode()
    yield "https://index.crates.io/ti/ny/tiny", json.dumps({
        "name": "tiny", "vers": "1.0.0", "deps": [], "features": {},
        "cksum": hashlib.sha256(data).hexdigest(), "yanked": False}).encode()


def go_files():
    where = "example.com/tiny@v1.0.0/"
    return {where + "go.mod": GO_MOD, where + "tiny.go":
            b'package tiny\n\nfunc Say() string { return "tiny from go" }\n'}


def go_sum():
    """The lines of go.sum: a digest of the digests of the files."""
    def h1(files):
        text = "".join("%s  %s\n" % (hashlib.sha256(files[name]).hexdigest(), name)
                       for name in sorted(files))
        return "h1:" + base64.b64encode(
            hashlib.sha256(text.encode()).digest()).decode()
    return "example.com/tiny v1.0.0 %s\nexample.com/tiny v1.0.0/go.mod %s\n" % (
        h1(go_files()), h1({"go.mod": GO_MOD}))


def go():
    top = "https://proxy.golang.org/example.com/tiny/@v/"
    about = b'{"Version":"v1.0.0","Time":"2020-01-01T00:00:00Z"}'
    yield top + "list", b"v1.0.0\n"
    yield top + "v1.0.0.info", about
    yield "https://proxy.golang.org/example.com/tiny/@latest", about
    yield top + "v1.0.0.mod", GO_MOD
    yield top + "v1.0.0.zip", zip_of(go_files())


class Maven:
    """Central: DIR/maven has the classes, compiled after the start."""

    def __init__(self, directory):
        self.directory = directory + "/maven/"

    def classes(self, prefix):
        found = {}
        for name in sorted(os.listdir(self.directory)):
            if name.startswith(prefix):
                with open(self.directory + name, "rb") as file:
                    found[name] = file.read()
        return found

    def jar(self, artifact, version):
        if artifact == "tiny":
            return zip_of(self.classes("Tiny"))
        if artifact not in GOALS:
            return zip_of({"empty": b""})
        goals = "".join(mojo(goal) for goal in GOALS[artifact])
        return zip_of(dict(self.classes("Step"), **{
            "META-INF/maven/plugin.xml":
                PLUGIN % (artifact, version, artifact.split("-")[1], goals)}))

    def get(self, path):
        """The bytes of a file of the repository, or None."""
        match = re.fullmatch(r"/maven2/([a-z/]+)/([a-z-]+)/([0-9.]+)/"
                             r"\2-\3\.(pom|jar)(\.sha1)?", path)
        if not match:
            return None
        group, artifact, version, kind, digest = match.groups()
        # mvn adds plexus-utils to every plugin.
        if artifact not in ("tiny", "plexus-utils", *GOALS):
            return None
        if kind == "pom":
            packaging = "maven-plugin" if artifact in GOALS else "jar"
            data = (POM % (group.replace("/", "."), artifact, version,
                           packaging)).encode()
        else:
            data = self.jar(artifact, version)
        return hashlib.sha1(data).hexdigest().encode() if digest else data


class Registries(Origin):
    def __init__(self, record, directory):
        super().__init__(record)
        self.files = {url: data for make in (npm, pypi, crates, go)
                      for url, data in make()}
        self.maven = Maven(directory)

    async def reply(self, request, reader, writer):
        host, path = request.get("host"), request.target.partition("?")[0]
        origin, where = host, path
        for prefix, mirrored in MIRRORED.items():
            if host == "mirror.test" and path.startswith(prefix + "/"):
                origin, where = mirrored, path[len(prefix):]
        data = self.files.get("https://%s%s" % (origin, where))
        if host == "repo.maven.apache.org":
            data = self.maven.get(path)
        if data is None and host == "registry.npmjs.org":
            # Tests of secrets send it a token, and want an answer.
            return await super().reply(request, reader, writer)
        kind = "text/html" if where.startswith("/simple/") else \
            "application/octet-stream"
        self.whole(writer, data or b"", "404 Not Found" if data is None else
                   "200 OK", ("Content-Type: " + kind,))
        return True


async def start(record, directory):
    registries = Registries(record, directory)
    with open(directory + "/go.sum", "w") as file:
        file.write(go_sum())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory + "/keys.pem", directory + "/server.key")
    context.set_alpn_protocols(["http/1.1"])
    await asyncio.start_server(registries.serve, REGISTRIES, 443, ssl=context,
                               backlog=4096)
