/**
 * Conferences across nodes. Each conference is owned by one node, as claimed in Redis; calls of other nodes join it
 * there. When the owner fails or leaves, the members meet again on another node.
 */
import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/logger.ts';
import { noOperation } from '../../../base/no-operation.ts';
import { RecentMap } from '../../../base/recent-map.ts';
import type { ConferenceInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import type { Call, CallLogKind } from '../../call/call.ts';
import { connectParties, keepConsent } from '../../call/types.ts';
import type { CallbackClient } from '../../callback/callback.ts';
import type { NotificationDraft } from '../../callback/types.ts';
import type { NodeTickets } from '../../cluster/cluster.ts';
import type { Claims } from '../../cluster/needs.ts';
import { endUnagreed } from '../kept-audio.ts';
import type { ConferenceDirectory, LeaveReason, Participation, VerbContext } from '../needs.ts';
import {
  AGREED,
  BEGUN,
  claimOf,
  GUEST,
  type GuestState,
  JOIN,
  type JoinAnswer,
  type JoinRequest,
  LEAVE,
  NOTED,
  NOTIFY,
  placeIn,
  roomOfClaim,
} from './between-nodes.ts';
import { type Conferences, keyOfRoom } from './conferences.ts';
import { Guest, type GuestNeeds } from './guest.ts';
import { joinRemote, type RemoteJoinNeeds, type Wanted } from './remote-join.ts';
import { Rosters } from './rosters.ts';

/** Retries while joining. Together they exceed the 3 s for which a failed node is still listed as alive. */
const TRIES = 25;
const AGAIN_MS = 200;
/** Time for which the state of a departed guest is kept, in ms. */
const REMEMBERED_MS = 30_000;
/** Places of a call in a moving conference that are remembered. */
const MAX_LEFT = 20;

export interface SharedConferencesNeeds
  extends Omit<RemoteJoinNeeds, 'ownerLost'>,
    Omit<GuestNeeds, 'own' | 'rosters'> {
  readonly own: Conferences;
  readonly claims: Claims;
  readonly tickets: NodeTickets;
  /** IDs of active nodes, including this one. */
  readonly living: () => readonly string[];
  /** Returns the URI under which a call with a ticket reaches this node. */
  readonly uriOf: (username: string) => string;
  readonly callbacks: Pick<CallbackClient, 'notify'>;
  readonly calls: { get(callUuid: Call['uuid']): Call | undefined };
  readonly clock: Clock;
  readonly logger: Logger;
}

type Entered = Participation | 'full' | 'again';

export class SharedConferences implements ConferenceDirectory {
  readonly #needs: SharedConferencesNeeds;
  readonly #own: Conferences;
  readonly #rosters: Rosters;
  readonly #guests = new Map<string, Guest>();
  readonly #visiting = new Set<Call>();
  /** Calls in conferences with the state that moves along with them. */
  readonly #stays = new Map<Call['uuid'], Stay>();
  #isLeaving = false;

  constructor(needs: SharedConferencesNeeds) {
    this.#needs = needs;
    this.#own = needs.own;
    const { bus, claims, callbacks, calls } = needs;
    this.#rosters = new Rosters(needs);
    claims.onLost((claim) => {
      const room = roomOfClaim(claim);
      if (room !== undefined) this.#own.moveAway(room);
    });
    bus.answer(JOIN, (request: JoinRequest) => this.#joined(request));
    bus.answer(GUEST, (ticket: string) => this.#stateOf(ticket));
    bus.answer(LEAVE, async (ticket: string) => {
      const state = await this.#guests.get(ticket)?.leave();
      return state ?? UNKNOWN;
    });
    bus.answer(BEGUN, async (callUuid: Call['uuid']) => this.#stays.get(callUuid)?.hasBegun());
    bus.answer(AGREED, async (callUuid: Call['uuid'], agreed: boolean, place: string) =>
      this.#stays.get(callUuid)?.othersAgreed(agreed, place),
    );
    bus.answer(NOTIFY, async (draft: NotificationDraft) => callbacks.notify(draft));
    bus.answer(
      NOTED,
      async (
        callUuid: Call['uuid'],
        kind: CallLogKind,
        text: string,
        facts: Readonly<Record<string, unknown>>,
      ) => calls.get(callUuid)?.log.add(kind, text, facts),
    );
  }

  async enter(
    instruction: ConferenceInstruction,
    context: VerbContext,
  ): Promise<Participation | undefined> {
    const { uuid } = context.call;
    const stay = new Stay(context, (goesOn) => this.#enter(instruction, context, goesOn));
    this.#stays.set(uuid, stay);
    const forget = (): void => {
      if (this.#stays.get(uuid) === stay) this.#stays.delete(uuid);
    };
    try {
      const participation = await stay.begin();
      if (participation === undefined) forget();
      else void participation.member.left.then(forget, forget);
      return participation;
    } catch (error) {
      forget();
      throw error;
    }
  }

  /** Stops accepting conferences and hands the existing ones to other nodes. */
  leave(): void {
    this.#isLeaving = true;
    this.#own.moveAway();
  }

  connects(call: Call): boolean {
    return this.#visiting.has(call) || this.#own.connects(call);
  }

  list: ConferenceDirectory['list'] = (...of) => this.#own.list(...of);
  parties: ConferenceDirectory['parties'] = (...of) => this.#own.parties(...of);
  endedParties: ConferenceDirectory['endedParties'] = (...of) => this.#own.endedParties(...of);
  changeParty: ConferenceDirectory['changeParty'] = (...of) => this.#own.changeParty(...of);
  recordParty: ConferenceDirectory['recordParty'] = (...of) => this.#own.recordParty(...of);
  get: ConferenceDirectory['get'] = (...of) => this.#own.get(...of);
  end: ConferenceDirectory['end'] = (...of) => this.#own.end(...of);
  act: ConferenceDirectory['act'] = (...of) => this.#own.act(...of);
  record: ConferenceDirectory['record'] = (...of) => this.#own.record(...of);
  stopRecording: ConferenceDirectory['stopRecording'] = (...of) => this.#own.stopRecording(...of);

  async #enter(
    instruction: ConferenceInstruction,
    context: VerbContext,
    goesOn: boolean,
  ): Promise<Participation | undefined> {
    const { call, signal } = context;
    const claim = claimOf(call.identity.accountId, keyOfRoom(instruction));
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      const entered = await this.#tried(attempt, { claim, goesOn, instruction, context });
      if (entered === 'full') return undefined;
      if (entered !== 'again') return entered;
      await this.#needs.clock.sleep(AGAIN_MS, signal);
    }
    call.log.add('warning', 'conference on another node could not be joined', {
      name: instruction.room,
    });
    return undefined;
  }

  async #tried(attempt: number, wanted: Wanted): Promise<Entered> {
    const { claim, goesOn, instruction, context } = wanted;
    const { nodeId, claims } = this.#needs;
    const owner = await this.#ownerOf(claim, attempt);
    if (owner !== nodeId) {
      const ownerLost = (uuid: string): void => this.#rosters.ownerLost(uuid);
      const entered = await joinRemote(owner, wanted, { ...this.#needs, ownerLost });
      if (typeof entered === 'string') return entered;
      this.#visits(context.call, owner, entered);
      return entered;
    }
    let entered: Participation | undefined;
    try {
      context.signal.throwIfAborted();
      entered = this.#own.enterHere(instruction, context, goesOn);
    } finally {
      if (entered === undefined) claims.release(claim);
    }
    if (entered === undefined) return 'full';
    void entered.member.left.then(() => claims.release(claim));
    return entered;
  }

  #visits(call: Call, node: string, { room, member }: Participation): void {
    const { name } = room;
    call.log.add('call', 'conference entered on another node', { name, node });
    this.#visiting.add(call);
    void member.left.then(() => this.#visiting.delete(call));
  }

  /** Determines the owner of a conference. A leaving node claims nothing and tries the other nodes in turn. */
  async #ownerOf(claim: string, attempt: number): Promise<string> {
    const { claims, nodeId, living } = this.#needs;
    const others = living().filter((node) => node !== nodeId);
    if (!this.#isLeaving || others.length === 0) return claims.claim(claim);
    return others[attempt % others.length] ?? nodeId;
  }

  /** Handles a join request from another node, for a conference that this node should own. */
  async #joined(request: JoinRequest): Promise<JoinAnswer> {
    const { claims, nodeId, tickets, uriOf, clock } = this.#needs;
    const { claim, host } = request;
    if (this.#isLeaving) return { kind: 'elsewhere' };
    if ((await claims.claim(claim)) !== nodeId) return { kind: 'elsewhere' };
    const guest = new Guest(request, { ...this.#needs, own: this.#own, rosters: this.#rosters });
    const ticket = tickets.issue(host, {
      take: (leg: Parameters<Guest['arrived']>[0]) => guest.arrived(leg),
      lapsed: () => guest.lost(),
    });
    const { username } = ticket;
    this.#guests.set(username, guest);
    void guest.over.then(() => {
      claims.release(claim);
      clock.at(clock.monotonicMs() + REMEMBERED_MS, () => this.#guests.delete(username));
    });
    return { kind: 'ticket', ticket, uri: uriOf(username) };
  }

  async #stateOf(ticket: string): Promise<GuestState> {
    return (await this.#guests.get(ticket)?.state()) ?? UNKNOWN;
  }
}

const UNKNOWN: GuestState = { kind: 'unknown' };

/** One call in one conference, on any node. Follows the conference when it moves, and keeps its started state. */
class Stay {
  readonly #context: VerbContext;
  readonly #enter: (goesOn: boolean) => Promise<Participation | undefined>;
  /** Places that the call has left. Their reports may arrive late and do not count. */
  readonly #left = new RecentMap<true>(MAX_LEFT);
  #hasBegun = false;
  #undo: () => void = noOperation;

  constructor(
    context: VerbContext,
    enter: (goesOn: boolean) => Promise<Participation | undefined>,
  ) {
    this.#context = context;
    this.#enter = enter;
  }

  /** Notes whether the members on other nodes have agreed to recordings and streams of what they say. */
  othersAgreed(agreed: boolean, place: string): void {
    if (this.#left.get(place)) return;
    this.#undo();
    if (agreed) return;
    const { call, needs } = this.#context;
    const others = { nowUs: () => call.nowUs() };
    keepConsent(others, 'refused');
    this.#undo = connectParties(call, others);
    endUnagreed(call, needs);
  }

  /** Marks the conference as begun. */
  hasBegun(): void {
    this.#hasBegun = true;
  }

  async begin(): Promise<Participation | undefined> {
    const first = await this.#enter(false);
    if (first === undefined) return undefined;
    let now = first;
    const follow = async (): Promise<LeaveReason> => {
      for (;;) {
        const reason = await now.member.left;
        const place = placeIn(now.room, now.member);
        this.othersAgreed(true, place);
        this.#left.set(place, true);
        if (reason !== 'moved') return reason;
        const next = await this.#after(now);
        if (typeof next === 'string') return next;
        now = next;
        if (this.#context.signal.aborted) await next.leave();
      }
    };
    const left = follow();
    return {
      member: {
        get id() {
          return now.member.id;
        },
        left,
      },
      get room() {
        return now.room;
      },
      leave: () => now.leave(),
    };
  }

  async #after({ room }: Participation): Promise<Participation | LeaveReason> {
    const { signal, call } = this.#context;
    if (signal.aborted) return 'callOver';
    this.#hasBegun ||= room.hasBegun;
    call.log.add('call', 'conference moves to another node', { name: room.name });
    const next = await this.#enter(this.#hasBegun).catch((error: unknown) => {
      if (signal.aborted) return undefined;
      throw error;
    });
    return next ?? (signal.aborted ? 'callOver' : 'roomEnded');
  }
}
