/**
 * What a phone does when its network changes under a call: the connection to the service is made anew, the phone registers
 * over it, and a re-INVITE restarts ICE (RFC 8445 §9), so that the call finds another way and goes on.
 */
import { RequestPendingError, type Session, SessionState, UserAgent } from 'sip.js';
import type { OutgoingRequestDelegate } from 'sip.js/lib/core/index.js';
import type { SessionManager } from 'sip.js/lib/platform/web/index.js';

/** The service answers within this time, or is taken for out of reach. */
const ANSWER_MS = 2000;
const AGAIN_MS = 1000;
/** Both sides have made an offer (RFC 3261 §14.2). */
const PENDING = 491;

export class Recovery {
  readonly #manager: SessionManager;
  readonly #domain: string;
  readonly #online = (): void => void this.#check(true);
  /** The connection was thrown away here: it leads nowhere any more. */
  #abandoned = false;
  #checks = false;

  /** Takes over what SIP.js does when its connection is lost. */
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
    const tell = (lost: boolean): void => {
      if (lost !== isLost) interrupted(lost);
      isLost = lost;
    };
    peer.addEventListener('iceconnectionstatechange', () => {
      const { iceConnectionState: state } = peer;
      if (state === 'disconnected' || state === 'failed') {
        tell(true);
        void this.#check(state === 'failed');
      } else if (state === 'connected' || state === 'completed') tell(false);
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

  /** SIP.js ends every session along with the connection, and tries to connect again; calls outlive it. */
  #disconnected(error: Error | undefined, forget: (error?: Error) => void): void {
    const lost = this.#abandoned ? new Error('the network has changed') : error;
    this.#abandoned = false;
    const all = this.#manager.managedSessions;
    this.#manager.managedSessions = all.filter(({ session }) => !this.#calls.includes(session));
    forget(lost);
    this.#manager.managedSessions = all;
  }

  /** Whether the service still answers over this connection; if not, there shall be another. */
  async #check(andRestart: boolean): Promise<void> {
    // Without a connection one is being made, and what follows comes then.
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
        asked.dispose();
        resolve(false);
      }, ANSWER_MS);
      const answered = (): void => {
        clearTimeout(late);
        resolve(true);
      };
      const asked = core.request(request, { onAccept: answered, onReject: answered });
    });
  }

  #restart(): void {
    for (const session of this.#calls) void this.#restartOf(session);
  }

  /** One offer at a time (RFC 3261 §14.1): while another is under way, this one waits. */
  async #restartOf(session: Session): Promise<void> {
    const before = session.sessionDescriptionHandlerOptionsReInvite;
    // Hold stands there too, and goes on.
    const options = { ...before, offerOptions: { iceRestart: true } };
    const later = (): void => void setTimeout(() => this.#again(session), AGAIN_MS);
    const requestDelegate: OutgoingRequestDelegate = {
      onReject: ({ message }) => {
        if (message.statusCode === PENDING) later();
      },
    };
    try {
      await session.invite({ sessionDescriptionHandlerOptions: options, requestDelegate });
      // SIP.js would say the same in every offer that follows.
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
