/** What a test and its crowd of browsers say to each other. */

export interface Member {
  readonly username: string;
  readonly password: string;
  readonly saysHz: number;
}

export type CrowdCommand =
  | {
      readonly do: 'call';
      /** Of SIP over WebSocket. */
      readonly server: string;
      readonly members: readonly Member[];
      readonly perSecond: number;
    }
  /** What comes from now on, for so long. */
  | { readonly do: 'report'; readonly afterMs: number }
  | { readonly do: 'listen'; readonly tones: readonly number[] }
  | { readonly do: 'hangUp' };

export interface MemberReport {
  /** From the first INVITE to keys, further tries included. */
  readonly setupMs: number;
  /** Calls that were tried again. */
  readonly again: number;
  readonly dtlsState: string;
  readonly packets: number;
  /** At 48 kHz. */
  readonly samples: number;
  readonly concealed: number;
}

export interface CrowdReport {
  readonly members?: readonly MemberReport[];
  /** Hz, of each member. */
  readonly heard?: readonly number[];
  readonly error?: string;
}
