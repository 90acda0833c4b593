import { ok, type Result } from '../../base/result.ts';
import type { Call } from '../call/call.ts';
import {
  type InterpreterNeeds,
  notify,
  parametersOf,
  referParameters,
} from '../interpreter/interpreter.ts';
import type { ControlRefusal, ReferRequest } from './control.ts';

const EVENT = 'Refer';

/** Sends REFER for a REST API request. The document continues until the outcome is known and reported to `callback`. */
export async function referForApplication(
  call: Call,
  { destination, timeoutMs, callback }: ReferRequest,
  needs: Pick<InterpreterNeeds, 'referrer' | 'callbacks' | 'keeping'>,
): Promise<Result<void, ControlRefusal>> {
  const begun = await needs.referrer.refer(call, { destination, timeoutMs, source: 'API Request' });
  if (!begun.ok) return begun;
  const to = destination.kind === 'number' ? destination.number : destination.uri;
  void begun.value.outcome.then(async (outcome) => {
    if (call.isEnded) await needs.keeping.settled(call);
    const parameters = parametersOf(call, EVENT, referParameters(to, outcome));
    notify({ call, needs }, EVENT, callback, parameters);
  });
  return ok(undefined);
}
