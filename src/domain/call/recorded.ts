/** What records tell of: a call, or one that waits to be made. */
import type { CallUuid } from '../../base/ids.ts';
import type { CallFacts } from '../callback/callback.ts';
import type { CallbackTarget } from '../callback/types.ts';
import type { OpenStream } from '../cdr/needs.ts';
import type { MediaQuality, StreamCdr } from '../cdr/types.ts';
import type { CallIdentity, CallPrice } from './identity.ts';
import { NOBODY, type Peer } from './peer.ts';

/** Instants are microseconds of the call's own time; undefined: has not happened, or is not known. */
export interface Recorded {
  readonly uuid: CallUuid;
  readonly identity: CallIdentity;
  readonly price: CallPrice;
  readonly facts: CallFacts;
  /** Who is told of the end. */
  readonly hangupTarget: CallbackTarget | undefined;
  /** The other leg of the last bridge. */
  readonly bridgeUuid: CallUuid | undefined;
  readonly ringUs: number | undefined;
  readonly answerUs: number | undefined;
  readonly endUs: number | undefined;
  readonly peer: Peer;
  readonly codec: string | undefined;
  readonly quality: MediaQuality | undefined;
  /** Who answered, once that was found out. */
  readonly machine: boolean | undefined;
  readonly streams: { readonly open: readonly OpenStream[]; readonly past: readonly StreamCdr[] };
  nowUs(): number;
}

/** What is settled before a call begins. */
export type CallTerms = Pick<Recorded, 'identity' | 'price' | 'hangupTarget'>;

/** A call that was accepted and is not dialled yet: nothing has happened in it. */
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
