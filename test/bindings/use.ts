// Uses of the Node package that TypeScript accepts, and some that it does not. Never run.
import agentbox = require('agentbox');
import { Client, Refused, run, spawn, type Question } from 'agentbox';

export async function use(): Promise<unknown> {
  const done = await run(['make'], { allow: ['github.com'], deadline: 1000, signal: AbortSignal.timeout(5) });
  const text: string = done.stdout;
  const status: number = done.exitCode;
  const bytes: Buffer = (await run(['x'], { encoding: 'buffer' })).stdout;
  const process = spawn('cat', {
    shell: true, onQuestion: async (question: Question) => (question.kind === 'host' ? 'once' : false),
  });
  process.stdin?.end('x');
  process.stdout?.resume();
  process.on('violation', (record) => record.domain);
  const client = new Client({ program: '/usr/bin/agentbox', profile: 'strict' });
  const argv: string[] = await client.wrap(['make']);
  await client.close();
  // @ts-expect-error: there is no such option
  await run(['x'], { alow: [] });
  // @ts-expect-error: a list of hosts
  await run(['x'], { allow: 'github.com' });
  // @ts-expect-error: no such answer
  spawn(['x'], { onQuestion: () => 'perhaps' });
  return [text, status, bytes, argv, agentbox.check, Refused];
}
