/** What the inbound and the outbound part of a call have in common. */
import { ServiceError } from '../../base/errors.ts';
import type { CallLog } from './call-log.ts';
import type { CallState } from './call-state.ts';
import type { HangupCauseKey, HangupSource } from './hangup-cause.ts';
import type { LegMedia } from './leg-media.ts';
import type { Leg, LegEnd, LegEvents, LegOwner } from './needs.ts';
import type { Peer } from './peer.ts';

export interface CallPart {
  readonly peer: Peer;
  /** Undefined while no INVITE is under way. */
  readonly leg: Leg | undefined;
  /** Somebody was offered our media, and may still answer. */
  readonly isOffered: boolean;
}

/** The call that a part belongs to. */
export interface PartOf {
  readonly owner: LegOwner;
  readonly course: CallState;
  readonly media: LegMedia;
  readonly log: CallLog;
  hangup(cause: HangupCauseKey, source: HangupSource, detail?: string): void;
  legEnded(end: LegEnd): void;
  connection(connected: boolean): void;
}

/** Opens the RTP ports. Ends the call when there is no free port, or when the media engine does not take the leg. */
export async function openMedia({ media, hangup }: PartOf): Promise<void> {
  try {
    await media.open();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    hangup('concurrencyBreached', 'Error', error.message);
  }
}

/** What may happen on a leg of either direction. */
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
    // A re-INVITE: hold, resume, another address. The stream and everything that plays go on.
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
