/** SIP.js in Node with a fixed session description: signaling like a browser's, without media. */
import { readFileSync } from 'node:fs';
import {
  type BodyAndContentType,
  Inviter,
  Registerer,
  RegistererState,
  type Session,
  type SessionDescriptionHandler,
  SessionState,
  UserAgent,
} from 'sip.js';
import { WebSocket } from 'ws';
import { eventually } from '../e2e/service.ts';

/**
 * Creates a socket that trusts only this authority. Without one it accepts any certificate, as the service's are
 * self-signed.
 */
const socketThatTrusts = (authorityFile: string | undefined) =>
  class TrustingSocket extends WebSocket {
    constructor(url: string, protocols: string | string[]) {
      const trust =
        authorityFile === undefined
          ? { rejectUnauthorized: false }
          : { ca: readFileSync(authorityFile) };
      super(url, protocols, trust);
    }
  };

const SDP = [
  'v=0',
  'o=- 1 1 IN IP4 127.0.0.1',
  's=-',
  'c=IN IP4 127.0.0.1',
  't=0 0',
  'm=audio 47990 RTP/AVP 0',
  'a=rtpmap:0 PCMU/8000',
  '',
].join('\r\n');

/** WebRTC attributes of browsers. The calls end before any DTLS handshake. */
const BROWSERS = [
  'a=ice-ufrag:abcd',
  'a=ice-pwd:abcdefghijklmnopqrstuvwx',
  `a=fingerprint:sha-256 ${Array.from({ length: 32 }, () => 'AB').join(':')}`,
  'a=setup:active',
  'a=rtcp-mux',
  '',
].join('\r\n');

class PlainDescription implements SessionDescriptionHandler {
  received = '';

  close(): void {}

  async getDescription(): Promise<BodyAndContentType> {
    const isBrowsers = this.received.includes('UDP/TLS/RTP/SAVPF');
    const body = isBrowsers ? SDP.replace('RTP/AVP', 'UDP/TLS/RTP/SAVPF') + BROWSERS : SDP;
    return { body, contentType: 'application/sdp' };
  }

  hasDescription(contentType: string): boolean {
    return contentType === 'application/sdp';
  }

  async rollbackDescription(): Promise<void> {}

  async setDescription(sdp: string): Promise<void> {
    this.received = sdp;
  }

  sendDtmf(): boolean {
    return false;
  }
}

export class WebPhone {
  readonly #agent: UserAgent;
  readonly #registerer: Registerer;
  readonly incoming: Session[] = [];

  private constructor(agent: UserAgent) {
    this.#agent = agent;
    this.#registerer = new Registerer(agent);
  }

  static async start(
    server: string,
    user: { readonly username: string; readonly password: string; readonly authName?: string },
    authorityFile?: string,
  ): Promise<WebPhone> {
    Object.assign(globalThis, { WebSocket: socketThatTrusts(authorityFile) });
    let phone: WebPhone | undefined;
    const agent = new UserAgent({
      uri: UserAgent.makeURI(`sip:${user.username}@127.0.0.1`) as NonNullable<
        ReturnType<typeof UserAgent.makeURI>
      >,
      authorizationUsername: user.authName ?? user.username,
      authorizationPassword: user.password,
      transportOptions: { server },
      logLevel: 'error',
      sessionDescriptionHandlerFactory: () => new PlainDescription(),
      delegate: {
        onInvite: (invitation) => {
          phone?.incoming.push(invitation);
          void invitation.accept();
        },
      },
    });
    phone = new WebPhone(agent);
    await agent.start();
    return phone;
  }

  async register(): Promise<void> {
    await this.#registerer.register();
    await eventually('the registration', () =>
      this.#registerer.state === RegistererState.Registered ? true : undefined,
    );
  }

  /** Sends another REGISTER and returns the status and reason of its refusal. */
  refusal(): Promise<string> {
    return new Promise((resolve) => {
      void this.#registerer.register({
        requestDelegate: {
          onReject: ({ message }) => resolve(`${message.statusCode} ${message.reasonPhrase}`),
          onAccept: () => resolve('200'),
        },
      });
    });
  }

  /** Sends an INVITE and returns the status and reason of its refusal. */
  callRefusal(to: string): Promise<string> {
    const target = UserAgent.makeURI(`sip:${to}@127.0.0.1`);
    if (target === undefined) throw new Error(`${to} is not a target`);
    return new Promise((resolve) => {
      void new Inviter(this.#agent, target).invite({
        requestDelegate: {
          onReject: ({ message }) => resolve(`${message.statusCode} ${message.reasonPhrase}`),
        },
      });
    });
  }

  /** Places a call and resolves once it is answered. */
  async call(to: string): Promise<Session> {
    const target = UserAgent.makeURI(`sip:${to}@127.0.0.1`);
    if (target === undefined) throw new Error(`${to} is not a target`);
    const session = new Inviter(this.#agent, target);
    await session.invite();
    await hasReached(session, SessionState.Established);
    return session;
  }

  async stop(): Promise<void> {
    await this.#agent.stop();
  }
}

export const hasReached = (session: Session, state: SessionState): Promise<true> =>
  eventually(`a session that is ${state}`, () => (session.state === state ? true : undefined));
