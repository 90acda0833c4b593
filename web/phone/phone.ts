/**
 * A phone for web pages, over SIP.js: registers at the service that serves this file, calls, and is called.
 *
 *   import { Phone } from 'https://voice.example/phone.js';
 *   const phone = new Phone({ username: 'alice1234', password: '…', audio: document.querySelector('audio') });
 *   phone.on('incoming', ({ from }) => phone.answer());
 *   await phone.register();
 *   await phone.call('1000');
 */
import { type Session, SessionState } from 'sip.js';
import { SessionManager } from 'sip.js/lib/platform/web/index.js';

export interface PhoneOptions {
  readonly username: string;
  readonly password: string;
  /** Where the other side is heard. */
  readonly audio: HTMLAudioElement;
  /** WebSocket of the service; left away: `/sip` of where this file comes from. */
  readonly server?: string;
  /** Domain of the address; left away: the host of `server`. */
  readonly domain?: string;
  readonly displayName?: string;
}

export interface Quality {
  /** Of what is heard: packets that came, that were lost, and the share that was made up, 0..1. */
  readonly packets: number;
  readonly lost: number;
  readonly concealed: number;
  /** Variation of the packets' way here, ms. */
  readonly jitterMs: number;
  /** To the service and back, ms; undefined: not known yet. */
  readonly roundTripMs: number | undefined;
  readonly codec: string;
}

/** What happens, and what is told with it. */
export interface PhoneEvents {
  registered: Record<string, never>;
  unregistered: Record<string, never>;
  /** Somebody calls: answer() or hangup(). */
  incoming: { readonly from: string; readonly displayName: string };
  /** The called side rings. */
  ringing: Record<string, never>;
  answered: Record<string, never>;
  /** `reason`: why there was no call, where one is known. */
  ended: { readonly reason: string };
  /** Each second of a call. Levels of the microphone and of what is heard, 0..1. */
  quality: Quality & { readonly inputLevel: number; readonly outputLevel: number };
  /** The connection to the service is gone; it is tried again. */
  disconnected: { readonly reason: string };
}

const QUALITY_MS = 1000;
/** Host candidates are there at once; nothing else is needed towards a public service. */
const GATHERING_MS = 500;
const RECONNECTS = 1_000_000;
const RECONNECT_DELAY_S = 3;

export class Phone {
  readonly #options: PhoneOptions;
  readonly #domain: string;
  readonly #manager: SessionManager;
  readonly #listeners = new Map<string, Set<(detail: never) => void>>();
  #session: Session | undefined;
  #reason = '';
  #timer: ReturnType<typeof setInterval> | undefined;
  #microphone: string | undefined;

