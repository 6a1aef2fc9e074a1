// Types of the package agentbox. The guide: docs/node.md.
/// <reference types="node" />
import { EventEmitter } from 'node:events';
import { Readable, Writable } from 'node:stream';

/** A record or a report as agentbox writes it: agentbox-log(1). */
export type Json = { [name: string]: any };

/** What a command is judged by and confined to. */
export interface PolicyOptions {
  /** The command is one string for /bin/sh, or for the shell with this path. */
  shell?: boolean | string;
  /** Where the command starts; the workspace, unless that is named. */
  cwd?: string;
  /** The whole environment that the run starts from. The policy still decides what the box sees. */
  env?: NodeJS.ProcessEnv | Record<string, string>;
  /** Hosts, on top of the settings: names, *.names, groups like @npm. */
  allow?: string[];
  deny?: string[];
  /** Settings as in agentbox.json(5), or the path of such a file, instead of the user's settings. */
  policy?: object | string;
  profile?: string;
  workspace?: string;
  /** false: ignore .agentbox.json in the workspace. */
  project?: boolean;
  /** Settings by their key, on top of everything else. */
  options?: Record<string, string | number | boolean | string[]>;
}

export interface ProgramOption {
  /** The program agentbox; otherwise that of the npm package, or the one on PATH. */
  program?: string;
}

export type Answer = 'once' | 'run' | 'session' | 'always' | 'project' | 'group' | 'no' | 'never';

export interface RunOptions extends PolicyOptions {
  /** A name of the run, besides its id. */
  name?: string;
  /** Milliseconds; then the command is ended, and timedOut is true. */
  deadline?: number;
  /** Bytes of each captured stream to keep: 10 MiB if not given, at most 64 MiB. */
  maxOutput?: number;
  /** Approve a command that needs approval. */
  approve?: boolean;
  /** Milliseconds that a question about the command may wait. */
  askTimeout?: number;
  requireCovered?: boolean;
  traceDenials?: boolean;
  /** Standard input. */
  input?: string | Uint8Array;
  /** Of captured streams; "utf8" if not given. */
  encoding?: 'utf8' | 'buffer';
  /** Reject with ExitError if the command fails. */
  check?: boolean;
  /** Aborting ends the box; the promise is rejected when it has ended. */
  signal?: AbortSignal;
  stdin?: 'pipe' | 'ignore';
  stdout?: 'pipe' | 'capture' | 'ignore';
  stderr?: 'pipe' | 'capture' | 'ignore' | 'stdout';
  /** The returned value is the answer; nothing: it comes later, by question.answer(). */
  onQuestion?: (question: Question) => Answer | boolean | void | null | Promise<Answer | boolean | void | null>;
  onViolation?: (record: Json) => unknown;
  onRecord?: (record: Json) => unknown;
  onMessage?: (level: 'detail' | 'note' | 'warning', text: string) => unknown;
}

export interface Assurance {
  engine: string | null;
  holds: string[];
  missing: string[];
  givenUp: string[];
}

export interface Result<Output = string> {
  args: string | readonly string[];
  /** 128 + N if a signal ended the command, 124 if its time was up. */
  exitCode: number;
  signal: string | null;
  timedOut: boolean;
  /** null if the stream was not captured. */
  stdout: Output;
  stderr: Output;
  stdoutTruncated: boolean;
  stderrTruncated: boolean;
  violations: Json[];
  violationsTotal: number;
  assurance: Assurance;
  runId: string | null;
  /** Milliseconds. */
  duration: number;
  error: string | null;
  hint: string | null;
  /** The whole object, as `agentbox exec --json` prints it. */
  raw: Json;
}

export interface Question {
  readonly id: string;
  readonly kind: 'host' | 'ssh' | 'tool' | 'network' | 'command';
  readonly domain?: string;
  readonly port?: number;
  readonly about?: string;
  readonly command?: string;
  readonly argv?: string[];
  readonly cwd?: string;
  readonly rule?: string;
  readonly reason?: string;
  readonly process?: Json[];
  /** Milliseconds that were left when it was sent. */
  readonly left?: number;
  readonly settled: 'answered' | 'time' | 'gone' | null;
  readonly raw: Json;
  /** true is "once", false is "no". Resolves to the number of waiting connections that continue. */
  answer(answer: Answer | boolean, reason?: string): Promise<number>;
}

export interface Verdict {
  decision: 'allow' | 'sandboxed' | 'escalated' | 'forbidden';
  rule?: string | null;
  reason?: string | null;
  notes: string[];
  [name: string]: any;
}

