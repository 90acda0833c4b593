import type { Call, CallIdentity, CallLogKind } from '../../call/call.ts';
import type { CodecPreference, SrtpRule } from '../../call/needs.ts';

/** Legs between nodes. They are free, exempt from limits and not recorded; the call that they serve is. */
export interface NodeLegs {
  /** Creates a leg to another node, for a call of this node. */
  joinRemote(call: Call): Call;
  /** Creates a leg from another node, for a call of that node. */
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

/** Wideband at low CPU cost; bandwidth between nodes is not a concern. */
export const LINK_CODECS: readonly CodecPreference[] = ['G722', 'PCMU'];
/** Nodes use a private network (docs/guides/clusters.md). */
export const LINK_SRTP: SrtpRule = { policy: 'off', offered: false };
