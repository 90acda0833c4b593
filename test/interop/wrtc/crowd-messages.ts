/** Messages between a test and its process of many browsers. */

export interface Member {
  readonly username: string;
  readonly password: string;
  readonly saysHz: number;
}

export type CrowdCommand =
  | {
      readonly do: 'call';
      /** URL of SIP over WebSocket. */
      readonly server: string;
      readonly members: readonly Member[];
      readonly perSecond: number;
    }
  /** Requests a report on the audio received in the next `afterMs`. */
  | { readonly do: 'report'; readonly afterMs: number }
  | { readonly do: 'listen'; readonly tones: readonly number[] }
  | { readonly do: 'hangUp' };

export interface MemberReport {
  /** Time from the first INVITE to completed DTLS, including retries, ms. */
  readonly setupMs: number;
  /** Number of repeated call attempts. */
  readonly again: number;
  readonly dtlsState: string;
  readonly packets: number;
  /** Number of received samples at 48 kHz. */
  readonly samples: number;
  readonly concealed: number;
}

export interface CrowdReport {
  readonly members?: readonly MemberReport[];
  /** Detected tone of each member, Hz. */
  readonly received?: readonly number[];
  readonly error?: string;
}
