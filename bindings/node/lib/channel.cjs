'use strict';
// The channel to `agentbox serve`: one process, requests with replies, events of runs.
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { ChannelClosed, NotInstalled, ProtocolError, RequestError } = require('./errors.cjs');

const PROTOCOL = 1;
const VERSION = require('../package.json').version;
const HELLO_MS = 60000;
const END_MS = 60000;
const STDERR_MAX = 2000;
const REQUEST_MAX = 4 << 20;
const INSTALL = 'install agentbox (docs/install.md), or pass program: "/path/to/agentbox"';
const ARCHITECTURES = { x64: 'x86_64', arm64: 'aarch64' };

function isExecutable(file) {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}

// The absolute path of the program: the one that is named, that of the npm package, or that on PATH.
// A relative entry of PATH could be a folder that a box writes: skip it.
function findProgram(program) {
  if (program && program.includes('/')) {
    const file = path.resolve(program);
    if (isExecutable(file)) return file;
    throw new NotInstalled(fs.existsSync(file)
      ? `agentbox: ${file} is not an executable file` : `agentbox: there is no program ${file}`, INSTALL);
  }
  const packed = path.join(__dirname, '..', '..', `linux-${ARCHITECTURES[process.arch]}`, 'agentbox');
  if (!program && isExecutable(packed)) return packed;
  for (const folder of (process.env.PATH || '').split(':')) {
    const file = path.join(folder, program || 'agentbox');
    if (path.isAbsolute(folder) && isExecutable(file)) return file;
  }
  throw new NotInstalled(`agentbox: the program "${program || 'agentbox'}" is not on PATH`, INSTALL);
}

class Channel {
  constructor(program) {
    this.program = findProgram(program);
    this.number = 0;
    this.pending = new Map(); // id -> { resolve, reject, handler }
    this.runs = new Map(); // number -> handler of events
    this.kept = []; // chunks of a line that has no end yet
    this.why = null; // an error: nothing more can be requested
    this.stderr = '';
    this.child = spawn(this.program, ['serve'], { stdio: ['pipe', 'pipe', 'pipe'] });
    this.child.stdin.on('error', () => {}); // its end is known from 'close'
    this.child.stdout.on('data', (chunk) => this.take(chunk));
    this.child.stdout.on('error', () => {});
    this.child.stderr.setEncoding('utf8').on('data', (text) => {
      this.stderr = (this.stderr + text).slice(0, STDERR_MAX);
    });
    this.ended = new Promise((resolve) => {
      this.child.on('error', (error) => {
        this.why ||= new NotInstalled(`agentbox: cannot start ${this.program}: ${error.message}`, INSTALL);
        if (this.child.pid === undefined) resolve();
      });
      this.child.on('close', (code, signal) => {
        this.status = signal || `status ${code}`;
        resolve();
      });
    }).then(() => this.finish());
    this.hello = this.greet();
    this.hello.catch(() => {}); // every request waits for it and reports it
  }

  async greet() {
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new ProtocolError(`agentbox: ${this.program} serve does not answer`)),
        HELLO_MS);
    });
    try {
      const reply = await Promise.race([late, this.send({ do: 'hello', protocol: PROTOCOL, client: `node ${VERSION}` })]);
      if (!reply.ok) {
        throw new ProtocolError(`agentbox: ${this.program} speaks protocol ${JSON.stringify(reply.protocols)}, `
          + `this package needs ${PROTOCOL}`, 'install versions of the program and of the package that belong together');
      }
      return reply;
    } catch (error) {
      let why = error;
      if (error instanceof ChannelClosed) {
        why = new ProtocolError(`agentbox: ${this.program} has no usable command "serve": it is too old for this package`
          + (this.stderr.trim() ? `: ${this.stderr.trim()}` : ''), 'update agentbox', { cause: error });
      }
      this.why = why;
      this.child.kill('SIGKILL');
      throw why;
    } finally {
      clearTimeout(timer);
    }
  }

  // Send a request; its reply, or an error. `handler` gets the events of the run that it starts.
  async request(members, handler) {
    await this.hello;
    const reply = await this.send(members, handler);
    if (!reply.ok) throw new RequestError(`agentbox: ${reply.error}`, reply.hint, { code: reply.code });
    return reply;
  }

  send(members, handler) {
    return new Promise((resolve, reject) => {
      if (this.why) {
        reject(this.why);
        return;
      }
      this.number += 1;
      const line = Buffer.from(`${JSON.stringify({ id: this.number, ...members })}\n`);
      if (line.length > REQUEST_MAX) {
        // The server would end with all of its runs.
        reject(new RequestError('agentbox: the request is larger than 4 MiB; pass long data through a file or a pipe',
          '', { code: 'usage' }));
        return;
      }
      this.pending.set(this.number, { resolve, reject, handler });
      this.child.stdin.write(line);
    });
  }

  take(chunk) {
    let rest = chunk;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      this.kept.push(rest.subarray(0, end));
      const line = Buffer.concat(this.kept).toString('utf8');
      this.kept = [];
      rest = rest.subarray(end + 1);
      let message;
      try {
        message = JSON.parse(line);
      } catch {
        this.why ||= new ProtocolError(`agentbox: ${this.program} serve wrote a line that is not JSON`);
        this.child.kill('SIGKILL');
        return;
      }
      this.dispatch(message);
    }
    if (rest.length) this.kept.push(rest);
  }

  dispatch(line) {
    if (line.event) {
      const handler = this.runs.get(line.run);
      if (line.event === 'exit') this.runs.delete(line.run);
      if (handler) handler(line);
      return;
    }
    const request = this.pending.get(line.id);
    if (!request) return;
    this.pending.delete(line.id);
    // Its events follow this reply, before the promise is heard: register it now.
    if (request.handler && line.ok) this.runs.set(line.run, request.handler);
    request.resolve(line);
  }

  finish() {
    const words = this.stderr.trim();
    this.why ||= new ChannelClosed(`agentbox: ${this.program} serve ended with ${this.status}${words ? `: ${words}` : ''}`);
    const pending = [...this.pending.values()];
    const runs = [...this.runs.values()];
    this.pending.clear();
    this.runs.clear();
    for (const request of pending) request.reject(this.why);
    for (const handler of runs) handler({ event: 'lost', why: this.why });
  }

  hold() {
    this.child.stdout.pause();
  }

  release() {
    this.child.stdout.resume();
  }

  // End every run; resolves when nothing is left of them and of the process.
  async close() {
    this.why ||= new ChannelClosed('agentbox: the client is closed');
    this.child.stdin.end();
    this.release();
    const timer = setTimeout(() => this.child.kill('SIGKILL'), END_MS); // its runs end with it
    await this.ended;
    clearTimeout(timer);
  }
}

module.exports = { Channel, findProgram };
