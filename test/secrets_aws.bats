# AWS keys that sign: the box has placeholders, the proxy verifies what they
# signed and signs it with the real key. The server verifies that by itself.
UNJUDGED=1
load helpers
load internet
load secrets
load attack/attack

# As test/internet/aws.py knows them.
ID=AKIAREAL234567ABCDEF
SECRET='RealSecretKey/0123456789+abcdefghijklmno'
TEMPORARY=ASIAREAL234567ABCDEF
TOKEN='RealToken//0123456789+abcdefghijklmnopqrstuvwxyz0123456789=='

# What every client in the box begins with. Without a proxy variable it is
# captured; with one it must not go around the proxy.
boto='
import sys
sys.path.insert(0, "/usr/lib/python3/dist-packages")
import boto3, os, time
os.environ["AWS_STS_REGIONAL_ENDPOINTS"] = "regional"
from botocore.config import Config
from botocore.exceptions import ClientError
from botocore.parsers import ResponseParserError
path = Config(s3={"addressing_style": "path"}, retries={"max_attempts": 0})
host = Config(s3={"addressing_style": "virtual"}, retries={"max_attempts": 0})
def client(name, region="eu-west-1", config=path, **rest):
    return boto3.client(name, region_name=region, config=config, **rest)
def said(do):
    try:
        return do()
    except ClientError as e:
        return "%s %s" % (e.response["ResponseMetadata"]["HTTPStatusCode"], e)
    except ResponseParserError as e:
        return "403 %s" % e if "agentbox denied" in str(e) else str(e)
'

aws_config()
{
	config "$(jq -n --argjson more "${1:-{\}}" '{ secrets: { AWS: ({
		sign: "aws-sigv4", services: ["s3", "sts"], regions: ["eu-west-1"] } + $more) } }')"
}

# box_boto: the script on stdin, in the box.
box_boto()
{
	{ printf '%s' "$boto"; cat; } >client.py
	agentbox_split run "$@" -- /usr/bin/python3 client.py
	echo "$stderr" >&2
}

# Why requests were denied.
denials()
{
	audit 'select(.kind == "violation") | .reason'
}

@test "aws: boto3 gets and puts, in parts and by a presigned URL, with a key it never sees" {
	aws_config
	export AWS_ACCESS_KEY_ID=$ID AWS_SECRET_ACCESS_KEY=$SECRET
	box_boto --env SCAN="$(scan "$SECRET")" <<-'END'
	import io, urllib.request
	from boto3.s3.transfer import TransferConfig
	s3 = client("s3")
	text = b"content\n" * 40000
	s3.put_object(Bucket="bucket", Key="a b/ü+$&.txt", Body=text)
	print("get", s3.get_object(Bucket="bucket", Key="a b/ü+$&.txt")["Body"].read() == text)
	print("range", s3.get_object(Bucket="bucket", Key="a b/ü+$&.txt", Range="bytes=2-5")["Body"].read())
	far = client("s3", config=host)
	far.put_object(Bucket="bucket", Key="sum", Body=io.BytesIO(text), ChecksumAlgorithm="CRC32")
	print("trailer", far.get_object(Bucket="bucket", Key="sum")["Body"].read() == text)
	parts = TransferConfig(multipart_threshold=5 << 20, multipart_chunksize=5 << 20)
	big = os.urandom(11 << 20)
	s3.upload_fileobj(io.BytesIO(big), "bucket", "big", Config=parts)
	back = io.BytesIO()
	s3.download_fileobj("bucket", "big", back, Config=parts)
	print("parts", back.getvalue() == big)
	signed = client("s3", config=path.merge(Config(signature_version="s3v4")))
	url = signed.generate_presigned_url("get_object", Params=dict(Bucket="bucket", Key="big"))
	print("presigned", urllib.request.urlopen(url).read() == big)
	url = signed.generate_presigned_url("put_object", Params=dict(Bucket="bucket", Key="up"))
	urllib.request.urlopen(urllib.request.Request(url, data=b"up", method="PUT"))
	print("uploaded", s3.get_object(Bucket="bucket", Key="up")["Body"].read())
	print(client("sts").get_caller_identity()["Account"])
	print(os.environ["AWS_ACCESS_KEY_ID"][:4], len(os.environ["AWS_ACCESS_KEY_ID"]),
	      len(os.environ["AWS_SECRET_ACCESS_KEY"]), "AWS_SESSION_TOKEN" in os.environ, flush=True)
	os.system(os.environ["SCAN"])
	END
	[ "$status" -eq 0 ]
	expect <<-END
	get True
	range b'nten'
	trailer True
	parts True
	presigned True
	uploaded b'up'
	123456789012
	AKIA 20 40 False
	clean
	END
	hidden "$SECRET"
	hidden "$ID"
	! origin_saw "$SECRET" || false
	[ -z "$(denials)" ]
	[ "$(audit 'select(.kind == "request" and .path == "/") | [.domain, .secret, .status] | @csv')" = \
		'"sts.eu-west-1.amazonaws.com","AWS",200' ]
}

