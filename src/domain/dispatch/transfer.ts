/** Transfers of live calls to another document: A leg, B leg or both (dialect §2.2). */
import { err, ok, type Result } from '../../base/result.ts';
import type { Call } from '../call/call.ts';
import type { CallbackTarget } from '../callback/types.ts';
import { dialOf, Interpreter, type LiveDial } from '../interpreter/interpreter.ts';
import type { ControlRefusal, TransferRequest } from './control.ts';
import type { DispatchNeeds } from './needs.ts';

type TransferNeeds = Pick<DispatchNeeds, 'interpreter' | 'callBilling' | 'scripts'>;
type Outcome = Result<void, ControlRefusal>;

/**
 * Transfers a call. `call` is usually the A leg; a connected B leg addressed by its UUID is also transferred as `aleg`.
 * Transferring only the A leg ends its `Dial`, which hangs up the B leg.
 */
export function transferCall(call: Call, request: TransferRequest, needs: TransferNeeds): Outcome {
  const { legs, aleg, bleg } = request;
  const movesA = legs !== 'bleg';
  const movesB = legs !== 'aleg';
  if (movesA && aleg === undefined) return wrongState('aleg_url is missing');
  if (movesB && bleg === undefined) return wrongState('bleg_url is missing');
  if (movesB && dialOf(call)?.leg === undefined) return wrongState('the call has no B leg');
  const canMoveA = needs.scripts.of(call) !== undefined || dialWith(call, needs) !== undefined;
  if (movesA && !canMoveA) return wrongState('no document runs on this leg');
  // Move the B leg first: transferring the A leg ends the Dial and any B leg still in it.
  if (movesB && bleg !== undefined) moveBLeg(dialOf(call), bleg, needs);
  if (movesA && aleg !== undefined) {
    const script = needs.scripts.of(call);
    if (script === undefined) moveBLeg(dialWith(call, needs), aleg, needs);
    else script.transfer(aleg);
  }
  return ok(undefined);
}

/** Returns the Dial whose connected B leg this call is. */
function dialWith(call: Call, { callBilling }: TransferNeeds): LiveDial | undefined {
  const { parentCallUuid } = call.identity;
  const parent = parentCallUuid === undefined ? undefined : callBilling.get(parentCallUuid);
  const dial = parent === undefined ? undefined : dialOf(parent);
  return dial?.leg === call ? dial : undefined;
}

/** Releases the B leg from its Dial and runs a separate script on it. */
function moveBLeg(
  dial: LiveDial | undefined,
  target: CallbackTarget,
  { interpreter, scripts }: TransferNeeds,
): void {
  const leg = dial?.release();
  if (leg === undefined) return;
  const script = new Interpreter(leg, { answer: target, fallback: undefined }, interpreter());
  scripts.add(leg, script);
  script.transfer(target);
  void script.run();
}

const wrongState = (detail: string): Outcome => err({ kind: 'wrongState', detail });
