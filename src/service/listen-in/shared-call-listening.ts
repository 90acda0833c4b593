/** Lets console users listen to calls of other nodes. Polls the owning node ten times per second. */
import { Readable } from 'node:stream';
import type { Clock } from '../../base/clock.ts';
import { ServiceError } from '../../base/errors.ts';
import { type CallUuid, type Random, uuid } from '../../base/ids.ts';
import type { Peers } from '../../domain/cluster/cluster.ts';
import { callKey } from '../../domain/dispatch/dispatch.ts';
import type { CallListeningAccess, StillAllowed } from '../../edge/rest/server.ts';

type Kind = Exclude<keyof CallListeningAccess, 'stop'>;
type Begun = { readonly node: string; readonly id: string } | 'unknown' | 'busy';
interface Piece {
  /** New data. Undefined if there is none. */
  readonly bytes?: Uint8Array;
  readonly isOver: boolean;
}

const BEGIN = 'overhear.begin';
const READ = 'overhear.read';
const END = 'overhear.end';
const PIECE_MS = 100;
const MAX_BUFFERED = 256 * 1024;
/** Time without a read after which a listener counts as disconnected, in milliseconds. */
const UNREAD_MS = 5000;
/** Interval of permission checks, in milliseconds. */
const POLL_MS = 5000;

export interface SharedCallListeningNeeds {
  readonly own: CallListeningAccess;
  readonly peers: Peers;
  readonly clock: Pick<Clock, 'at' | 'monotonicMs' | 'sleep'>;
  readonly random: Random;
}

/** Output of a local call for another node. */
interface Given {
  readonly out: Readable;
  isOver: boolean;
  readMs: number;
}

export class SharedCallListening implements CallListeningAccess {
  readonly #needs: SharedCallListeningNeeds;
  readonly #given = new Map<string, Given>();
  readonly #taken = new Set<Readable>();

  constructor(needs: SharedCallListeningNeeds) {
    this.#needs = needs;
    const { bus } = needs.peers;
    bus.answer(BEGIN, (kind: Kind, callUuid: CallUuid) => this.#give(kind, callUuid));
    bus.answer(READ, (id: string) => this.#piece(id));
    bus.answer(END, async (id: string) => void this.#given.get(id)?.out.destroy());
  }

  listen: CallListeningAccess['listen'] = (callUuid, isAllowed) =>
    this.#overhear('listen', callUuid, isAllowed);

  watchStreams: CallListeningAccess['watchStreams'] = (callUuid, isAllowed) =>
    this.#overhear('watchStreams', callUuid, isAllowed);

  stop(): void {
    this.#needs.own.stop();
    for (const out of this.#taken) out.push(null);
  }

  async #overhear(
    kind: Kind,
    callUuid: CallUuid,
    isAllowed: StillAllowed,
  ): Promise<Readable | 'unknown' | 'busy'> {
    const { own, peers } = this.#needs;
    const here = await own[kind](callUuid, isAllowed);
    if (here !== 'unknown') return here;
    const begun = await peers.ofOwner<Begun>(
      callKey(callUuid),
      { here: async () => 'unknown', what: BEGIN, given: [kind, callUuid] },
      (answer) => answer === 'unknown',
    );
    return typeof begun === 'string' ? begun : this.#take(begun, isAllowed);
  }

  // ---------------------------------------------------------------- a call of another node

  #take(from: Exclude<Begun, string>, isAllowed: StillAllowed): Readable {
    const { bus } = this.#needs.peers;
    const out = new Readable({ read: () => undefined });
    this.#taken.add(out);
    out.once('close', () => {
      this.#taken.delete(out);
      bus.ask(from.node, END, [from.id]).catch(() => undefined); // without reads it ends automatically
    });
    void this.#follow(out, from, isAllowed).catch((error: unknown) =>
      // A node that is dead or does not answer ends its output.
      error instanceof ServiceError ? out.push(null) : out.destroy(error as Error),
    );
    return out;
  }

  async #follow(
    out: Readable,
    { node, id }: Exclude<Begun, string>,
    isAllowed: StillAllowed,
  ): Promise<void> {
    const { peers, clock } = this.#needs;
    let lookMs = clock.monotonicMs() + POLL_MS;
    while (!out.destroyed) {
      const { bytes, isOver } = (await peers.bus.ask(node, READ, [id])) as Piece;
      if (out.destroyed) return;
      // A slow reader loses data.
      if (bytes !== undefined && out.readableLength < MAX_BUFFERED) out.push(bytes);
      const isDue = clock.monotonicMs() >= lookMs;
      if (isDue) lookMs = clock.monotonicMs() + POLL_MS;
      if (isOver || (isDue && !(await isAllowed()))) {
        out.push(null);
        return;
      }
    }
  }

  // ---------------------------------------------------------------- a call of this node

  async #give(kind: Kind, callUuid: CallUuid): Promise<Begun> {
    const { own, peers, clock, random } = this.#needs;
    const id = uuid(random);
    // The other node checks whether the user may listen.
    const out = await own[kind](callUuid, async () => true);
    if (typeof out === 'string') return out;
    const given: Given = { out, isOver: false, readMs: clock.monotonicMs() };
    this.#given.set(id, given);
    out.once('end', () => {
      given.isOver = true;
    });
    const cancel = this.#dropUnread(given);
    out.once('close', () => {
      cancel();
      this.#given.delete(id);
    });
    return { node: peers.nodeId, id };
  }

  /** Drops the output, also an ended one, if the other node stops reading it. Returns the function that cancels this. */
  #dropUnread(given: Given): () => void {
    const { clock } = this.#needs;
    let cancel = (): void => undefined;
    const again = (): void => {
      cancel = clock.at(given.readMs + UNREAD_MS, () => {
        if (clock.monotonicMs() - given.readMs < UNREAD_MS) again();
        else given.out.destroy();
      });
    };
    again();
    return () => cancel();
  }

  async #piece(id: string): Promise<Piece> {
    const { clock } = this.#needs;
    const given = this.#given.get(id);
    if (given === undefined) return { isOver: true };
    given.readMs = clock.monotonicMs();
    await clock.sleep(PIECE_MS);
    const bytes = given.out.read() as Buffer | null;
    return { ...(bytes !== null && { bytes }), isOver: given.isOver || given.out.destroyed };
  }
}
