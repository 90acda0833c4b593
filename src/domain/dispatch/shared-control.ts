/** Live control of the calls of all nodes: what this node does not have, the node does that has it. */
import type { AccountId } from '../../base/ids.ts';
import { ok, type Result } from '../../base/result.ts';
import type { Peers, Question } from '../cluster/cluster.ts';
import { claimOf, partyKey } from '../interpreter/interpreter.ts';
import { callKey } from './call-key.ts';
import type { CallControl, ControlRefusal } from './control.ts';

type Operation = keyof CallControl;
type Answer<Op extends Operation> = Awaited<ReturnType<CallControl[Op]>>;

/** What this node answers for all: requests for calls are taken where they come in, and slots are counted together. */
const HERE = ['explainRoute', 'placeCalls', 'runningCalls'] as const;
/** Lists: of all nodes, one after the other. */
const MERGED = ['liveCalls', 'conferences', 'multiPartyCalls', 'endedMultiPartyCalls'] as const;
/** Done to a call; its UUID is the second argument. */
const OF_CALL = [
  ...(['liveCall', 'callLog', 'hangup', 'transfer', 'refer', 'startRecording'] as const),
  ...(['stopRecording', 'play', 'stopPlay', 'speak', 'stopSpeak', 'sendDigits'] as const),
  ...(['startStream', 'streams', 'stopStream'] as const),
] as const;
/** Done to a conference; its name is the second argument. */
const OF_ROOM = [
  ...(['conference', 'conferenceMembers', 'recordConference', 'stopRecordingConference'] as const),
] as const;
/** Done to a multi-party call; `name_…` or `uuid_…` is the second argument. */
const OF_PARTY = ['changeMultiPartyCall', 'recordMultiPartyCall'] as const;

/** What other nodes may ask of this one's own calls. */
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

/** The directory knows names; a UUID is looked for. */
function partyOf(accountId: unknown, id: string): string | undefined {
  return id.startsWith('name_') ? roomKey(accountId, partyKey(id.slice(5))) : undefined;
}

const nameOf = (op: Operation): string => `control.${op}`;

/** There is no such call or conference where it was looked for. */
function isMissing(answer: unknown): boolean {
  // On the wire `undefined` is left out, or null.
  if (answer === undefined || answer === null) return true;
  const { error } = answer as { readonly error?: ControlRefusal };
  if (error?.kind !== 'notFound') return false;
  return error.what === 'call' || error.what === 'conference';
}
