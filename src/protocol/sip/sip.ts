/** Public interface of SIP: a user agent without sockets, and the parts that its sockets need. */
export type { ChallengeOrder } from './auth/authenticator.ts';
export type { SessionTimerSettings } from './dialog/session-timer.ts';
export { formatNameAddr, type NameAddr, parseNameAddr } from './header/name-addr.ts';
export {
  createRequest,
  createResponse,
  type SipMessage,
  SipRequest,
  SipResponse,
} from './message.ts';
export { asBuffer, isKeepAlive, MAX_MESSAGE_BYTES, parseMessage } from './parse.ts';
export { type ContactBinding, isSecureBinding } from './registrar/binding.ts';
export { DEFAULT_REGISTRAR_LIMITS, type RegistrarLimits } from './registrar/register.ts';
export { serialize } from './serialize.ts';
export { requestQuoted } from './transaction/quoted.ts';
export { type Flow, type PeerPlace, peerOf } from './transport/flow.ts';
export { PING, PONG, StreamFramer } from './transport/framer.ts';
export { isNewCall, type QuickParse, quickParse } from './transport/quick-parse.ts';
export { answerBinding, isStun } from './transport/stun.ts';
export { answerUnframed } from './transport/unframed.ts';
export {
  defaultPort,
  isSecure,
  isWebSocket,
  mapTransports,
  type SipTransportName,
  TRANSPORT_NAMES,
  TRANSPORTS,
} from './types.ts';
export { formatUri, parseUri, sipUri, unescapeUser } from './uri.ts';
export { UserAgent } from './user-agent.ts';
export type * from './user-agent-types.ts';
