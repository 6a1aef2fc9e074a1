import agentbox from './index.cjs';

export const {
  Client, Process, check, doctor, run, spawn, wrap,
  AgentboxError, NotInstalled, ProtocolError, ChannelClosed, RequestError,
  StartError, Refused, CommandNotFound, ExitError,
} = agentbox;
export default agentbox;
