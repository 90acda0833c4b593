/** CPU of the SIP stack for an answered call over each transport, on one reused flow: seven messages, including sockets and TLS. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { isQuick, type Row } from './row.ts';
import { besideUdp, inTurns } from './sip-transports/alternating.ts';
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
  try {
    for (const [transport, caller] of callers) {
      await caller.open(ports[transport]);
      await caller.place(RATE * 4, 2);
    }
    const turns = { rate: RATE, seconds: SECONDS, rounds: ROUNDS, cpu: () => cpuUs(child) };
    const note = `${RATE} calls a second, ${ROUNDS} alternating rounds`;
    return besideUdp(await inTurns(callers, turns), (transport) => ({
      name: `answered call over ${transport}`,
      unit: 'µs/call',
      note,
    }));
  } finally {
    for (const caller of callers.values()) caller.close();
    child.disconnect();
  }
}
