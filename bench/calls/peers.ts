/** Peers with the same calls between the same two ends, compared with this service. */
import { asteriskProgram, startAsterisk } from '../peers/asterisk.ts';
import { drachtioPrograms, startDrachtio } from '../peers/drachtio.ts';
import type { RunningPeer } from '../peers/peer.ts';
import { mostTimesFloor, type Row } from '../row.ts';
import type { CallKind, CallsOptions } from './options.ts';
import { atRates, type Found, rowsOf, type Subject, warmUp } from './rates.ts';
import { ANSWERED_BY_XML, SIP_PORT } from './service.ts';
import { CALLEE_PORT, Callee } from './sipp.ts';
import { isClean, type Step, step } from './step.ts';

/** Maximum cost of a call, relative to the cheapest peer. */
const GOALS: Readonly<Record<CallKind, number>> = { whole: 0.5, trunk: 0.35 };

interface Peer {
  readonly name: string;
  start(): Promise<RunningPeer & { callRecords?(): number }>;
}

export interface PeerFound {
  readonly name: string;
  readonly found: Found;
}

function installed(folder: string): readonly Peer[] {
  const peers: Peer[] = [];
  const asterisk = asteriskProgram();
  const callee = { port: CALLEE_PORT, codec: 'ulaw' };
  if (asterisk !== undefined)
    peers.push({
      name: 'Asterisk, Dial with CDR',
      start: () =>
        startAsterisk({
          program: asterisk,
          folder,
          sipPort: SIP_PORT,
          callerCodec: 'ulaw',
          callee,
        }),
    });
  const drachtio = drachtioPrograms();
  if (drachtio !== undefined)
    peers.push({
      name: 'drachtio-server with drachtio-srf, no CDR',
      start: () =>
        startDrachtio({ programs: drachtio, folder, sipPort: SIP_PORT, calleePort: CALLEE_PORT }),
    });
  return peers;
}

async function subject(peer: Peer, folder: string): Promise<Subject> {
  const callee = await Callee.start(folder);
  const running = await peer.start().catch(async (error) => {
    await callee.stop();
    throw error;
  });
  let placed = 0;
  return {
    step: async (rate, seconds) => {
      const at = { pid: running.pid, port: SIP_PORT, number: ANSWERED_BY_XML, folder, callee };
      const one = await step({ ...at, rate, seconds });
      placed += one.calls;
      return one;
    },
    totals: () => {
      const records = running.callRecords?.();
      return `${placed} calls${records === undefined ? '' : `: ${records} records`}`;
    },
    stop: async () => {
      await running.stop();
      await callee.stop();
    },
  };
}

/** Runs all installed peers sequentially. */
export async function measurePeers(
  folder: string,
  { rates, seconds }: CallsOptions,
): Promise<readonly PeerFound[]> {
  const all: PeerFound[] = [];
  for (const peer of installed(folder)) {
    const between = await subject(peer, folder);
    // A rate that fails here also fails later.
    await warmUp(between);
    all.push({ name: peer.name, found: await atRates(between, rates, seconds) });
  }
  return all;
}

export const peerRows = (peers: readonly PeerFound[], floor: number): readonly Row[] =>
  peers.flatMap(({ name, found }) => rowsOf(name, found, floor));

/** This service, in the same run. */
export interface Measured {
  readonly kind: CallKind;
  readonly title: string;
  readonly steps: readonly Step[];
}

/** Compares service and peer at each rate that both sustained. */
export function comparedRows(
  { kind, title, steps }: Measured,
  peers: readonly PeerFound[],
): readonly Row[] {
  return steps.filter(isClean).flatMap(({ rate, msPerCall }) => {
    const [cheapest] = peers
      .flatMap(({ name, found }) =>
        found.steps
          .filter((one) => one.rate === rate && isClean(one))
          .map((one) => ({ name, ms: one.msPerCall })),
      )
      .sort((a, b) => a.ms - b.ms);
    if (cheapest === undefined) return [];
    return {
      name: `${title}, ${rate}/s: to the cheapest peer`,
      value: msPerCall,
      unit: 'ms/call',
      floor: cheapest.ms,
      ratio: msPerCall / cheapest.ms,
      goal: mostTimesFloor(GOALS[kind]),
      note: cheapest.name,
    };
  });
}
