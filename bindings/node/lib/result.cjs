'use strict';
// The result of a run, from the object that `agentbox exec --json` prints. Pure.
const { CommandNotFound, ExitError, Refused, StartError } = require('./errors.cjs');

function streamOf(raw, name, encoding) {
  const base64 = raw[`${name}_base64`];
  if (base64 === undefined && typeof raw[name] !== 'string') return null;
  const bytes = base64 === undefined ? Buffer.from(raw[name], 'utf8') : Buffer.from(base64, 'base64');
  return encoding === 'buffer' ? bytes : bytes.toString('utf8');
}

function resultOf(args, raw, encoding) {
  const { engine, holds, missing, given_up: givenUp } = raw.assurance;
  return {
    args,
    exitCode: raw.exit,
    signal: raw.signal,
    timedOut: raw.timed_out,
    stdout: streamOf(raw, 'stdout', encoding),
    stderr: streamOf(raw, 'stderr', encoding),
    stdoutTruncated: raw.stdout_truncated ?? false,
    stderrTruncated: raw.stderr_truncated ?? false,
    violations: raw.violations,
    violationsTotal: raw.violations_total,
    assurance: { engine, holds, missing, givenUp },
    runId: raw.run_id,
    duration: raw.duration_ms,
    error: raw.error,
    hint: raw.hint,
    raw,
  };
}

function startErrorOf(result) {
  const { raw } = result;
  if (raw.error === null || raw.timed_out || raw.status !== null || raw.signal !== null) return null;
  let Kind = StartError;
  if (raw.code === 'not-found') Kind = CommandNotFound;
  else if (raw.code === 'refused') Kind = Refused;
  return new Kind(raw.error, raw.hint ?? '', { result });
}

function exitErrorOf(result) {
  if (result.exitCode === 0) return null;
  const how = result.signal && !result.timedOut ? `was ended by ${result.signal}` : `ended with status ${result.exitCode}`;
  return new ExitError(`agentbox: ${JSON.stringify(result.args)} ${how}`, '', { result });
}

module.exports = { resultOf, startErrorOf, exitErrorOf };
