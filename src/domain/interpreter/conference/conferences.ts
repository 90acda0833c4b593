/** Conferences of all accounts on this node, by account and case-sensitive name, with the operations of the REST API. */

import { wallUs } from '../../../base/clock.ts';
import type { AccountId } from '../../../base/ids.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import type { ConferenceInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import type { Call } from '../../call/call.ts';
import type {
  Conference,
  ControlRefusal,
  MemberAction,
  MemberChoice,
  PartyAction,
  RecordRequest,
  StartedRecording,
} from '../../dispatch/types.ts';
import type { ConferenceDirectory, Participation, VerbContext } from '../needs.ts';
import { describedRoom } from './description.ts';
import type { Member } from './member.ts';
import { actOnParty, recordParty } from './party-control.ts';
import { EndedParties } from './party-history.ts';
import { Room, type RoomNeeds } from './room.ts';

/** Key prefix that separates multi-party calls from conferences of the same name. Names in documents cannot contain it. */
const PARTY = '\u0000';
export const partyKey = (name: string): string => PARTY + name;

/** Key of the room within its account. */
export const keyOfRoom = ({ room, party }: ConferenceInstruction): string =>
  party === undefined ? room : partyKey(room);

const NOT_FOUND: ControlRefusal = { kind: 'notFound', what: 'conference' };

export class Conferences implements ConferenceDirectory {
  readonly #needs: RoomNeeds;
  readonly #rooms = new Map<string, Map<string, Room>>();
  readonly #ended = new EndedParties();

  constructor(needs: RoomNeeds) {
    this.#needs = needs;
  }

  /** Adds a call to the room of that name in its account. Creates the room if it does not exist. */
  async enter(
    instruction: ConferenceInstruction,
    context: VerbContext,
  ): Promise<Participation | undefined> {
    return this.enterHere(instruction, context);
  }

  /** Synchronous form of `enter`; `goesOn` as for `Room.enter`. */
  enterHere(
    instruction: ConferenceInstruction,
    context: VerbContext,
    goesOn = false,
  ): (Participation & { readonly room: Room }) | undefined {
    const { accountId } = context.call.identity;
    const key = keyOfRoom(instruction);
    const room = this.#find(accountId, key) ?? this.#open(accountId, key, instruction.room);
    try {
      const member = room.enter(instruction, context, goesOn);
      if (member === undefined) return undefined;
      return { room, member, leave: async () => room.leave(member, 'callOver') };
    } finally {
      // If the media engine rejects the first member, no later leave would close the empty room.
      room.closeIfEmpty();
    }
  }

  /** Releases the members so that they can join again on another node; without `of`, those of all rooms. */
  moveAway(of?: { readonly accountId: AccountId; readonly key: string }): void {
    const rooms =
      of === undefined
        ? [...this.#rooms.values()].flatMap((named) => [...named.values()])
        : [this.#find(of.accountId, of.key)];
    for (const room of rooms) room?.moveAway();
  }

  connects(call: Call): boolean {
    const rooms = [...(this.#rooms.get(call.identity.accountId)?.values() ?? [])];
    return rooms.some(
      ({ members }) => members.length > 1 && members.some(({ context }) => context.call === call),
    );
  }

  list(accountId: AccountId): readonly Conference[] {
    return this.#described(accountId, false);
  }

  parties(accountId: AccountId): readonly Conference[] {
    return this.#described(accountId, true);
  }

  endedParties(accountId: AccountId): readonly Conference[] {
    return this.#ended.list(accountId, this.#nowUs());
  }

  changeParty(accountId: AccountId, id: string, action: PartyAction): Result<void, ControlRefusal> {
    const key = this.#partyKeyOf(accountId, id);
    const room = key === undefined ? undefined : this.#find(accountId, key);
    if (room === undefined) return err(NOT_FOUND);
    return actOnParty(room, action);
  }

  async recordParty(
    accountId: AccountId,
    id: string,
    request: RecordRequest,
    member?: { readonly id: string; readonly track: 'voice' | 'all' },
  ): Promise<Result<StartedRecording, ControlRefusal>> {
    const key = this.#partyKeyOf(accountId, id);
    const room = key === undefined ? undefined : this.#find(accountId, key);
    return room === undefined ? err(NOT_FOUND) : recordParty(room, request, member);
  }

  #described(accountId: AccountId, isParty: boolean): readonly Conference[] {
    return [...(this.#rooms.get(accountId) ?? [])]
      .filter(([key]) => key.startsWith(PARTY) === isParty)
      .map(([, room]) => describedRoom(room, this.#needs.clock));
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
    return room === undefined ? undefined : describedRoom(room, this.#needs.clock);
  }

  /** Hangs up all members of a conference. Without `name`, ends all conferences of the account, if any. */
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

  /** Applies an action to the chosen members and returns their IDs. Returns notFound if all of them have left. */
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
        // The notification belongs to the conference, not to a call: it is ordered with the conference's other
        // notifications.
        subject: room.uuid,
        event: 'ConferenceRecord',
        target: callback,
        parameters: [
          ['ConferenceAction', 'record'],
          ['Event', 'ConferenceRecord'],
          ['ConferenceName', name],
          ['ConferenceUUID', room.uuid],
          ['ParentAuthID', first.context.call.facts.parentAuthId],
        ],
      },
    });
    if (!started.ok) return started;
    const { recordingId, url } = started.value;
    return ok({ recordingId, url });
  }

  /** Stops the recording. Succeeds if none is running (dialect §3.4: stop operations are idempotent). */
  stopRecording(accountId: AccountId, name: string): Result<void, ControlRefusal> {
    const room = this.#find(accountId, name);
    if (room === undefined) return err(NOT_FOUND);
    room.stopRecording();
    return ok(undefined);
  }

  #find(accountId: AccountId, name: string): Room | undefined {
    return this.#rooms.get(accountId)?.get(name);
  }

  /** Keeps an ended multi-party call for the API, unless no member ever joined. */
  #remember(room: Room): void {
    const { clock } = this.#needs;
    const { party, ...rest } = describedRoom(room, clock);
    if (party === undefined || party.former.length === 0) return;
    const ended = { ...party, endedUs: this.#nowUs(), cause: room.history.cause };
    this.#ended.add(room.accountId, { ...rest, party: ended });
  }

  #nowUs(): number {
    return wallUs(this.#needs.clock);
  }

  #open(accountId: AccountId, key: string, name: string): Room {
    const rooms = this.#rooms.get(accountId) ?? new Map<string, Room>();
    const room: Room = new Room({ name, accountId }, this.#needs, () => {
      if (key.startsWith(PARTY)) this.#remember(room);
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