@test "aws: temporary credentials of a command, whose token is added, and which are renewed" {
	cat >"$NET/credentials" <<-END
	#!/bin/sh
	# The first ones are at their end, and belong to nobody.
	now=\$(date +%s)
	echo run >>"$TEST_DIR/ran"
	id=$TEMPORARY token=$TOKEN end=\$((now + 3600))
	[ "\$(wc -l <"$TEST_DIR/ran")" -gt 1 ] || id=ASIAOLD4234567ABCDEF end=\$((now + 4))
	printf '{"Version":1,"AccessKeyId":"%s","SecretAccessKey":"%s","SessionToken":"%s","Expiration":"%s"}\n' \
		"\$id" "$SECRET" "\$token" "\$(date -u -d @\$end +%Y-%m-%dT%H:%M:%SZ)"
	END
	chmod +x "$NET/credentials"
	aws_config "{ \"from\": \"command\", \"command\": [\"$NET/credentials\"] }"
	box_boto --env SCAN="$(scan "$TOKEN")" <<-'END'
	for i in range(300):
	    try:
	        print(client("sts").get_caller_identity()["Account"])
	        break
	    except ClientError as e:
	        assert "no such key ASIA" in str(e), e
	        time.sleep(0.1)
	s3 = client("s3", config=path.merge(Config(signature_version="s3v4")))
	s3.put_object(Bucket="bucket", Key="t", Body=b"t")
	import urllib.request
	print(urllib.request.urlopen(s3.generate_presigned_url(
	    "get_object", Params=dict(Bucket="bucket", Key="t"))).read())
	# A client that does not read the token does as well.
	del os.environ["AWS_SESSION_TOKEN"]
	print(client("sts").get_caller_identity()["Account"])
	print(os.environ["AWS_ACCESS_KEY_ID"][:4], flush=True)
	os.system(os.environ["SCAN"])
	END
	[ "$status" -eq 0 ]
	expect <<-END
	123456789012
	b't'
	123456789012
	ASIA
	clean
	END
	hidden "$TOKEN"
	hidden "$SECRET"
	[ "$(audit 'select(.kind == "secret") | [.name, .event] | @csv' | sort -u)" = '"AWS","read"' ]
	[ "$(wc -l <"$TEST_DIR/ran")" -ge 2 ]
}

@test "aws: credentials that a service hands out are real, the key that signs for them is not seen" {
	aws_config
	export AWS_ACCESS_KEY_ID=$ID AWS_SECRET_ACCESS_KEY=$SECRET
	box_boto --env SCAN="$(scan "$SECRET")" <<-'END'
	given = client("sts").get_session_token()["Credentials"]
	print(given["AccessKeyId"], given["SecretAccessKey"], given["SessionToken"], flush=True)
	os.system(os.environ["SCAN"])
	END
	[ "$status" -eq 0 ]
	expect <<-END
	ASIAHANDEDOUT0123456 HandedOutSecretKey0123456789 HandedOutToken
	clean
	END
	hidden "$SECRET"
}

