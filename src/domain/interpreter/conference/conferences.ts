/** The conferences of all accounts, by account and case-sensitive name, with what the REST interface asks of them. */

import { assertNever } from '../../../base/errors.ts';
import type { AccountId } from '../../../base/ids.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import type { ConferenceInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import type {
  Conference,
  ConferenceMember,
  ControlRefusal,
  MemberAction,
  MemberChoice,
  PartyAction,
  RecordRequest,
  StartedRecording,
} from '../../dispatch/types.ts';
import type { ConferenceDirectory, Participation, VerbContext } from '../needs.ts';
import type { Member } from './member.ts';
import { changeParty } from './party.ts';
import { Room, type RoomNeeds } from './room.ts';

/** Multi-party calls and conferences of one name are apart: no name in a document begins so. */
const PARTY = '\u0000';
const partyKey = (name: string): string => PARTY + name;

const NOT_FOUND: ControlRefusal = { kind: 'notFound', what: 'conference' };

export class Conferences implements ConferenceDirectory {
  readonly #needs: RoomNeeds;
  readonly #rooms = new Map<string, Map<string, Room>>();

  constructor(needs: RoomNeeds) {
    this.#needs = needs;
  }

  /** Takes a call into the room of its account with that name, which comes into being with its first member. */
  enter(instruction: ConferenceInstruction, context: VerbContext): Participation | undefined {
    const { accountId } = context.call.identity;
    const isParty = instruction.party !== undefined;
    const key = isParty ? partyKey(instruction.room) : instruction.room;
    const room = this.#find(accountId, key) ?? this.#open(accountId, key, instruction.room);
    try {
      const member = room.enter(instruction, context);
      if (member === undefined) return undefined;
      return { room, member, leave: () => room.leave(member, 'callOver') };
    } finally {
      // When the engine takes no member, nobody leaves later, and the empty room would stay open.
      room.closeIfEmpty();
    }
  }

  list(accountId: AccountId): readonly Conference[] {
    return this.#described(accountId, false);
  }

  parties(accountId: AccountId): readonly Conference[] {
    return this.#described(accountId, true);
  }

  changeParty(accountId: AccountId, id: string, action: PartyAction): Result<void, ControlRefusal> {
    const key = this.#partyKeyOf(accountId, id);
    const room = key === undefined ? undefined : this.#find(accountId, key);
    if (key === undefined || room === undefined) return err(NOT_FOUND);
    switch (action.kind) {
      case 'begin':
        room.begin();
        return ok(undefined);
      case 'end':
        return this.end(accountId, key);
      case 'stopRecording':
        room.stopRecording();
        return ok(undefined);
      case 'kick':
      case 'member': {
        const { member: of } = action;
        const member = room.members.find(
          ({ id: memberId, context }) => memberId === of || context.call.uuid === of.toLowerCase(),
        );
        if (member === undefined) return err({ kind: 'notFound', what: 'member' });
        if (action.kind === 'kick') room.leave(member, 'kicked');
        else changeParty(room, member, action.change);
        return ok(undefined);
      }
      default:
        return assertNever(action);
    }
  }

  async recordParty(
    accountId: AccountId,
    id: string,
    request: RecordRequest,
  ): Promise<Result<StartedRecording, ControlRefusal>> {
    const key = this.#partyKeyOf(accountId, id);
    return key === undefined ? err(NOT_FOUND) : this.record(accountId, key, request);
  }

