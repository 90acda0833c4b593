/** A registered user agent over one WebSocket, based on SIP.js. */
import type { Session } from 'sip.js';
import {
  defaultSessionDescriptionHandlerFactory,
  type SessionDescriptionHandler,
  SessionManager,
} from 'sip.js/lib/platform/web/index.js';
import { type Credentials, PhoneError } from './account.ts';
import { Recovery } from './recovery.ts';

export interface LineEvents {
  registered(): void;
  unregistered(): void;
  refused(error: PhoneError): void;
  connected(): void;
  disconnected(reason: string): void;
  created(session: Session): void;
  received(session: Session): void;
  /** The service has accepted or refused a re-INVITE that holds or resumes a call. */
  held(session: Session, held: boolean): void;
}

export interface LineOptions {
  readonly domain: string;
  readonly displayName: string;
  /** Constraints of the microphone that the user has chosen. */
  readonly microphone: () => MediaTrackConstraints | true;
}

/** Time limit for ICE candidates, in ms. Host candidates are immediate and sufficient towards a public service. */
const GATHERING_MS = 500;
const RECONNECTS = 1_000_000;
const RECONNECT_DELAY_S = 3;
/** SIP.js sets no limit: the phone counts its calls and rejects one too many with 486. */
const UNLIMITED = 0;
const FORBIDDEN = 403;

export class Line {
  readonly manager: SessionManager;
  readonly domain: string;
  readonly username: string;
  readonly #events: LineEvents;
  readonly #recovery: Recovery;
  /** The service has refused the credentials: do not retry until there are new ones. */
  #barred = false;
  #settle: ((error: PhoneError | undefined) => void) | undefined;

  constructor(server: string, credentials: Credentials, options: LineOptions, events: LineEvents) {
    const { username, authName, password } = credentials;
    this.username = username;
    this.domain = options.domain;
    this.#events = events;
    this.manager = new SessionManager(server, {
      aor: `sip:${username}@${this.domain}`,
      maxSimultaneousSessions: UNLIMITED,
      // Its handler of `beforeunload` would close the connection before any BYE; the phone itself ends calls on `pagehide`.
      autoStop: false,
      reconnectionAttempts: RECONNECTS,
      reconnectionDelay: RECONNECT_DELAY_S,
      registerGuard: async () => this.#barred,
      media: { constraints: { audio: true, video: false } },
      userAgentOptions: {
        authorizationUsername: authName,
        authorizationPassword: password,
        displayName: options.displayName,
        logBuiltinEnabled: false,
        sessionDescriptionHandlerFactory: defaultSessionDescriptionHandlerFactory(
          (_constraints, description) =>
            openMicrophone(options.microphone(), description as SessionDescriptionHandler),
        ),
        sessionDescriptionHandlerFactoryOptions: { iceGatheringTimeout: GATHERING_MS },
      },
      delegate: {
        onRegistered: () => {
          this.#settled(undefined);
          events.registered();
        },
        onUnregistered: () => events.unregistered(),
        onServerConnect: () => events.connected(),
        onServerDisconnect: (error) => events.disconnected(error?.message ?? 'closed'),
        onCallCreated: (session) => events.created(session),
        onCallReceived: (session) => events.received(session),
        onCallHold: (session, held) => events.held(session, held),
      },
    });
    this.#recovery = new Recovery(this.manager, this.domain);
  }

  /** Replaces the password of the same user for subsequent requests. */
  renew({ authName, password }: Credentials): void {
    const { configuration } = this.manager.userAgent;
    configuration.authorizationUsername = authName;
    configuration.authorizationPassword = password;
    this.#barred = false;
  }

  async connect(): Promise<void> {
    if (!this.manager.isConnected()) await this.manager.connect();
  }

  /** Keeps an answered call when the network changes. `interrupted`: its media was lost (true) or found again (false). */
  keep(peer: RTCPeerConnection, interrupted: (lost: boolean) => void): void {
    this.#recovery.follow(peer, interrupted);
  }

  /** Resolves when the service has accepted the registration. */
  async register(): Promise<void> {
    const done = new Promise<PhoneError | undefined>((resolve) => {
      this.#settle = resolve;
    });
    await this.manager.register({
      requestDelegate: {
        // The state does not change when a registration is refreshed.
        onAccept: () => this.#settled(undefined),
        onReject: ({ message: { statusCode = 0, reasonPhrase = '' } }) => {
          const error = new PhoneError(statusCode, reasonPhrase);
          this.#barred ||= statusCode === FORBIDDEN;
          this.#events.refused(error);
          this.#settled(error);
        },
      },
    });
    const error = await done;
    if (error !== undefined) throw error;
  }

  async leave(): Promise<void> {
    this.#recovery.stop();
    if (!this.#barred) await this.manager.unregister().catch(() => undefined);
    await this.manager.disconnect();
  }

  readonly uriOf = (target: string): string =>
    /^sips?:/.test(target) ? target : `sip:${target}@${this.domain}`;

  #settled(error: PhoneError | undefined): void {
    this.#settle?.(error);
    this.#settle = undefined;
  }
}

/** Opens the microphone, and closes it again if the call has ended while the browser asked for permission. */
async function openMicrophone(
  audio: MediaTrackConstraints | true,
  description: SessionDescriptionHandler,
): Promise<MediaStream> {
  const stream = await navigator.mediaDevices.getUserMedia({ audio, video: false });
  if (description.peerConnection === undefined) {
    for (const track of stream.getTracks()) track.stop();
    throw new Error('the call ended before the microphone was open');
  }
  return stream;
}

/** WebSocket URL of the service that serves this file. */
export function sipServer(): string {
  const url = new URL('/sip', import.meta.url);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  return url.href;
}
