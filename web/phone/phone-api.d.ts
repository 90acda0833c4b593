/** The phone for web pages, as `/phone.js` exports it. Served at `/phone.d.ts`. */

/** Credentials of an endpoint, or a token for it (`POST /v1/Account/{auth_id}/JWT/Token/`). Pages should use tokens. */
export type PhoneAccount =
  | { readonly username: string; readonly password: string }
  | { readonly token: string };

export interface PhoneOptions {
  /** Element that plays the audio of the other side. */
  readonly audio: HTMLAudioElement;
  /** SIP user for `register()`. `login()` takes credentials as an argument. */
  readonly username?: string;
  readonly password?: string;
  readonly token?: string;
  /** WebSocket URL of the service. Default: `/sip` on the host that serves this file. */
  readonly server?: string;
  /** URL that exchanges tokens for logins. Default: `/phone/login` on the host that serves this file. */
  readonly loginUrl?: string;
  /** SIP domain. Default: the domain returned for the token, otherwise the host of `server`. */
  readonly domain?: string;
  readonly displayName?: string;
  /** Call waiting: while there is a call, another one rings. False: it is rejected with 486. Default: true. */
  readonly callWaiting?: boolean;
}

/**
 * State of a call. `incoming`: it rings here. `calling`: the INVITE was sent. `ringing`: the called side rings.
 * `connecting`: answered, but no media flows yet. `active`: media flows. `reconnecting`: media was lost and ICE restarts.
 * `held`: on hold by this phone.
 */
export type CallState =
  | 'incoming'
  | 'calling'
  | 'ringing'
  | 'connecting'
  | 'active'
  | 'reconnecting'
  | 'held'
  | 'ended';

/** One call with its own state, media and controls. At most one call is off hold: the others are held automatically. */
export interface PhoneCall {
  readonly id: string;
  readonly direction: 'inbound' | 'outbound';
  /** User part of the other side's address, or what was dialed. */
  readonly from: string;
  readonly displayName: string;
  readonly state: CallState;
  readonly muted: boolean;
  /** Why the call ended, as a sentence; '' until then. */
  readonly endReason: string;
  /** Answers an incoming call; holds the other calls first. */
  answer(): Promise<void>;
  /** Rejects an incoming call with 486; other calls continue. */
  decline(): Promise<void>;
  /** Ends the call, cancels it, or declines it while it rings here. */
  hangup(): Promise<void>;
  hold(): Promise<void>;
  /** Takes the call off hold; holds the other calls first. */
  resume(): Promise<void>;
  mute(muted: boolean): void;
  /** Queues digits (`0-9*#A-D`, at most 64 waiting); they are sent in order as RTP events (RFC 4733) once media flows. */
  sendDtmf(digits: string): void;
  /** Transfers the other side to a number, a name or a SIP address, or connects it with another call (RFC 3891). */
  transfer(target: string | PhoneCall): Promise<void>;
}

/** Quality of the received audio. */
export interface Quality {
  /** Packets received and lost, and the share of concealed audio, 0 to 1. */
  readonly packets: number;
  readonly lost: number;
  readonly concealed: number;
  /** Interarrival jitter, ms. */
  readonly jitterMs: number;
  /** Round-trip time to the service, ms; undefined if not known yet. */
  readonly roundTripMs: number | undefined;
  /** Mean opinion score estimated by ITU-T G.107, 1 to 4.5. */
  readonly mos: number;
  readonly codec: string;
}

/** Levels of the microphone and the received audio, 0 to 1. */
export interface Levels {
  readonly inputLevel: number;
  readonly outputLevel: number;
}

