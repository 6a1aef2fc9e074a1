'use strict';
// A command in a box: an emitter with streams and a promise of its result.
const { EventEmitter } = require('node:events');
const { Readable, Writable } = require('node:stream');
const { AgentboxError, ChannelClosed, RequestError } = require('./errors.cjs');
const { runOf } = require('./request.cjs');
const { exitErrorOf, resultOf, startErrorOf } = require('./result.cjs');

const CHUNK = 1 << 20; // a request has at most 4 MiB, and base64 is longer than its bytes
const BUFFER = 1 << 20;
const VIOLATIONS_MAX = 10000; // that a live run remembers: a command can cause any number of them

class Question {
  constructor(run, event) {
    Object.defineProperty(this, 'run', { value: run });
    this.settled = null;
    this.update(event);
  }

  update(event) {
    this.raw = event;
    this.id = event.question;
    for (const name of ['kind', 'domain', 'port', 'about', 'command', 'argv', 'cwd', 'rule', 'reason', 'process']) {
      this[name] = event[name];
    }
    this.left = event.left_ms;
  }

  // true is "once" and false is "no". Resolves to the number of waiting connections that continue.
  async answer(answer, reason) {
    const words = { true: 'once', false: 'no' };
    const reply = await this.run.ask('answer', {
      question: this.id, answer: typeof answer === 'boolean' ? words[answer] : answer, reason,
    });
    this.settled ??= 'answered';
    return reply.released ?? 0;
  }
}

function abortError(signal) {
  const error = new Error('The operation was aborted', { cause: signal.reason });
  error.name = 'AbortError';
  error.code = 'ABORT_ERR';
  return error;
}

class Process extends EventEmitter {
  // `open` gives the channel; `own`: it belongs to this run and is closed with it.
  // `pool`: the number of the pool whose box it uses, or undefined.
  constructor(open, own, args, options, call, pool) {
    super();
    this.args = args;
    this.options = options;
    this.violations = [];
    this.missed = 0;
    this.runId = null;
    this.warm = null;
    this.known = new Map(); // open questions
    this.own = own;
    this.heldBy = new Set();
    this.hasEnded = false;
    const request = runOf(args, options, call, pool);
    if (call === 'run' && [options.stdin, options.stdout, options.stderr].includes('pipe')) {
      throw new TypeError('agentbox: run() has no pipes: use input and the result, or spawn()');
    }
    const input = options.input === undefined ? undefined : Buffer.from(options.input);
    if (input !== undefined && options.stdin === 'pipe') throw new TypeError('agentbox: give one of input and stdin: "pipe"');
    const inLine = input !== undefined && input.length <= CHUNK;
    request.stdin = inLine ? { base64: input.toString('base64') } : 'null';
    if ((input !== undefined && !inLine) || options.stdin === 'pipe') request.stdin = 'pipe';
    this.stdout = options.stdout === 'pipe' ? this.readable('stdout') : null;
    this.stderr = options.stderr === 'pipe' ? this.readable('stderr') : null;
    this.started = new Promise((resolve, reject) => {
      this.tellStarted = resolve;
      this.failStarted = reject;
    });
    this.started.catch(() => {});
    this.result = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    this.result.catch(() => {}); // it is also an event
    if (options.signal?.aborted) {
      this.number = Promise.reject(abortError(options.signal));
      this.number.catch((error) => this.lose(error));
      this.stdin = null;
      return;
    }
    this.channel = open();
    this.number = this.channel.request(request, (event) => this.hear(event)).then((reply) => reply.run);
    this.number.catch((error) => this.lose(error));
    this.stdin = request.stdin === 'pipe' ? this.writable() : null;
    if (request.stdin === 'pipe' && input !== undefined) {
      this.stdin.on('error', () => {}); // the command need not read its input
      this.stdin.end(input);
      this.stdin = null;
    }
    this.onAbort = () => {
      this.wasAborted = true;
      this.kill().catch(() => {});
    };
    options.signal?.addEventListener('abort', this.onAbort, { once: true });
  }

  readable(name) {
    return new Readable({
      highWaterMark: BUFFER,
      read: () => {
        if (this.heldBy.delete(name) && this.heldBy.size === 0) this.channel.release();
      },
    });
  }

  writable() {
    const send = async (chunk, eof) => {
      for (let at = 0; at < chunk.length || (eof && at === 0); at += CHUNK) {
        const part = chunk.subarray(at, at + CHUNK);
        await this.ask('input', eof ? { eof: true } : { base64: part.toString('base64') });
      }
    };
    const broken = (error) => Object.assign(new Error('write EPIPE: the command does not read its input any more',
      { cause: error }), { code: 'EPIPE' });
    return new Writable({
      write: (chunk, _, done) => send(chunk, false).then(() => done(), (error) => done(broken(error))),
      final: (done) => send(Buffer.alloc(0), true).then(() => done(), () => done()),
    });
  }

  // Events of the channel.

