/** Post-dial delay: from the caller's INVITE to the one at the callee, by the times that SIPp notes at both ends. */
import type { Row } from '../../row.ts';
import { ENDING_DIGITS, Rig, type RigOptions } from '../rig.ts';
import type { Invite } from '../sipp.ts';
import { describe } from '../step.ts';

const ENDINGS = 10 ** ENDING_DIGITS;

/** Callers' numbers count up from 0, their Call-IDs from 1. */
const endingOfCaller = ({ callId }: Invite): number => (Number.parseInt(callId, 10) - 1) % ENDINGS;
const endingOfCallee = ({ user }: Invite): number => Number(user.slice(-ENDING_DIGITS));

/** Milliseconds, sorted: the n-th call with an ending is the n-th with it at the other end. */
function delaysOf(sent: readonly Invite[], arrived: readonly Invite[]): readonly number[] {
  const waiting = new Map<number, number[]>();
  for (const invite of sent) {
    const ending = endingOfCaller(invite);
    waiting.set(ending, [...(waiting.get(ending) ?? []), invite.atMs]);
  }
  const delays: number[] = [];
  for (const invite of arrived) {
    const sentMs = waiting.get(endingOfCallee(invite))?.shift();
    if (sentMs !== undefined) delays.push(invite.atMs - sentMs);
  }
  return delays.sort((a, b) => a - b);
}

export async function delayRows(
  title: string,
  options: RigOptions,
  { rate, seconds }: { readonly rate: number; readonly seconds: number },
): Promise<readonly Row[]> {
  const rig = await Rig.start({ ...options, trace: true });
  try {
    const before = rig.arrived().length;
    const one = await rig.step(rate, seconds);
    const delays = delaysOf(one.invites, rig.arrived().slice(before));
    const at = (share: number): number => delays[Math.floor(delays.length * share)] ?? Number.NaN;
    const row = (name: string, value: number, note: string): Row => ({
      name: `${title}: INVITE in → INVITE out at ${rate}/s, ${name}`,
      value,
      unit: 'ms',
      note,
    });
    return [
      row('p50', at(0.5), `goal: ≤ 5; with the customer's answer; ${describe(one)}`),
      row('p99', at(0.99), 'goal: ≤ 15'),
    ];
  } finally {
    await rig.stop();
  }
}