@test "aws: another service, region, host or key is denied, and the record says why" {
	mkdir -p "$HOME/.aws"
	cat >"$HOME/.aws/credentials" <<-END
	[default]
	aws_access_key_id = AKIAOTHER34567ABCDEF
	aws_secret_access_key = other
	[dev]
	aws_access_key_id = $ID
	aws_secret_access_key = $SECRET
	END
	aws_config '{ "from": "file", "profile": "dev", "hosts": ["*.eu-west-1.amazonaws.com"] }'
	box_boto --allow keys.test <<-'END'
	import urllib.request
	at = "https://s3.eu-west-1.amazonaws.com"
	s3 = client("s3")
	s3.put_object(Bucket="bucket", Key="a", Body=b"a")
	print(s3.get_object(Bucket="bucket", Key="a")["Body"].read())
	print(said(lambda: client("ec2").describe_regions())[:3])
	print(said(lambda: client("s3", "us-west-2", endpoint_url=at).get_object(Bucket="bucket", Key="a"))[:3])
	print(said(lambda: client("s3", aws_secret_access_key="x" * 40,
	    aws_access_key_id=os.environ["AWS_ACCESS_KEY_ID"]).get_object(Bucket="bucket", Key="a"))[:3])
	print(said(lambda: client("s3", aws_secret_access_key="y" * 40,
	    aws_access_key_id="AKIAOTHER34567ABCDEF").get_object(Bucket="bucket", Key="a"))[:3])
	print(said(lambda: client("s3", config=path.merge(Config(signature_version="s3"))).get_object(
	    Bucket="bucket", Key="a"))[:3])
	def changed(request, **_):
	    request.headers["X-Amz-Date"] = "20200101T000000Z"
	late = client("s3")
	late.meta.events.register("before-send.s3", changed)
	print(said(lambda: late.get_object(Bucket="bucket", Key="a"))[:3])
	print(said(lambda: client("s3", endpoint_url="http://keys.test").get_object(Bucket="bucket", Key="a"))[:3])
	# Without a signature, as from a public bucket: the server decides.
	from botocore import UNSIGNED
	print(said(lambda: client("s3", config=path.merge(Config(signature_version=UNSIGNED))).get_object(
	    Bucket="bucket", Key="a")))
	END
	[ "$status" -eq 0 ]
	[ "$(head -n 8 <<<"$output" | paste -sd' ')" = "b'a' 403 403 403 403 403 403 403" ]
	[[ "$(tail -n 1 <<<"$output")" == *"not signed"* ]]
	grep -F 'AWS is not for the service ec2' <<<"$(denials)"
	grep -F 'AWS is not for the region us-west-2' <<<"$(denials)"
	grep -F 'its signature does not match the placeholder of AWS in this box' <<<"$(denials)"
	grep -F 'it is signed with another key than the placeholder of AWS' <<<"$(denials)"
	grep -F 'set the client to signature version 4' <<<"$(denials)"
	grep -F 'it has no x-amz-date of the day' <<<"$(denials)"
	grep -F "a placeholder of another host's secret (AWS)" <<<"$(denials)"
	[ "$(audit 'select(.kind == "violation" and .rule == "secret-sign") | .id' | sort -u | wc -l)" -ge 5 ]
	[[ "$stderr" == *"ec2.eu-west-1.amazonaws.com"*"AWS is not for the service ec2"* ]]
	hidden "$SECRET"
}

# presigned KEY SECONDS...: the box asks with presigned URLs; the answers are the output, which has no real signature.
presigned()
{
	local signature

	aws_config
	export AWS_ACCESS_KEY_ID=$ID AWS_SECRET_ACCESS_KEY=$SECRET
	box_boto --env KEY="$1" --env TIMES="${*:2}" <<-'END'
	import gzip, urllib.error, urllib.request
	class Stay(urllib.request.HTTPRedirectHandler):
	    def redirect_request(self, *rest):
	        return None
	signed = client("s3", config=path.merge(Config(signature_version="s3v4")))
	for seconds in os.environ["TIMES"].split():
	    url = signed.generate_presigned_url("get_object", ExpiresIn=int(seconds),
	        Params=dict(Bucket="bucket", Key=os.environ["KEY"]))
	    try:
	        answer = urllib.request.build_opener(Stay).open(url)
	    except urllib.error.HTTPError as e:
	        answer = e
	    data = answer.read()
	    if data[:2] == b"\x1f\x8b":
	        data = gzip.decompress(data)
	    print(answer.status, answer.headers, data.decode("latin-1"))
	END
	for signature in $(since_mark origin | jq -r '.head // ""' | grep -o 'X-Amz-Signature=[0-9a-f]*' | cut -d= -f2); do
		[ "${#signature}" -eq 64 ]
		[[ "$output" != *"$signature"* ]]
	done
	[ -n "$signature" ]
	hidden "$ID"
	hidden "$SECRET"
	[ "$status" -eq 0 ]
}

