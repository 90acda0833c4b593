import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { asRecordingId } from '../../src/base/ids.ts';
import { aCdr, START_US } from '../edge/store/records.ts';
import { ADMIN_TOKEN, type Service, startService } from '../spec/service.ts';
import { TestTerminal } from './terminal.ts';

const NUMBER = '+14155550199';
const FILE = 'MA_X/anna.wav';
const folder = mkdtempSync(join(tmpdir(), 'carillon-privacy-'));
const terminal = new TestTerminal();
let service: Service;
let url: string;
beforeAll(async () => {
  service = await startService();
  url = (await service.server.start()).url;
  const cdr = aCdr({ accountId: service.account.authId, from: NUMBER.slice(1) });
  await service.store.calls.settle({ cdr, entries: [], notification: undefined });
  await service.store.callLogs.put(cdr.callUuid, []);
  const path = join(service.settings.recordingsFolder, FILE);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, 'sound');
  await service.store.recordings.insert({
    recordingId: asRecordingId('0b6c1c3e-8f0a-4f4e-9a53-2f6f2c9d1a77'),
    accountId: service.account.authId,
    subAccount: undefined,
    callUuid: cdr.callUuid,
    conferenceName: undefined,
    conferenceUuid: undefined,
    fromNumber: NUMBER.slice(1),
    toNumber: '200',
    format: 'wav',
    type: 'call',
    status: 'ready',
    file: FILE,
    bytes: 5,
    durationMs: 1,
    startUs: START_US,
    endUs: START_US,
    addedUs: START_US,
    pendingCharges: undefined,
  });
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true });
});
beforeEach(() => terminal.clear());

const carillon = (...args: string[]) =>
  terminal.run(['privacy', ...args], { CARILLON_URL: url, CARILLON_ADMIN_TOKEN: ADMIN_TOKEN });

describe('carillon privacy', () => {
  it('find counts the records of a number', async () => {
    await carillon('find', NUMBER);
    expect(terminal.out.join('\n')).toMatch(/calls +1\nrecordings +1\ncontacts +0/);
    terminal.clear();
    await carillon('find', 'Anna');
    expect([terminal.failed, terminal.notes]).toEqual([
      true,
      expect.stringContaining('E.164 number of 7 to 15 digits'),
    ]);
  });

  it('finds the number in every notation', async () => {
    const notations = [
      ['+1 (415) 555-0199'],
      ['001-415-555-0199'],
      ['1.415.555.0199'],
      ['sip:+14155550199@example.com;user=phone'],
      ['tel:+1-415-555-0199;phone-context=x'],
      ['415 555 0199', '--country', 'us'],
    ];
    for (const notation of notations) {
      terminal.clear();
      await carillon('find', ...notation);
      expect([notation, terminal.out.join('\n')]).toEqual([
        notation,
        expect.stringMatching(/number +\+14155550199\ncalls +1\n/),
      ]);
    }
    await carillon('find', '0415 555 0199');
    expect(terminal.notes).toContain('is a national number');
  });

  it('export writes records and recordings', async () => {
    const out = join(folder, 'anna');
    await carillon('export', NUMBER, '--out', out);
    expect(terminal.out).toEqual([`2 records and 1 recordings written to ${out}`]);
    const lines = readFileSync(join(out, 'records.ndjson'), 'utf8').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).type)).toEqual(['call', 'recording']);
    const { recording_id: id } = JSON.parse(lines[1] ?? '');
    expect(readFileSync(join(out, `${id}.wav`), 'utf8')).toBe('sound');
    const modes = [out, join(out, 'records.ndjson'), join(out, `${id}.wav`)].map(
      (path) => statSync(path).mode & 0o077,
    );
    expect(modes).toEqual([0, 0, 0]);
    // The records of another person do not mix with them.
    terminal.clear();
    await carillon('export', '+14155550177', '--out', out);
    expect([terminal.failed, terminal.notes]).toEqual([
      true,
      `the folder ${out} is not empty: choose another one with --out\n`,
    ]);
  });

  it('export leaves the folder of another export to the same place alone', async () => {
    const out = join(folder, 'both');
    mkdirSync(`${out}.part`);
    writeFileSync(join(`${out}.part`, 'records.ndjson'), 'of another person');
    await carillon('export', NUMBER, '--out', out);
    expect(terminal.failed).toBe(false);
    const other = readFileSync(join(`${out}.part`, 'records.ndjson'), 'utf8');
    expect(other).toBe('of another person');
  });

  it('export continues without a recording whose file is missing, and fails', async () => {
    const path = join(service.settings.recordingsFolder, FILE);
    rmSync(path);
    const out = join(folder, 'incomplete');
    await carillon('export', NUMBER, '--out', out);
    expect([terminal.failed, terminal.notes]).toEqual([
      true,
      expect.stringMatching(/^the file of recording \S+ is missing\n$/),
    ]);
    expect(terminal.out).toEqual([`2 records and 0 recordings written to ${out}`]);
    writeFileSync(path, 'sound');
  });

  it('export leaves nothing if the connection breaks', async () => {
    const server = createServer((_, reply) => {
      reply.write('{"type":"call"}\n', () => reply.destroy());
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const broken = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const out = join(folder, 'broken');
    const environment = { CARILLON_URL: broken, CARILLON_ADMIN_TOKEN: 't' };
    await terminal.run(['privacy', 'export', NUMBER, '--out', out], environment);
    server.close();
    expect([terminal.failed, terminal.notes]).toEqual([
      true,
      'the connection to the service broke during the transfer\n',
    ]);
    expect(readdirSync(folder).filter((name) => name.startsWith('broken'))).toEqual([]);
  });

  it('erase erases only with --yes, and the audit log does not contain the number', async () => {
    await carillon('erase', NUMBER);
    expect(terminal.notes).toContain('nothing was erased');
    await carillon('erase', NUMBER, '--yes');
    expect(terminal.out.at(-1)).toBe('erased: 1 calls, 1 recordings, 0 contacts, 0 mentions');
    expect((await service.store.cdrs.get(aCdr().callUuid))?.cdr.from).toBe('erased');
    const { text } = await service.admin('GET', '/audit');
    expect(text).toContain('/admin/v1/personal-data');
    expect(text).not.toContain(NUMBER.slice(1));
  });
});
