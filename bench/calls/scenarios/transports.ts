/** Whole calls whose caller comes over UDP, TCP, TLS or WebSocket, each on a kept connection: what the transport adds. Debian's SIPp speaks no TLS. */
import { isQuick, type Row } from '../../row.ts';
import { besideUdp, inTurns } from '../../sip-transports/alternating.ts';
import { Caller, type Transport } from '../../sip-transports/caller.ts';
import { cpuOf } from '../accounting.ts';
import { Rig, type RigOptions } from '../rig.ts';
import { SIP_PORT } from '../service.ts';

const [TLS_PORT, WS_PORT] = [SIP_PORT + 1, SIP_PORT + 2];
const PORTS = [
  ['udp', SIP_PORT],
  ['tcp', SIP_PORT],
  ['tls', TLS_PORT],
  ['ws', WS_PORT],
] as const satisfies readonly (readonly [Transport, number])[];
const RATE = 50;
const SECONDS = isQuick ? 4 : 6;
const ROUNDS = isQuick ? 3 : 5;

export async function transportRows(title: string, options: RigOptions): Promise<readonly Row[]> {
  const ports = { CARILLON_SIP_TLS_PORT: String(TLS_PORT), CARILLON_SIP_WS_PORT: String(WS_PORT) };
  const rig = await Rig.start({ ...options, env: { ...options.env, ...ports } });
  const callers = new Map(PORTS.map(([transport]) => [transport, new Caller(transport)]));
  try {
    for (const [transport, port] of PORTS) {
      await callers.get(transport)?.open(port);
      // A connection that says nothing would be closed before its turn.
      await callers.get(transport)?.place(RATE, 1);
    }
    const cpu = (): number => cpuOf(rig.service.pid).ms;
    const costs = await inTurns(callers, { rate: RATE, seconds: SECONDS, rounds: ROUNDS, cpu });
    const note = `goal: ≤ 1.3; ${RATE} calls a second, ${ROUNDS} alternating rounds, hung up immediately`;
    return besideUdp(costs, (transport) => ({
      name: `${title}, caller over ${transport}`,
      unit: 'ms/call',
      note,
    }));
  } finally {
    for (const caller of callers.values()) caller.close();
    await rig.stop();
  }
}
