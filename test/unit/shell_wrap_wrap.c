#include "shell/wrap/wrap.h"

#include "base/data/mem.h"
#include "shell/wrap/wrapper.h"
#include "shell_inner.h"
#include "tap.h"

/* A line, its standard input (NULL: none), what is in it; "=": transparent. */
static const struct {
	const char *line, *in, *want;
} cases[] = {
	{ "ls -l", NULL, "" },
	{ "rm -rf /", NULL, "" },
	{ "grep sudo file", NULL, "" },

	{ "sudo rm -rf /", NULL, "rm -rf / ROOT" },
	{ "/usr/bin/sudo -u root -H rm x", NULL, "rm x ROOT" },
	{ "sudo --user=me -n -- rm x", NULL, "rm x ROOT" },
	{ "sudo --user me X=1 rm x", NULL, "X=1 rm x ROOT" },
	{ "sudo -D /srv rm x", NULL, "@/srv rm x ROOT" },
	{ "sudo -i rm x", NULL, "rm x ROOT" },
	{ "sudo -s", "id", "{id} ROOT" },
	{ "sudo -e /etc/hosts", NULL, "" },
	{ "sudo -l", NULL, "" },
	{ "sudo -v", NULL, "" },
	{ "sudo", NULL, "" },
	{ "sudo ^ rm -rf /", NULL, "^ rm -rf / ROOT ; rm -rf / ROOT" },
	{ "doas -u me ls", NULL, "ls ROOT" },
	{ "pkexec --user me ls", NULL, "ls ROOT" },
	{ "run0 ls", NULL, "ls ROOT" },
	{ "su -c 'rm x'", NULL, "{rm x} ROOT" },
	{ "su - user -c 'rm x'", NULL, "{rm x} ROOT" },
	{ "su user -c id", NULL, "{id} ROOT" },
	{ "su user", NULL, "" },
	{ "su", "id", "{id} ROOT" },
	{ "runuser -u me -- rm x", NULL, "rm x ROOT" },
	{ "runuser me -c 'rm x'", NULL, "{rm x} ROOT" },

	{ "env", NULL, "" },
	{ "env X=1", NULL, "" },
	{ "env -i X=1 nice -n 5 rm -rf /", NULL, "=X=1 nice -n 5 rm -rf /" },
	{ "nice -n 5 rm -rf /", NULL, "=rm -rf /" },
	{ "nice -10 rm x", NULL, "=rm x" },
	{ "env -u HOME -C /srv rm x", NULL, "=@/srv rm x" },
	{ "env -C sub rm x", NULL, "=@/w/sub rm x" },
	{ "env -S 'rm -rf' /", NULL, "={rm -rf /}" },
	{ "env - rm x", NULL, "=rm x" },
	{ "env ^ rm x", NULL, "=^ rm x ; rm x" },
	{ "timeout 5 rm -rf /", NULL, "=rm -rf /" },
	{ "timeout -s KILL -k 3 5m rm x", NULL, "=rm x" },
	{ "timeout ^ 5 rm x", NULL, "=5 rm x ; rm x" },
	{ "time -f %e rm x", NULL, "=rm x" },
	{ "nohup rm x", NULL, "=rm x" },
	{ "setsid -f rm x", NULL, "=rm x" },
	{ "ionice -c 3 rm x", NULL, "=rm x" },
	{ "ionice -p 1", NULL, "" },
	{ "stdbuf -oL rm x", NULL, "=rm x" },
	{ "taskset -c 0-3 rm x", NULL, "=rm x" },
	{ "taskset -p 1", NULL, "" },
	{ "chrt -f 10 rm x", NULL, "=rm x" },
	{ "command rm x", NULL, "=rm x" },
	{ "command -v rm", NULL, "" },
	{ "command -V rm", NULL, "" },
	{ "builtin echo x", NULL, "=echo x" },
	{ "exec -a name rm x", NULL, "=rm x" },
	{ "exec", NULL, "" },
	{ "busybox rm -rf /", NULL, "=rm -rf /" },
	{ "toybox rm x", NULL, "=rm x" },

	{ "xargs rm -rf", "/", "=rm -rf /" },
	{ "xargs rm -rf", "/ 'a b' c\\ d\n", "=rm -rf / a b c d" },
	{ "xargs rm -rf", "^", "=rm -rf ^" },
	{ "xargs rm -rf", "^/x\n/etc\n", "=rm -rf ^/x /etc" },
	{ "xargs -0 rm -rf", "^", "=rm -rf ^" },
	{ "xargs -d , rm", "/a,/b", "=rm /a /b" },
	{ "xargs -n1 -P 4 rm -rf", "/", "=rm -rf /" },
	{ "xargs -I{} sh -c 'rm -rf {}'", "/\n/b",
	  "=sh -c rm -rf / ; "
	  "sh -c rm -rf /b" },
	{ "xargs -I % mv % /tmp", "a", "=mv a /tmp" },
	{ "xargs", "a", "=echo a" },
	{ "xargs -a list rm", NULL, "=rm ^" },
	{ "parallel rm -rf ::: / b", NULL, "{rm -rf /} ; {rm -rf b}" },
	{ "parallel -j 4 'rm {}/x' ::: a", NULL, "{rm a/x}" },
	{ "parallel ::: 'rm x' ls", NULL, "{rm x} ; {ls}" },
	{ "parallel rm", "/\n", "{rm /}" },
	{ "parallel", "rm x", "{rm x}" },
	{ "find . -name x", NULL, "" },
	{ "find / -exec rm -rf {} ;", NULL, "rm -rf /^" },
	{ "find -type f -exec rm {} +", NULL, "rm ./^" },
	{ "find a b -exec rm {} ;", NULL, "rm a/^ ; rm b/^" },
	{ "find -L . -execdir ls ; -ok rm {} ;", NULL, "ls ; rm ./^" },
	{ "find . -exec sh -c 'rm \"$1\"' _ {} ;", NULL, "sh -c rm \"$1\" _ ./^" },
	{ "fd -e c x src -x rm", NULL, "rm src/^" },
	{ "fd x", NULL, "" },
	{ "fd -H x -X rm -f {}", NULL, "rm -f ./^" },

	{ "sh -c 'rm -rf /'", NULL, "={rm -rf /}" },
	{ "bash -lc 'rm x' name a", NULL, "={rm x} name a" },
	{ "bash -euo pipefail -c 'rm x'", NULL, "={rm x}" },
	{ "bash -xec ls", NULL, "={ls}" },
	{ "bash +o posix --norc -O extglob -c ls", NULL, "={ls}" },
	{ "bash --rcfile f -ic ls", NULL, "={ls}" },
	{ "zsh -c ^", NULL, "{^}" },
	{ "bash -c -- ls", NULL, "={ls}" },
	{ "fish --command ls", NULL, "={ls}" },
	{ "bash", "rm -rf /", "={rm -rf /}" },
	{ "bash -s a", "rm x", "={rm x}" },
	{ "bash -", "rm x", "={rm x}" },
	{ "sh /dev/stdin", "rm x", "={rm x}" },
	{ "sh", "^", "{^}" },
	{ "sh", NULL, "" },
	{ "bash script.sh", "rm x", "" },
	{ "bash ^", NULL, "" },
	{ "source x", NULL, "" },
	{ ". /dev/stdin", "rm x", "{rm x}" },
	{ "eval 'rm -rf /'", NULL, "={rm -rf /}" },
	{ "eval rm -rf /", NULL, "={rm -rf /}" },
	{ "eval ^", NULL, "{^}" },
	{ "eval", NULL, "" },
	{ "trap 'rm x' EXIT", NULL, "{rm x}" },
	{ "trap -- 'rm x' EXIT", NULL, "{rm x}" },
	{ "trap - EXIT", NULL, "" },
	{ "trap '' INT", NULL, "" },
	{ "trap -p", NULL, "" },
	{ "trap INT", NULL, "" },
	{ "trap 2 3", NULL, "" },
	{ "alias 'll=ls -l' x", NULL, "{ls -l}" },
	{ "alias x=rm ll", NULL, "{rm}" },
	{ "alias", NULL, "" },
	{ "at now", "rm x", "{rm x}" },
	{ "at -l", "rm x", "" },

	{ "ssh host uptime", NULL, "{uptime} REMOTE" },
	{ "ssh -p 22 -i key me@host rm -rf /", NULL, "{rm -rf /} REMOTE" },
	{ "ssh host -p 22 'rm x'", NULL, "{rm x} REMOTE" },
	{ "ssh host", NULL, "" },
	{ "ssh -V", NULL, "" },
	{ "sshpass -p x ssh host ls", NULL, "ssh host ls" },
	{ "docker exec -it -u me box rm x", NULL, "rm x REMOTE" },
	{ "docker --context c exec box rm x", NULL, "rm x REMOTE" },
	{ "podman run --rm -v a:b --name n image rm x", NULL, "rm x REMOTE" },
	{ "docker run image", NULL, "" },
	{ "docker ps", NULL, "" },
	{ "docker compose -f f exec web rm x", NULL, "rm x REMOTE" },
	{ "docker-compose run --rm web rm x", NULL, "rm x REMOTE" },
	{ "kubectl exec -it pod -c main -- rm x", NULL, "rm x REMOTE" },
	{ "kubectl -n ns exec pod -- sh -c 'rm x'", NULL, "sh -c rm x REMOTE" },
	{ "kubectl get pods", NULL, "" },
	{ "vagrant ssh -c 'rm x'", NULL, "{rm x} REMOTE" },
	{ "tmux new-session -d -s n 'rm x'", NULL, "{rm x}" },
	{ "tmux send-keys -t n 'rm x' Enter", NULL, "{rm x\n}" },
	{ "tmux send-keys -t n C-c", NULL, "" },
	{ "tmux ls", NULL, "" },
	{ "screen -dmS n rm x", NULL, "rm x" },

	{ "npx rimraf /", NULL, "rimraf /" },
	{ "npx -y -p rimraf rimraf /", NULL, "rimraf /" },
	{ "npx -c 'rm x'", NULL, "{rm x}" },
	{ "npm exec -- rimraf /", NULL, "rimraf /" },
	{ "npm install", NULL, "" },
	{ "npm run build -- x", NULL, "" },
	{ "pnpm dlx rimraf /", NULL, "rimraf /" },
	{ "uvx ruff check", NULL, "ruff check" },
	{ "uv run --with x pytest -q", NULL, "pytest -q" },
	{ "uv sync", NULL, "" },
	{ "poetry run pytest", NULL, "pytest" },
	{ "bundle exec rake", NULL, "rake" },
	{ "bundle install", NULL, "" },
	{ "conda run -n env rm x", NULL, "rm x" },
	{ "nix-shell -p hello --run 'rm x'", NULL, "{rm x}" },
	{ "direnv exec . rm x", NULL, "rm x" },
	{ "cross-env A=1 B=2 rm x", NULL, "=A=1 B=2 rm x" },
	{ "concurrently -n a,b 'rm x' ls", NULL, "{rm x} ; {ls}" },

	{ "git status", NULL, "" },
	{ "git commit -m 'rm -rf /'", NULL, "" },
	{ "git submodule foreach --recursive 'rm x'", NULL, "{rm x}" },
	{ "git submodule update", NULL, "" },
	{ "git bisect run rm x", NULL, "rm x" },
	{ "git bisect good", NULL, "" },
	{ "git rebase -i --exec 'rm x' HEAD~3", NULL, "{rm x}" },
	{ "git rebase -x 'rm x' main", NULL, "{rm x}" },
	{ "git rebase main", NULL, "" },
	{ "git filter-branch --tree-filter 'rm x' HEAD", NULL, "{rm x}" },
	{ "git -c 'alias.x=!rm x' x", NULL, "{rm x}" },
	{ "git -c alias.x=status x", NULL, "" },
	{ "git -c core.pager=less log", NULL, "{less}" },
	{ "git -c user.name=rm commit", NULL, "" },
	{ "git -C dir -c 'core.sshCommand=rm x' fetch", NULL, "{rm x}" },

	{ "agentbox run -- rm x", NULL, "=rm x" },
	{ "agentbox run --net blocked rm x", NULL, "=rm x" },
	{ "agentbox run -c 'rm x'", NULL, "={rm x}" },
	{ "agentbox check 'rm x'", NULL, "" },
	{ "bwrap --ro-bind / / --proc /proc rm x", NULL, "rm x" },
	{ "bwrap --unshare-all -- rm x", NULL, "rm x" },
	{ "firejail --net=none rm x", NULL, "rm x" },
	{ "systemd-run --user -p A=b rm x", NULL, "rm x" },
	{ "watch -n 1 'rm x'", NULL, "={rm x}" },
	{ "watch -x rm x", NULL, "=rm x" },
	{ "strace -f -o out rm x", NULL, "rm x" },
	{ "strace -p 1", NULL, "" },
	{ "perf stat -e x rm y", NULL, "rm y" },
	{ "gdb --args rm x", NULL, "rm x" },
	{ "gdb prog core", NULL, "" },
	{ "valgrind --leak-check=full rm x", NULL, "rm x" },
	{ "chroot /mnt rm -rf /", NULL, "rm -rf /" },
	{ "unshare -r -m rm x", NULL, "rm x" },
	{ "nsenter -t 1 -m rm x", NULL, "rm x" },
	{ "flock /tmp/l rm x", NULL, "rm x" },
	{ "flock /tmp/l -c 'rm x'", NULL, "{rm x}" },
	{ "script -qc 'rm x' /dev/null", NULL, "{rm x}" },
	{ "entr -r rm x", NULL, "rm x" },
	{ "xvfb-run -a rm x", NULL, "rm x" },
	{ "faketime yesterday rm x", NULL, "=rm x" },
	{ "arch -arm64 rm x", NULL, "rm x" },
	{ "prlimit --nofile=9 rm x", NULL, "=rm x" },

	{ "python3 -c 'import os; os.system(\"rm x\")'", NULL, "{rm x}" },
	{ "python3.11 -", "import os\nos.system('rm x')\n", "{rm x}" },
	{ "python3 -c 'print(1)'", NULL, "" },
	{ "python3 script.py", "os.system('rm x')", "" },
	{ "python3 -m pytest", "os.system('rm x')", "" },
};

