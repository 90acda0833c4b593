import { err, ok, type Result } from '../../base/result.ts';
import type { Call } from '../call/call.ts';
import {
  handOverOf,
  type InterpreterNeeds,
  notify,
  parametersOf,
  transferParameters,
} from '../interpreter/interpreter.ts';
import type { ControlRefusal, HandOverRequest } from './control.ts';

const EVENT = 'Transfer';
const wrongState = (detail: string) => err({ kind: 'wrongState', detail } as const);

/** Transfers the caller of a bot for a REST API request. `callback` gets the progress. */
export function handOverForApplication(
  call: Call,
  { callback, ...transfer }: HandOverRequest,
  needs: Pick<InterpreterNeeds, 'callbacks'>,
): Result<void, ControlRefusal> {
  const handOver = handOverOf(call);
  if (handOver === undefined)
    return wrongState('the document of the call is not at a Stream with keepCallAlive');
  const { mode, to } = transfer;
  call.log.add('stream', 'transfer requested', { mode, to, source: 'API Request' });
  const refusal = handOver.begin(transfer, (progress) => {
    const parameters = parametersOf(call, EVENT, transferParameters(transfer, progress));
    notify({ call, needs }, EVENT, callback, parameters);
  });
  return refusal === undefined ? ok(undefined) : wrongState(refusal);
}

/** Cancels the transfer in progress. */
export const cancelHandOver = (call: Call): Result<void, ControlRefusal> =>
  handOverOf(call)?.cancel() === true ? ok(undefined) : wrongState('no transfer is in progress');
