/**
 * Many browsers at once, in rooms of two: all have keys, and hear the other one. `BROWSERS=100 npm run interop -- many-browsers` where
 * cores are plenty. In G.711: what Opus costs at our end is measured by `npm run bench -- webrtc`.
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

/** Each takes 2 % of a core at its own end and less than half of that at ours: even, so that nobody is alone. */
const BROWSERS = Number(process.env['BROWSERS'] ?? 10 * availableParallelism());
const PER_SECOND = 20;
const TONES = [600, 1500] as const;
const WINDOW_MS = 5000;
/** Half of what is sent in it. */
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

  it(`${BROWSERS} call at once, each hears whom it shares a room with`, {
    timeout: 240_000,
  }, async () => {
    const { service, customer } = pair;
    // The room stands in the name of who calls.
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
      const told = once(crowd, 'message') as Promise<[CrowdReport]>;
      crowd.send(command);
      const [report] = await Promise.race([told, gone]);
      if (report.error !== undefined) throw new Error(report.error);
      return report;
    };
    const server = `${service.baseUrl.replace('http', 'ws')}/sip`;
    const begun = (await ask({ do: 'call', server, members, perSecond: PER_SECOND })).members ?? [];
    expect(begun.map(({ dtlsState }) => dtlsState)).toEqual(begun.map(() => 'connected'));

    const now = (await ask({ do: 'report', afterMs: WINDOW_MS })).members ?? [];
    // Two browsers alone are held to what they conceal (browser.test.ts): many in one process have to wait for each other.
    expect(Math.min(...now.map(({ packets }) => packets))).toBeGreaterThan(PACKETS_MIN);
    const setups = begun.map(({ setupMs }) => setupMs).sort((a, b) => a - b);
    const at = (share: number): number => Math.round(setups[Math.floor(share * BROWSERS)] ?? 0);
    console.log(
      `${BROWSERS} browsers, ${PER_SECOND} a second: INVITE to keys p50 ${at(0.5)} ms, p95 ${at(0.95)} ms; ` +
        `${sum(begun, ({ again }) => again)} calls tried again; ` +
        `then ${sum(now, ({ packets }) => packets)} packets in ${WINDOW_MS} ms, ` +
        `${((100 * sum(now, ({ concealed }) => concealed)) / sum(now, ({ samples }) => samples)).toFixed(1)} % of the sound made up`,
    );

    // To judge their tones, all in one process, 100 need more than two cores; what they received is told above.
    const others = members.map((_, i) => TONES[(i + 1) % 2]);
    await eventually(
      'everybody’s tone at everybody else',
      async () => {
        const { heard } = await ask({ do: 'listen', tones: TONES });
        return heard?.every((hz, i) => hz === others[i]) ? true : undefined;
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
