import agentbox from './index.cjs';

export const {
  Client, Pool, Process, check, doctor, openPool, run, spawn, wrap,
  AgentboxError, NotInstalled, ProtocolError, ChannelClosed, RequestError,
  StartError, Refused, CommandNotFound, ExitError,
} = agentbox;
export default agentbox;
