/** The phone for web pages, as `/phone.js` exports it. Served at `/phone.d.ts`. */

/** Of an endpoint, or a token for one (`POST /v1/Account/{auth_id}/JWT/Token/`). A page should have a token. */
export type PhoneAccount =
  | { readonly username: string; readonly password: string }
  | { readonly token: string };

export interface PhoneOptions {
  /** Where the other side is heard. */
  readonly audio: HTMLAudioElement;
  /** For `register()`; `login()` brings its own. */
  readonly username?: string;
  readonly password?: string;
  readonly token?: string;
  /** WebSocket of the service; left away: `/sip` of where this file comes from. */
  readonly server?: string;
  /** Where tokens are shown; left away: `/phone/login` of where this file comes from. */
  readonly loginUrl?: string;
  /** Domain of the address; left away: what the service says of a token, else the host of `server`. */
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

/** Of what is heard. */
export interface Quality {
  /** Packets that came, that were lost, and the share of sound that was made up, 0..1. */
  readonly packets: number;
  readonly lost: number;
  readonly concealed: number;
  /** Variation of the packets' way here, ms. */
  readonly jitterMs: number;
  /** To the service and back, ms; undefined: not known yet. */
  readonly roundTripMs: number | undefined;
  /** An estimate by ITU-T G.107, 1..4.5. */
  readonly mos: number;
  readonly codec: string;
}

/** Of microphone and of what is heard, 0..1. */
export interface Levels {
  readonly inputLevel: number;
  readonly outputLevel: number;
}

/** What happens, and what is told with it. */
export interface PhoneEvents {
  registered: Record<string, never>;
  unregistered: Record<string, never>;
  /** The service refuses: a SIP status, or an HTTP status of the token. */
  refused: { readonly status: number; readonly reason: string };
  /** The token ends in so many seconds: `login` with a new one keeps the phone registered. */
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
  /** What became of a transfer, as the service tells it: 1xx, or a final status. */
  transfer: { readonly status: number; readonly reason: string };
  /** Each second of a call. */
  quality: Quality & Levels;
  /** Ten times a second of a call, while anybody listens. */
  levels: Levels;
  /** A device came or went. */
  devices: Devices;
  connected: Record<string, never>;
  /** The connection to the service is gone; it is tried again, the phone registers anew, and calls go on. */
  disconnected: { readonly reason: string };
  /** No sound comes through: the network has changed, and another way is looked for (ICE restart). */
  recovering: Record<string, never>;
  recovered: Record<string, never>;
}

export interface Devices {
  readonly microphones: readonly MediaDeviceInfo[];
  readonly speakers: readonly MediaDeviceInfo[];
}

/** Refused with a status of SIP or HTTP. */
export declare class PhoneError extends Error {
  readonly status: number;
}

export declare class Phone {
  constructor(options: PhoneOptions);
  /** The returned function ends it. */
  on<Name extends keyof PhoneEvents>(
    name: Name,
    listener: (detail: PhoneEvents[Name]) => void,
  ): () => void;
  /**
   * Connects and registers; with a token that may only call, connects. It takes the place of the login before: with a new
   * token for the same endpoint a running call goes on. Rejects with PhoneError when the service refuses.
   */
  login(account: PhoneAccount): Promise<void>;
  /** `login` with what the options say. */
  register(): Promise<void>;
  /** Leaves: running calls end. */
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
  /** Sends the other side on to somebody; `transfer` tells what came of it. */
  transfer(target: string): Promise<void>;
  /** Holds the call and calls another number; `hangup` ends that call, and the held one stays on hold. */
  consult(target: string): Promise<void>;
  /** Connects the held side with the one that was consulted, and leaves. */
  completeTransfer(): Promise<void>;
  devices(): Promise<Devices>;
  /** From now on, in a running call too. */
  useMicrophone(deviceId: string): Promise<void>;
  useSpeaker(deviceId: string): Promise<void>;
}
