"""Stand-ins for S3 and STS, over TLS at 203.0.113.92, which verify each
signature with the real key, by themselves: head, presigned URL, signed chunks
and trailers. They keep what is put, and answer 403 with the reason if a
signature is wrong."""
import asyncio
import base64
import gzip
import hashlib
import hmac
import html
import ssl
import urllib.parse
import zlib

import dns
from origin import Origin

SECRET = "RealSecretKey/0123456789+abcdefghijklmno"
TOKEN = "RealToken//0123456789+abcdefghijklmnopqrstuvwxyz0123456789=="
# The token that goes with each id; the key is the same.
KEYS = {"AKIAREAL234567ABCDEF": None, "ASIAREAL234567ABCDEF": TOKEN}
UNSIGNED = ("UNSIGNED-PAYLOAD", "STREAMING-UNSIGNED-PAYLOAD-TRAILER")
SIGNED = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
EMPTY = hashlib.sha256(b"").hexdigest()


class Wrong(Exception):
    pass


def mac(key, text):
    return hmac.new(key, text.encode("latin-1"), hashlib.sha256)


def escape(text, safe="-._~"):
    return urllib.parse.quote(text, safe=safe)


class Check:
    """One request, and what its signature says."""

    def __init__(self, request):
        self.request = request
        path, _, query = request.target.partition("?")
        self.path = path
        self.query = urllib.parse.parse_qsl(
            query.replace("+", "%2B"), keep_blank_values=True)
        values = dict(self.query)
        login = request.get("authorization")
        if login:
            kind, _, rest = login.partition(" ")
            parts = dict(p.strip().split("=", 1) for p in rest.split(","))
            self.names, self.signature = parts["SignedHeaders"], parts["Signature"]
            credential = parts["Credential"]
            self.date = request.get("x-amz-date")
            self.token = request.get("x-amz-security-token")
        elif "X-Amz-Signature" in values:
            kind = values["X-Amz-Algorithm"]
            self.names = values["X-Amz-SignedHeaders"]
            self.signature = values["X-Amz-Signature"]
            credential = values["X-Amz-Credential"]
            self.date = values["X-Amz-Date"]
            self.token = values.get("X-Amz-Security-Token")
        else:
            raise Wrong("not signed")
        if kind != "AWS4-HMAC-SHA256":
            raise Wrong("another algorithm")
        self.id, *self.scope = credential.split("/")
        self.day, self.region, self.service, _ = self.scope
        if self.id not in KEYS:
            raise Wrong("no such key " + self.id)
        if self.token != KEYS[self.id]:
            raise Wrong("another token")
        self.key = ("AWS4" + SECRET).encode()
        for word in self.scope:
            self.key = mac(self.key, word).digest()

    def sign(self, kind, *lines):
        return mac(self.key, "\n".join((
            kind, self.date, "/".join(self.scope)) + lines)).hexdigest()

    def head(self):
        request, values = self.request, dict(self.query)
        s3 = self.service == "s3"
        content = request.get("x-amz-content-sha256")
        if not content:
            presigned = s3 and "X-Amz-Signature" in values
            content = UNSIGNED[0] if presigned else hashlib.sha256(
                request.body).hexdigest()
        if content not in UNSIGNED and not content.startswith(SIGNED):
            if hashlib.sha256(request.body).hexdigest() != content:
                raise Wrong("another payload")
        path = urllib.parse.unquote(self.path) if s3 else self.path
        query = sorted((escape(k), escape(v)) for k, v in self.query
                       if k != "X-Amz-Signature")
        names = self.names.split(";")
        for name, _ in request.headers:
            if name.lower().startswith("x-amz-") and name.lower() not in names:
                raise Wrong(name + " is not signed")
        fields = "".join("%s:%s\n" % (name, ",".join(
            " ".join(v.split()) for k, v in request.headers
            if k.lower() == name)) for name in names)
        canonical = "\n".join((
            request.method, escape(path, "/-._~"),
            "&".join("%s=%s" % pair for pair in query), fields, self.names,
            content))
        digest = hashlib.sha256(canonical.encode("latin-1")).hexdigest()
        if self.sign("AWS4-HMAC-SHA256", digest) != self.signature:
            raise Wrong("the signature does not match: " + repr(canonical))
        return content

    def body(self, content):
        """The content without its chunks, and its trailers."""
        rest, data, last = self.request.body, b"", self.signature
        if not content.startswith("STREAMING-"):
            return rest
        signed = content.startswith(SIGNED)
        while True:
            line, _, rest = rest.partition(b"\r\n")
            size, _, more = line.partition(b";chunk-signature=")
            size = int(size, 16)
            if signed:
                last = self.sign(
                    "AWS4-HMAC-SHA256-PAYLOAD", last, EMPTY,
                    hashlib.sha256(rest[:size]).hexdigest())
                if last != more.decode():
                    raise Wrong("the signature of a chunk does not match")
            if not size:
                break
            data += rest[:size]
            rest = rest[size + 2:]
        self.trailers(content, rest, data, last)
        length = self.request.get("x-amz-decoded-content-length")
        if int(length) != len(data):
            raise Wrong("another length")
        return data

    def trailers(self, content, rest, data, last):
        lines = [line for line in rest.decode().split("\r\n") if line]
        if content == SIGNED + "-TRAILER":
            name, _, signature = lines.pop().partition(":")
            text = "".join(line + "\n" for line in lines)
            right = self.sign("AWS4-HMAC-SHA256-TRAILER", last,
                              hashlib.sha256(text.encode()).hexdigest())
            if (name, signature) != ("x-amz-trailer-signature", right):
                raise Wrong("the signature of the trailers does not match")
        for line in lines:
            name, _, value = line.partition(":")
            crc = zlib.crc32(data).to_bytes(4, "big")
            if name == "x-amz-checksum-crc32" and \
                    base64.b64encode(crc).decode() != value:
                raise Wrong("another checksum")


