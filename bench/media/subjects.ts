/** Systems between the ends of calls: a bare relay, this service and comparable products. */
import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { GOES_TO_TRUNK, Service, SIP_PORT } from '../calls/service.ts';
import { CALLEE_PORT } from '../calls/sipp.ts';
import { startAsterisk } from '../peers/asterisk.ts';
import { CORE, end, type RunningPeer } from '../peers/peer.ts';
import { BareRelay, type Peer } from './load.ts';
import { type Bencoded, NgClient } from './ng.ts';
import { audioPort, HOST, PCMA, PCMU, payloadTypeIn, type Side, sdpOf } from './sides.ts';
import { CalleeEnd, placeCall } from './sip-ends.ts';

const NG_PORT = 12_223;
const START_MS = 10_000;

/** A kind of call, and where its ends are: caller, callee, caller, … */
export interface Calls {
  readonly caller: Side;
  readonly callee: Side;
  readonly ports: readonly number[];
}

export interface Subject {
  readonly pid: number;
  /** Destination of each end, in the order of `ports`. */
  readonly peers: readonly Peer[];
  stop(): Promise<void>;
}

const pairs = ({ ports }: Calls): ReadonlyArray<readonly [number, number]> =>
  Array.from({ length: ports.length / 2 }, (_, i) => [ports[2 * i] ?? 0, ports[2 * i + 1] ?? 0]);

export async function bareRelay(calls: Calls): Promise<Subject> {
  const relay = await BareRelay.start(calls.ports.length / 2, CORE);
  const sides = [calls.caller, calls.callee];
  const peers = relay.ports.map((port, i) => ({
    port,
    payloadType: sides[i % 2]?.payloadType ?? 0,
  }));
  return { pid: relay.pid, peers, stop: () => relay.stop() };
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Calls from a carrier through a trunk: signalled, limited and recorded as all are. */
export async function carillon(calls: Calls, folder: string): Promise<Subject> {
  const service = await Service.start({
    root: ROOT,
    folder,
    customerUrl: `http://${HOST}:9`,
    kind: 'trunk',
    env: { CARILLON_RTP_CARRIER_CODECS: 'PCMU,PCMA,OPUS' },
  });
  return signalled(calls, service);
}

/** Its name for a codec that is among its sources. */
const ASTERISK_CODECS = new Map([
  [PCMU, 'ulaw'],
  [PCMA, 'alaw'],
]);

type Sides = Pick<Calls, 'caller' | 'callee'>;

export const isSpokenByAsterisk = ({ caller, callee }: Sides): boolean =>
  ASTERISK_CODECS.has(caller) && ASTERISK_CODECS.has(callee);

/** `Dial`, with a record of each call; it keeps the media. */
export async function asterisk(calls: Calls, folder: string, program: string): Promise<Subject> {
  const [callerCodec = '', codec = ''] = [calls.caller, calls.callee].map((side) =>
    ASTERISK_CODECS.get(side),
  );
  const callee = { port: CALLEE_PORT, codec };
  const options = { program, folder, sipPort: SIP_PORT, callerCodec, callee };
  return signalled(calls, await startAsterisk(options));
}

/** Places the calls sequentially by SIP; each is connected to the callee's end. */
async function signalled(calls: Calls, running: RunningPeer): Promise<Subject> {
  let offered: Peer | undefined;
  let port = 0;
  const callee = await CalleeEnd.start((offer) => {
    const payloadType = payloadTypeIn(offer, calls.callee);
    offered = { port: audioPort(offer), payloadType };
    return sdpOf(calls.callee, port, payloadType);
  });
  const stop = async (): Promise<void> => {
    await running.stop();
    callee.stop();
  };
  try {
    const peers: Peer[] = [];
    for (const [callerPort, calleePort] of pairs(calls)) {
      port = calleePort;
      const answer = await placeCall(SIP_PORT, GOES_TO_TRUNK, sdpOf(calls.caller, callerPort));
      if (offered === undefined) throw new Error('answered without the callee');
      peers.push({ port: audioPort(answer), payloadType: calls.caller.payloadType }, offered);
    }
    return { pid: running.pid, peers, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** rtpengine in user space with one thread, as in its documentation. */
export async function rtpengine(calls: Calls, program: string): Promise<Subject> {
  const child = spawn(
    'taskset',
    [
      ...['-c', String(CORE), program, '--config-file=none', '--foreground', '--table=-1'],
      ...[`--interface=${HOST}`, `--listen-ng=${HOST}:${NG_PORT}`, '--num-threads=1'],
      ...['--port-min=10000', '--port-max=59999', '--log-level=3', '--log-stderr'],
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const ng = new NgClient(NG_PORT);
  const stop = async (): Promise<void> => {
    ng.close();
    await end(child);
  };
  try {
    await answers(child, ng);
    const peers: Peer[] = [];
    for (const [i, [callerPort, calleePort]] of pairs(calls).entries())
      peers.push(...(await offerAndAnswer(ng, calls, `call${i}`, [callerPort, calleePort])));
    return { pid: child.pid ?? 0, peers, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function offerAndAnswer(
  ng: NgClient,
  { caller, callee }: Calls,
  callId: string,
  [callerPort, calleePort]: readonly [number, number],
): Promise<readonly Peer[]> {
  const common = { 'call-id': callId, 'from-tag': 'a', ICE: 'remove', replace: ['origin'] };
  const [mask, into] = [caller, callee].map((side) => side.encoding.split('/')[0] ?? '');
  const codec = caller === callee ? {} : { codec: { mask: [mask ?? ''], transcode: [into ?? ''] } };
  const sdp = sdpOf(caller, callerPort);
  const offered = await ng.ask({
    command: 'offer',
    ...common,
    'rtcp-mux': ['demux'],
    sdp,
    ...codec,
  });
  const offer = sdpIn(offered);
  const payloadType = payloadTypeIn(offer, callee);
  const answer = { 'to-tag': 'b', sdp: sdpOf(callee, calleePort, payloadType) };
  const answered = await ng.ask({ command: 'answer', ...common, ...answer });
  return [
    { port: audioPort(sdpIn(answered)), payloadType: caller.payloadType },
    { port: audioPort(offer), payloadType },
  ];
}

function sdpIn(reply: Readonly<Record<string, Bencoded>>): string {
  const sdp = reply['sdp'];
  if (typeof sdp !== 'string') throw new Error('rtpengine: no SDP');
  return sdp;
}

async function answers(child: ChildProcess, ng: NgClient): Promise<void> {
  const untilMs = performance.now() + START_MS;
  for (;;) {
    if (child.exitCode !== null) throw new Error('rtpengine does not start');
    const reply = await ng.ask({ command: 'ping' }).catch(() => undefined);
    if (reply !== undefined) return;
    if (performance.now() > untilMs) throw new Error('rtpengine does not answer');
    await pause(100);
  }
}
