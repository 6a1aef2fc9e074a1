'use strict';
// From the arguments of a call to a request of the protocol (docs/serve.md). Pure.
const path = require('node:path');

const isText = (value) => typeof value === 'string';
const isFlag = (value) => typeof value === 'boolean';
const isFunction = (value) => typeof value === 'function';
const isCount = (value) => Number.isSafeInteger(value) && value >= 0;
const isTexts = (value) => Array.isArray(value) && value.every(isText);
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isOneOf = (...values) => (value) => values.includes(value);

// name: what it must be, in words and as a test. For `check` and `wrap`.
const POLICY = {
  shell: ['true, false or the path of a shell', (v) => isFlag(v) || isText(v)],
  cwd: ['a path', isText],
  env: ['an object of strings', (v) => isObject(v) && Object.values(v).every((e) => isText(e) || e === undefined)],
  allow: ['a list of strings', isTexts],
  deny: ['a list of strings', isTexts],
  policy: ['settings, or the path of a file', (v) => isText(v) || isObject(v)],
  profile: ['a string', isText],
  workspace: ['a path', isText],
  project: ['a boolean', isFlag],
  options: ['an object of settings', isObject],
  program: ['a path', isText],
};

const RUN = {
  ...POLICY,
  name: ['a string', isText],
  deadline: ['milliseconds', isCount],
  maxOutput: ['a number of bytes', isCount],
  approve: ['a boolean', isFlag],
  askTimeout: ['milliseconds', isCount],
  requireCovered: ['a boolean', isFlag],
  traceDenials: ['a boolean', isFlag],
  onQuestion: ['a function', isFunction],
  onViolation: ['a function', isFunction],
  onRecord: ['a function', isFunction],
  onMessage: ['a function', isFunction],
  input: ['a string or bytes', (v) => isText(v) || v instanceof Uint8Array],
  encoding: ['"utf8" or "buffer"', isOneOf('utf8', 'buffer')],
  check: ['a boolean', isFlag],
  signal: ['an AbortSignal', isObject],
  stdin: ['"pipe" or "ignore"', isOneOf('pipe', 'ignore')],
  stdout: ['"pipe", "capture" or "ignore"', isOneOf('pipe', 'capture', 'ignore')],
  stderr: ['"pipe", "capture", "ignore" or "stdout"', isOneOf('pipe', 'capture', 'ignore', 'stdout')],
};

function checkOptions(given, known, call) {
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(known, name)) throw new TypeError(`agentbox: ${call}() has no option "${name}"`);
    const [words, test] = known[name];
    if (value !== undefined && !test(value)) throw new TypeError(`agentbox: ${call}(): ${name}: expected ${words}`);
  }
}

function commandOf(args, shell) {
  if (shell) {
    if (!isText(args)) throw new TypeError('agentbox: with shell: true the command is one string');
    return isText(shell) ? { shell: args, shell_path: shell } : { shell: args };
  }
  const argv = isText(args) ? [args] : args;
  if (!isTexts(argv) || argv.length === 0) {
    throw new TypeError('agentbox: expected a list of strings, the program first; or a string with shell: true');
  }
  return { argv };
}

function policyOf(given) {
  const settings = { ...given.options };
  for (const name of ['allow', 'deny']) {
    if (given[name]?.length) settings[`network.${name}`] = [...(settings[`network.${name}`] ?? []), ...given[name]];
  }
  return {
    // The current folder may change while `agentbox serve` runs: always name it.
    cwd: path.resolve(given.cwd ?? '.'),
    env: given.env,
    policy: isObject(given.policy) ? given.policy : undefined,
    policy_file: isText(given.policy) ? path.resolve(given.policy) : undefined,
    profile: given.profile,
    workspace: given.workspace === undefined ? undefined : path.resolve(given.workspace),
    project: given.project,
    options: Object.keys(settings).length ? settings : undefined,
  };
}

// The members of `check` and `wrap`.
function judged(args, given, call) {
  checkOptions(given, POLICY, call);
  return { ...commandOf(args, given.shell), ...policyOf(given) };
}

const STREAMS = { pipe: 'stream', capture: 'capture', ignore: 'null', stdout: 'stdout' };

const FIXED = ['allow', 'deny', 'policy', 'profile', 'workspace', 'project', 'options', 'traceDenials'];

// The members of a run whose policy is that of its pool.
function pooled(given, pool) {
  const wrong = FIXED.find((name) => given[name] !== undefined);
  if (wrong) throw new TypeError(`agentbox: ${wrong}: the pool decides this; give it to openPool(), or run without a pool`);
  return { pool, cwd: given.cwd === undefined ? undefined : path.resolve(given.cwd), env: given.env };
}

function poolOf(boxes, given) {
  checkOptions(given, POLICY, 'openPool');
  return { do: 'pool', size: boxes, ...policyOf(given) };
}

// The members of `run`, except its input.
function runOf(args, given, call, pool) {
  checkOptions(given, RUN, call);
  return {
    do: 'run',
    ...commandOf(args, given.shell),
    ...(pool === undefined ? policyOf(given) : pooled(given, pool)),
    name: given.name,
    deadline_ms: given.deadline,
    capture_max: given.maxOutput,
    yes: given.approve,
    ask: given.onQuestion ? true : undefined,
    ask_ms: given.askTimeout,
    records: given.onRecord ? true : undefined,
    messages: given.onMessage ? true : undefined,
    require_covered: given.requireCovered,
    trace_denials: given.traceDenials,
    stdout: STREAMS[given.stdout ?? 'capture'],
    stderr: STREAMS[given.stderr ?? 'capture'],
  };
}

module.exports = { POLICY, judged, poolOf, runOf };