class Aws(Origin):
    def __init__(self, record):
        super().__init__(record)
        self.objects, self.signatures = {}, []

    async def slow(self, writer):
        """Begin an answer, and end it with all signatures when six more
        requests have come."""
        more = len(self.signatures) + 6
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                     b"6\r\nbegun\n\r\n")
        await writer.drain()
        while len(self.signatures) < more:
            await asyncio.sleep(0.02)
        text = "\n".join(self.signatures)
        writer.write(("%x\r\n%s\r\n0\r\n\r\n" % (len(text), text)).encode())

    async def reply(self, request, reader, writer):
        try:
            check = Check(request)
            data = check.body(check.head())
        except Wrong as wrong:
            text = ("<Error><Code>SignatureDoesNotMatch</Code>"
                    "<Message>%s</Message></Error>" % wrong)
            if "s3" not in request.get("host").split("."):
                text = "<ErrorResponse>%s</ErrorResponse>" % text
            self.whole(writer, text.encode(), "403 Forbidden")
            return True
        self.signatures.append(check.signature)
        if check.path == "/bucket/slow":
            await self.slow(writer)
        elif check.service == "s3":
            self.s3(check, data, writer)
        elif b"Action=GetSessionToken" in data:
            self.whole(writer, b"""<GetSessionTokenResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
<GetSessionTokenResult><Credentials><AccessKeyId>ASIAHANDEDOUT0123456</AccessKeyId>
<SecretAccessKey>HandedOutSecretKey0123456789</SecretAccessKey><SessionToken>HandedOutToken</SessionToken>
<Expiration>2100-01-01T00:00:00Z</Expiration></Credentials></GetSessionTokenResult></GetSessionTokenResponse>""")
        else:
            self.whole(writer, b"""<GetCallerIdentityResponse xmlns=
"https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>
<Arn>arn:aws:iam::123456789012:user/real</Arn><UserId>AIDA</UserId>
<Account>123456789012</Account></GetCallerIdentityResult>
</GetCallerIdentityResponse>""".replace(b"\n", b" ").replace(b"= ", b"="))
        return True

    def s3(self, check, data, writer):
        request, name = check.request, check.path
        query = dict(check.query)
        tag = 'ETag: "%s"' % hashlib.md5(data).hexdigest()
        if request.method == "PUT":
            if name == "/bucket/first":
                del self.signatures[:-1]
            part = query.get("partNumber", "")
            self.objects[name, part] = data
            self.whole(writer, b"", more=[tag])
        elif request.method == "POST" and "uploads" in query:
            self.whole(writer, b"<InitiateMultipartUploadResult><UploadId>u1"
                       b"</UploadId></InitiateMultipartUploadResult>")
        elif request.method == "POST":
            parts = [k for k in self.objects if k[0] == name and k[1]]
            parts.sort(key=lambda k: int(k[1]))
            self.objects[name, ""] = b"".join(map(self.objects.pop, parts))
            self.whole(writer, b"<CompleteMultipartUploadResult><ETag>x</ETag>"
                       b"</CompleteMultipartUploadResult>")
        elif name == "/bucket/all":
            self.whole(writer, "\n".join(self.signatures).encode())
        elif name == "/bucket/shown":
            self.whole(writer, escape(request.target).encode(), more=[
                "X-Url: " + request.target])
        elif name == "/bucket/moved":
            self.whole(writer, b"<Endpoint>%s</Endpoint>" % html.escape(
                request.target).encode(), "307 Temporary Redirect",
                ["Location: https://elsewhere.test" + request.target])
        elif name == "/bucket/packed":
            self.whole(writer, gzip.compress(request.target.encode()),
                       "403 Forbidden", ["Content-Encoding: gzip"])
        elif (name, "") not in self.objects:
            self.whole(writer, b"<Error><Code>NoSuchKey</Code></Error>",
                       "404 Not Found")
        else:
            self.get(request, self.objects[name, ""], writer)

    def get(self, request, data, writer):
        status, more, size = "200 OK", [], len(data)
        if request.get("range"):
            first, last = request.get("range")[6:].split("-")
            last = min(int(last or size), size - 1)
            data = data[int(first):last + 1]
            status = "206 Partial Content"
            more = ["Content-Range: bytes %s-%d/%d" % (first, last, size)]
        more.append('ETag: "x"')
        if request.method == "HEAD":
            writer.write(("HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n"
                          % (status, size)).encode())
        else:
            self.whole(writer, data, status, more)


async def start(record, directory):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory + "/keys.pem", directory + "/server.key")
    await asyncio.start_server(Aws(record).serve, dns.AWS, 443, ssl=context,
                               limit=1 << 20, backlog=1024)
