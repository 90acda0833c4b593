/** Callbacks of a conference to the `callbackUrl` of its members (dialect §2.1, Conference). */
import { type CallStatus, partyParameter } from '../../callback/callback.ts';
import type { CallbackParameters, NotificationDraft } from '../../callback/types.ts';
import { signerOf } from '../call-callbacks.ts';
import type { Member } from './member.ts';

/** Room identity in callbacks. */
export interface RoomNames {
  readonly uuid: string;
  readonly name: string;
}

/** The parts of a member that a notification names. */
type Named = Pick<Member, 'context' | 'instruction' | 'id'>;

const IN_PROGRESS: CallStatus = 'in-progress';

export function notifyEnter(room: RoomNames, member: Member, isFirst: boolean): void {
  const { facts } = member.context.call;
  notify(room, member, 'enter', 'ConferenceEnter', [
    ['ConferenceFirstMember', String(isFirst)],
    ['From', partyParameter(facts.from)],
    ['To', partyParameter(facts.to)],
    ['Direction', facts.direction],
    ['CallStatus', IN_PROGRESS],
  ]);
}

export function notifyExit(...of: Parameters<typeof exitNotice>): void {
  const [, { context }] = of;
  const notification = exitNotice(...of);
  if (notification !== undefined) context.needs.callbacks.notify(notification);
}

/** The exit notification of a member; undefined if its document names no `callbackUrl`. */
export const exitNotice = (
  room: RoomNames,
  member: Named,
  facts: { readonly wasFirst: boolean; readonly isLast: boolean },
): NotificationDraft | undefined =>
  draft(room, member, 'exit', 'ConferenceExit', [
    ['ConferenceFirstMember', String(facts.wasFirst)],
    ['ConferenceLastMember', String(facts.isLast)],
  ]);

export const notifyDigits = (room: RoomNames, member: Member, keys: string): void =>
  notify(room, member, 'digits', 'ConferenceDigitsMatch', [['ConferenceDigitsMatch', keys]]);

export const notifyFloor = (room: RoomNames, member: Member): void =>
  notify(room, member, 'floor', 'ConferenceFloor', []);

/** Notification draft for a room recording, sent once its file is available. */
export const recordNotice = (room: RoomNames, member: Member): NotificationDraft | undefined =>
  draft(room, member, 'record', 'ConferenceRecord', []);

/** Parameters of the request for a member's wait sound. */
export const soundParameters = (room: RoomNames, memberId: string): CallbackParameters => [
  ['ConferenceAction', 'waitSound'],
  ...namesOf(room, memberId),
];

export const namesOf = (room: RoomNames, memberId: string): CallbackParameters => [
  ['ConferenceUUID', room.uuid],
  ['ConferenceName', room.name],
  ['ConferenceMemberID', memberId],
];

function notify(...reported: Parameters<typeof draft>): void {
  const [, { context }] = reported;
  const notification = draft(...reported);
  if (notification !== undefined) context.needs.callbacks.notify(notification);
}

function draft(
  room: RoomNames,
  { context, instruction, id }: Named,
  action: string,
  event: string,
  own: CallbackParameters,
): NotificationDraft | undefined {
  const { callbackUrl: url, callbackMethod: method } = instruction;
  if (url === undefined) return undefined;
  const { call } = context;
  const parameters: CallbackParameters = [
    ['ConferenceAction', action],
    ['Event', event],
    ...namesOf(room, id),
    ['CallUUID', call.uuid],
    ['ParentAuthID', call.facts.parentAuthId],
    ...own,
  ];
  return {
    accountId: signerOf(call),
    subject: call.uuid,
    event,
    target: { url, method },
    parameters,
  };
}
