import type { Row } from '../row.ts';
import type { Caller, Transport } from './caller.ts';

export interface Turns {
  readonly rate: number;
  readonly seconds: number;
  readonly rounds: number;
  /** CPU that the service has used so far. */
  readonly cpu: () => number | Promise<number>;
}

/** Cost of a call over each transport. The transports alternate, so that other load on the machine affects all equally. */
export async function inTurns(
  callers: ReadonlyMap<Transport, Caller>,
  { rate, seconds, rounds, cpu }: Turns,
): Promise<ReadonlyMap<Transport, number>> {
  const costs = new Map<Transport, number[]>();
  for (let round = 0; round < rounds; round += 1) {
    for (const [transport, caller] of callers) {
      const before = await cpu();
      const calls = await caller.place(rate, seconds);
      const spent = (await cpu()) - before;
      costs.set(transport, [...(costs.get(transport) ?? []), spent / calls]);
    }
  }
  return new Map([...costs].map(([transport, all]) => [transport, median(all)]));
}

/** Ratio of each transport to UDP. */
export function besideUdp(
  costs: ReadonlyMap<Transport, number>,
  rowOf: (transport: Transport) => Pick<Row, 'name' | 'unit' | 'note'>,
): Row[] {
  const floor = costs.get('udp') ?? Number.NaN;
  return [...costs].map(([transport, value]) => ({
    ...rowOf(transport),
    value,
    floor,
    ratio: value / floor,
  }));
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