  #described(accountId: AccountId, isParty: boolean): readonly Conference[] {
    const nowMs = this.#needs.clock.monotonicMs();
    return [...(this.#rooms.get(accountId) ?? [])]
      .filter(([key]) => key.startsWith(PARTY) === isParty)
      .map(([, room]) => described(room, nowMs));
  }

  #partyKeyOf(accountId: AccountId, id: string): string | undefined {
    const [, kind, value = ''] = /^(uuid|name)_(.*)$/s.exec(id) ?? [];
    if (kind === 'name') return partyKey(value);
    const rooms = [...(this.#rooms.get(accountId) ?? [])];
    return rooms.find(
      ([key, room]) => key.startsWith(PARTY) && room.uuid === value.toLowerCase(),
    )?.[0];
  }

  get(accountId: AccountId, name: string): Conference | undefined {
    const room = this.#find(accountId, name);
    return room === undefined ? undefined : described(room, this.#needs.clock.monotonicMs());
  }

  /** Hangs up on everybody in it; `name` undefined: all conferences of the account, of which there may be none. */
  end(accountId: AccountId, name: string | undefined): Result<void, ControlRefusal> {
    const rooms =
      name === undefined
        ? [...(this.#rooms.get(accountId)?.values() ?? [])]
        : [this.#find(accountId, name)];
    for (const room of rooms) {
      if (room === undefined) return err(NOT_FOUND);
      for (const { context } of room.members) context.call.hangup('normal', 'API Request');
    }
    return ok(undefined);
  }

  /** The members that it was done to; none of those named is there: notFound. */
  act(
    accountId: AccountId,
    name: string,
    choice: MemberChoice,
    action: MemberAction,
  ): Result<readonly string[], ControlRefusal> {
    const room = this.#find(accountId, name);
    if (room === undefined) return err(NOT_FOUND);
    const chosen = room.members.filter(({ id }) => choice === 'all' || choice.includes(id));
    if (chosen.length === 0) return err({ kind: 'notFound', what: 'member' });
    for (const member of chosen) apply(room, member, action);
    return ok(chosen.map(({ id }) => id));
  }

  async record(
    accountId: AccountId,
    name: string,
    request: RecordRequest,
  ): Promise<Result<StartedRecording, ControlRefusal>> {
    const room = this.#find(accountId, name);
    const [first] = room?.members ?? [];
    if (room === undefined || first === undefined) return err(NOT_FOUND);
    const { callback } = request;
    const started = await room.record({
      accountId,
      currency: first.context.call.price.currency,
      conferenceName: name,
      conferenceUuid: room.uuid,
      format: request.format,
      maxMs: request.maxMs,
      transcription: request.transcription,
      notice: callback && {
        accountId,
        // Of no single call: in order with what else there is to tell of this conference.
        subject: room.uuid,
        event: 'ConferenceRecord',
        target: callback,
        parameters: [
          ['ConferenceName', name],
          ['ConferenceUUID', room.uuid],
        ],
      },
    });
    if (!started.ok) return started;
    const { recordingId, url } = started.value;
    return ok({ recordingId, url });
  }

  /** Succeeds when no recording runs (dialect §3.4: stop operations are idempotent). */
  stopRecording(accountId: AccountId, name: string): Result<void, ControlRefusal> {
    const room = this.#find(accountId, name);
    if (room === undefined) return err(NOT_FOUND);
    room.stopRecording();
    return ok(undefined);
  }

  #find(accountId: AccountId, name: string): Room | undefined {
    return this.#rooms.get(accountId)?.get(name);
  }

  #open(accountId: AccountId, key: string, name: string): Room {
    const rooms = this.#rooms.get(accountId) ?? new Map<string, Room>();
    const room = new Room({ name, accountId }, this.#needs, () => {
      rooms.delete(key);
      if (rooms.size === 0) this.#rooms.delete(accountId);
    });
    rooms.set(key, room);
    this.#rooms.set(accountId, rooms);
    return room;
  }
}

function apply(room: Room, member: Member, action: MemberAction): void {
  switch (action.kind) {
    case 'mute':
    case 'unmute':
      member.set({ muted: action.kind === 'mute' });
      break;
    case 'deaf':
    case 'undeaf':
      member.set({ deaf: action.kind === 'deaf' });
      break;
    case 'kick':
      room.leave(member, 'kicked');
      break;
    case 'hangup':
      member.context.call.hangup('normal', 'API Request');
      break;
    case 'play':
    case 'speak':
      member.hear(action);
      break;
    case 'stopPlay':
      member.silence('play');
      break;
    case 'stopSpeak':
      member.silence('speak');
      break;
  }
}

const described = (room: Room, nowMs: number): Conference => ({
  uuid: room.uuid,
  name: room.name,
  runningMs: nowMs - room.startedMs,
  hasBegun: room.hasBegun,
  members: room.members.map((member) => describedMember(member, nowMs)),
});

function describedMember(member: Member, nowMs: number): ConferenceMember {
  const { id, context, muted, deaf, joinedMs } = member;
  const { facts, uuid: callUuid } = context.call;
  const { from, to, callerName, direction } = facts;
  const inRoomMs = nowMs - joinedMs;
  const rules = member.instruction.party;
  return {
    ...{ memberId: id, callUuid, from, to, callerName, direction, muted, deaf, inRoomMs },
    ...(rules === undefined
      ? {}
      : { party: { role: rules.role, onHold: member.onHold, coaching: member.coaching } }),
  };
}