static void test_cases(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		struct ab_arena arena = { 0 };
		ab_autofree char *got = NULL, *marked = NULL;
		struct ab_unwrapped u;
		struct ab_simple command;

		split(&arena, cases[i].line, &command);
		feed(&arena, cases[i].in, &command);
		ab_unwrap(&arena, &command, &u);
		got = inners(u.inners);
		marked = ab_printf("%s%s", u.transparent ? "=" : "", got);
		is_str(marked, cases[i].want, cases[i].line);
		ab_arena_fini(&arena);
	}
}

/* A text that fills its array has no end, which C allows. */
#define ENDS(array) ((array)[sizeof(array) - 1] == '\0')

/* scripts/judge-tables checks the names: sorted in a row, and each in one row. */
static void test_table(void)
{
	bool own = true, end = true;

	for (size_t i = 0; i < ab_nwrappers; i++) {
		const struct ab_wrapper *w = &ab_wrappers[i];
		const struct ab_name_slot *slot =
			ab_name_find((struct ab_text){ w->name, (uint32_t)strlen(w->name) });

		if (w->name[0])
			own &= slot && (AB_SLOT_ROW(ab_wrappers, AB_TABLE_WRAPPERS, slot) == w ||
					AB_SLOT_ROW(ab_wrappers, AB_TABLE_SUBCOMMANDS, slot) == w);
		end &= ENDS(w->name) && ENDS(w->after) && ENDS(w->script) && ENDS(w->script_long) &&
		       ENDS(w->dir) && ENDS(w->dir_long) && ENDS(w->alone) && ENDS(w->joined) &&
		       ENDS(w->plain) && ENDS(w->shell);
	}
	ok(end, "every text fits into its row");
	ok(own, "a row that is read as another name has that name");
}