@test "aws: a real signature does not come back, and is valid for minutes" {
	local long short

	presigned shown 604800 60
	# The twins: the answer comes, with a signature that is good in this box only; a shorter time stays.
	[[ "$output" == "200 "*Signature*$'\n'"200 "*Signature* ]]
	read -r long short < <(since_mark origin | jq -r '.head // ""' | grep -oE 'X-Amz-Expires=[0-9]+' | cut -d= -f2 | paste -sd' ')
	[ "$long" -lt 1000 ]
	[ "$short" = 60 ]
}

@test "aws: a real signature does not come back in a redirection" {
	presigned moved 604800
	# The twin.
	[[ "$output" == "307 "*"Location: https://elsewhere.test/"*Signature* ]]
}

@test "aws: a real signature does not come back in a compressed answer" {
	presigned packed 604800
	[[ "$output" == "502 "* ]]
}

# signatures: those that the server got in this test, in their order.
signatures()
{
	since_mark origin | jq -r '.head // ""' | grep -oE 'Signature=[0-9a-f]{64}' | cut -d= -f2
}

@test "aws: no real signature comes back, however many were made, nor in an answer that began before" {
	local signature

	aws_config
	export AWS_ACCESS_KEY_ID=$ID AWS_SECRET_ACCESS_KEY=$SECRET
	box_boto <<-'END'
	import hashlib, urllib.request
	s3 = client("s3", config=path.merge(Config(signature_version="s3v4")))
	def url(key):
	    return s3.generate_presigned_url("get_object", Params=dict(Bucket="bucket", Key=key))
	# Harmless digits of the same form pass, also at once and in pieces.
	sums = "".join("%s  %d\n" % (hashlib.sha256(b"%d" % i).hexdigest(), i) for i in range(2000)).encode()
	s3.put_object(Bucket="bucket", Key="first", Body=sums)
	slow = urllib.request.urlopen(url("slow"))
	print(slow.readline().decode().strip())
	for i in range(5):
	    print(s3.get_object(Bucket="bucket", Key="first")["Body"].read() == sums)
	print(urllib.request.urlopen(url("first")).read() == sums)
	print(slow.read().decode())
	print("then")
	print(urllib.request.urlopen(url("all")).read().decode())
	END
	[ "$status" -eq 0 ]
	[ "$(head -n 7 <<<"$output" | paste -sd' ')" = "begun True True True True True True" ]
	# The answer that began first has those before it, its own and the six after it.
	[ "$(sed -n '8,/^then$/p' <<<"$output" | grep -cxE '[0-9a-f]{8}x{56}')" -eq 8 ]
	[ "$(sed '1,/^then$/d' <<<"$output" | grep -cxE '[0-9a-f]{8}x{56}')" -eq 9 ]
	[ "$(signatures | wc -l)" -eq 9 ]
	[ "$(sed '1,/^then$/d' <<<"$output" | cut -c1-8)" = "$(signatures | cut -c1-8)" ]
	for signature in $(signatures); do
		[[ "$output" != *"${signature:8}"* ]]
	done
	hidden "$SECRET"
}

@test "aws: a presigned address is not valid longer than the run" {
	local longest

	aws_config
	export AWS_ACCESS_KEY_ID=$ID AWS_SECRET_ACCESS_KEY=$SECRET
	box_boto --timeout 100s <<-'END'
	import urllib.request
	signed = client("s3", config=path.merge(Config(signature_version="s3v4")))
	for seconds in 604800, 5:
	    print(len(urllib.request.urlopen(signed.generate_presigned_url("get_object",
	        Params=dict(Bucket="bucket", Key="all"), ExpiresIn=seconds)).read()) > 0)
	END
	[ "$status" -eq 0 ]
	[ "$(paste -sd' ' <<<"$output")" = "True True" ]
	longest=$(since_mark origin | jq -r '.head // ""' | grep -oE 'X-Amz-Expires=[0-9]+' | cut -d= -f2 | paste -sd' ')
	[[ "$longest" =~ ^([0-9]+)\ 5$ ]]
	[ "${BASH_REMATCH[1]}" -le 100 ]
	[ "${BASH_REMATCH[1]}" -ge 1 ]
}

