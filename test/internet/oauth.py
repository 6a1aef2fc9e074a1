"""A stand-in for an authorization server and the API behind it, over TLS at
203.0.113.93. /token exchanges refresh tokens "RealRefresh.KIND-ID.N", the
client secret and assertions that the key of a service account signed; every
other path wants an access token that it gave out and that has not expired, except
/next, an answer that ends when another token is used first, with it.

KIND: fixed (stays the same), rotate (each exchange gives a new one, and the old
one is not valid any more), short (access tokens expire after 8 seconds), shown
(the answer to the API says the token), slow, bad (an answer without a token)."""
import asyncio
import base64
import hashlib
import json
import posixpath
import re
import ssl
import subprocess
import time
import urllib.parse

import dns
from origin import Origin

CLIENT, SECRET = "client-1", "RealClientSecret0123456789"
# DER of the name of SHA-256, before a digest that RSA signs.
SHA256 = bytes.fromhex("3031300d060960864801650304020105000420")


class Refused(Exception):
    pass


def from64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Oauth(Origin):
    def __init__(self, record, directory):
        super().__init__(record)
        self.numbers, self.tokens, self.given = {}, {}, 0
        self.used = []
        self.key = directory + "/account.key"

    def modulus(self):
        """Of the service account: the test makes its key."""
        out = subprocess.run(["openssl", "rsa", "-in", self.key, "-noout", "-modulus"],
                             capture_output=True, text=True, check=True).stdout
        return int(out.strip().partition("=")[2], 16)

    def asked(self, request):
        kind = request.get("content-type")
        if kind == "application/json":
            return json.loads(request.body)
        if kind != "application/x-www-form-urlencoded":
            raise Refused("invalid_request")
        return dict(urllib.parse.parse_qsl(request.body.decode()))

    def login(self, request, asked):
        kind, _, basic = (request.get("authorization") or "").partition(" ")
        if kind.lower() == "basic":
            pair = base64.b64decode(basic).decode()
            return [urllib.parse.unquote(x) for x in pair.split(":")]
        return asked.get("client_id"), asked.get("client_secret")

    def refresh(self, request, asked):
        name, family, number = asked["refresh_token"].split(".")
        if name != "RealRefresh" or int(number) != self.numbers.get(family, 0):
            raise Refused("invalid_grant")
        if family.startswith("rotate"):
            self.numbers[family] = int(number) + 1
        return family, "%s.%s.%d" % (
            name, family, self.numbers.get(family, 0))

    def client(self, request, asked):
        if self.login(request, asked) != [CLIENT, SECRET] and \
                self.login(request, asked) != (CLIENT, SECRET):
            raise Refused("invalid_client")
        return "client-" + (asked.get("scope") or ""), None

    def account(self, request, asked):
        text, _, signature = asked["assertion"].rpartition(".")
        claims = json.loads(from64(text.split(".")[1]))
        digest = SHA256 + hashlib.sha256(text.encode()).digest()
        modulus = self.modulus()
        size = (modulus.bit_length() + 7) // 8
        wanted = b"\0\1" + b"\xff" * (size - len(digest) - 3) + b"\0" + digest
        number = int.from_bytes(from64(signature), "big")
        if pow(number, 65537, modulus).to_bytes(size, "big") != wanted:
            raise Refused("invalid_grant")
        if claims["aud"] != "https://oauth2.googleapis.com/token":
            raise Refused("invalid_audience")
        return "account-" + claims["scope"], None

    async def do_token(self, request, what, query, reader, writer):
        grants = {"refresh_token": self.refresh,
                  "client_credentials": self.client,
                  "urn:ietf:params:oauth:grant-type:jwt-bearer": self.account}
        try:
            asked = self.asked(request)
            family, again = grants[asked["grant_type"]](request, asked)
        except Refused as why:
            self.whole(writer, json.dumps({"error": str(why)}).encode(),
                       "400 Bad Request")
            return False
        if family.startswith("slow"):
            await asyncio.sleep(2)
        self.given += 1
        token = "RealAccess-%d-0123456789" % self.given
        life = 8 if family.startswith("short") else 3600
        self.tokens[token] = family, time.monotonic() + life
        answer = {"access_token": token, "token_type": "Bearer",
                  "expires_in": life}
        if again:
            answer["refresh_token"] = again
        if family.startswith("bad"):
            del answer["access_token"]
        self.whole(writer, json.dumps(answer).encode(),
                   more=["Content-Type: application/json"])
        return False

    async def next_token(self, writer):
        used = len(self.used)
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                     b"6\r\nbegun\n\r\n")
        await writer.drain()
        while len(self.used) == used:
            await asyncio.sleep(0.02)
        token = self.used[-1]
        writer.write(("%x\r\n%s\r\n0\r\n\r\n" % (len(token), token)).encode())
        return False

    def is_token_url(self, target):
        """As a server that reads paths in every way at once."""
        path = urllib.parse.unquote(target.split("?")[0]).replace("\\", "/")
        path = re.sub(";[^/]*", "", re.sub("^http://[^/]*", "", path)).lower()
        path = posixpath.normpath("/" + path.split("\0")[0].strip())
        return path.split(".")[0].strip("/ ") == "token"

    async def reply(self, request, reader, writer):
        if self.is_token_url(request.get("x-original-url") or request.target):
            return await self.do_token(request, [], "", reader, writer)
        if request.target == "/next":
            return await self.next_token(writer)
        kind, _, token = (request.get("authorization") or "").partition(" ")
        family, until = self.tokens.get(token, ("", 0))
        if kind.lower() != "bearer" or until < time.monotonic():
            self.whole(writer, b"no such token\n", "401 Unauthorized")
        else:
            if token not in self.used:
                self.used.append(token)
            text = "hello %s%s\n" % (
                family, " " + token if family.startswith("shown") else "")
            self.whole(writer, text.encode())
        return request.get("connection") != "close"


async def start(record, directory):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory + "/keys.pem", directory + "/server.key")
    await asyncio.start_server(Oauth(record, directory).serve, dns.OAUTH, 443,
                               ssl=context, limit=1 << 20, backlog=1024)
