'use strict';
// Errors. Every one is an AgentboxError; `hint` says what to do about it, or is empty.

class AgentboxError extends Error {
  constructor(message, hint = '', members = {}) {
    super(hint ? `${message}\n${hint}` : message);
    this.name = this.constructor.name;
    this.hint = hint || '';
    Object.assign(this, members);
  }
}

// There is no program `agentbox`, or it cannot be executed.
class NotInstalled extends AgentboxError {}

// The program does not speak the protocol of this package.
class ProtocolError extends AgentboxError {}

// `agentbox serve` ended, or the client was closed. Every run of it has ended.
class ChannelClosed extends AgentboxError {}

// A request was refused; `code` as in docs/serve.md.
class RequestError extends AgentboxError {}

// The command did not start; `result` has everything that is known.
class StartError extends AgentboxError {}
class Refused extends StartError {}
class CommandNotFound extends StartError {}

// The command failed, and `check: true` was given; it has `result`.
class ExitError extends AgentboxError {}

module.exports = {
  AgentboxError, NotInstalled, ProtocolError, ChannelClosed, RequestError,
  StartError, Refused, CommandNotFound, ExitError,
};
