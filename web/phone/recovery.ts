/**
 * Handles network changes during a call: reconnects to the service, registers again and restarts ICE with a re-INVITE
 * (RFC 8445 §9), so that the call continues over a new path.
 */
import { RequestPendingError, type Session, SessionState, UserAgent } from 'sip.js';
import type { OutgoingRequestDelegate } from 'sip.js/lib/core/index.js';
import type { SessionManager } from 'sip.js/lib/platform/web/index.js';

/** Time in ms for a response of the service. Without one, the connection counts as lost. */
const ANSWER_MS = 2000;
const AGAIN_MS = 1000;
/** Both sides have made an offer (RFC 3261 §14.2). */
const PENDING = 491;

export class Recovery {
  readonly #manager: SessionManager;
  readonly #domain: string;
  readonly #online = (): void => void this.#check(true);
  /** Whether this class closed the connection because it was unusable. */
  #abandoned = false;
  #checks = false;

  /** Replaces SIP.js's handling of a lost connection. */
  constructor(manager: SessionManager, domain: string) {
    this.#manager = manager;
    this.#domain = domain;
    const { delegate } = manager.userAgent;
    const forget = delegate?.onDisconnect;
    if (delegate === undefined || forget === undefined) return;
    delegate.onDisconnect = (error) => this.#disconnected(error, forget);
    const connected = delegate.onConnect;
    delegate.onConnect = () => {
      connected?.();
      this.#restart();
    };
    globalThis.addEventListener('online', this.#online);
  }

  /** Watches the media of an answered call. `interrupted` is called when its path is lost (true) and found again (false). */
  follow(peer: RTCPeerConnection, interrupted: (lost: boolean) => void): void {
    let isLost = false;
    const notify = (lost: boolean): void => {
      if (lost !== isLost) interrupted(lost);
      isLost = lost;
    };
    peer.addEventListener('iceconnectionstatechange', () => {
      const { iceConnectionState: state } = peer;
      if (state === 'disconnected' || state === 'failed') {
        notify(true);
        void this.#check(state === 'failed');
      } else if (state === 'connected' || state === 'completed') notify(false);
    });
  }

  stop(): void {
    globalThis.removeEventListener('online', this.#online);
  }

  get #calls(): readonly Session[] {
    return this.#manager.managedSessions
      .map(({ session }) => session)
      .filter(({ state }) => state === SessionState.Established);
  }

  /** Reconnects after a lost connection. By default SIP.js would also end every session; here, calls continue. */
  #disconnected(error: Error | undefined, forget: (error?: Error) => void): void {
    const lost = this.#abandoned ? new Error('the network has changed') : error;
    this.#abandoned = false;
    const all = this.#manager.managedSessions;
    this.#manager.managedSessions = all.filter(({ session }) => !this.#calls.includes(session));
    forget(lost);
    this.#manager.managedSessions = all;
  }

  /** Checks whether the service responds over this connection. If not, closes it and reconnects. */
  async #check(andRestart: boolean): Promise<void> {
    // While disconnected, a new connection is being established, which runs the further steps.
    if (this.#checks || !this.#manager.isConnected()) return;
    this.#checks = true;
    const answers = await this.#answers();
    this.#checks = false;
    if (!this.#manager.isConnected()) return;
    if (!answers) {
      this.#abandoned = true;
      await this.#manager.userAgent.transport.disconnect().catch(() => undefined);
    } else if (andRestart) this.#restart();
  }

  #answers(): Promise<boolean> {
    const { userAgentCore: core, configuration } = this.#manager.userAgent;
    const uri = UserAgent.makeURI(`sip:${this.#domain}`);
    if (uri === undefined) return Promise.resolve(true);
    return new Promise((resolve) => {
      const request = core.makeOutgoingRequestMessage('OPTIONS', uri, configuration.uri, uri, {});
      const late = setTimeout(() => {
        requested.dispose();
        resolve(false);
      }, ANSWER_MS);
      const answered = (): void => {
        clearTimeout(late);
        resolve(true);
      };
      const requested = core.request(request, { onAccept: answered, onReject: answered });
    });
  }

  #restart(): void {
    for (const session of this.#calls) void this.#restartOf(session);
  }

  /** Restarts ICE. Only one offer may be pending (RFC 3261 §14.1), so a restart waits for an earlier one. */
  async #restartOf(session: Session): Promise<void> {
    const before = session.sessionDescriptionHandlerOptionsReInvite;
    // The previous options keep a hold in place.
    const options = { ...before, offerOptions: { iceRestart: true } };
    const later = (): void => void setTimeout(() => this.#again(session), AGAIN_MS);
    const requestDelegate: OutgoingRequestDelegate = {
      onReject: ({ message }) => {
        if (message.statusCode === PENDING) later();
      },
    };
    try {
      await session.invite({ sessionDescriptionHandlerOptions: options, requestDelegate });
      // SIP.js would otherwise repeat the option in every later offer.
      session.sessionDescriptionHandlerOptionsReInvite = before ?? {};
    } catch (error) {
      if (error instanceof RequestPendingError) later();
    }
  }

  #again(session: Session): void {
    const lasts = session.state === SessionState.Established && this.#manager.isConnected();
    if (lasts) void this.#restartOf(session);
  }
}
