// The Node package: run by test/bindings.bats, in a workspace, with agentbox on PATH.
import assert from 'node:assert/strict';
import { execFile, spawn as spawnProgram } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';

const { BINDING } = process.env; // the folder of the package
const agentbox = await import(`${BINDING}/index.mjs`);
const { Client, check, doctor, run, spawn, wrap } = agentbox;

const BOUND = 60000; // for what takes milliseconds
const FETCH = 'curl -sS http://files.example.com/';
const POLICY = { network: { mode: 'filtered', unknown: 'deny' }, filesystem: { write: [] } };

const execute = promisify(execFile);
const activeRuns = async () => (await execute('agentbox', ['ps'])).stdout;

async function until(condition) {
  const end = Date.now() + BOUND;
  while (!await condition()) {
    assert.ok(Date.now() < end, 'it did not happen in time');
    await new Promise((resolve) => { setTimeout(resolve, 20); });
  }
}

async function collect(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

test('a result has output, status and guarantees', async () => {
  const done = await run(['sh', '-c', 'echo out; echo err >&2; exit 3']);
  assert.deepEqual([done.exitCode, done.stdout, done.stderr, done.stdoutTruncated], [3, 'out\n', 'err\n', false]);
  assert.ok(done.assurance.holds.includes('write-fence'));
  assert.equal((await run('echo $((6 * 7))', { shell: true })).stdout, '42\n');
  const bytes = Buffer.from([255, 0]);
  assert.deepEqual((await run(['cat'], { input: bytes, encoding: 'buffer' })).stdout, bytes);
  assert.equal((await run(['wc', '-c'], { input: Buffer.alloc(3 << 20) })).stdout, `${3 << 20}\n`);
  await assert.rejects(run(['sh', '-c', 'exit 4'], { check: true }),
    (error) => error instanceof agentbox.ExitError && error.result.exitCode === 4);
});

test('a denial and its allowed twin', async () => {
  await run('touch denied', { shell: true, policy: POLICY });
  assert.ok(!fs.existsSync('denied'));
  await run('touch allowed', { shell: true, check: true });
  assert.ok(fs.existsSync('allowed'));
  let done = await run(FETCH, { shell: true, policy: POLICY });
  assert.deepEqual(done.violations.map((v) => v.domain), ['files.example.com']);
  // The host is allowed, and then it is not agentbox that prevents the connection.
  done = await run(FETCH, { shell: true, policy: POLICY, allow: ['files.example.com'] });
  assert.deepEqual(done.violations, []);
});

test('a command that does not start is an error', async () => {
  await assert.rejects(run(['no-such-program']), agentbox.CommandNotFound);
  await assert.rejects(run(['git', 'push']), (error) => error instanceof agentbox.Refused && error.result.exitCode === 126);
  await assert.rejects(run(['true'], { policy: { network: { alow: [] } } }), /network\.alow: unknown key/);
  await assert.rejects(run(['true'], { alow: [] }), /run\(\) has no option "alow"/);
  await assert.rejects(run(['true'], { allow: 'x.example' }), /allow: expected a list of strings/);
  await assert.rejects(run(['true'], { stdout: 'pipe' }), /run\(\) has no pipes/);
  assert.throws(() => spawn([]), /expected a list of strings/);
});

test('caps and a deadline', async () => {
  let done = await run('head -c 5000 /dev/zero; echo e >&2', { shell: true, maxOutput: 10 });
  assert.deepEqual([done.stdout.length, done.stdoutTruncated, done.stderrTruncated], [10, true, false]);
  done = await run(['sleep', '1000'], { deadline: 200 });
  assert.deepEqual([done.exitCode, done.timedOut], [124, true]);
});

test('streams, both ways, and a reader that is slow', async () => {
  const both = spawn('read x; echo got $x; cat >&2', { shell: true });
  both.stdin.write('one\n');
  assert.equal(String((await both.stdout[Symbol.asyncIterator]().next()).value), 'got one\n');
  const errors = collect(both.stderr);
  both.stdin.end(Buffer.alloc(3 << 20, 'x'));
  assert.equal((await errors).length, 3 << 20);
  assert.equal((await both.result).exitCode, 0);
  const slow = spawn('head -c 30000000 /dev/zero', { shell: true, stdin: 'ignore', stderr: 'capture' });
  let read = 0;
  for await (const chunk of slow.stdout) {
    if (read < 2e6) await new Promise((resolve) => { setTimeout(resolve, 5); });
    read += chunk.length;
  }
  assert.deepEqual([read, (await slow.result).stderr], [30000000, '']);
  // Nobody reads, and it ends nevertheless.
  const unread = spawn(['yes']);
  await unread.started;
  await unread.close();
  assert.match((await unread.result).signal, /^SIG(KILL|TERM)$/);
});

test('signals, stop and abort', async () => {
  let sleeping = spawn(['sleep', '1000']);
  await sleeping.started;
  await sleeping.sendSignal('SIGINT');
  assert.equal((await sleeping.result).signal, 'SIGINT');
  await sleeping.kill(); // it has ended: nothing happens
  const controller = new AbortController();
  sleeping = spawn(['sleep', '1000'], { signal: controller.signal });
  const id = await sleeping.started;
  controller.abort();
  await assert.rejects(sleeping.result, { name: 'AbortError' });
  assert.ok(!(await activeRuns()).includes(id));
  await assert.rejects(run(['sleep', '1000'], { signal: AbortSignal.abort() }), { name: 'AbortError' });
  await assert.rejects(run(['sleep', '1000'], { signal: AbortSignal.timeout(50) }), { name: 'AbortError' });
});

test('questions are answered, also later', async () => {
  let question;
  const run1 = spawn('git push; echo continued', { shell: true, stdout: 'capture', onQuestion(q) { question = q; } });
  await until(() => question);
  assert.deepEqual([question.kind, question.rule, run1.questions.length], ['command', 'git-publish', 1]);
  await assert.rejects(question.answer('perhaps'), agentbox.RequestError);
  await question.answer(true);
  assert.equal((await run1.result).stdout, 'continued\n');
  assert.equal(question.settled, 'answered');
  await assert.rejects(run(['git', 'push'], { onQuestion: async () => 'no' }), agentbox.Refused);
  // A callback that fails has said no.
  const warned = new Promise((resolve) => { process.once('warning', resolve); });
  await assert.rejects(run(['git', 'push'], { onQuestion() { throw new Error('broken'); } }), agentbox.Refused);
  assert.match((await warned).message, /broken/);
});

test('events, and host lists that change while it runs', async () => {
  const records = [];
  let question;
  const fetching = spawn(`read x; ${FETCH}; read x; ${FETCH}`, {
    shell: true, stdout: 'capture', policy: { network: { mode: 'filtered', unknown: 'ask' } },
    onRecord: (record) => records.push(record), onQuestion(q) { question = q; },
  });
  await fetching.started;
  fetching.stdin.write('\n');
  await until(() => question);
  assert.deepEqual([question.kind, question.domain, question.port], ['host', 'files.example.com', 80]);
  assert.equal((await fetching.status()).command[0], '/bin/sh');
  assert.equal(await fetching.update({ deny: ['files.example.com'] }), 0);
  if (!question.settled) await question.answer('no');
  fetching.stdin.end('\n');
  fetching.stderr.resume();
  await fetching.result;
  assert.ok(fetching.violations.every((v) => v.domain === 'files.example.com') && fetching.violations.length);
  assert.deepEqual([records[0].kind, records.at(-1).kind], ['start', 'end']);
});

test('several at once through one client, and its end leaves nothing', async () => {
  const client = new Client();
  const names = ['here.0', 'here.1', 'here.2', 'here.3'];
  // Each waits for the next one.
  const wait = 'touch $0; until [ -e $1 ]; do sleep 0.02; done; echo $0';
  const done = await Promise.all(names.map((name, i) => client.run(['sh', '-c', wait, name, names[(i + 1) % 4]])));
  assert.deepEqual(done.map((d) => d.stdout), names.map((name) => `${name}\n`));
  const runs = [client.spawn(['sleep', '1000']), client.spawn(['sleep', '1000'], { stdout: 'capture', stderr: 'capture' })];
  const ids = await Promise.all(runs.map((r) => r.started));
  const active = await activeRuns();
  assert.ok(ids.every((id) => active.includes(id)));
  await client.close();
  const after = await activeRuns();
  assert.ok(!ids.some((id) => after.includes(id)));
  assert.ok(!fs.existsSync(`/proc/${client.pid}`));
  await assert.rejects(client.run(['true']), agentbox.ChannelClosed);
});

test('a pool has prepared boxes, and decides about the policy', async () => {
  const pool = await agentbox.openPool(2);
  const child = pool.spawn(['cat'], { input: 'hello' });
  assert.equal(String(await collect(child.stdout)), 'hello');
  assert.equal((await child.result).exitCode, 0);
  assert.equal(typeof child.warm, 'boolean');
  assert.equal((await pool.run('pwd; exit 3', { shell: true, cwd: '/usr' })).stdout, '/usr\n');
  await assert.rejects(pool.run(['true'], { allow: ['x.example'] }), /the pool decides/);
  assert.equal((await pool.check('true', { shell: true })).decision, 'allow');
  await pool.close();
  await assert.rejects(agentbox.openPool(1000), agentbox.RequestError);
});

test('a request that is too large ends nothing else', async () => {
  const other = agentbox.spawn(['cat'], { stdin: 'pipe' });
  await assert.rejects(agentbox.run(['echo', 'x'.repeat(5 << 20)]), /4 MiB/);
  other.stdin.end('still');
  assert.equal(String(await collect(other.stdout)), 'still');
});

test('the death of serve, or of the program, ends every run', async () => {
  const client = new Client();
  const lost = client.spawn(['sleep', '1000'], { stdout: 'capture', stderr: 'capture' });
  const id = await lost.started;
  process.kill(client.pid, 'SIGKILL');
  await assert.rejects(lost.result, agentbox.ChannelClosed);
  await until(async () => !(await activeRuns()).includes(id));
  const code = `import(${JSON.stringify(`${BINDING}/index.mjs`)}).then(async ({ spawn }) => {
    console.log(await spawn(['sleep', '1000']).started); process.kill(process.pid, 'SIGKILL'); })`;
  const other = spawnProgram(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  const said = String(await collect(other.stdout)).trim();
  assert.ok(said);
  await until(async () => !(await activeRuns()).includes(said));
});

test('check, wrap, doctor, and require()', async () => {
  assert.equal((await check('git push --force', { shell: true })).rule, 'history-rewrite');
  assert.equal((await check(['git', 'status'])).decision, 'allow');
  const [program, ...args] = await wrap('echo $((6 * 7))', { shell: true, allow: ['x.example'] });
  assert.equal((await execute(program, args)).stdout, '42\n');
  assert.equal((await doctor()).available, true);
  assert.equal((await doctor({ program: '/nonexistent/agentbox' })).available, false);
  const required = createRequire(import.meta.url)(BINDING);
  assert.equal(required.run, run);
  assert.deepEqual(Object.keys(required).sort(), Object.keys(agentbox).filter((name) => name !== 'default').sort());
});

test('a program that is missing or too old', async () => {
  const program = path.resolve('program');
  const write = (text) => fs.writeFileSync(program, text, { mode: 0o755 });
  await assert.rejects(run(['true'], { program: '/nonexistent/agentbox' }),
    (error) => error instanceof agentbox.NotInstalled && /no program \/nonexistent\/agentbox\ninstall agentbox/.test(error.message));
  await assert.rejects(run(['true'], { program: 'no-agentbox' }), /"no-agentbox" is not on PATH/);
  write("#!/bin/sh\necho \"agentbox: unknown command 'serve'\" >&2\nexit 2\n");
  await assert.rejects(run(['true'], { program }), /too old for this package: agentbox: unknown command/);
  write('#!/bin/sh\nread -r hello\necho \'{"id":1,"ok":false,"protocols":[2,3]}\'\n');
  await assert.rejects(run(['true'], { program }), /speaks protocol \[2,3\], this package needs 1/);
  // A folder that a box can write is no place to find the program in.
  const saved = process.env.PATH;
  fs.renameSync(program, 'agentbox');
  process.env.PATH = '.:';
  try {
    await assert.rejects(run(['true']), agentbox.NotInstalled);
  } finally {
    process.env.PATH = saved;
  }
});
