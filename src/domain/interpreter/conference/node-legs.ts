import type { Call, CallIdentity, CallLogKind } from '../../call/call.ts';
import type { CodecWish, SrtpRule } from '../../call/needs.ts';

/** Legs between nodes. They cost nothing, count nowhere and stand in no record: the call that they are for does. */
export interface NodeLegs {
  /** To another node, for a call of this one. */
  visit(call: Call): Call;
  /** From another node, for a call of that one. */
  guest(
    identity: CallIdentity,
    of: {
      readonly currency: string;
      readonly keypadEvents: boolean;
      readonly noted: (
        kind: CallLogKind,
        text: string,
        facts: Readonly<Record<string, unknown>>,
      ) => void;
    },
  ): Call;
}

/** Wideband at little cost; the network of the nodes is their own. */
export const LINK_CODECS: readonly CodecWish[] = ['G722', 'PCMU'];
/** Nodes are in a network of their own (docs/guides/clusters.md). */
export const LINK_SRTP: SrtpRule = { policy: 'off', offered: false };
