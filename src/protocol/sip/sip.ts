/** Front door of the SIP room: a user agent without sockets, and what its sockets need. */
export type { ChallengeOrder, Ha1ByAlgorithm } from './auth/authenticator.ts';
export { DIGEST_ALGORITHMS, type DigestAlgorithm, ha1Of } from './auth/digest.ts';
export { DEFAULT_FAILURE_LIMITS, type FailureLimits } from './auth/failure-limit.ts';
export { defaultPort } from './dialog/next-hop.ts';
export { DEFAULT_SESSION_TIMER, type SessionTimerSettings } from './dialog/session-timer.ts';
export { answerUnframed } from './dialog/unframed.ts';
export { type NameAddr, parseNameAddr } from './header/name-addr.ts';
export {
  type HeaderInit,
  type SipMessage,
  SipRequest,
  SipResponse,
} from './message.ts';
export { MAX_MESSAGE_BYTES, parseMessage } from './parse.ts';
export type { ContactBinding } from './registrar/binding.ts';
export { DEFAULT_REGISTRAR_LIMITS, type RegistrarLimits } from './registrar/register.ts';
export { RFC3261_TIMERS, type TimerValues } from './transaction/timer-values.ts';
export type { TransactionId } from './transaction/types.ts';
export type { Flow, SipTransportName } from './transport/flow.ts';
export { type FramerEvent, PING, PONG, StreamFramer } from './transport/framer.ts';
export {
  bracketed,
  formatUri,
  parseUri,
  type SipUri,
  sipUri,
  type Uri,
  unbracketed,
  unescapeUser,
} from './uri.ts';
export { UserAgent } from './user-agent.ts';
export * from './user-agent-types.ts';
