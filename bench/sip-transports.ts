/** What an answered call costs the SIP stack over each transport, on one kept flow: seven messages, sockets and TLS included. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { isQuick, type Row } from './row.ts';
import { Caller, type Transport } from './sip-transports/caller.ts';

const TRANSPORTS: readonly Transport[] = ['udp', 'tcp', 'tls', 'ws', 'wss'];
const RATE = 100;
const SECONDS = isQuick ? 3 : 5;
const ROUNDS = isQuick ? 2 : 5;
const SERVICE = fileURLToPath(new URL('./sip-transports/service.ts', import.meta.url));

async function cpuUs(child: ChildProcess): Promise<number> {
  const answer = once(child, 'message');
  child.send('cpu');
  const [{ cpuUs: spent }] = await answer;
  return spent;
}

export async function run(): Promise<Row[]> {
  const child = fork(SERVICE);
  const [ports] = (await once(child, 'message')) as [Record<Transport, number>];
  const callers = new Map(TRANSPORTS.map((transport) => [transport, new Caller(transport)]));
  const costs = new Map<Transport, number[]>();
  try {
    for (const [transport, caller] of callers) {
      await caller.open(ports[transport]);
      await caller.place(RATE * 4, 2);
    }
    // In turns, so that what else the machine does falls on all of them alike.
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [transport, caller] of callers) {
        const before = await cpuUs(child);
        const calls = await caller.place(RATE, SECONDS);
        const spent = (await cpuUs(child)) - before;
        costs.set(transport, [...(costs.get(transport) ?? []), spent / calls]);
      }
    }
  } finally {
    for (const caller of callers.values()) caller.close();
    child.disconnect();
  }
  const floor = median(costs.get('udp') ?? []);
  return TRANSPORTS.map((transport) => {
    const value = median(costs.get(transport) ?? []);
    return {
      name: `answered call over ${transport}`,
      value: Number(value.toFixed(0)),
      unit: 'µs/call',
      floor: Number(floor.toFixed(0)),
      ratio: value / floor,
      note: `${RATE} calls a second, ${ROUNDS} rounds in turns`,
    };
  });
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
