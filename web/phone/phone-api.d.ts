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
  /** Somebody calls: answer() or hangup(). */
  incoming: { readonly from: string; readonly displayName: string };
  /** The called side rings. */
  ringing: Record<string, never>;
  answered: Record<string, never>;
  held: { readonly held: boolean };
  /** `reason`: why there was no call, where one is known. `consulted`: the call before goes on. */
  ended: { readonly reason: string; readonly consulted: boolean };
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
  /** A number, a name of an endpoint, or a SIP address. Rejects with an Error while there is a call. */
  call(target: string): Promise<void>;
  answer(): Promise<void>;
  /** Also declines a call that rings here. */
  hangup(): Promise<void>;
  hold(held: boolean): Promise<void>;
  mute(muted: boolean): void;
  /** `0-9*#`, one or several, as events of RTP (RFC 4733). */
  sendDtmf(digits: string): void;
  /** Sends the other side on to somebody; `transfer` tells what came of it. */
  transfer(target: string): Promise<void>;
  /** Holds the call and calls somebody else; `hangup` ends that call, and the held one is the call again. */
  consult(target: string): Promise<void>;
  /** Connects the held side with the one that was consulted, and leaves. */
  completeTransfer(): Promise<void>;
  devices(): Promise<Devices>;
  /** From now on, in a running call too. */
  useMicrophone(deviceId: string): Promise<void>;
  useSpeaker(deviceId: string): Promise<void>;
}