@test "aws: signed chunks and their trailers are verified and signed anew" {
	aws_config
	export AWS_ACCESS_KEY_ID=$ID AWS_SECRET_ACCESS_KEY=$SECRET
	box_boto <<-'END'
	import base64, hashlib, hmac, http.client, zlib
	def mac(key, text):
	    return hmac.new(key, text.encode(), hashlib.sha256)
	scope = [time.strftime("%Y%m%d", time.gmtime()), "eu-west-1", "s3", "aws4_request"]
	date = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
	key = ("AWS4" + os.environ["AWS_SECRET_ACCESS_KEY"]).encode()
	for word in scope:
	    key = mac(key, word).digest()
	def sign(kind, *lines):
	    return mac(key, "\n".join((kind, date, "/".join(scope)) + lines)).hexdigest()
	def digest(data):
	    return hashlib.sha256(data).hexdigest()
	def put(name, sizes, trailer=False, wrong=None, chunked=False):
	    data = os.urandom(sum(sizes))
	    head = {"host": "s3.eu-west-1.amazonaws.com", "x-amz-date": date,
	            "x-amz-content-sha256": "STREAMING-AWS4-HMAC-SHA256-PAYLOAD" + "-TRAILER" * trailer,
	            "content-encoding": "aws-chunked", "x-amz-decoded-content-length": str(len(data))}
	    if trailer:
	        head["x-amz-trailer"] = "x-amz-checksum-crc32"
	    names = ";".join(sorted(head))
	    last = sign("AWS4-HMAC-SHA256", digest("\n".join(("PUT", "/bucket/" + name, "", "".join(
	        "%s:%s\n" % (k, head[k]) for k in sorted(head)), names, head["x-amz-content-sha256"])).encode()))
	    head["authorization"] = "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s" % (
	        os.environ["AWS_ACCESS_KEY_ID"], "/".join(scope), names, last)
	    body, at = b"", 0
	    for i, size in enumerate([*sizes, 0]):
	        part = data[at:at + size]
	        at += size
	        last = sign("AWS4-HMAC-SHA256-PAYLOAD", last, digest(b""), digest(part))
	        if wrong == i:
	            part = b"other" + part[5:]
	        body += b"%x;chunk-signature=%s\r\n%s" % (size, last.encode(), part) + b"\r\n" * bool(size)
	    if trailer:
	        line = "x-amz-checksum-crc32:" + base64.b64encode(zlib.crc32(data).to_bytes(4, "big")).decode()
	        last = sign("AWS4-HMAC-SHA256-TRAILER", last, digest((line + "\n").encode()))
	        body += ("%s\r\nx-amz-trailer-signature:%s\r\n" % (line, last)).encode()
	    body += b"\r\n"
	    there = http.client.HTTPSConnection("s3.eu-west-1.amazonaws.com")
	    if chunked:
	        there.request("PUT", "/bucket/" + name, iter([body[i:i + 9999] for i in range(0, len(body), 9999)]),
	                      head, encode_chunked=True)
	    else:
	        there.request("PUT", "/bucket/" + name, body, head)
	    status = there.getresponse().status
	    if status != 200:
	        return status
	    return client("s3").get_object(Bucket="bucket", Key=name)["Body"].read() == data
	print(put("a", [65536, 65536, 1000]))
	print(put("b", [65536, 1000], trailer=True))
	print(put("c", [100000, 5], chunked=True))
	print(put("d", []))
	print(put("e", [65536, 65536, 1000], wrong=1))
	print(put("f", [1 << 21]))
	print(said(lambda: client("s3").get_object(Bucket="bucket", Key="e"))[:3])
	END
	[ "$status" -eq 0 ]
	[ "$(paste -sd' ' <<<"$output")" = "True True True True 403 403 404" ]
	grep -F 'a chunk of its body has a wrong signature' <<<"$(denials)"
	grep -F 'a chunk of its body is larger than 1 MiB' <<<"$(denials)"
}
