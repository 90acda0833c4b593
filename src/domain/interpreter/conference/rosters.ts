/**
 * `ConferenceExit` for members of a conference whose node has crashed. The conference's node sends each node that has guests in it a
 * roster: the exit notifications of the members whose calls run at the conference's own node. If that node crashes, one of the
 * remaining nodes sends them.
 */
import { RecentMap } from '../../../base/recent-map.ts';
import type { Call } from '../../call/call.ts';
import type { NotificationDraft } from '../../callback/types.ts';
import type { Bus } from '../../cluster/needs.ts';
import { exitNotice } from './conference-events.ts';
import type { Room } from './room.ts';

/** Bus message with the roster of one conference. */
const ROSTER = 'conference.roster';
/** Rosters that a node remembers. */
const MAX_ROSTERS = 2000;

interface Roster {
  /** Nodes that have guests in the conference. */
  readonly homes: readonly string[];
  readonly exits: readonly NotificationDraft[];
}

export interface RostersNeeds {
  readonly bus: Bus;
  readonly nodeId: string;
  /** IDs of the nodes that are alive, including this one. */
  readonly living: () => readonly string[];
  readonly callbacks: { notify(draft: NotificationDraft): void };
}

export class Rosters {
  readonly #needs: RostersNeeds;
  /** Home nodes of guests of this node's conferences. */
  readonly #homes = new WeakMap<Call, string>();
  readonly #watched = new WeakSet<Room>();
  /** Rosters of other nodes' conferences, by conference UUID. */
  readonly #received = new RecentMap<Roster>(MAX_ROSTERS);

  constructor(needs: RostersNeeds) {
    this.#needs = needs;
    needs.bus.answer(ROSTER, async (uuid: string, roster: Roster) => {
      this.#received.set(uuid, roster);
    });
  }

  /** Notes that `call`, a guest, represents a call of node `home`. Call this before the guest enters a room. */
  guest(call: Call, home: string): void {
    this.#homes.set(call, home);
  }

  /** Sends rosters of `room` from now on, after each change of its members. */
  watch(room: Room): void {
    if (this.#watched.has(room)) return;
    this.#watched.add(room);
    room.onMembers(() => this.#send(room));
    this.#send(room);
  }

  /** The node of a conference crashed. Sends the exits of this node's members if this node is the one that must. */
  ownerLost(uuid: string): void {
    const roster = this.#received.get(uuid);
    if (roster === undefined) return;
    this.#received.delete(uuid);
    const { living, nodeId, callbacks } = this.#needs;
    const alive = new Set(living());
    const [sender] = roster.homes.filter((home) => alive.has(home)).sort();
    if (sender !== nodeId) return;
    for (const exit of roster.exits) callbacks.notify(exit);
  }

  #send(room: Room): void {
    const { members } = room;
    const homeOf = (call: Call): readonly string[] => {
      const home = this.#homes.get(call);
      return home === undefined ? [] : [home];
    };
    const homes = [...new Set(members.flatMap(({ context }) => homeOf(context.call)))];
    const own = members.filter(({ context }) => !this.#homes.has(context.call));
    const exits = own.flatMap((member) => exitNotice(room, member, EXIT) ?? []);
    const roster: Roster = { homes, exits };
    // An unreachable node misses this roster; it gets the next one.
    for (const home of homes)
      this.#needs.bus.ask(home, ROSTER, [room.uuid, roster]).catch(() => undefined);
  }
}

const EXIT = { wasFirst: false, isLast: false } as const;
