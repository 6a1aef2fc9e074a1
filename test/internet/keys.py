"""Stand-ins for the services that want a key, over TLS: what reached them is
in the origin's record, at 203.0.113.80. Others there have certificates that
nobody should accept."""
import asyncio
import base64
import gzip
import hashlib
import json
import os
import ssl

from origin import Origin, reset

# Where: the certificate that it shows.
CERTIFICATES = {
    "203.0.113.80": "keys",
    "203.0.113.81": "expired",
    "203.0.113.82": "server",   # of other names
    "203.0.113.83": "stranger",     # of an authority that nobody knows
}


def credentials(request):
    """The token of a request, however it is carried."""
    value = request.get("authorization") or ""
    kind, _, rest = value.partition(" ")
    if kind.lower() == "basic":
        return base64.b64decode(rest).decode().partition(":")[2]
    return rest or request.get("x-api-key") or ""


class Keys(Origin):
    def __init__(self, record, directory):
        super().__init__(record)
        self.directory = directory

    async def do_split(self, request, what, query, reader, writer):
        """The token, back in chunks of so many bytes, and in a trailer."""
        size, token = int(what[0]), credentials(request).encode()
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
                     b"X-Token: " + token + b"\r\n\r\n")
        text = b"token=" + token + b";\n"
        for i in range(0, len(text), size):
            part = text[i:i + size]
            writer.write(b"%x\r\n%s\r\n" % (len(part), part))
            await writer.drain()
        writer.write(b"0\r\nX-Trailer: " + token + b"\r\n\r\n")
        return True

    async def do_encoded(self, request, what, query, reader, writer):
        """The same in other spellings, with a length."""
        token = credentials(request).encode()
        lines = [token, b"x" + token + b"y"]
        lines += [base64.b64encode(b"x" * i + token) for i in range(3)]
        lines += [base64.urlsafe_b64encode(b"?>" * i + token)
                  for i in range(3)]
        lines.append(json.dumps(token.decode()).encode())
        self.whole(writer, b"\n".join(lines) + b"\n")
        return True

    async def do_escaped(self, request, what, query, reader, writer):
        """Each byte of it an escape of JSON."""
        self.whole(writer, b'"' + b"".join(
            b"\\u%04x" % c for c in credentials(request).encode()) + b'"\n')
        return True

    async def do_spelled(self, request, what, query, reader, writer):
        """In spellings of programs: one line each."""
        token = credentials(request)
        ways = ["%02x", "%02X", "%%25%02X", "\\x%02x", "&#%d;", "&#x%02x;",
                "\\u%04x"]
        lines = ["".join(way % ord(c) for c in token).encode()
                 for way in ways]
        lines += [("<" + token + ">").encode(form)
                  for form in ("utf-16-le", "utf-16-be")]
        self.whole(writer, b"\n".join(lines) + b"\n")
        return True

    async def do_turned(self, request, what, query, reader, writer):
        """As nobody looks for it: backwards, in octal, in UTF-32, indented; one text each."""
        token = credentials(request)
        digits = base64.b64encode(token.encode()).decode()
        self.whole(writer, b"\n\n".join((
            token[::-1].encode(), "".join("\\%03o" % ord(c) for c in token).encode(),
            token.encode("utf-32-le"), "\n  ".join(digits[k:k + 8] for k in range(0, len(digits), 8)).encode())))
        return True

    async def do_wrapped(self, request, what, query, reader, writer):
        """In base64 in lines, and in sloppy numbers of HTML: one text each, with an empty line after it."""
        token = credentials(request)
        parts = []
        for i in range(3):
            digits = base64.b64encode(b"x" * (45 + i) + token.encode() + b"y" * 20).decode()
            for columns in (4, 60, 64, 76):
                lines = [digits[k:k + columns] for k in range(0, len(digits), columns)]
                parts += [end.join(lines) for end in ("\n", "\r\n", "\r", "\\n", "\\r\\n", "%0A")]
        for way in ("&#%07d;", "&#%d", "&#x%x", "&#X%04X"):
            parts.append("".join(way % ord(c) for c in token))
        self.whole(writer, "\n\n".join(parts).encode())
        return True

    async def do_part(self, request, what, query, reader, writer):
        """The part of the token that a field asks for, whatever its name, as 206 or 200; of several parts: "parts"."""
        field, status, form = what
        first, last = request.get(field.lower()).rpartition("=")[2].split("-")
        token = credentials(request).encode()
        where = "Content-Range: bytes %s-%s/%d" % (first, last, len(token))
        part = token[int(first):int(last) + 1]
        if form == "parts":
            part = b"--x\r\n" + where.encode() + b"\r\n\r\n" + part + b"\r\n--x--\r\n"
            where = "Content-Type: multipart/byteranges; boundary=x"
        self.whole(writer, part, status + " Part", more=(where,))
        return True

    async def do_gzip(self, request, what, query, reader, writer):
        """Compressed, whatever was asked for."""
        self.whole(writer, gzip.compress(credentials(request).encode()),
                   more=("Content-Encoding: gzip",))
        return True

    async def do_say(self, request, what, query, reader, writer):
        """The answer that the path holds, in base64, with the token where it
        says {} (its first 20 bytes: {<}, the others: {>}), so many bytes at a time; "stay": until the client ends."""
        token = credentials(request).encode()
        text = base64.urlsafe_b64decode(what[0]).replace(b"{}", token)
        text = text.replace(b"{<}", token[:20]).replace(b"{>}", token[20:])
        size = int(what[1])
        for i in range(0, len(text), size):
            writer.write(text[i:i + size])
            await writer.drain()
            await asyncio.sleep(0)
        if what[2:]:
            await reader.read()
        return False

    async def do_stream(self, request, what, query, reader, writer):
        """Events; the second, with the token, comes only after /open/KEY."""
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                     b"Transfer-Encoding: chunked\r\n\r\n")
        parts = [b"data: first\n\n", b"data: " +
                 credentials(request).encode() + b"\n\n"]
        for i, part in enumerate(parts):
            if i:
                await self.gate(what[0]).wait()
            writer.write(b"%x\r\n%s\r\n" % (len(part), part))
            await writer.drain()
        writer.write(b"0\r\n\r\n")
        return True

    async def do_redirect(self, request, what, query, reader, writer):
        self.whole(writer, b"elsewhere\n", "302 Found",
                   more=("Location: " + query,))
        return True

    async def do_only(self, request, what, query, reader, writer):
        """401 for any token but the one whose digest is in the path."""
        token = credentials(request).encode()
        good = hashlib.sha256(token).hexdigest() == what[0]
        self.whole(writer, b"good\n" if good else b"bad\n",
                   "200 OK" if good else "401 Unauthorized")
        return True

    async def do_cut(self, request, what, query, reader, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        await writer.drain()
        reset(writer)
        return False

    async def do_git(self, request, what, query, reader, writer):
        """A repository that wants a password, as git's own server has it."""
        if not credentials(request):
            self.whole(writer, b"", "401 Unauthorized",
                       more=('WWW-Authenticate: Basic realm="git"',))
            return True
        return await self.serve_git(request, what, query, writer)

    async def do_rust_lang(self, request, what, query, reader, writer):
        """The index of crates as a repository, without a password."""
        return await self.serve_git(request, what, query, writer)

    async def serve_git(self, request, what, query, writer):
        env = {"PATH": os.environ["PATH"], "GIT_HTTP_EXPORT_ALL": "1",
               "GIT_PROJECT_ROOT": self.directory + "/keys",
               "GIT_CONFIG_NOSYSTEM": "1", "HOME": self.directory,
               "PATH_INFO": "/" + "/".join(what), "QUERY_STRING": query,
               "REQUEST_METHOD": request.method, "REMOTE_USER": "x",
               "CONTENT_TYPE": request.get("content-type") or "",
               "CONTENT_LENGTH": str(len(request.body)),
               "HTTP_CONTENT_ENCODING":
               request.get("content-encoding") or "",
               "GIT_PROTOCOL": request.get("git-protocol") or ""}
        git = await asyncio.create_subprocess_exec(
            "git", "http-backend", env=env,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
        out, _ = await git.communicate(request.body)
        head, _, body = out.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        status = "200 OK"
        for line in lines:
            if line.lower().startswith("status:"):
                status = line.partition(":")[2].strip()
        self.whole(writer, body, status,
                   [x for x in lines if not x.lower().startswith("status:")])
        return True


async def start(record, directory):
    keys = Keys(record, directory)
    for where, name in CERTIFICATES.items():
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain("%s/%s.pem" % (directory, name),
                                "%s/server.key" % directory)
        context.set_alpn_protocols(["http/1.1"])
        await asyncio.start_server(keys.serve, where, 443, ssl=context,
                                   backlog=4096)
    await asyncio.start_server(keys.serve, "203.0.113.80", 80, backlog=4096)