export interface Availability {
  available: boolean;
  engine: string | null;
  report: Json;
}

export class Process extends EventEmitter {
  private constructor();
  readonly args: string | readonly string[];
  readonly stdin: Writable | null;
  readonly stdout: Readable | null;
  readonly stderr: Readable | null;
  readonly runId: string | null;
  /** Whether its box was prepared by a pool; null until it has started. */
  readonly warm: boolean | null;
  readonly violations: Json[];
  readonly questions: Question[];
  /** Records, violations and messages that were dropped because they were read too slowly. */
  readonly missed: number;
  /** Resolves to the run's id when the command starts. */
  readonly started: Promise<string>;
  readonly result: Promise<Result<string | Buffer | null>>;
  sendSignal(signal: string | number): Promise<void>;
  /** SIGTERM to everything in the box, and SIGKILL after `grace` milliseconds (5000). */
  stop(grace?: number): Promise<void>;
  kill(): Promise<void>;
  /** Change the host lists while it runs, for `ms` milliseconds if given. */
  update(lists: { allow?: string[]; deny?: string[]; ms?: number }): Promise<number>;
  status(): Promise<Json>;
  /** End the run if it is active; resolves when nothing is left of it. */
  close(): Promise<void>;
  on(event: 'started', listener: (runId: string) => void): this;
  on(event: 'violation' | 'record', listener: (record: Json) => void): this;
  on(event: 'message', listener: (level: string, text: string) => void): this;
  on(event: 'exit', listener: (result: Result<string | Buffer | null> | null, error: Error | null) => void): this;
  on(event: string | symbol, listener: (...args: any[]) => void): this;
}

export type Args = string | readonly string[];

export function run(args: Args, options: RunOptions & ProgramOption & { encoding: 'buffer' }): Promise<Result<Buffer>>;
export function run(args: Args, options?: RunOptions & ProgramOption): Promise<Result>;
/** Start a command; its streams are pipes unless options say otherwise. */
export function spawn(args: Args, options?: RunOptions & ProgramOption): Process;
/** Judge a command without running it. */
export function check(args: Args, options?: PolicyOptions & ProgramOption): Promise<Verdict>;
/** An argv that runs the command in a box. */
export function wrap(args: Args, options?: PolicyOptions & ProgramOption): Promise<string[]>;
/** What this machine can enforce. */
export function doctor(options?: ProgramOption): Promise<Availability>;

/** One `agentbox serve` for many runs. Options are defaults for each of them. */
export class Client {
  constructor(options?: RunOptions & ProgramOption);
  readonly pid: number;
  version(): Promise<string>;
  run(args: Args, options: RunOptions & { encoding: 'buffer' }): Promise<Result<Buffer>>;
  run(args: Args, options?: RunOptions): Promise<Result>;
  spawn(args: Args, options?: RunOptions): Process;
  check(args: Args, options?: PolicyOptions): Promise<Verdict>;
  wrap(args: Args, options?: PolicyOptions): Promise<string[]>;
  doctor(): Promise<Availability>;
  /** End every run; resolves when nothing is left of them. */
  close(): Promise<void>;
}

/** Options of a run in a pool: what the pool decides cannot be given. */
export type PoolRunOptions = Omit<RunOptions,
  'allow' | 'deny' | 'policy' | 'profile' | 'workspace' | 'project' | 'options' | 'traceDenials'>;

/** A client with boxes that are prepared before their commands are known: runs start faster. */
export class Pool extends Client {
  private constructor();
  readonly boxes: number;
  run(args: Args, options: PoolRunOptions & { encoding: 'buffer' }): Promise<Result<Buffer>>;
  run(args: Args, options?: PoolRunOptions): Promise<Result>;
  spawn(args: Args, options?: PoolRunOptions): Process;
}
/** Resolves when all boxes are ready. Options about the policy apply to all of them. */
export function openPool(boxes: number, options?: RunOptions & ProgramOption): Promise<Pool>;

export class AgentboxError extends Error {
  readonly hint: string;
}
export class NotInstalled extends AgentboxError {}
export class ProtocolError extends AgentboxError {}
export class ChannelClosed extends AgentboxError {}
export class RequestError extends AgentboxError {
  readonly code: string;
}
export class StartError extends AgentboxError {
  readonly result: Result<string | Buffer | null>;
}
export class Refused extends StartError {}
export class CommandNotFound extends StartError {}
export class ExitError extends AgentboxError {
  readonly result: Result<string | Buffer | null>;
}
