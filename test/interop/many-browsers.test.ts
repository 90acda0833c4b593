/**
 * Many simultaneous browsers in rooms of two: all complete DTLS and hear the other browser.
 * Use `BROWSERS=100 npm run interop -- many-browsers` on machines with many cores.
 * All use G.711; `npm run bench -- webrtc` measures the cost of Opus.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeUser } from '../e2e/phone.ts';
import { openPair, type Pair } from '../e2e/scene.ts';
import { eventually, type Json } from '../e2e/service.ts';
import { FOLDER } from './tools.ts';
import type { CrowdCommand, CrowdReport, Member, MemberReport } from './wrtc/crowd-messages.ts';

/** Number of browsers. Each uses 2 % of a core for itself and under 1 % in the service. Even, because rooms hold two. */
const BROWSERS = Number(process.env['BROWSERS'] ?? 10 * availableParallelism());
const PER_SECOND = 20;
const TONES = [600, 1500] as const;
const WINDOW_MS = 5000;
/** Minimum packets per window: half of the packets sent. */
const PACKETS_MIN = WINDOW_MS / 20 / 2;

const isInstalled = existsSync(join(FOLDER, 'wrtc/node_modules/@roamhq/wrtc'));
if (!isInstalled) console.log('skipped: @roamhq/wrtc not installed; npm run interop does it');

const sum = (members: readonly MemberReport[], of: (one: MemberReport) => number): number =>
  members.reduce((total, one) => total + of(one), 0);

describe.skipIf(!isInstalled)('many browsers', () => {
  let pair: Pair;
  beforeAll(async () => {
    pair = await openPair({ CARILLON_RTP_CODECS: 'PCMU' });
    const limits = { concurrent_calls_limit: 2 * BROWSERS, cps_limit: 2 * BROWSERS };
    await pair.service.admin('PATCH', `/accounts/${pair.service.demo.authId}`, limits);
  });
  afterAll(() => pair.close());

  it(`${BROWSERS} browsers call at the same time, and each hears the other one in its room`, {
    timeout: 240_000,
  }, async () => {
    const { service, customer } = pair;
    // The room name is part of the caller's name.
    const answer_url = customer.page('/room', (response, { form }) => {
      const [, room] = /crowd(\d+)[ab]/.exec(form['From'] ?? '') ?? [];
      response
        .writeHead(200, { 'content-type': 'application/xml' })
        .end(`<Response><Conference beep="false">Room${room}</Conference></Response>`);
    });
    const members: Member[] = [];
    for (let i = 0; i < BROWSERS; i += 1) {
      const name = `crowd${Math.floor(i / 2)}${i % 2 === 0 ? 'a' : 'b'}`;
      const user = await makeUser(service, name, { answer_url });
      members.push({ ...user, saysHz: TONES[i % 2] ?? 0 });
    }
    const crowd = fork(join(FOLDER, 'wrtc/crowd.ts'));
    const gone = once(crowd, 'exit').then(([status]): [CrowdReport] => [
      { error: `the crowd ended: ${status}` },
    ]);
    const ask = async (command: CrowdCommand): Promise<CrowdReport> => {
      const reported = once(crowd, 'message') as Promise<[CrowdReport]>;
      crowd.send(command);
      const [report] = await Promise.race([reported, gone]);
      if (report.error !== undefined) throw new Error(report.error);
      return report;
    };
    const server = `${service.baseUrl.replace('http', 'ws')}/sip`;
    const begun = (await ask({ do: 'call', server, members, perSecond: PER_SECOND })).members ?? [];
    expect(begun.map(({ dtlsState }) => dtlsState)).toEqual(begun.map(() => 'connected'));

    const now = (await ask({ do: 'report', afterMs: WINDOW_MS })).members ?? [];
    // Concealment is limited only for two browsers (browser.test.ts): many browsers in one process delay each other.
    expect(Math.min(...now.map(({ packets }) => packets))).toBeGreaterThan(PACKETS_MIN);
    const setups = begun.map(({ setupMs }) => setupMs).sort((a, b) => a - b);
    const at = (share: number): number => Math.round(setups[Math.floor(share * BROWSERS)] ?? 0);
    console.log(
      `${BROWSERS} browsers, ${PER_SECOND} a second: INVITE to keys p50 ${at(0.5)} ms, p95 ${at(0.95)} ms; ` +
        `${sum(begun, ({ again }) => again)} calls tried again; ` +
        `then ${sum(now, ({ packets }) => packets)} packets in ${WINDOW_MS} ms, ` +
        `${((100 * sum(now, ({ concealed }) => concealed)) / sum(now, ({ samples }) => samples)).toFixed(1)} % of the sound made up`,
    );

    // Tone detection for 100 browsers in one process needs more than two cores. The log line above reports the packets.
    const others = members.map((_, i) => TONES[(i + 1) % 2]);
    await eventually(
      'the tone of every browser at its peer',
      async () => {
        const { received } = await ask({ do: 'listen', tones: TONES });
        return received?.every((hz, i) => hz === others[i]) ? true : undefined;
      },
      60_000,
    );

    await ask({ do: 'hangUp' });
    crowd.disconnect();
    await gone;
    const cdrs = await eventually('their records', async () => {
      const { body } = await service.api('GET', `cdr?per_page=${2 * BROWSERS}`);
      const data = body['data'] as Json[];
      return data.length >= BROWSERS ? data : undefined;
    });
    expect(cdrs.filter(({ hangup_cause_code: code }) => code === 4000)).toHaveLength(BROWSERS);
    expect(new Set(cdrs.map(({ codec }) => codec))).toEqual(new Set(['PCMU']));
  });
});
