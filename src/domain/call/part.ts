/** Code shared by the inbound and outbound part of a call. */

import { ServiceError } from '../../base/errors.ts';
import type { Lease } from '../../base/lease.ts';
import type { CallLog } from './call-log.ts';
import type { CallState } from './call-state.ts';
import type { HangupCauseKey, HangupSource } from './hangup-cause.ts';
import type { LegMedia } from './leg-media.ts';
import type { Leg, LegEnd, LegEvents, LegOwner } from './needs.ts';
import type { Peer } from './peer.ts';

export interface CallPart {
  readonly peer: Peer;
  /** Undefined until an INVITE has been sent or received. */
  readonly leg: Leg | undefined;
  /** True while a peer has our media offer and may still answer. */
  readonly isOffered: boolean;
}

/** Parent call of a part. */
export interface PartOf {
  readonly owner: LegOwner;
  readonly course: CallState;
  readonly media: LegMedia;
  readonly log: CallLog;
  /** Undefined without a cluster. */
  readonly lease: Lease | undefined;
  hangup(cause: HangupCauseKey, source: HangupSource, detail?: string): void;
  legEnded(end: LegEnd): void;
  connection(connected: boolean): void;
}

/** Opens the RTP ports. Ends the call if no port is free or the media engine rejects the leg. */
export async function openMedia({ media, hangup }: PartOf): Promise<void> {
  try {
    await media.open();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    hangup('concurrencyBreached', 'Error', error.message);
  }
}

/** Returns the leg event handlers common to both directions. */
export function legEventsOf(of: PartOf): LegEvents {
  const { course, media, log, hangup, legEnded, connection } = of;
  const watchingHold = <T>(act: () => T): T => {
    const before = media.hold;
    const result = act();
    if (media.hold !== before) course.holdChanged();
    return result;
  };
  return {
    ended: legEnded,
    connection,
    // A re-INVITE may hold, resume or change the address. Streams and playbacks continue.
    offered: (sdp) => {
      if (!media.isOpen) return undefined;
      const described = watchingHold(() => media.describe(sdp));
      if (described.ok) return described.value;
      log.add('warning', 'offer refused (488)', { detail: described.error.detail });
      return undefined;
    },
    movedTo: ({ address }) => media.movedTo(address),
    answered: (sdp) => {
      if (!media.isOpen || course.isEnded) return;
      const settled = watchingHold(() => media.settle(sdp));
      if (!settled.ok) hangup('mediaAnchoring', 'Error', settled.error.detail);
    },
    referred: (refer) => {
      log.add('sip', 'REFER', { to: refer.to, replaces: refer.replaces !== undefined });
      if (course.isEnded || !course.referred(refer)) refer.refuse();
    },
    dtmf: (digit) => {
      if (media.isOpen) media.leg.pressed(digit);
    },
  };
}
