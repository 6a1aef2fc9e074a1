#!/usr/bin/python3
"""An OpenTelemetry collector for the tests: checks what it gets and keeps it.

    otlp_receiver.py FILE [--tls CERTIFICATE KEY] [--answers STATUS...] [--partial N] [--slow SECONDS]

Prints its port. Each accepted log record is a line of FILE; what is not as the
specification says is a line "invalid: why". The answers are given in order,
the last one stays.
"""
import argparse
import http.server
import json
import ssl
import time

parser = argparse.ArgumentParser()
parser.add_argument("file")
parser.add_argument("--tls", nargs=2)
parser.add_argument("--answers", nargs="+", type=int, default=[200])
parser.add_argument("--partial", type=int, default=0)
parser.add_argument("--slow", type=float, default=0)
args = parser.parse_args()


def check_value(value):
    assert isinstance(value, dict) and len(value) == 1, value
    (kind, content), = value.items()
    expected = {"stringValue": str, "boolValue": bool, "intValue": str}
    assert type(content) is expected[kind], value
    if kind == "intValue":
        int(content)


def check_attributes(attributes):
    names = [a["key"] for a in attributes]
    assert len(names) == len(set(names)), names
    for attribute in attributes:
        assert set(attribute) == {"key", "value"}, attribute
        check_value(attribute["value"])
    return {a["key"]: next(iter(a["value"].values())) for a in attributes}


def check(body):
    """The records in a request, or an exception."""
    found = []
    request = json.loads(body)
    assert set(request) == {"resourceLogs"}
    for resource in request["resourceLogs"]:
        host = check_attributes(resource["resource"]["attributes"])
        assert host["service.name"] == "agentbox" and host["host.name"]
        for scope in resource["scopeLogs"]:
            assert scope["scope"]["name"] == "agentbox"
            for record in scope["logRecords"]:
                assert set(record) == {"timeUnixNano", "observedTimeUnixNano", "severityNumber",
                                       "severityText", "body", "attributes"}, record
                assert 1_600_000_000 < int(record["timeUnixNano"]) / 1e9 < 5_000_000_000
                assert record["severityNumber"] in (9, 13, 17)
                check_value(record["body"])
                attributes = check_attributes(record["attributes"])
                original = json.loads(attributes["log.record.original"])
                assert attributes["event.name"] == "agentbox." + original["kind"]
                assert attributes["agentbox.run_id"] == original["run_id"]
                found.append(dict(attributes, severity=record["severityNumber"],
                                  body=record["body"]["stringValue"]))
    return found


class Receiver(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(args.slow)
        status = args.answers.pop(0) if len(args.answers) > 1 else args.answers[0]
        lines, reply = [f"answered {status}"], {}
        try:
            assert self.path == "/v1/logs", self.path
            assert self.headers["Content-Type"] == "application/json"
            records = check(body)
            if status == 200:
                lines += [json.dumps(dict(r, key=self.headers.get("x-key"))) for r in records]
            if args.partial:
                reply = {"partialSuccess": {"rejectedLogRecords": str(args.partial),
                                            "errorMessage": "too old"}}
        except (AssertionError, KeyError, ValueError, TypeError) as error:
            lines.append(f"invalid: {error!r}")
        with open(args.file, "a") as file:
            file.write("".join(line + "\n" for line in lines))
        data = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
if args.tls:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*args.tls)
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
