/** Operator's view of the running calls of all nodes. */
import type { CallUuid } from '../base/ids.ts';
import type { Peers, Question } from '../domain/cluster/cluster.ts';
import { callKey } from '../domain/dispatch/dispatch.ts';
import type { LiveCalls } from '../edge/rest/server.ts';

type Operation = keyof LiveCalls;

const OPERATIONS = [
  ...(['list', 'get', 'quality', 'scores', 'hangup', 'messages', 'qualitySamples'] as const),
] satisfies readonly Operation[];

export function shareLiveCalls(own: LiveCalls, peers: Peers): LiveCalls {
  const run = async (op: Operation, given: readonly unknown[]): Promise<unknown> =>
    (own[op] as (...given: readonly unknown[]) => unknown)(...given);
  for (const op of OPERATIONS) peers.bus.answer(nameOf(op), (...given) => run(op, given));

  const question = <T>(op: Operation, ...given: readonly unknown[]): Question<T> => ({
    here: () => run(op, given) as Promise<T>,
    what: nameOf(op),
    given,
  });
  const ofCall = <T>(op: Operation, callUuid: CallUuid, ...more: readonly unknown[]): Promise<T> =>
    peers.ofOwner<T>(callKey(callUuid), question<T>(op, callUuid, ...more), isNothing);
  return {
    list: async () =>
      (await peers.all(question<Awaited<ReturnType<LiveCalls['list']>>>('list'))).flat(),
    scores: async (callUuids) =>
      (
        await peers.all(question<Awaited<ReturnType<LiveCalls['scores']>>>('scores', callUuids))
      ).flat(),
    get: (callUuid) => ofCall('get', callUuid),
    quality: (callUuid) => ofCall('quality', callUuid),
    hangup: (callUuid) => ofCall('hangup', callUuid),
    messages: (callUuid, form) => ofCall('messages', callUuid, form),
    qualitySamples: (callUuid) => ofCall('qualitySamples', callUuid),
  };
}

const nameOf = (op: Operation): string => `operator.${op}`;

const isNothing = (answer: unknown): boolean =>
  answer === undefined || answer === null || answer === false;
