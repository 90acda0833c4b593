/**
 * A phone for web pages, over SIP.js: registers at the service that serves this file, calls, and is called.
 *
 *   import { Phone } from 'https://voice.example/phone.js';
 *   const phone = new Phone({ audio: document.querySelector('audio') });
 *   phone.on('incoming', () => phone.answer());
 *   await phone.login({ token });
 *   await phone.call('1000');
 *
 * `phone-api.d.ts` says what each member and event is.
 */
import { Invitation, type Session, SessionState } from 'sip.js';
import type { OutgoingRequestDelegate } from 'sip.js/lib/core/index.js';
import { type Credentials, credentialsOf, PhoneError } from './account.ts';
import { Line } from './line.ts';
import { measure } from './measure.ts';
import type {
  Phone as Api,
  Devices,
  PhoneAccount,
  PhoneEvents,
  PhoneOptions,
} from './phone-api.d.ts';

export { PhoneError };

const QUALITY_MS = 1000;
const LEVELS_MS = 100;
/** A new token is asked for so long before the end of the old one; of a short life half of it. */
const RENEW_MS = 60_000;
/** Longest time of a timer in a browser. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const DTMF = /^[0-9*#A-D]+$/i;

export class Phone implements Api {
  readonly #options: PhoneOptions;
  readonly #server: string;
  readonly #listeners = new Map<string, Set<(detail: never) => void>>();
  #line: Line | undefined;
  /** The call, and before it the one that is held while another is asked. */
  readonly #sessions: Session[] = [];
  #reason = '';
  #timers: ReturnType<typeof setInterval>[] = [];
  #renewal: ReturnType<typeof setTimeout> | undefined;
  #microphone: string | undefined;

  constructor(options: PhoneOptions) {
    this.#options = options;
    this.#server = options.server ?? sipServer();
    navigator.mediaDevices?.addEventListener('devicechange', () => {
      void this.devices().then((devices) => this.#tell('devices', devices));
    });
  }

  on<Name extends keyof PhoneEvents>(
    name: Name,
    listener: (detail: PhoneEvents[Name]) => void,
  ): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  async login(account: PhoneAccount): Promise<void> {
    const loginUrl = this.#options.loginUrl ?? new URL('/phone/login', import.meta.url).href;
    const credentials = await credentialsOf(account, loginUrl).catch((error: unknown) => {
      if (error instanceof PhoneError) {
        this.#tell('refused', { status: error.status, reason: error.message });
      }
      throw error;
    });
    const line = this.#lineOf(credentials);
    this.#watchEnd(credentials);
    await line.connect();
    if (credentials.mayRegister) await line.register();
  }

  register(): Promise<void> {
    const { username, password, token } = this.#options;
    if (token !== undefined) return this.login({ token });
    if (username === undefined || password === undefined) {
      return Promise.reject(new Error('there is neither a token nor a name and a password'));
    }
    return this.login({ username, password });
  }

  async unregister(): Promise<void> {
    clearTimeout(this.#renewal);
    const line = this.#line;
    this.#line = undefined;
    await line?.leave();
  }

  call(target: string): Promise<void> {
    if (this.#sessions.length > 0) return Promise.reject(new Error('there is a call'));
    return this.#invite(target);
  }

  async answer(): Promise<void> {
    await this.#manager.answer(this.#current);
  }

  async hangup(): Promise<void> {
    const session = this.#sessions.at(-1);
    if (session === undefined) return;
    const ringsHere =
      session instanceof Invitation &&
      (session.state === SessionState.Initial || session.state === SessionState.Establishing);
    if (ringsHere) await this.#manager.decline(session);
    else await this.#manager.hangup(session);
  }

  async hold(held: boolean): Promise<void> {
    await (held ? this.#manager.hold(this.#current) : this.#manager.unhold(this.#current));
  }

  mute(muted: boolean): void {
    if (muted) this.#manager.mute(this.#current);
    else this.#manager.unmute(this.#current);
  }

  sendDtmf(digits: string): void {
    if (!DTMF.test(digits)) throw new Error(`${digits} is no key`);
    const sender = peerOf(this.#current)
      ?.getSenders()
      .find(({ dtmf }) => dtmf !== null);
    sender?.dtmf?.insertDTMF(digits);
  }

  async transfer(target: string): Promise<void> {
    await this.#refer(this.#current, this.#required.uriOf(target));
  }

  async consult(target: string): Promise<void> {
    if (this.#sessions.length > 1) throw new Error('somebody is being asked');
    await this.#manager.hold(this.#current);
    await this.#invite(target);
  }

  async completeTransfer(): Promise<void> {
    const [first, asked] = this.#sessions;
    if (first === undefined || asked?.state !== SessionState.Established) {
      throw new Error('nobody was asked');
    }
    await this.#refer(first, asked);
  }

  async devices(): Promise<Devices> {
    const all = await navigator.mediaDevices.enumerateDevices();
    return {
      microphones: all.filter(({ kind }) => kind === 'audioinput'),
      speakers: all.filter(({ kind }) => kind === 'audiooutput'),
    };
  }

  async useMicrophone(deviceId: string): Promise<void> {
    this.#microphone = deviceId;
    const peer = peerOf(this.#sessions.at(-1));
    if (peer === undefined) return;
    const constraints = { audio: { deviceId: { exact: deviceId } } };
    const [track] = (await navigator.mediaDevices.getUserMedia(constraints)).getAudioTracks();
    const sender = peer.getSenders().find((found) => found.track?.kind === 'audio');
    if (track === undefined || sender === undefined) return;
    track.enabled = sender.track?.enabled ?? true;
    sender.track?.stop();
    await sender.replaceTrack(track);
  }

  async useSpeaker(deviceId: string): Promise<void> {
    await this.#options.audio.setSinkId(deviceId);
  }

  get #required(): Line {
    if (this.#line === undefined) throw new Error('the phone is not logged in');
    return this.#line;
  }

  get #manager() {
    return this.#required.manager;
  }

  get #current(): Session {
    const session = this.#sessions.at(-1);
    if (session === undefined) throw new Error('there is no call');
    return session;
  }

  /** The line of that user: the one there is, or a new one in its place. */
  #lineOf(credentials: Credentials): Line {
    const { domain = credentials.domain ?? new URL(this.#server).hostname, displayName = '' } =
      this.#options;
    const known = this.#line;
    if (known?.username === credentials.username && known.domain === domain) {
      known.renew(credentials);
      return known;
    }
    void known?.leave();
    this.#line = new Line(
      this.#server,
      credentials,
      { domain, displayName },
      {
        registered: () => this.#tell('registered', {}),
        unregistered: () => this.#tell('unregistered', {}),
        refused: ({ status, message }) => this.#tell('refused', { status, reason: message }),
        connected: () => this.#tell('connected', {}),
        disconnected: (reason) => this.#tell('disconnected', { reason }),
        created: (session) => this.#follow(session),
        received: ({ remoteIdentity: { uri, displayName: name } }) =>
          this.#tell('incoming', { from: uri.user ?? '', displayName: name }),
        held: (held) => this.#tell('held', { held }),
        recovering: () => this.#tell('recovering', {}),
        recovered: () => this.#tell('recovered', {}),
      },
    );
    return this.#line;
  }

  #watchEnd({ expiresInMs }: Credentials): void {
    clearTimeout(this.#renewal);
    if (expiresInMs === undefined) return;
    const waitMs = Math.min(Math.max(expiresInMs / 2, expiresInMs - RENEW_MS), MAX_TIMER_MS);
    this.#renewal = setTimeout(() => {
      this.#tell('tokenExpiring', { inSeconds: Math.round((expiresInMs - waitMs) / 1000) });
    }, waitMs);
  }

  async #invite(target: string): Promise<void> {
    this.#reason = '';
    const uri = this.#required.uriOf(target);
    const requestDelegate: OutgoingRequestDelegate = {
      onProgress: () => this.#tell('ringing', {}),
      onReject: ({ message }) => {
        this.#reason = `${message.statusCode} ${message.reasonPhrase}`;
      },
    };
    await this.#manager.call(uri, {}, { requestDelegate });
  }

  async #refer(session: Session, target: Session | string): Promise<void> {
    const done = (status: number, reason: string): void =>
      this.#tell('transfer', { status, reason });
    await this.#manager.transfer(session, target, {
      requestDelegate: {
        onReject: ({ message }) => done(message.statusCode ?? 0, message.reasonPhrase ?? ''),
      },
      onNotify: (notification) => {
        void notification.accept();
        const [, status = '0', reason = ''] =
          /^SIP\/2\.0 (\d{3}) ?(.*)/.exec(notification.request.body) ?? [];
        done(Number(status), reason);
      },
    });
  }

  #follow(session: Session): void {
    this.#sessions.push(session);
    session.stateChange.addListener((state) => {
      if (state === SessionState.Established) {
        if (this.#microphone !== undefined) void this.useMicrophone(this.#microphone);
        this.#hear();
        const peer = peerOf(session);
        if (peer !== undefined) this.#line?.keep(peer);
        this.#tell('answered', {});
        this.#watch();
      }
      if (state !== SessionState.Terminated) return;
      this.#sessions.splice(this.#sessions.indexOf(session), 1);
      if (this.#sessions.length === 0) this.#watch();
      this.#hear();
      this.#tell('ended', { reason: this.#reason, consulted: this.#sessions.length > 0 });
      this.#reason = '';
    });
  }

  /** The call is heard, and not the one that is held behind it. */
  #hear(): void {
    const { audio } = this.#options;
    const session = this.#sessions.at(-1);
    audio.srcObject = (session && this.#line?.manager.getRemoteMediaStream(session)) ?? null;
    if (audio.srcObject !== null) void audio.play().catch(() => undefined);
  }

  #watch(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers = [];
    if (this.#sessions.length === 0) return;
    const look = async (name: 'quality' | 'levels'): Promise<void> => {
      const peer = peerOf(this.#sessions.at(-1));
      if (peer === undefined || !this.#listeners.get(name)?.size) return;
      this.#tell(name, await measure(peer));
    };
    this.#timers = [
      setInterval(() => void look('quality'), QUALITY_MS),
      setInterval(() => void look('levels'), LEVELS_MS),
    ];
  }

  #tell<Name extends keyof PhoneEvents>(name: Name, detail: PhoneEvents[Name]): void {
    for (const listener of this.#listeners.get(name) ?? []) {
      (listener as (detail: PhoneEvents[Name]) => void)(detail);
    }
  }
}

function peerOf(session: Session | undefined): RTCPeerConnection | undefined {
  const handler = session?.sessionDescriptionHandler as
    | { peerConnection?: RTCPeerConnection }
    | undefined;
  return handler?.peerConnection;
}

function sipServer(): string {
  const url = new URL('/sip', import.meta.url);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  return url.href;
}