  constructor(options: PhoneOptions) {
    this.#options = options;
    const server = options.server ?? sipServer();
    this.#domain = options.domain ?? new URL(server).hostname;
    const { username, password, displayName = '', audio } = options;
    this.#manager = new SessionManager(server, {
      aor: `sip:${username}@${this.#domain}`,
      maxSimultaneousSessions: 1,
      reconnectionAttempts: RECONNECTS,
      reconnectionDelay: RECONNECT_DELAY_S,
      media: {
        constraints: { audio: true, video: false },
        remote: () => ({ audio }),
      },
      userAgentOptions: {
        authorizationUsername: username,
        authorizationPassword: password,
        displayName,
        logBuiltinEnabled: false,
        sessionDescriptionHandlerFactoryOptions: { iceGatheringTimeout: GATHERING_MS },
      },
      delegate: {
        onRegistered: () => this.#tell('registered', {}),
        onUnregistered: () => this.#tell('unregistered', {}),
        onServerDisconnect: (error) =>
          this.#tell('disconnected', { reason: error?.message ?? 'closed' }),
        onCallCreated: (session) => this.#follow(session),
        onCallReceived: ({ remoteIdentity }) =>
          this.#tell('incoming', {
            from: remoteIdentity.uri.user ?? '',
            displayName: remoteIdentity.displayName,
          }),
      },
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

  /** Resolves when the REGISTER has been sent; `registered` tells of its success. */
  async register(): Promise<void> {
    await this.#manager.connect();
    await this.#manager.register({
      requestDelegate: {
        onReject: ({ message }) =>
          this.#tell('ended', { reason: `${message.statusCode} ${message.reasonPhrase}` }),
      },
    });
  }

  async unregister(): Promise<void> {
    await this.#manager.unregister();
    await this.#manager.disconnect();
  }

  /** A number, a name of an endpoint, or a SIP address. */
  async call(target: string): Promise<void> {
    const uri = target.startsWith('sip:') ? target : `sip:${target}@${this.#domain}`;
    this.#reason = '';
    await this.#manager.call(
      uri,
      {},
      {
        requestDelegate: {
          onProgress: () => this.#tell('ringing', {}),
          onReject: ({ message }) => {
            this.#reason = `${message.statusCode} ${message.reasonPhrase}`;
          },
        },
      },
    );
  }

  answer(): Promise<void> {
    return this.#manager.answer(this.#current);
  }

  async hangup(): Promise<void> {
    if (this.#session === undefined) return;
    const { state } = this.#session;
    const ringsHere = 'accept' in this.#session && state !== SessionState.Established;
    if (ringsHere) await this.#manager.decline(this.#session);
    else await this.#manager.hangup(this.#session);
  }

  hold(held: boolean): Promise<void> {
    return held ? this.#manager.hold(this.#current) : this.#manager.unhold(this.#current);
  }

  mute(muted: boolean): void {
    if (muted) this.#manager.mute(this.#current);
    else this.#manager.unmute(this.#current);
  }

  /** `0-9*#`, as events of RTP. */
  sendDtmf(digit: string): void {
    const sender = this.#peer?.getSenders().find(({ dtmf }) => dtmf !== null);
    sender?.dtmf?.insertDTMF(digit);
  }

  devices(): Promise<MediaDeviceInfo[]> {
    return navigator.mediaDevices.enumerateDevices();
  }

  /** From now on, in a running call too. */
  async useMicrophone(deviceId: string): Promise<void> {
    this.#microphone = deviceId;
    const peer = this.#peer;
    if (peer === undefined) return;
    const stream = await navigator.mediaDevices.getUserMedia({ audio: { deviceId } });
    const [track] = stream.getAudioTracks();
    const sender = peer.getSenders().find((found) => found.track?.kind === 'audio');
    if (track !== undefined) await sender?.replaceTrack(track);
  }

  async useSpeaker(deviceId: string): Promise<void> {
    await this.#options.audio.setSinkId(deviceId);
  }

  get #current(): Session {
    if (this.#session === undefined) throw new Error('there is no call');
    return this.#session;
  }

  get #peer(): RTCPeerConnection | undefined {
    const handler = this.#session?.sessionDescriptionHandler as
      | { peerConnection?: RTCPeerConnection }
      | undefined;
    return handler?.peerConnection;
  }

  #tell<Name extends keyof PhoneEvents>(name: Name, detail: PhoneEvents[Name]): void {
    for (const listener of this.#listeners.get(name) ?? []) {
      (listener as (detail: PhoneEvents[Name]) => void)(detail);
    }
  }

  #follow(session: Session): void {
    this.#session = session;
    session.stateChange.addListener((state) => {
      if (state === SessionState.Established) {
        if (this.#microphone !== undefined) void this.useMicrophone(this.#microphone);
        this.#tell('answered', {});
        this.#timer = setInterval(() => void this.#measure(), QUALITY_MS);
      }
      if (state !== SessionState.Terminated) return;
      clearInterval(this.#timer);
      this.#session = undefined;
      this.#tell('ended', { reason: this.#reason });
    });
  }

  async #measure(): Promise<void> {
    const reports = await this.#peer?.getStats();
    if (reports === undefined) return;
    const all = [...reports.values()];
    const of = (type: string) =>
      all.find((report) => report.type === type && report.kind !== 'video');
    const inbound = of('inbound-rtp');
    const pair = all.find((report) => report.type === 'candidate-pair' && report.nominated);
    const codec = all.find(({ id }) => id === inbound?.codecId);
    const roundTrip = of('remote-inbound-rtp')?.roundTripTime ?? pair?.currentRoundTripTime;
    this.#tell('quality', {
      packets: inbound?.packetsReceived ?? 0,
      lost: inbound?.packetsLost ?? 0,
      concealed: (inbound?.concealedSamples ?? 0) / Math.max(1, inbound?.totalSamplesReceived ?? 0),
      jitterMs: (inbound?.jitter ?? 0) * 1000,
      roundTripMs: roundTrip === undefined ? undefined : roundTrip * 1000,
      codec: codec?.mimeType ?? '',
      inputLevel: of('media-source')?.audioLevel ?? 0,
      outputLevel: inbound?.audioLevel ?? 0,
    });
  }
}

function sipServer(): string {
  const url = new URL('/sip', import.meta.url);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  return url.href;
}
