/** Measures in a separate network namespace and sends the rows to its parent; see bench/stream/whole.ts. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Customer } from '../calls/customer.ts';
import { ANSWERED_BY_XML, Service, SIP_PORT } from '../calls/service.ts';
import { buildLoad } from '../media/load.ts';
import { described, type Load, type Measured, measure, writeSpeech } from '../media/measure.ts';
import { audioPort, PCMU, sdpOf } from '../media/sides.ts';
import { placeCall } from '../media/sip-ends.ts';
import type { Calls, Subject } from '../media/subjects.ts';
import { asteriskProgram, startAsterisk } from '../peers/asterisk.ts';
import type { RunningPeer } from '../peers/peer.ts';
import { mostTimesFloor, type Row } from '../row.ts';
import { BotCrowd } from './bot-crowd.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TLS_FOLDER = join(ROOT, 'test/edge/stream/tls');
const LOAD: Load = { caller: PCMU, callee: PCMU, calls: 100, legs: 1 };
const NAME = `stream: whole process, PCMU, ws, ${LOAD.calls} calls`;
/** Times `chan_websocket`. */
const GOAL = 0.25;

/** Every end has a separate call. */
async function placed({ ports }: Calls, running: RunningPeer): Promise<Subject> {
  try {
    const peers: { readonly port: number; readonly payloadType: number }[] = [];
    for (const port of ports) {
      const answer = await placeCall(SIP_PORT, ANSWERED_BY_XML, sdpOf(PCMU, port));
      peers.push({ port: audioPort(answer), payloadType: PCMU.payloadType });
    }
    return { pid: running.pid, peers, stop: () => running.stop() };
  } catch (error) {
    await running.stop();
    throw error;
  }
}

async function ours(folder: string, botUrl: string): Promise<Measured> {
  const attributes = 'bidirectional="true" keepCallAlive="true"';
  const type = 'contentType="audio/x-mulaw;rate=8000"';
  const document = `<Response><Stream ${attributes} ${type}>${botUrl}</Stream></Response>`;
  const customer = await Customer.start(() => document);
  try {
    const options = { root: ROOT, folder, customerUrl: customer.url, kind: 'whole' } as const;
    return await measure(LOAD, folder, async (calls) =>
      placed(calls, await Service.start(options)),
    );
  } finally {
    customer.stop();
  }
}

/** Asterisk sends each frame unchanged in a binary message. */
function asterisk(program: string, folder: string, botUrl: string): Promise<Measured> {
  const callee = { port: 9, codec: 'ulaw' };
  const stream = { dial: 'WebSocket/bot/c(ulaw)', botUrl };
  const options = { program, folder, sipPort: SIP_PORT, callerCodec: 'ulaw', callee, ...stream };
  return measure(LOAD, folder, async (calls) => placed(calls, await startAsterisk(options)));
}

const row = (name: string, measured: Measured): Row => ({
  name,
  value: Math.round(measured.us),
  unit: 'µs per call-second',
  note: described(measured),
});

async function run(): Promise<readonly Row[]> {
  await buildLoad();
  const program = asteriskProgram();
  const folder = mkdtempSync(join(tmpdir(), 'carillon-streams-'));
  const bots = await BotCrowd.start(0, TLS_FOLDER);
  try {
    await writeSpeech(folder, PCMU);
    const url = bots.urlOf(0, 'ws');
    const mine = await ours(folder, url);
    const rows = [row(NAME, mine)];
    if (program === undefined) return rows;
    const peer = await asterisk(program, folder, url);
    const withRecords = {
      floor: Math.round(peer.us),
      ratio: Math.round((mine.us / peer.us) * 100) / 100,
    };
    return [
      ...rows,
      row(`${NAME}: Asterisk, chan_websocket`, peer),
      { ...row(`${NAME}: to Asterisk`, mine), ...withRecords, goal: mostTimesFloor(GOAL) },
    ];
  } finally {
    await bots.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

// The parent process has ended.
process.once('disconnect', () => process.exit(1));
const rows = await run();
process.send?.(rows, () => process.exit(0));
