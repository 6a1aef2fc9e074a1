'use strict';
// Clients: one `agentbox serve` for many runs, or one for each call.
const { Channel } = require('./channel.cjs');
const { NotInstalled } = require('./errors.cjs');
const { Process } = require('./process.cjs');
const { POLICY, judged, poolOf } = require('./request.cjs');

const JUDGED = ['shell', 'cwd', 'env', 'allow', 'deny', 'policy', 'profile', 'workspace', 'project', 'options'];

class Client {
  constructor({ program, ...defaults } = {}) {
    this.defaults = defaults;
    this.channel = new Channel(program);
    this.active = new Set(); // runs with a channel of their own
    this.isClosed = false;
  }

  // Resolves to the version of the program, when it has answered.
  async version() {
    return (await this.channel.hello).version;
  }

  get pid() {
    return this.channel.child.pid;
  }

  start(args, options, call) {
    const all = { ...this.defaults, ...options };
    // One who reads a stream slowly stops the whole channel: such a run has its own.
    const own = all.stdout === 'pipe' || all.stderr === 'pipe';
    const open = () => {
      if (this.isClosed) throw this.channel.why;
      return own ? new Channel(this.channel.program) : this.channel;
    };
    const run = new Process(open, own, args, all, call);
    this.active.add(run);
    run.once('exit', () => this.active.delete(run));
    return run;
  }

  spawn(args, options = {}) {
    return this.start(args, { stdin: options.input === undefined ? 'pipe' : undefined, stdout: 'pipe', stderr: 'pipe', ...options }, 'spawn');
  }

  async run(args, options = {}) {
    return this.start(args, options, 'run').result;
  }

  async check(args, options = {}) {
    const reply = await this.channel.request({ do: 'check', ...judged(args, this.judgedBy(options), 'check') });
    return { ...reply.verdict, notes: reply.notes };
  }

  async wrap(args, options = {}) {
    return (await this.channel.request({ do: 'wrap', ...judged(args, this.judgedBy(options), 'wrap') })).argv;
  }

  async doctor() {
    const { available, report } = await this.channel.request({ do: 'doctor' });
    return { available, engine: report.engine ?? null, report };
  }

  judgedBy(options) {
    const known = Object.fromEntries(JUDGED.filter((name) => name in this.defaults).map((name) => [name, this.defaults[name]]));
    return { ...known, ...options };
  }

  // End every run; resolves when nothing is left of them.
  async close() {
    this.isClosed = true;
    const own = [...this.active].filter((run) => run.own);
    await Promise.all([this.channel.close(), ...own.map((run) => run.close())]);
    await Promise.all([...this.active].map((run) => run.result.catch(() => {})));
  }
}

// A client with boxes that are prepared before their commands are known. openPool() makes one.
class Pool extends Client {
  constructor(boxes, options = {}) {
    const { program, ...given } = options;
    const policy = {};
    const defaults = {};
    for (const [name, value] of Object.entries(given)) {
      (Object.hasOwn(POLICY, name) && name !== 'shell' ? policy : defaults)[name] = value;
    }
    const request = poolOf(boxes, policy);
    super({ program, ...defaults });
    this.boxes = boxes;
    this.policy = policy;
    this.opened = this.channel.request(request).then((reply) => {
      this.number = reply.pool;
      return this;
    });
  }

  // A pool belongs to one channel, so a slow reader of a stream delays other runs of the pool.
  start(args, options, call) {
    const open = () => {
      if (this.isClosed) throw this.channel.why;
      return this.channel;
    };
    const run = new Process(open, false, args, { ...this.defaults, ...options }, call, this.number);
    this.active.add(run);
    run.once('exit', () => this.active.delete(run));
    return run;
  }

  judgedBy(options) {
    return { ...this.policy, ...super.judgedBy(options) };
  }
}

// Resolves to a Pool when all its boxes are ready.
async function openPool(boxes, options) {
  const pool = new Pool(boxes, options);
  try {
    return await pool.opened;
  } catch (error) {
    await pool.close();
    throw error;
  }
}

if (Symbol.asyncDispose) {
  Client.prototype[Symbol.asyncDispose] = function dispose() {
    return this.close();
  };
}

// One call with an `agentbox serve` of its own.
async function once(program, call) {
  const client = new Client({ program });
  try {
    return await call(client);
  } finally {
    await client.close();
  }
}

function spawn(args, { program, ...options } = {}) {
  const all = { stdin: options.input === undefined ? 'pipe' : undefined, stdout: 'pipe', stderr: 'pipe', ...options };
  return new Process(() => new Channel(program), true, args, all, 'spawn');
}

async function run(args, { program, ...options } = {}) {
  return new Process(() => new Channel(program), true, args, options, 'run').result;
}

async function check(args, { program, ...options } = {}) {
  return once(program, (client) => client.check(args, options));
}

async function wrap(args, { program, ...options } = {}) {
  return once(program, (client) => client.wrap(args, options));
}

// What this machine can enforce; not available if there is no agentbox.
async function doctor({ program } = {}) {
  try {
    return await once(program, (client) => client.doctor());
  } catch (error) {
    if (!(error instanceof NotInstalled)) throw error;
    return { available: false, engine: null, report: { summary: error.message } };
  }
}

module.exports = { Client, Pool, check, doctor, openPool, run, spawn, wrap };
