/** Recorded properties of a call, active or queued. */
import type { CallUuid } from '../../base/ids.ts';
import type { CallFacts } from '../callback/callback.ts';
import type { CallbackTarget } from '../callback/types.ts';
import type { OpenStream } from '../cdr/needs.ts';
import type { MediaQuality, StreamCdr } from '../cdr/types.ts';
import type { CallIdentity, CallPrice } from './identity.ts';
import { NOBODY, type Peer } from './peer.ts';

/** Recorded properties. Times are microseconds on the call's timeline; undefined: not happened or unknown. */
export interface Recorded {
  readonly uuid: CallUuid;
  readonly identity: CallIdentity;
  readonly price: CallPrice;
  readonly facts: CallFacts;
  /** Recipient of the hangup callback. */
  readonly hangupTarget: CallbackTarget | undefined;
  /** UUID of the other leg in the most recent bridge. */
  readonly bridgeUuid: CallUuid | undefined;
  readonly ringUs: number | undefined;
  readonly answerUs: number | undefined;
  readonly endUs: number | undefined;
  readonly peer: Peer;
  readonly codec: string | undefined;
  readonly quality: MediaQuality | undefined;
  /** Result of answering machine detection; undefined until known. */
  readonly machine: boolean | undefined;
  readonly streams: { readonly open: readonly OpenStream[]; readonly past: readonly StreamCdr[] };
  nowUs(): number;
}

/** Properties that are fixed before a call begins. */
export type CallTerms = Pick<Recorded, 'identity' | 'price' | 'hangupTarget'>;

/** Builds the recorded properties of a queued call that has not been dialled. */
export const waitingCall = (of: CallTerms, nowUs: number): Recorded => ({
  ...of,
  uuid: of.identity.callUuid,
  facts: of.identity.facts,
  bridgeUuid: undefined,
  ringUs: undefined,
  answerUs: undefined,
  endUs: undefined,
  peer: NOBODY,
  codec: undefined,
  quality: undefined,
  machine: undefined,
  streams: { open: [], past: [] },
  nowUs: () => nowUs,
});
