/** CPU and set-up time per call of one node on SQLite, compared with another built checkout (`--against FOLDER`), alternating. */
import { newPlace, removePlace, Service } from '../../test/e2e/service.ts';
import { isQuick, mostTimesFloor, type Row } from '../row.ts';
import { type Called, calledAt, measureCalls, setUpsOf, warmUp } from './calls.ts';
import { rounded } from './figures.ts';

const ROUNDS = isQuick ? 1 : 3;
/** Smaller differences count as equal. */
const SAME = mostTimesFloor(1.05);

export async function againstBefore(
  folder: string,
  answerUrl: string,
  more: Readonly<Record<string, string>>,
): Promise<readonly Row[]> {
  const places = [await newPlace(more), await newPlace(more)] as const;
  const services: Service[] = [];
  try {
    for (const [index, place] of places.entries())
      services.push(await Service.start(place, index === 0 ? undefined : folder));
    const [now, before] = services;
    if (now === undefined || before === undefined) throw new Error('two services');
    return await compared(await calledAt([now], answerUrl), await calledAt([before], answerUrl));
  } finally {
    for (const service of services) await service.kill();
    for (const place of places) removePlace(place);
  }
}

async function compared(now: Called, before: Called): Promise<readonly Row[]> {
  const both = [now, before];
  await warmUp(both);
  const cpu: [number[], number[]] = [[], []];
  const setUps: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, { p50 }] of (await setUpsOf(both)).entries()) setUps[index]?.push(p50);
    for (const [index, called] of both.entries())
      cpu[index]?.push((await measureCalls(called)).cpuMsPerCall);
  }
  const row = (what: string, unit: string, [ours, theirs]: readonly [number[], number[]]): Row => {
    const [value, floor] = [median(ours), median(theirs)];
    return {
      name: `one node on SQLite: ${what}`,
      value,
      unit,
      floor,
      ratio: rounded(value / floor),
      goal: SAME,
      note: `floor: the other checkout, alternating; ${ROUNDS} rounds: ${ours.join(', ')} and ${theirs.join(', ')}`,
    };
  };
  return [row('CPU of a call', 'ms/call', cpu), row('call set-up, p50', 'ms', setUps)];
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
