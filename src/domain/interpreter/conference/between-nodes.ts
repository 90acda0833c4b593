/** What nodes say to each other so that the members of one conference may be on several of them. */
import type { AccountId } from '../../../base/ids.ts';
import type { ConferenceInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import type { CallIdentity } from '../../call/call.ts';
import type { HangupCauseKey, HangupSource } from '../../call/types.ts';
import type { Ticket } from '../../cluster/cluster.ts';
import type { LeaveReason, Participation } from '../needs.ts';

/** Questions, by what they are called on the bus. */
export const JOIN = 'conference.join';
export const GUEST = 'conference.guest';
export const LEAVE = 'conference.leave';
/** To the node of a call: the conference that it is in has begun. */
export const BEGUN = 'conference.begun';
export const NOTED = 'conference.noted';
export const NOTIFY = 'conference.notify';

/** A conference in the directory of nodes; `key`: see `keyOfRoom`. */
export const claimOf = (accountId: AccountId, key: string): string => `room:${accountId}:${key}`;

export function roomOfClaim(claim: string): { accountId: AccountId; key: string } | undefined {
  const [, accountId, key] = /^room:([^:]*):(.*)$/s.exec(claim) ?? [];
  return accountId === undefined || key === undefined
    ? undefined
    : { accountId: accountId as AccountId, key };
}

/** A call of node `home` wants to be in a conference of the node that is asked. */
export interface JoinRequest {
  readonly claim: string;
  readonly home: string;
  /** Where its INVITE will come from: an IP address. */
  readonly host: string;
  readonly identity: CallIdentity;
  readonly currency: string;
  /** Its keypad presses come as events, not as tones. */
  readonly keypadEvents: boolean;
  readonly instruction: WireInstruction;
  /** The conference had begun at the node from which it moves. */
  readonly goesOn: boolean;
}

/** `elsewhere`: the conference is another node's. */
export type JoinAnswer =
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'ticket'; readonly ticket: Ticket; readonly uri: string };

/** What became of whoever joined. */
export type GuestState =
  | { readonly kind: 'full' }
  /** It never came, or nothing is known of it any more. */
  | { readonly kind: 'unknown' }
  | (GuestFacts & { readonly kind: 'in' })
  | (GuestFacts & {
      readonly kind: 'left';
      readonly reason: LeaveReason;
      /** Its call is to be ended, on the wish of the conference's node. */
      readonly hangup?: { readonly cause: HangupCauseKey; readonly source: HangupSource };
    });

export interface GuestFacts {
  readonly memberId: string;
  readonly room: Participation['room'];
}

/** As data: a set is a list. */
export type WireInstruction = Omit<ConferenceInstruction, 'party'> & {
  readonly party:
    | (Omit<NonNullable<ConferenceInstruction['party']>, 'events'> & {
        readonly events: readonly string[];
      })
    | undefined;
};

export const toWire = ({ party, ...rest }: ConferenceInstruction): WireInstruction => ({
  ...rest,
  party: party && { ...party, events: [...party.events] },
});

export const fromWire = ({ party, ...rest }: WireInstruction): ConferenceInstruction => ({
  ...rest,
  party: party && { ...party, events: new Set(party.events) },
});
