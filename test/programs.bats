# unsanitized: it tests programs in the box, not our own
#
# Real programs in the box. Each must do its work, and the result must be on
# the host afterwards.
# root-in-turn: the processes of root are held by other checks of the kernel
UNJUDGED=1
load helpers

repository()
{
	git init -q "$1"
	echo one >"$1/file"
	git -C "$1" add file
	git -C "$1" commit -qm first
}

@test "programs: git init, commit and log; the repository works afterwards" {
	agentbox run -- sh -e -c '
		git init -q repo && cd repo
		echo one >file && git add file && git commit -qm first
		echo two >>file && git commit -qam second
		git log --oneline | wc -l'
	[ "$status" -eq 0 ]
	[ "$(git -C repo rev-list --count HEAD)" -eq 2 ]
	git -C repo fsck --strict
	echo three >>repo/file
	git -C repo commit -qam third
	[ "$(git -C repo rev-list --count HEAD)" -eq 3 ]
}

@test "programs: git in a repository that was there before" {
	repository .
	agentbox run -- sh -e -c '
		git status --short
		git checkout -q -b work
		echo two >>file && git commit -qam second
		git stash list; git gc -q; git tag one'
	[ "$status" -eq 0 ]
	[ "$(git rev-parse --abbrev-ref HEAD)" = work ]
	[ "$(git rev-list --count HEAD)" -eq 2 ]
	git fsck --strict
}

@test "programs: git clone of a local repository; a hook planted in it is gone" {
	repository "$HOME/origin"
	agentbox run -- sh -e -c '
		git clone -q "$HOME/origin" copy
		printf "#!/bin/sh\ntouch %s/hooked\n" "$HOME" >copy/.git/hooks/post-commit
		chmod +x copy/.git/hooks/post-commit || true
		cd copy && echo two >>file && git commit -qam second || true'
	[ "$status" -eq 0 ]
	[[ "$output" == *post-commit* ]]
	[ ! -e copy/.git/hooks/post-commit ]
	[ "$(git -C copy rev-list --count HEAD)" -eq 2 ]
	echo three >>copy/file
	git -C copy commit -qam third
	[ ! -e "$HOME/hooked" ]
	[ "$(git -C copy rev-list --count HEAD)" -eq 3 ]
	git -C copy pull -q
}

@test "programs: git worktree; a hook planted for it is gone" {
	repository .
	agentbox run -- sh -e -c '
		git worktree add -q tree -b side
		cd tree && echo two >>file && git commit -qam second
		printf "#!/bin/sh\nexit 1\n" >../.git/hooks/pre-commit 2>/dev/null || echo closed'
	[ "$status" -eq 0 ]
	[[ "$output" == *closed* ]]
	[ ! -e .git/hooks/pre-commit ]
	[ "$(git -C tree rev-list --count HEAD)" -eq 2 ]
	echo three >>tree/file
	git -C tree commit -qam third
	git worktree list | grep -q tree
}

@test "programs: git submodule in a repository of the run; a hook planted in it is gone" {
	repository "$HOME/origin"
	agentbox run -- sh -e -c '
		git init -q whole && cd whole
		git submodule add -q "$HOME/origin" module
		git commit -qm "with a module"
		printf "#!/bin/sh\ntouch %s/hooked\n" "$HOME" >.git/modules/module/hooks/post-commit
		chmod +x .git/modules/module/hooks/post-commit || true
		git submodule status'
	[ "$status" -eq 0 ]
	[[ "$output" == *post-commit* ]]
	[ ! -e whole/.git/modules/module/hooks/post-commit ]
	echo two >>whole/module/file
	git -C whole/module commit -qam second
	git -C whole commit -qam moved
	git -C whole submodule status
	[ ! -e "$HOME/hooked" ]
	[ -e whole/.gitmodules ]
}

@test "programs: git submodule that was there before; its hooks are closed" {
	repository "$HOME/origin"
	repository .
	git submodule add -q "$HOME/origin" module
	git commit -qm "with a module"
	agentbox run -- sh -e -c '
		(echo x >.git/modules/module/hooks/post-commit) 2>/dev/null || echo closed
		cd module
		echo two >>file
		git commit -qam second
		cd ..
		git add module
		git commit -qm moved
		git submodule status'
	[ "$status" -eq 0 ]
	[[ "$output" == closed* ]]
	[ ! -e .git/modules/module/hooks/post-commit ]
	[ "$(git -C module rev-list --count HEAD)" -eq 2 ]
	git fsck --strict
	git submodule update
}

@test "programs: gcc and make" {
	need program:gcc
	need program:make
	printf '#include <stdio.h>\nint main(void) { puts("made"); return 0; }\n' >main.c
	printf 'all: prog\nprog: main.o\n\tgcc -o $@ $^\n%%.o: %%.c\n\tgcc -O2 -c -o $@ $<\n' >Makefile
	agentbox run -- make -j2
	[ "$status" -eq 0 ]
	[ "$(./prog)" = made ]
	agentbox run -- ./prog
	[ "$output" = made ]
	agentbox run -- make -q
	[ "$status" -eq 0 ]
}

