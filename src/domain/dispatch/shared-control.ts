/** Control of live calls across nodes: forwards an operation to the node that owns the call or conference. */
import type { AccountId } from '../../base/ids.ts';
import { ok, type Result } from '../../base/result.ts';
import type { Peers, Question } from '../cluster/cluster.ts';
import { claimOf, partyKey } from '../interpreter/interpreter.ts';
import { callKey } from './call-key.ts';
import type { CallControl, ControlRefusal } from './control.ts';

type Operation = keyof CallControl;
type Answer<Op extends Operation> = Awaited<ReturnType<CallControl[Op]>>;

/** Operations that this node answers: placing calls and counting cluster-wide slots need no other node. */
const HERE = ['explainRoute', 'placeCalls', 'runningCalls'] as const;
/** Lists, merged from all nodes. */
const MERGED = ['liveCalls', 'conferences', 'multiPartyCalls', 'endedMultiPartyCalls'] as const;
/** Operations on a call; its UUID is the second argument. */
const OF_CALL = [
  ...(['liveCall', 'callLog', 'hangup', 'transfer', 'refer', 'startRecording'] as const),
  ...(['handOver', 'cancelHandOver'] as const),
  ...([
    'stopRecording',
    'pauseRecording',
    'play',
    'stopPlay',
    'speak',
    'stopSpeak',
    'sendDigits',
  ] as const),
  ...(['startStream', 'streams', 'stopStream'] as const),
] as const;
/** Operations on a conference; its name is the second argument. */
const OF_ROOM = [
  ...(['conference', 'conferenceMembers', 'recordConference', 'stopRecordingConference'] as const),
] as const;
/** Operations on a multi-party call; `name_…` or `uuid_…` is the second argument. */
const OF_PARTY = ['changeMultiPartyCall', 'recordMultiPartyCall'] as const;

/** Operations that other nodes may request for this node's calls. */
const ASKED = [...MERGED, ...OF_CALL, ...OF_ROOM, ...OF_PARTY, 'endConference'] as const;

export function shareControl(own: CallControl, peers: Peers): CallControl {
  const shared = new Shared(own, peers);
  const all = {
    ...shared.each(HERE, (op) => shared.here(op)),
    ...shared.each(MERGED, (op) => shared.merged(op)),
    ...shared.each(OF_CALL, (op) =>
      shared.ofOwner(op, ([, callUuid]) => callKey(String(callUuid))),
    ),
    ...shared.each(OF_ROOM, (op) => shared.ofOwner(op, ([of, name]) => roomKey(of, String(name)))),
    ...shared.each(OF_PARTY, (op) => shared.ofOwner(op, ([of, id]) => partyOf(of, String(id)))),
    endConference: (accountId: AccountId, name: string | undefined) =>
      shared.endConference(accountId, name),
  } satisfies Readonly<Record<Operation, unknown>>;
  return all as unknown as CallControl;
}

class Shared {
  readonly #own: CallControl;
  readonly #peers: Peers;

  constructor(own: CallControl, peers: Peers) {
    this.#own = own;
    this.#peers = peers;
    for (const op of ASKED) peers.bus.answer(nameOf(op), (...given) => this.#run(op, given));
  }

  each<Op extends Operation>(
    ops: readonly Op[],
    make: (op: Op) => unknown,
  ): Readonly<Record<Op, unknown>> {
    return Object.fromEntries(ops.map((op) => [op, make(op)])) as Record<Op, unknown>;
  }

  here(op: Operation) {
    return (...given: readonly unknown[]): Promise<unknown> => this.#run(op, given);
  }

  merged(op: Operation) {
    return async (...given: readonly unknown[]): Promise<readonly unknown[]> => {
      const lists = await this.#peers.all(this.#question<readonly unknown[]>(op, given));
      return lists.flat();
    };
  }

  ofOwner(op: Operation, keyOf: (given: readonly unknown[]) => string | undefined) {
    return (...given: readonly unknown[]): Promise<unknown> =>
      this.#peers.ofOwner(keyOf(given), this.#question(op, given), isMissing);
  }

  async endConference(
    accountId: AccountId,
    name: string | undefined,
  ): Promise<Result<void, ControlRefusal>> {
    const question = this.#question<Answer<'endConference'>>('endConference', [accountId, name]);
    if (name !== undefined)
      return this.#peers.ofOwner(roomKey(accountId, name), question, isMissing);
    await this.#peers.all(question);
    return ok(undefined);
  }

  #question<T>(op: Operation, given: readonly unknown[]): Question<T> {
    return { here: () => this.#run(op, given) as Promise<T>, what: nameOf(op), given };
  }

  async #run(op: Operation, given: readonly unknown[]): Promise<unknown> {
    // Absent arguments are null on the wire.
    const args = given.map((one) => one ?? undefined);
    const run = this.#own[op] as (...args: readonly unknown[]) => unknown;
    return run.apply(this.#own, args);
  }
}

const roomKey = (accountId: unknown, key: string): string => claimOf(accountId as AccountId, key);

/** Returns the directory key of a multi-party call. Undefined for a UUID, which requires a search on all nodes. */
function partyOf(accountId: unknown, id: string): string | undefined {
  return id.startsWith('name_') ? roomKey(accountId, partyKey(id.slice(5))) : undefined;
}

const nameOf = (op: Operation): string => `control.${op}`;

/** True if the answering node does not have the call or conference. */
function isMissing(answer: unknown): boolean {
  // On the wire, `undefined` is omitted or null.
  if (answer === undefined || answer === null) return true;
  const { error } = answer as { readonly error?: ControlRefusal };
  if (error?.kind !== 'notFound') return false;
  return error.what === 'call' || error.what === 'conference';
}
