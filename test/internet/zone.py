"""The names of this internet: what dns.py answers."""
import os

WEB4, WEB6 = "203.0.113.10", "2001:db8::10"
ORIGIN4, ORIGIN6 = "203.0.113.20", "2001:db8::20"
PRIVATE = "10.0.0.5"

KEYS = "203.0.113.80"
MODELS = "203.0.113.90"
REGISTRIES = "203.0.113.91"
AWS = "203.0.113.92"
OAUTH = "203.0.113.93"

# Name: addresses, or the name it is an alias of.
ZONE = {
    "allowed.test": [WEB4, WEB6],
    "www.allowed.test": [WEB4, WEB6],
    "deep.www.allowed.test": [WEB4],
    "notallowed.test": [WEB4],
    "a_b.allowed.test": [WEB4],
    "foo_bar.test": [WEB4],
    "allowed.test.evil.test": [WEB4],
    "other.test": [WEB4, WEB6],
    "denied.test": [WEB4],
    "v4.test": [WEB4],
    "v6.test": [WEB6],
    "apt.test": [WEB4],
    "xn--bcher-kva.test": [WEB4],
    "cname.test": "allowed.test",
    "cname-private.test": "private.test",
    "cname-self.test": "cname-self.test",
    "origin.test": [ORIGIN4, ORIGIN6],
    "origin4.test": [ORIGIN4],
    "second.test": [ORIGIN4],
    "git.test": ["203.0.113.30"],
    "redis.test": ["203.0.113.40"],
    "wire.test": ["203.0.113.50"],
    "deaf.test": ["203.0.113.51"],
    "slow.test": ["203.0.113.52"],
    "refused.test": ["203.0.113.60"],
    "multi.test": ["203.0.113.60", "203.0.113.61", WEB4],
    "no6.test": [WEB4, "2001:db8::60"],
    "proxy.test": ["203.0.113.70"],
    "big.test": [ORIGIN4] + ["203.0.113.%d" % n for n in range(100, 160)],
    "empty.test": [],
    "expired.test": ["203.0.113.81"],
    "wrong.test": ["203.0.113.82"],
    "stranger.test": ["203.0.113.83"],
    # Where no box may go.
    "private.test": [PRIVATE],
    "private6.test": ["fd00:aaaa::5"],
    "mixed.test": [ORIGIN4, PRIVATE],
    "mixed6.test": [ORIGIN4, "fd00:aaaa::5"],
    "loop.test": ["127.0.0.1"],
    "loop6.test": ["::1"],
    "zero.test": ["0.0.0.0"],
    "mapped.test": ["::ffff:127.0.0.1"],
    "nat64.test": ["64:ff9b::7f00:1"],
    "metadata.test": ["169.254.169.254"],
    "metadata6.test": ["fd00:ec2::254"],
    "alibaba.test": ["100.100.100.200"],
    "own.test": ["192.0.2.7"],
    "synthetic.test": ["198.18.0.1"],
}
# Services that want a key.
ZONE.update((name, [KEYS]) for name in """
    openrouter.ai api.openai.com api.groq.com api.together.xyz
    api.deepseek.com api.mistral.ai api.x.ai inference-api.nousresearch.com
    api.anthropic.com here.openai.azure.com generativelanguage.googleapis.com
    github.com api.github.com upload.pypi.org huggingface.co keys.test
    other-keys.test""".split())
ZONE.update((name, [AWS]) for name in """
    s3.eu-west-1.amazonaws.com bucket.s3.eu-west-1.amazonaws.com
    sts.eu-west-1.amazonaws.com ec2.eu-west-1.amazonaws.com""".split())
ZONE.update((name, [OAUTH]) for name in """
    auth.test api.auth.test oauth2.googleapis.com
    storage.googleapis.com""".split())
# Stand-ins for what agents talk to.
ZONE.update((name, [MODELS]) for name in ("models.test", "platform.claude.com"))
# In the tests of agents also services that otherwise only want a key.
ZONE.update((name, [MODELS]) for name in
            os.environ.get("AB_MODEL_HOSTS", "").split())
ZONE.update((name, [REGISTRIES]) for name in """
    registry.npmjs.org pypi.org files.pythonhosted.org index.crates.io
    static.crates.io proxy.golang.org repo.maven.apache.org mirror.test""".split())