/** Events and their data. */
export interface PhoneEvents {
  registered: Record<string, never>;
  unregistered: Record<string, never>;
  /** The service refused the login or registration. `status` is a SIP status, or an HTTP status for a token. */
  refused: { readonly status: number; readonly reason: string };
  /** The token expires in this many seconds. Call `login` with a new one to stay registered. */
  tokenExpiring: { readonly inSeconds: number };
  /** The list of calls or the state of one call has changed. `calls`: the calls that have not ended, oldest first. */
  calls: { readonly calls: readonly PhoneCall[] };
  /** An incoming call: `call.answer()` or `call.decline()`. */
  incoming: { readonly from: string; readonly displayName: string; readonly call: PhoneCall };
  /** The called side rings. */
  ringing: { readonly call: PhoneCall };
  /** The call was answered. Media may need a moment more: see `active`. */
  answered: { readonly call: PhoneCall };
  /** Media flows for the first time. */
  active: { readonly call: PhoneCall };
  held: { readonly held: boolean; readonly call: PhoneCall };
  /** `reason`: why the call ended, as a sentence. `consulted`: another call continues. */
  ended: { readonly reason: string; readonly consulted: boolean; readonly call: PhoneCall };
  /** Result of a transfer as reported by the service: 1xx, or a final status. */
  transfer: { readonly status: number; readonly reason: string };
  /** Sent every second during a call. */
  quality: Quality & Levels;
  /** Sent ten times per second during a call while a listener exists. */
  levels: Levels;
  /** An audio device was added or removed. */
  devices: Devices;
  connected: Record<string, never>;
  /** The connection to the service was lost. The phone reconnects and registers again; calls continue. */
  disconnected: { readonly reason: string };
  /** Media is interrupted because the network changed. An ICE restart is in progress. */
  recovering: Record<string, never>;
  recovered: Record<string, never>;
}

export interface Devices {
  readonly microphones: readonly MediaDeviceInfo[];
  readonly speakers: readonly MediaDeviceInfo[];
}

/** A refused request with its SIP or HTTP status. */
export declare class PhoneError extends Error {
  readonly status: number;
}

export declare class Phone {
  constructor(options: PhoneOptions);
  /** Adds a listener. The returned function removes it. */
  on<Name extends keyof PhoneEvents>(
    name: Name,
    listener: (detail: PhoneEvents[Name]) => void,
  ): () => void;
  /**
   * Connects and registers; with a token for outbound calls only, connects without registering. Replaces a previous login.
   * Active calls continue if the endpoint is the same. Rejects with PhoneError if the service refuses.
   */
  login(account: PhoneAccount): Promise<void>;
  /** Calls `login` with the credentials of the options. */
  register(): Promise<void>;
  /** Unregisters and ends active calls. */
  unregister(): Promise<void>;
  /** The calls that have not ended, oldest first; at most 4. Each one has its own controls. */
  readonly calls: readonly PhoneCall[];
  /** Call waiting: while there is a call, another one rings. False: it is rejected with 486. May be changed at any time. */
  callWaiting: boolean;
  /** Calls a number, a name of an endpoint, or a SIP address; holds the other calls first. Rejects while 4 calls exist. */
  call(target: string): Promise<PhoneCall>;
  /** Answers the newest incoming call. */
  answer(): Promise<void>;
  /** Ends the newest call, or declines it while it rings here. */
  hangup(): Promise<void>;
  /** Holds the call that is off hold, or resumes the newest held call. */
  hold(held: boolean): Promise<void>;
  /** The following members act on the call that is off hold; without one, on the newest call. */
  mute(muted: boolean): void;
  sendDtmf(digits: string): void;
  /** Transfers the other side to `target`. The event `transfer` reports the result. */
  transfer(target: string): Promise<void>;
  /** Holds the call and calls another number; `hangup` ends that call, and the held one stays on hold. */
  consult(target: string): Promise<void>;
  /** Connects the held side with the consulted one and ends both calls of this phone. */
  completeTransfer(): Promise<void>;
  devices(): Promise<Devices>;
  /** Selects the microphone, also for active calls. */
  useMicrophone(deviceId: string): Promise<void>;
  useSpeaker(deviceId: string): Promise<void>;
}
