#include "proxy/io/tls_ssh_key.h"

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/text/base64.h"
#include "proxy_bytes.h"
#include "tap.h"

/* Signatures of "session", made by OpenSSH's agent. */
/* clang-format off */
static const struct {
	const char *name, *key, *signature;
	bool good;
} cases[] = {
	{ "ssh-ed25519",
	  "AAAAC3NzaC1lZDI1NTE5AAAAIOgb3ULcXFlkzeBhhJu5xI2tyNfH+1uP3xY3qVQE0EDQ",
	  "AAAAC3NzaC1lZDI1NTE5AAAAQGtJclusHP0Dr/fZ/55W11mQf7druGEH6ixcAJIt3GKIcmfOacJMQoWo"
	  "1T3YdqbSLNm5HbJQyPaRbXb6L5NrxQI=",
	  true },
	{ "ecdsa-sha2-nistp256",
	  "AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBEAm2T7LxBDiLpWkfUJW1PDNsuxu"
	  "+GKOke5pJxeRtR9nhbb6NV07rRRSgaiCOYMHkfCkO2mHztbo23sQliWRIgM=",
	  "AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAABKAAAAIQDtEsGR/H4vmGXuuzCp7BSj6OYCX/qrUFrsB9s4"
	  "gg0pmgAAACEAwVwzh0SARJ2vvgfQgrWUFZp2yCyVBuQ3cY6Fq8MzJbA=",
	  true },
	{ "ecdsa-sha2-nistp384",
	  "AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBCIeXehGkD2PfsCQW6zV8FfTt11I"
	  "jYSunOzy8vDgoRZQ6rOQkz+IPEy64AneXyPL3pOyHlGb5RO3MzAuDCaRG8sPDYgAb0ZeXI1USzqU9ksZ"
	  "zok4sKF4JBg7kWBsITZerQ==",
	  "AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAABoAAAAMH9UX5VJmMTV8ycoqF9F1Q7Zf3zgAsdbUYZ41Im1"
	  "1xsGJXYWdQ7wh7xglloCfb0q+QAAADAbd1vFB+yHQ3LvtqC3wlvnAwyOp90dNWXE/fn3AExuHoyFgnDJ"
	  "gEbnlr0F2V32efg=",
	  true },
	{ "ecdsa-sha2-nistp521",
	  "AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAIbmlzdHA1MjEAAACFBAEaqnIJLAri87lqMyjb145alk2Y"
	  "/YBTWA5RAeOVgycQyZ5Gr5CDi9gbIQkSqMochWpXvr5HnlePW67BGpche+yhWQCBIvvaXQenkihP4Kaj"
	  "syHwxDYWY+oGRqMFr+l71tTYZEHIDdrOgq5t6yyY5l73v+c6LTWOsDBnc2Sr+5Sspp1Bgg==",
	  "AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAACMAAAAQgHuzM2I6fEH4q5Wu/uS+AD1ilteM9jIFxgYD09t"
	  "I2Y2kElbm5q7/s9EK/yV1xoqOAU0aJeMy3fBR4ektrkcxH98oQAAAEIBRgBgjSp0gNYGzZXoXjQum9sX"
	  "kKkNgR2AkiaRh4MGLg1UA8pmqyFlBqLzYkHyaZ2cJvUGcDY84bACvLV643Q57pg=",
	  true },
	{ "rsa-sha2-256",
	  "AAAAB3NzaC1yc2EAAAADAQABAAABAQDpawsK3QgiuPCfZKLU/DZ6HPuJGxVDkbtu7t97+vCIPav96T1d"
	  "eUVkxPITk8t/lNfI0ghqL+qNkwYctPSCuODIswhwTlYkHFFaVxJth4s8ytPhUtUa9mY7bLxWT6qvh8hg"
	  "XnBotA3wI9Nf/vSXetNNltEr1emTYjXHl2DS5vhypLa5G4SEuaCgc9pvrrAalnhLaz6tt/3NWjiXbW3g"
	  "PKqDzAsGVKcwVDfteLojro0BVa7GuCQHCloHYd2cuuMKYgQwlFa3OcD47Yz1rVhorrJwDcVp+VvbQSjo"
	  "+XzFBC4jSE0zZ7DahsIbfKPwPgnsJ0XaPfq84By2O6YhB/qMjwZL",
	  "AAAADHJzYS1zaGEyLTI1NgAAAQDibkUnj4cegeuxZoCeKEbOaFvgfpJBJawE6iaojQrhZ7coVEVL5BzJ"
	  "FHziDBNm9U79y0jogPXAND4xIyCV9ipWK5vdKHNe0C7rXBUxrUavsKMGBH6SxI99kLbQL7CCA8lOwrD1"
	  "GM1JwhEuu5DbGQzvERRdpaVdJXJ3eIOKC8wjR3gap19Qg5BUmBH06Qvbt8aqTSvl6nW9gWZj+zS08gtH"
	  "gFv4HS0Y6xn4hIFPRvY4UxqRLrAlOOXfdf4AI5n/qVOOVdHrkHIzycIFfqx7VemH51qQZpnktlug1u2a"
	  "7C2oSRgoJu+AjONgvjCn4CY+mNi/17SELcqGWCJKpdljG62w",
	  true },
	{ "rsa-sha2-512",
	  "AAAAB3NzaC1yc2EAAAADAQABAAABAQDpawsK3QgiuPCfZKLU/DZ6HPuJGxVDkbtu7t97+vCIPav96T1d"
	  "eUVkxPITk8t/lNfI0ghqL+qNkwYctPSCuODIswhwTlYkHFFaVxJth4s8ytPhUtUa9mY7bLxWT6qvh8hg"
	  "XnBotA3wI9Nf/vSXetNNltEr1emTYjXHl2DS5vhypLa5G4SEuaCgc9pvrrAalnhLaz6tt/3NWjiXbW3g"
	  "PKqDzAsGVKcwVDfteLojro0BVa7GuCQHCloHYd2cuuMKYgQwlFa3OcD47Yz1rVhorrJwDcVp+VvbQSjo"
	  "+XzFBC4jSE0zZ7DahsIbfKPwPgnsJ0XaPfq84By2O6YhB/qMjwZL",
	  "AAAADHJzYS1zaGEyLTUxMgAAAQDnE54q5LTw66xBA88Uz7LCbD7GN5WJLBcHqsn37VywPlS6DnbT4uC2"
	  "RUwyXZkLqZb4yyACCLUjjMHnYHNYUXehkkUrnYsqS3Wq6VF79B2PkbMSXjltrYXnlpBUaucTC3D+xVWc"
	  "YV977F2SXofljUj84SHR+UUAMWiWYhVxUGKte8Casr61z3WUFTobwTIejedeF6juAPDr+ixERhUkimPG"
	  "7nz0hynK1qTYmvk3WJZBF249AXeUoSyWaU7al1mMlH10BVOXlhqdBpV1PCUI5hVB/LHvpm9yKaJlVVH5"
	  "NIPldBoZH1vTPM5JyBD0m8Xf60mEdBKrC1ukhVXwvRcQ35ZB",
	  true },
	{ "SHA-1",
	  "AAAAB3NzaC1yc2EAAAADAQABAAABAQDpawsK3QgiuPCfZKLU/DZ6HPuJGxVDkbtu7t97+vCIPav96T1d"
	  "eUVkxPITk8t/lNfI0ghqL+qNkwYctPSCuODIswhwTlYkHFFaVxJth4s8ytPhUtUa9mY7bLxWT6qvh8hg"
	  "XnBotA3wI9Nf/vSXetNNltEr1emTYjXHl2DS5vhypLa5G4SEuaCgc9pvrrAalnhLaz6tt/3NWjiXbW3g"
	  "PKqDzAsGVKcwVDfteLojro0BVa7GuCQHCloHYd2cuuMKYgQwlFa3OcD47Yz1rVhorrJwDcVp+VvbQSjo"
	  "+XzFBC4jSE0zZ7DahsIbfKPwPgnsJ0XaPfq84By2O6YhB/qMjwZL",
	  "AAAAB3NzaC1yc2EAAAEAchjE1VH0kUum46+xTegNjoos48jAH75drkIcnZo0Xm/Teo2gGpX18cF5R94W"
	  "uK9MVfeHsOYahq+YPLd2YQ8Q7316hh5oCjA5L89tW9fJz983tJD8YWtddw2yJwr2Cg5CKDKtW2frYkFh"
	  "Sbg+wX79N0kLFOBIz4uYlenRarbrRqL+bogvMsOK2ekrk14ugFfXhUvsWrKKBCepWNRgTiDz1U2HBWLH"
	  "wDzwqNOgRXJXIOuaUAeW/O/wYmONJmkJmjNCavTZKnuvKzQSh4jociJnlcs9Odni3UhAG9Ao5uP8v6rq"
	  "HF3dS7QGDQOZZhlSkN7foPwPEnxfY7DSuaR9hD2sRQ==",
	  false },
	{ "RSA with 1024 bits",
	  "AAAAB3NzaC1yc2EAAAADAQABAAAAgQDIQxIn/cu63nTwXTorEOV+tWwHv5+px/n7QL+nULknho5bItRF"
	  "Jh53Vpld3n2to4N0KLOgTpSK0AHUZICoHo1FY1CFeKJt+YH8ilq4cLDSTg/P7psUJS6AVdRwur13Mbul"
	  "xO43YPBG/B0FSx4LmK6dcluZtBmCYddRqs+77dy8KQ==",
	  "AAAADHJzYS1zaGEyLTI1NgAAAICAc6jGSfQgclvIoRD+gd0iwY3ZF7PuevHSDFvcvb0hkby1OY7+YT8G"
	  "hp3UaDbyQhgYRQy+TDTdSYCorNaZ8lAvgsgeZaLu00WZK/5eWOcwIpL4JTrvSKMvZwoWrgLcBUMM2UE2"
	  "VqKeiFnAaei/vq1PGF0QqFShR+6iRpKnz96PmA==",
	  false },
};
/* clang-format on */

