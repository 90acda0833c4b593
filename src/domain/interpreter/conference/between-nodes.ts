/** Bus messages between nodes, for conferences whose members are on several nodes. */
import type { AccountId } from '../../../base/ids.ts';
import type { ConferenceInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import type { CallIdentity } from '../../call/call.ts';
import type { Consent, HangupCauseKey, HangupSource } from '../../call/types.ts';
import type { Ticket } from '../../cluster/cluster.ts';
import type { LeaveReason, Participation } from '../needs.ts';

/** Bus request names. */
export const JOIN = 'conference.join';
export const GUEST = 'conference.guest';
export const LEAVE = 'conference.leave';
/** Sent to the home node of a call when its conference has begun. */
export const BEGUN = 'conference.begun';
/** Sent to the home node of a call: whether the parties that it hears have agreed to recordings and streams. */
export const AGREED = 'conference.agreed';
export const NOTED = 'conference.noted';
export const NOTIFY = 'conference.notify';

/** Name of a member's place in a conference, which `AGREED` contains: each move to another node ends the place. */
export const placeIn = (
  { uuid }: Participation['room'],
  { id }: Pick<Participation['member'], 'id'>,
): string => `${uuid} ${id}`;

/** Name under which the cluster directory claims a conference; `key`: see `keyOfRoom`. */
export const claimOf = (accountId: AccountId, key: string): string => `room:${accountId}:${key}`;

export function roomOfClaim(claim: string): { accountId: AccountId; key: string } | undefined {
  const [, accountId, key] = /^room:([^:]*):(.*)$/s.exec(claim) ?? [];
  return accountId === undefined || key === undefined
    ? undefined
    : { accountId: accountId as AccountId, key };
}

/** Request from node `home` to let one of its calls join a conference on the receiving node. */
export interface JoinRequest {
  readonly claim: string;
  readonly home: string;
  /** IP address that the INVITE will come from. */
  readonly host: string;
  readonly identity: CallIdentity;
  readonly currency: string;
  /** True if the call's keypad presses arrive as events, not as tones. */
  readonly keypadEvents: boolean;
  readonly instruction: WireInstruction;
  /** Consent of the party; undefined: it was not asked. */
  readonly consent?: Consent['status'] | undefined;
  /** True if the conference had begun on the node from which it moves. */
  readonly goesOn: boolean;
}

/** `elsewhere`: another node owns the conference. */
export type JoinAnswer =
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'ticket'; readonly ticket: Ticket; readonly uri: string };

/** State of a call that asked to join. */
export type GuestState =
  | { readonly kind: 'full' }
  /** The call never arrived, or its state is no longer kept. */
  | { readonly kind: 'unknown' }
  | (GuestFacts & { readonly kind: 'in' })
  | (GuestFacts & {
      readonly kind: 'left';
      readonly reason: LeaveReason;
      /** Set if the conference's node ended the call through an API request. */
      readonly hangup?: { readonly cause: HangupCauseKey; readonly source: HangupSource };
    });

export interface GuestFacts {
  readonly memberId: string;
  readonly room: Participation['room'];
}

/** JSON-compatible form of the instruction: sets become arrays. */
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