  hear(event) {
    const { onViolation, onRecord, onMessage } = this.options;
    switch (event.event) {
      case 'started':
        this.runId = event.run_id;
        this.warm = event.warm ?? null;
        this.tellStarted(event.run_id);
        this.emit('started', event.run_id);
        break;
      case 'output':
        this.push(event);
        break;
      case 'violation':
        if (this.violations.length < VIOLATIONS_MAX) this.violations.push(event.record);
        this.tell('violation', onViolation, event.record);
        break;
      case 'record':
        this.tell('record', onRecord, event.record);
        break;
      case 'message':
        this.tell('message', onMessage, event.level, event.text);
        break;
      case 'missed':
        this.missed += event.count;
        break;
      case 'question':
        this.hearQuestion(event);
        break;
      case 'settled':
        if (this.known.has(event.question)) {
          this.known.get(event.question).settled = event.how;
          this.known.delete(event.question);
        }
        break;
      case 'exit':
        this.end(event.result);
        break;
      case 'lost':
        this.lose(event.why);
        break;
      default: // of a later agentbox
    }
  }

  // A callback that fails must not keep the other events from being heard.
  tell(name, callback, ...args) {
    for (const call of [() => callback?.(...args), () => this.emit(name, ...args)]) {
      try {
        Promise.resolve(call()).catch(complain);
      } catch (error) {
        complain(error);
      }
    }
  }

  hearQuestion(event) {
    const known = this.known.get(event.question);
    if (known) {
      known.update(event); // more is known about it
      return;
    }
    const question = new Question(this, event);
    this.known.set(question.id, question);
    this.askCaller(question).catch((error) => {
      // Over already: nobody waits for the answer.
      if (question.settled || error instanceof ChannelClosed || error.code === 'not-found') return;
      complain(error);
    });
  }

  // What the callback returns is the answer; undefined or null: it comes later. If it fails: no.
  async askCaller(question) {
    let answer;
    try {
      answer = await this.options.onQuestion(question);
    } catch (error) {
      complain(error);
      answer = false;
    }
    if (answer === undefined || answer === null) return;
    try {
      await question.answer(answer);
    } catch (error) {
      if (!(error instanceof RequestError) || error.code !== 'usage' || question.settled) throw error;
      complain(error);
      await question.answer(false);
    }
  }

  push(event) {
    const stream = this[event.stream];
    if (!stream || stream.destroyed) return;
    const bytes = event.text === undefined ? Buffer.from(event.base64, 'base64') : Buffer.from(event.text, 'utf8');
    if (!stream.push(bytes) && !this.killed) {
      this.heldBy.add(event.stream);
      this.channel.hold();
    }
  }

  // The end.

  async end(raw) {
    this.runId = raw.run_id;
    this.hasEnded = true;
    const result = resultOf(this.args, raw, this.options.encoding);
    await this.leave();
    const { signal, check } = this.options;
    const aborted = this.wasAborted && raw.status === null ? abortError(signal) : null;
    const error = aborted ?? startErrorOf(result) ?? (check ? exitErrorOf(result) : null);
    if (error) Object.assign(error, { result });
    this.settle(error, result);
  }

  async lose(error) {
    if (this.hasEnded) return;
    this.hasEnded = true;
    if (this.channel) await this.leave();
    this.settle(error);
  }

  async leave() {
    for (const question of this.known.values()) question.settled ??= 'gone';
    this.known.clear();
    this.options.signal?.removeEventListener('abort', this.onAbort);
    for (const stream of [this.stdout, this.stderr]) if (stream && !stream.destroyed) stream.push(null);
    if (this.own) await this.channel.close();
  }

  settle(error, result) {
    if (error) {
      for (const stream of [this.stdout, this.stderr]) stream?.push(null);
      this.failStarted(error);
      this.reject(error);
    } else {
      this.tellStarted(this.runId);
      this.resolve(result);
    }
    this.emit('exit', result ?? null, error ?? null);
  }

  // Requests.

  async ask(what, members = {}) {
    const run = await this.number;
    return this.channel.request({ do: what, run, ...members });
  }

  // A request about a run that may have ended meanwhile.
  async quietly(what, members) {
    try {
      if (!this.hasEnded) await this.ask(what, members);
    } catch (error) {
      if (!(error instanceof ChannelClosed) && error.code !== 'not-found' && !this.hasEnded) throw error;
    }
  }

  get questions() {
    return [...this.known.values()];
  }

  async sendSignal(signal) {
    await this.quietly('signal', { signal });
  }

  // SIGTERM to everything in the box, and SIGKILL after `grace` milliseconds.
  async stop(grace = 5000) {
    this.killed = true; // output that nobody reads must not keep the end from being heard
    this.channel?.release();
    await this.quietly('stop', { grace_ms: grace });
  }

  async kill() {
    await this.stop(0);
  }

  async update({ allow = [], deny = [], ms } = {}) {
    const reply = await this.ask('update', { allow, deny, for_ms: ms });
    return reply.released ?? 0;
  }

  async status() {
    return (await this.ask('status')).status;
  }

  // End the run if it is active; resolves when nothing is left of it.
  async close() {
    await this.kill().catch((error) => {
      if (!(error instanceof AgentboxError)) throw error;
    });
    await this.result.catch(() => {});
  }
}

if (Symbol.asyncDispose) {
  Process.prototype[Symbol.asyncDispose] = function dispose() {
    return this.close();
  };
}

function complain(error) {
  process.emitWarning(`a callback of an agentbox run failed: ${error?.stack ?? error}`, 'AgentboxWarning');
}

module.exports = { Process, Question };