static void test_taint(void)
{
	struct ab_arena arena = { 0 };
	struct ab_unwrapped u;
	struct ab_simple command;

	split(&arena, "bash ^", &command);
	((struct ab_field *)command.argv)[1].taint = AB_TAINT_NETWORK;
	ab_unwrap(&arena, &command, &u);
	ok(u.inners && u.inners->script.taint == AB_TAINT_NETWORK && !u.transparent,
	   "a shell that reads a download has an unknown script");

	split(&arena, "sh", &command);
	feed(&arena, "^", &command);
	command.in.taint = AB_TAINT_FILE;
	ab_unwrap(&arena, &command, &u);
	ok(!u.inners, "a file of which nothing is known has none");

	split(&arena, "sh", &command);
	feed(&arena, "ls", &command);
	command.in.taint = AB_TAINT_DECODED;
	ab_unwrap(&arena, &command, &u);
	ok(u.inners && !u.transparent, "decoded text keeps its own verdict");

	split(&arena, "eval rm  -rf /", &command);
	ab_unwrap(&arena, &command, &u);
	ok(u.inners->script.verbatim == AB_NOT_VERBATIM,
	   "joined words with two blanks are not verbatim");
	split(&arena, "eval rm -rf /", &command);
	ab_unwrap(&arena, &command, &u);
	ok(u.inners->script.verbatim == 5, "with one blank they are");
	ab_arena_fini(&arena);
}

int main(void)
{
	test_cases();
	test_table();
	test_taint();
	return done();
}
