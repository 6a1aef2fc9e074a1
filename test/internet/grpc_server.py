"""A gRPC server of the real library: grpc_server.py PORT CERTIFICATE KEY LOG.
Messages are bytes. /box.Test/Echo answers with the message, /box.Test/Talk with
each one of a stream, /box.Test/Show with the login in parts, /box.Test/Fail with a status; each writes down the metadata
"authorization", sends it back as trailing metadata, and never sees a placeholder."""
import concurrent.futures
import json
import sys

import grpc

port, cert, key, log = sys.argv[1:]


def note(context, what):
    login = dict(context.invocation_metadata()).get("authorization", "")
    with open(log, "a") as out:
        out.write(json.dumps({"grpc": what, "authorization": login}) + "\n")
    context.set_trailing_metadata((("x-seen", login or "none"),))


def echo(message, context):
    note(context, "Echo")
    return message


def talk(messages, context):
    note(context, "Talk")
    for message in messages:
        yield b"re: " + message


def show(message, context):
    """The login in as many messages as were asked for."""
    note(context, "Show")
    login = dict(context.invocation_metadata())["authorization"].encode()
    size = -(-len(login) // int(message))
    for at in range(0, len(login), size):
        yield login[at:at + size]


def fail(message, context):
    note(context, "Fail")
    context.abort(grpc.StatusCode.FAILED_PRECONDITION, "not today")


class Handler(grpc.GenericRpcHandler):
    def service(self, call):
        return {
            "/box.Test/Echo": grpc.unary_unary_rpc_method_handler(echo),
            "/box.Test/Denied": grpc.unary_unary_rpc_method_handler(echo),
            "/box.Test/Talk": grpc.stream_stream_rpc_method_handler(talk),
            "/box.Test/Show": grpc.unary_stream_rpc_method_handler(show),
            "/box.Test/Fail": grpc.unary_unary_rpc_method_handler(fail),
        }.get(call.method)


with open(cert, "rb") as c, open(key, "rb") as k:
    login = grpc.ssl_server_credentials([(k.read(), c.read())])
server = grpc.server(concurrent.futures.ThreadPoolExecutor(8))
server.add_generic_rpc_handlers((Handler(),))
server.add_secure_port("203.0.113.10:" + port, login)
server.start()
with open(log, "a") as out:
    out.write(json.dumps({"listening": "grpc"}) + "\n")
server.wait_for_termination()