static struct ab_ssh_text decode(const char *digits, uint8_t *room)
{
	struct ab_ssh_text text = { room, 0 };

	if (!ab_base64_decode(digits, strlen(digits), room, &text.len))
		abort();
	return text;
}

int main(void)
{
	static const struct ab_ssh_text session = { BYTES("session") },
					other = { BYTES("sessioN") };
	static uint8_t key_room[2048], signature_room[2048];
	struct ab_error err;
	char fingerprint[AB_SSH_FINGERPRINT];
	uint8_t hash[20];

	ok(ab_ssh_key_prepare(&err) == 0, "prepare");
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		struct ab_ssh_text key = decode(cases[i].key, key_room);
		struct ab_ssh_text signature = decode(cases[i].signature, signature_room);
		size_t taken = 0;

		ok(ab_ssh_key_verify(key, session, signature) == cases[i].good, "%s",
		   cases[i].name);
		ok(!ab_ssh_key_verify(key, other, signature), "not of other data");
		for (size_t k = 0; k < signature.len; k++) {
			signature_room[k] ^= 1;
			taken += ab_ssh_key_verify(key, session, signature);
			signature_room[k] ^= 1;
		}
		ok(taken == 0, "not with another byte anywhere");
		for (size_t k = 0; k < signature.len; k++) {
			struct ab_ssh_text cut = { signature.at, k };

			taken += ab_ssh_key_verify(key, session, cut);
		}
		for (size_t k = 0; k < key.len; k++) {
			struct ab_ssh_text cut = { guarded(key.at, k), k };

			taken += ab_ssh_key_verify(cut, session, signature);
		}
		ok(taken == 0, "nor if it is cut");
	}
	ab_ssh_key_fingerprint(decode(cases[0].key, key_room), fingerprint);
	is_str(fingerprint, "SHA256:26YOglYRCDxa/nn9loyJdtO+B0lcSDaX8AkONLZzVvQ",
	       "the fingerprint is that of ssh-keygen");
	ab_ssh_name_hash((const uint8_t *)"key", 3, "The quick brown fox jumps over the lazy dog",
			 hash);
	ok(hash[0] == 0xde && hash[1] == 0x7c && hash[19] == 0xd9, "HMAC-SHA1");
	return done();
}
