import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { progressLine } from '../../src/cli/campaign-progress.ts';
import { ADMIN_TOKEN, type Service, startService } from '../spec/service.ts';
import { TestTerminal } from './terminal.ts';

const terminal = new TestTerminal();
let service: Service;
let url: string;
let folder: string;
beforeAll(async () => {
  service = await startService();
  url = (await service.server.start()).url;
  folder = mkdtempSync(join(tmpdir(), 'carillon-campaigns-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await service.stop();
});
beforeEach(() => terminal.clear());

const carillon = (args: readonly string[], env: Record<string, string> = {}) =>
  terminal.run(args, {
    CARILLON_URL: url,
    CARILLON_AUTH_ID: service.account.authId,
    CARILLON_AUTH_TOKEN: service.account.authToken,
    ...env,
  });

const idIn = (line = ''): string => /[0-9a-f-]{36}/.exec(line)?.[0] ?? '';

/** Runs a campaigns command and returns its output. */
async function shown(...args: readonly string[]): Promise<string> {
  terminal.out = [];
  await carillon(['campaigns', ...args]);
  return terminal.out.join('\n');
}

async function created(): Promise<string> {
  await carillon(['campaigns', 'agents', 'create', 'Desk', 'https://bot.example/answer']);
  const agent = idIn(terminal.out.at(-1));
  await carillon([
    ...['campaigns', 'create', 'Spring', `agent_id=${agent}`, 'max_concurrent=2'],
    ...['timezone=UTC', 'caller_id_strategy=fixed', 'fixed_caller_id=14155550100'],
  ]);
  return idIn(terminal.out.at(-1));
}

describe('carillon campaigns', () => {
  it('upload names a file that cannot be read', async () => {
    await carillon(['campaigns', 'upload', await created(), folder]);
    expect([terminal.failed, terminal.notes]).toEqual([
      true,
      `${folder} is a folder, not a file\n`,
    ]);
  });

  it('creates, uploads, starts, watches and exports a campaign', async () => {
    const id = await created();
    const file = join(folder, 'contacts.csv');
    writeFileSync(file, 'to,Name\n+14155550101,Ann\nnobody,Bob\n');
    await carillon(['campaigns', 'upload', id, file]);
    expect(terminal.out.at(-1)).toBe('1 contacts, 1 invalid rows');
    expect(terminal.notes).toContain('row 2: to "nobody" is not a phone number');
    await carillon(['campaigns', 'errors', id]);
    expect(terminal.out.slice(-2)).toEqual([
      'row_number,reason\r',
      '2,"to ""nobody"" is not a phone number"\r',
    ]);
    await carillon(['campaigns', 'start', id]);
    expect(terminal.out.at(-1)).toBe(`campaign ${id}: running`);
    const watching = carillon(['campaigns', 'watch', id, '--every', '0.01']);
    await expect
      .poll(() => terminal.out.at(-1))
      .toMatch(/0 of 1 {2}running, not_started {2}1 pending/);
    await carillon(['campaigns', 'cancel', id]);
    await watching;
    expect(terminal.out.some((line) => line.includes('0 of 1  cancelled'))).toBe(true);
    await carillon(['--json', 'campaigns', 'watch', id]);
    expect(JSON.parse(terminal.out.at(-1) ?? '')).toMatchObject({ id, status: 'cancelled' });
    await carillon(['campaigns', 'results', id]);
    expect(terminal.out.at(-1)).toBe('1,+14155550101,,pending,,,,,\r');
    await carillon(['campaigns', 'list']);
    expect(terminal.out.some((line) => line.startsWith(id) && line.includes('cancelled'))).toBe(
      true,
    );
    expect(terminal.failed).toBe(false);
  });

  it('watch refuses intervals that are no time', async () => {
    const id = await created();
    for (const every of ['soon', '', '-5', '9999999']) {
      terminal.clear();
      await carillon(['campaigns', 'watch', id, '--every', every]);
      expect([every, terminal.failed, terminal.out]).toEqual([every, true, []]);
      expect(terminal.notes).toContain('--every must be');
    }
  });

  it('list says on standard error that it has a part of the rows', async () => {
    await created();
    await created();
    terminal.clear();
    await carillon(['campaigns', 'agents', 'list', '--limit', '1', '--offset', '1']);
    expect(terminal.out).toHaveLength(2);
    expect(terminal.notes).toMatch(/^1 of \d+ rows; --help lists the options\n$/);
    terminal.clear();
    await carillon(['--json', 'campaigns', 'list', '--limit', '1']);
    expect(JSON.parse(terminal.out.join('\n')).objects).toHaveLength(1);
    expect(terminal.notes).toBe('');
    await carillon(['campaigns', 'agents', 'list']);
    expect(terminal.notes).toBe('');
  });

  it('has separate commands for agents, pool, contacts, calls, schedule and do-not-call lists', async () => {
    const id = await created();
    const agent = idIn(/agent_id +(\S+)/.exec(await shown('show', id))?.[1]);
    expect(await shown('agents', 'set', agent, 'name=Night')).toMatch(/name +Night/);
    expect(await shown('agents', 'show', agent)).toMatch(/answer_url +https:\/\/bot/);
    await carillon(['campaigns', 'pool', 'add', id, '14155550111', '+14155550112']);
    expect(terminal.out.at(-1)).toBe('2 numbers in the pool');
    const listed = await shown('pool', 'list', id);
    const number = idIn(listed);
    expect(listed).toContain('+14155550112');
    expect(await shown('pool', 'set', id, number, 'label=North')).toMatch(/label +North/);
    expect(await shown('pool', 'remove', id, number)).toContain('removed');
    const file = join(folder, 'three.csv');
    writeFileSync(file, 'to\n+14155550101\n+14155550102\n+14155550103\n');
    await carillon(['campaigns', 'upload', id, file]);
    expect(await shown('contacts', id, '--search', '0102')).toMatch(/2 +\+14155550102 +pending/);
    expect(await shown('calls', id)).toBe('(none)');
    expect(await shown('schedule', id, '2099-01-31T09:00:00Z')).toContain('2099-01-31T09:00');
    expect(await shown('schedule', id)).toContain('no time');
    writeFileSync(join(folder, 'listed.txt'), 'number,why\r\n+14155550121,asked\n14155550122\n');
    await carillon(['campaigns', 'donotcall', 'import', join(folder, 'listed.txt')]);
    expect(terminal.out.at(-1)).toBe('2 numbers added');
    expect(await shown('donotcall', 'list', '--search', '121')).toContain('+14155550121');
    expect(await shown('donotcall', 'remove', '14155550121')).toContain('removed');
    const operator = { CARILLON_ADMIN_TOKEN: ADMIN_TOKEN };
    await carillon(['donotcall', 'add', '+14155550123'], operator);
    expect(terminal.out.at(-1)).toBe('1 numbers added');
    terminal.out = [];
    await carillon(['donotcall', 'list'], operator);
    expect(terminal.out.join()).toContain('+14155550123');
    expect(terminal.failed).toBe(false);
  });

  it('reports an error in one line', async () => {
    const id = await created();
    await carillon(['campaigns', 'start', id]);
    expect(terminal.failed).toBe(true);
    expect(terminal.notes).toMatch(/draft/);
    terminal.notes = '';
    await carillon(['campaigns', 'set', id, 'max_concurrent=0']);
    expect(terminal.notes).toContain('max_concurrent must be a whole number from 1');
    terminal.notes = '';
    await carillon(['campaigns', 'list'], { CARILLON_AUTH_TOKEN: 'wrong' });
    expect(terminal.notes).toContain('refused the credentials');
    terminal.notes = '';
    await carillon(['campaigns', 'list'], {
      CARILLON_AUTH_ID: '',
      CARILLON_AUTH_TOKEN: '',
      CARILLON_DATA_DIR: folder,
    });
    expect(terminal.notes).toContain('no account');
  });

  it('uses the account of the data folder', async () => {
    const { authId, authToken } = service.account;
    writeFileSync(join(folder, 'demo.json'), JSON.stringify({ authId, authToken }));
    await terminal.run(['campaigns', 'list'], { CARILLON_URL: url, CARILLON_DATA_DIR: folder });
    expect(terminal.out[0]).toContain('STATUS');
    expect(terminal.failed).toBe(false);
  });
});

describe('the status line of a campaign', () => {
  const campaign = { status: 'paused', pause_reason: 'window_closed', total_contacts: 10, busy: 2 };

  it('shows the progress, and why the campaign is paused', () => {
    expect(progressLine({ ...campaign, answered: 3, pending: 5 })).toBe(
      '[###############---------------]  50 % 5 of 10  paused (window_closed)  3 answered  2 busy  5 pending',
    );
    expect(progressLine({ status: 'draft', pause_reason: null })).toContain('0 of 0  draft');
  });
});