@test "programs: python with multiprocessing, threads and sqlite3" {
	need program:python3
	cat >work.py <<-'PYTHON'
	import multiprocessing, sqlite3, tempfile, threading

	def square(n):
	    return n * n

	def main():
	    with multiprocessing.Pool(4) as pool:
	        assert pool.map(square, range(50)) == [n * n for n in range(50)]
	    with multiprocessing.Manager() as manager:
	        shared = manager.dict()
	        jobs = [multiprocessing.Process(target=shared.update, args=({i: i},))
	                for i in range(4)]
	        [j.start() for j in jobs]
	        [j.join() for j in jobs]
	        assert len(shared) == 4
	    lock = multiprocessing.Lock()
	    with lock:
	        pass
	    done = []
	    threads = [threading.Thread(target=done.append, args=(i,)) for i in range(8)]
	    [t.start() for t in threads]
	    [t.join() for t in threads]
	    assert len(done) == 8
	    with tempfile.TemporaryDirectory() as d:
	        open(d + "/x", "w").close()
	    db = sqlite3.connect("work.db")
	    db.execute("pragma journal_mode=wal")
	    db.execute("create table t(a)")
	    db.executemany("insert into t values(?)", [(i,) for i in range(100)])
	    db.commit()
	    print(db.execute("select sum(a) from t").fetchone()[0])

	if __name__ == "__main__":
	    main()
	PYTHON
	agentbox run -- python3 work.py
	[ "$status" -eq 0 ]
	[ "$output" = 4950 ]
	python3 -c 'import sqlite3; assert sqlite3.connect("work.db").execute("select count(*) from t").fetchone()[0] == 100'
}

@test "programs: node with workers, children and a server on loopback" {
	need program:node
	cat >work.js <<-'JS'
	const { Worker, isMainThread, parentPort } = require('worker_threads');
	const { execFileSync, fork } = require('child_process');
	const http = require('http');
	const fs = require('fs');
	if (!isMainThread) {
	  parentPort.postMessage(6 * 7);
	} else if (process.argv[2] === 'child') {
	  process.send('child');
	} else {
	  const worker = new Worker(__filename);
	  worker.on('message', (n) => {
	    const out = execFileSync('sh', ['-c', 'echo from-sh']).toString().trim();
	    const child = fork(__filename, ['child']);
	    child.on('message', (m) => {
	      const server = http.createServer((q, r) => r.end('hello'));
	      server.listen(0, '127.0.0.1', () => {
	        http.get({ port: server.address().port, host: '127.0.0.1' }, (r) => {
	          let body = '';
	          r.on('data', (d) => (body += d));
	          r.on('end', () => {
	            fs.writeFileSync('result', [n, out, m, body].join(' '));
	            server.close();
	          });
	        });
	      });
	    });
	  });
	}
	JS
	agentbox run -- node work.js
	[ "$status" -eq 0 ]
	[ "$(cat result)" = "42 from-sh child hello" ]
}

@test "programs: java compiles and runs" {
	need program:javac
	cat >Work.java <<-'JAVA'
	import java.util.concurrent.*;
	public class Work {
	    public static void main(String[] args) throws Exception {
	        ExecutorService pool = Executors.newFixedThreadPool(4);
	        Future<Integer> f = pool.submit(() -> 6 * 7);
	        java.nio.file.Files.writeString(java.nio.file.Path.of("result"), "" + f.get());
	        pool.shutdown();
	    }
	}
	JAVA
	agentbox run -- sh -c 'javac Work.java && java Work'
	[ "$status" -eq 0 ]
	[ "$(cat result)" = 42 ]
	[ "$(java Work; cat result)" = 42 ]
}

@test "programs: cargo builds a local crate, offline" {
	need path:/usr/bin/cargo
	mkdir -p crate/src
	printf '[package]\nname = "crate"\nversion = "0.1.0"\nedition = "2021"\n' >crate/Cargo.toml
	printf 'fn main() { println!("{}", 6 * 7); }\n#[test]\nfn works() { assert_eq!(6 * 7, 42); }\n' >crate/src/main.rs
	cd crate
	agentbox run -- env "CARGO_HOME=$PWD/.cargo-home" PATH=/usr/bin:/bin /usr/bin/cargo build --offline
	[ "$status" -eq 0 ]
	[ "$(./target/debug/crate)" = 42 ]
	agentbox run -- env "CARGO_HOME=$PWD/.cargo-home" PATH=/usr/bin:/bin /usr/bin/cargo test --offline
	[ "$status" -eq 0 ]
}

@test "programs: sqlite3 writes a database with a journal" {
	need program:sqlite3
	agentbox run -- sqlite3 data.db 'pragma journal_mode=wal; create table t(a); insert into t values(1),(2); begin; insert into t values(3); commit;'
	[ "$status" -eq 0 ]
	[ "$(sqlite3 data.db 'select sum(a) from t')" = 6 ]
}

