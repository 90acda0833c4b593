import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { progressLine } from '../../src/cli/campaign-progress.ts';
import { run } from '../../src/cli/program.ts';
import { type Service, startService } from '../spec/service.ts';

let service: Service;
let url: string;
let folder: string;
let out: string[];
let notes: string;
let failed: boolean;
beforeAll(async () => {
  service = await startService();
  url = (await service.server.start()).url;
  folder = mkdtempSync(join(tmpdir(), 'carillon-campaigns-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await service.stop();
});
beforeEach(() => {
  out = [];
  notes = '';
  failed = false;
});

const carillon = (args: readonly string[], env: Record<string, string> = {}) =>
  run(args, {
    print: (line) => out.push(line),
    note: (text) => {
      notes += text;
    },
    interactive: false,
    env: {
      CARILLON_URL: url,
      CARILLON_AUTH_ID: service.account.authId,
      CARILLON_AUTH_TOKEN: service.account.authToken,
      ...env,
    },
    fail: () => {
      failed = true;
    },
  });

const idIn = (line = ''): string => /[0-9a-f-]{36}/.exec(line)?.[0] ?? '';

async function created(): Promise<string> {
  await carillon(['campaigns', 'agents', 'create', 'Desk', 'https://bot.example/answer']);
  const agent = idIn(out.at(-1));
  await carillon([
    ...['campaigns', 'create', 'Spring', `agent_id=${agent}`, 'max_concurrent=2'],
    ...['timezone=UTC', 'caller_id_strategy=fixed', 'fixed_caller_id=14155550100'],
  ]);
  return idIn(out.at(-1));
}

describe('carillon campaigns', () => {
  it('create, upload, start, watch, results: a campaign from the shell', async () => {
    const id = await created();
    const file = join(folder, 'contacts.csv');
    writeFileSync(file, 'to,Name\n+14155550101,Ann\nnobody,Bob\n');
    await carillon(['campaigns', 'upload', id, file]);
    expect(out.at(-1)).toBe('1 contacts, 1 rows that are none');
    expect(notes).toContain('row 2: to "nobody" is no telephone number');
    await carillon(['campaigns', 'errors', id]);
    expect(out.slice(-2)).toEqual([
      'row_number,reason',
      '2,"to ""nobody"" is no telephone number"',
    ]);
    await carillon(['campaigns', 'start', id]);
    expect(out.at(-1)).toBe(`campaign ${id}: running`);
    const watching = carillon(['campaigns', 'watch', id, '--every', '0.01']);
    await expect.poll(() => out.at(-1)).toMatch(/0 of 1 {2}running, not_started {2}1 pending/);
    await carillon(['campaigns', 'cancel', id]);
    await watching;
    expect(out.some((line) => line.includes('0 of 1  cancelled'))).toBe(true);
    await carillon(['campaigns', 'results', id]);
    expect(out.at(-1)).toBe('1,+14155550101,,pending,,,,,');
    await carillon(['campaigns', 'list']);
    expect(out.some((line) => line.startsWith(id) && line.includes('cancelled'))).toBe(true);
    expect(failed).toBe(false);
  });

  it('is told what is wrong in one line', async () => {
    const id = await created();
    await carillon(['campaigns', 'start', id]);
    expect(failed).toBe(true);
    expect(notes).toMatch(/draft/);
    notes = '';
    await carillon(['campaigns', 'set', id, 'max_concurrent=0']);
    expect(notes).toContain('max_concurrent must be a whole number from 1');
    notes = '';
    await carillon(['campaigns', 'list'], { CARILLON_AUTH_TOKEN: 'wrong' });
    expect(notes).toContain('refused the credentials');
    notes = '';
    await carillon(['campaigns', 'list'], {
      CARILLON_AUTH_ID: '',
      CARILLON_AUTH_TOKEN: '',
      CARILLON_DATA_DIR: folder,
    });
    expect(notes).toContain('no account');
  });

  it('works as the account of the data folder', async () => {
    const { authId, authToken } = service.account;
    writeFileSync(join(folder, 'demo.json'), JSON.stringify({ authId, authToken }));
    await run(['campaigns', 'list'], {
      print: (line) => out.push(line),
      note: () => undefined,
      interactive: false,
      env: { CARILLON_URL: url, CARILLON_DATA_DIR: folder },
      fail: () => {
        failed = true;
      },
    });
    expect(out[0]).toContain('STATUS');
    expect(failed).toBe(false);
  });
});

describe('the line of a campaign', () => {
  const campaign = { status: 'paused', pause_reason: 'window_closed', total_contacts: 10, busy: 2 };

  it('tells how much is done, and why nothing goes on', () => {
    expect(progressLine({ ...campaign, answered: 3, pending: 5 })).toBe(
      '[###############---------------]  50 % 5 of 10  paused (window_closed)  3 answered  2 busy  5 pending',
    );
    expect(progressLine({ status: 'draft', pause_reason: null })).toContain('0 of 0  draft');
  });
});