@test "programs: tmux starts a server inside and leaves none behind" {
	need program:tmux
	agentbox run -- sh -c '
		tmux -f /dev/null new-session -d -x 80 -y 24 "echo in-tmux >done; sleep 200" || exit 1
		i=0; while [ ! -s done ] && [ $i -lt 1800 ]; do sleep 0.05; i=$((i + 1)); done
		tmux list-sessions
		cat done'
	[ "$status" -eq 0 ]
	[[ "$output" == *in-tmux ]]
	[ "$(cat done)" = in-tmux ]
}

@test "programs: vim edits a file without a terminal" {
	need program:vim
	printf 'one\ntwo\n' >file
	agentbox run -- vim -es -u NONE -c '%s/two/three/' -c 'wq' file
	[ "$status" -eq 0 ]
	[ "$(cat file)" = $'one\nthree' ]
}

@test "programs: strace on a child of its own" {
	need program:strace
	agentbox run -- strace -f -o trace -e trace=execve,openat sh -c 'cat /etc/hostname >/dev/null; true'
	[ "$status" -eq 0 ]
	grep -q 'execve(' trace
	grep -q hostname trace
}

@test "programs: gdb on a child of its own" {
	need program:gdb
	need program:gcc
	printf 'int answer = 41;\nint main(void) { answer++; return 0; }\n' >main.c
	gcc -g -O0 -o prog main.c
	agentbox run -- gdb -nx -batch -ex 'break main' -ex run -ex next -ex 'print answer' ./prog
	[ "$status" -eq 0 ]
	[[ "$output" == *"= 42"* ]]
}

@test "programs: tar, find, xargs, sort and cp move a tree" {
	mkdir -p tree/a/b
	for i in 1 2 3 4 5; do echo "$i" >"tree/a/b/$i"; done
	ln -s 1 tree/a/b/link
	chmod 640 tree/a/b/2
	agentbox run -- sh -e -c '
		tar -cf tree.tar tree
		mkdir out && tar -xf tree.tar -C out
		cp -a tree copy
		find out -type f -print0 | xargs -0 cat | sort -n | tail -n 1
		mv copy/a/b/5 copy/a/b/six
		rm -r copy/a/b/4'
	[ "$status" -eq 0 ]
	[ "$output" = 5 ]
	diff -r tree out/tree
	[ "$(stat -c %a out/tree/a/b/2)" = 640 ]
	[ "$(readlink out/tree/a/b/link)" = 1 ]
	[ -e copy/a/b/six ]
}

@test "programs: npm, pip and perl start" {
	local program

	for program in npm pip3 perl; do
		have_program "$program" || continue
		agentbox run -- "$program" --version
		[ "$status" -eq 0 ]
		[ -n "$output" ]
	done
	agentbox run -- perl -e 'open my $f, ">", "made" or die; print $f "x"; close $f; print `echo child`'
	[ "$status" -eq 0 ]
	[ "$output" = child ]
	[ "$(cat made)" = x ]
}

@test "programs: openssl makes a key where it may write" {
	need program:openssl
	agentbox run -- openssl genpkey -algorithm ed25519 -out made.pem
	[ "$status" -eq 0 ]
	openssl pkey -in made.pem -noout
}

@test "programs: bash with job control and process substitution" {
	agentbox run -- bash -c '
		set -m
		sleep 30 & kill -STOP %1; kill -CONT %1; kill %1; wait %1
		echo "killed $?"
		diff <(echo a) <(echo a) && echo same
		coproc cat; echo through >&"${COPROC[1]}"; read -r x <&"${COPROC[0]}"; echo "$x"'
	[ "$status" -eq 0 ]
	[[ "$output" == *$'killed 143\nsame\nthrough' ]]
}

@test "programs: a server on loopback inside is reached inside, not from outside" {
	need program:python3
	agentbox run -- python3 -c '
import http.server, threading, urllib.request
s = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=s.serve_forever, daemon=True).start()
print(urllib.request.urlopen("http://127.0.0.1:%d/" % s.server_port).status)
s.shutdown()'
	[ "$status" -eq 0 ]
	[[ "$output" == *200 ]]
}

@test "programs: locks, inotify, fifos and unix sockets work in the workspace" {
	agentbox run -- python3 -c '
import fcntl, os, socket, ctypes
f = open("lock", "w")
fcntl.flock(f, fcntl.LOCK_EX)
fcntl.lockf(f, fcntl.LOCK_EX)
os.mkfifo("fifo")
if os.fork() == 0:
    open("fifo", "w").write("through")
    os._exit(0)
assert open("fifo").read() == "through"
s = socket.socket(socket.AF_UNIX)
s.bind("sock")
s.listen(1)
c = socket.socket(socket.AF_UNIX)
c.connect("sock")
libc = ctypes.CDLL(None, use_errno=True)
n = libc.inotify_init1(0)
assert libc.inotify_add_watch(n, b".", 0x100) > 0
open("created", "w").close()
assert os.read(n, 4096)
os.unlink("sock")
print("all")'
	[ "$status" -eq 0 ]
	[ "$output" = all ]
}
