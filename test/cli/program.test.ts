import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { asAccountId } from '../../src/base/ids.ts';
import { run } from '../../src/cli/program.ts';
import { VERSION } from '../../src/config/version.ts';
import { aLiveCall } from '../spec/fake-control.ts';
import { ADMIN_TOKEN, type Service, startService } from '../spec/service.ts';
import { TestTerminal } from './terminal.ts';

const terminal = new TestTerminal();
let service: Service;
let url: string;
beforeAll(async () => {
  service = await startService();
  url = (await service.server.start()).url;
});
afterAll(() => service.stop());
beforeEach(() => terminal.clear());

const carillon = (args: readonly string[], env: Record<string, string> = {}) =>
  terminal.run(args, { CARILLON_URL: url, CARILLON_ADMIN_TOKEN: ADMIN_TOKEN, ...env });

it('carillon --version prints the version of package.json', async () => {
  await carillon(['--version']);
  expect(terminal.out).toEqual([VERSION]);
});

describe('carillon accounts', () => {
  it('create shows ID and token once; list, show, set and credit use the account', async () => {
    await carillon(['accounts', 'create', 'Grace', 'currency=EUR', 'cps_limit=7']);
    const authId = /auth_id +(\S+)/.exec(terminal.out.join('\n'))?.[1] ?? '';
    expect(authId).toMatch(/^MA_/);
    expect(terminal.out.join('\n')).toMatch(/auth_token +\w{40,}/);

    terminal.out = [];
    await carillon(['credit', authId, '12.50', '--key', 'k1']);
    await carillon(['credit', authId, '12.50', '--key', 'k1']);
    expect(terminal.out.at(-1)).toContain('balance 12.5');

    terminal.out = [];
    await carillon(['accounts', 'set', authId, 'name=Grace Hopper', 'low_balance_threshold=5']);
    await carillon(['accounts', 'list']);
    expect(
      terminal.out.some((line) => line.startsWith(authId) && line.includes('Grace Hopper')),
    ).toBe(true);

    terminal.out = [];
    await carillon(['accounts', 'show', authId]);
    expect(terminal.out.join('\n')).toMatch(/available +12.5 EUR/);
    expect(terminal.failed).toBe(false);
  });

  it('a debit is a negative amount after --', async () => {
    await carillon(['credit', service.account.authId, '--', '-1.25']);
    expect(terminal.out.at(-1)).toContain('balance -1.25');
  });

  it("--json prints the service's response", async () => {
    await carillon(['--json', 'accounts', 'list']);
    expect(JSON.parse(terminal.out.join('\n'))).toHaveProperty('accounts');
  });

  it('trunks set changes the identity settings of a trunk', async () => {
    const { authId } = service.account;
    const body = { name: 'told', trunk_direction: 'inbound' };
    const { body: made } = await service.post(`${service.root}/trunks`, body);
    const pairs = ['identity=trusted', 'pass_headers=["X-*"]', 'add_headers={"X-Site":"berlin"}'];
    await carillon(['trunks', 'set', authId, made.trunk_id, ...pairs]);
    const trunk = await service.provisioning.trunks.get(authId, made.trunk_id);
    expect(trunk).toMatchObject({
      value: {
        policy: { identity: 'trusted', passHeaders: ['X-*'], addHeaders: { 'X-Site': 'berlin' } },
      },
    });
    await carillon(['trunks', 'set', authId, made.trunk_id, 'add_headers={"Via":"x"}']);
    const after = await service.provisioning.trunks.get(authId, made.trunk_id);
    expect(after).toMatchObject({ value: { policy: { addHeaders: { 'X-Site': 'berlin' } } } });
  });

  it('trunks allow sets the private networks that a trunk may reach', async () => {
    const body = { name: 'office', trunk_direction: 'inbound' };
    const { body: made } = await service.post(`${service.root}/trunks`, body);
    const { authId } = service.account;
    const allowed = async () => {
      const trunk = await service.provisioning.trunks.get(authId, made.trunk_id);
      return trunk.ok ? trunk.value.egressAllow : undefined;
    };
    await carillon(['trunks', 'allow', authId, made.trunk_id, '10.0.0.0/8', '*.lan']);
    expect(await allowed()).toEqual(['10.0.0.0/8', '*.lan']);
    await carillon(['trunks', 'allow', authId, made.trunk_id]);
    expect(await allowed()).toEqual([]);
    expect(terminal.failed).toBe(false);
    await carillon(['trunks', 'allow', authId, made.trunk_id, '10.0.0.0/99']);
    expect(terminal.failed).toBe(true);
  });

  it('token rotate prints the new token', async () => {
    await carillon(['token', 'rotate', service.account.authId, '--overlap', '60']);
    expect(terminal.out.join('\n')).toMatch(/auth_token +\w{40,}/);
  });

  it.each(['', 'a day'])('token rotate refuses the overlap %j, which is not 0', async (overlap) => {
    await carillon(['token', 'rotate', service.account.authId, '--overlap', overlap]);
    expect([terminal.failed, terminal.out]).toEqual([true, []]);
    expect(terminal.notes).toBe(`--overlap must be a number, not '${overlap}'\n`);
  });

  it('set refuses null for a limit, which is not 0', async () => {
    const { authId } = service.account;
    await carillon(['accounts', 'set', authId, 'cps_limit=null', 'concurrent_calls_limit=null']);
    expect(terminal.failed).toBe(true);
    expect(terminal.notes).toContain('cps_limit must be an integer');
    await carillon(['--json', 'accounts', 'show', authId]);
    expect(JSON.parse(terminal.out.join('\n')).cps_limit).toBeGreaterThan(0);
  });
});

describe('carillon inventory', () => {
  it.each(['', 'cheap', '0x10'])('rates set refuses the price %j', async (price) => {
    await carillon(['rates', 'set', 'outbound', price, '--prefix', '99']);
    expect(terminal.notes).toBe(`the price must be a number, not '${price}'\n`);
    await carillon(['rates', 'set', 'outbound', '0.1', '--prefix', '99', '--pulse', price]);
    expect(terminal.notes).toContain('--pulse must be a number');
    await carillon(['rates', 'list']);
    expect(terminal.out.join('\n')).not.toMatch(/outbound +99/);
  });

  it('route test uses the account of the same number only, not of a longer one', async () => {
    const { authId } = service.account;
    const fields = ['country=US', 'currency=USD', `account_id=${authId}`];
    await carillon(['numbers', 'add', '+14155550123', ...fields]);
    await carillon(['route', 'test', '5550123', '+14155550100']);
    expect(terminal.notes).toBe('no account has the number 5550123: set --account\n');
    terminal.clear();
    await carillon(['--json', 'route', 'test', '+1 415 555 0123', '+14155550100']);
    expect([terminal.notes, terminal.out.join()]).toEqual(['', expect.stringContaining('"to"')]);
  });

  it('route test finds the account of a number after many longer numbers with the same digits', async () => {
    const { authId } = service.account;
    const add = (e164: string, ...owner: readonly string[]) =>
      carillon(['numbers', 'add', e164, 'country=US', 'currency=USD', ...owner]);
    for (let last = 0; last <= 100; last += 1)
      await add(`+1202555${String(last).padStart(6, '0')}`);
    await add('+2025550', `account_id=${authId}`);
    terminal.clear();
    await carillon(['--json', 'route', 'test', '+2025550', '+14155550100']);
    expect(terminal.notes).toBe('');
  });

  it('adds, lists and removes numbers, carriers and rates', async () => {
    await carillon([
      'numbers',
      'add',
      '+14155550199',
      'country=US',
      'currency=USD',
      'monthly_fee=1',
    ]);
    await carillon(['numbers', 'list']);
    expect(terminal.out.join('\n')).toContain('+14155550199');
    await carillon(['numbers', 'remove', '+14155550199']);

    await carillon(['carriers', 'add', 'east', 'host=sip.example', 'prefixes=["1","44"]']);
    await carillon(['carriers', 'set', 'east', 'priority=5']);
    await carillon(['carriers', 'list']);
    expect(terminal.out.at(-1)).toMatch(/^east +sip\.example .*1,44/);
    await carillon(['carriers', 'remove', 'east']);

    await carillon(['rates', 'set', 'outbound', '0.0065', '--prefix', '1']);
    await carillon(['rates', 'list']);
    expect(terminal.out.at(-1)).toMatch(/^outbound +1 +0\.0065/);
    expect(terminal.failed).toBe(false);
  });
});

describe('carillon service', () => {
  it("calls list shows live calls and removes terminal control characters from peers' text", async () => {
    service.control.calls = [aLiveCall({ from: 'evil\u001b[2J', to: '14155550101' })];
    await carillon(['calls', 'list']);
    expect(terminal.out.join('\n')).toContain('evil?[2J');
    service.control.calls = [];
    terminal.out = [];
    await carillon(['calls', 'list']);
    expect(terminal.out).toEqual(['(none)']);
  });

  it('runs status, registrations, drain, verify and backup', async () => {
    for (const command of ['status', 'registrations', 'drain', 'verify', 'backup']) {
      await carillon([command]);
    }
    expect(terminal.failed).toBe(false);
    expect(terminal.out.join('\n')).toContain('every balance adds up');
  });

  it('backup shows a progress bar on a terminal', async () => {
    let finish: (done: { path: string; bytes: number }) => void = () => undefined;
    const proper = service.operations.backup;
    service.operations.backup = () =>
      new Promise((resolve) => {
        finish = resolve;
      });
    service.operations.backupProgress = () => ({ bytes: 300, totalBytes: 1000 });
    await run(['backup'], {
      print: (line) => terminal.out.push(line),
      note: (text) => {
        terminal.notes += text;
        if (text.includes('%')) finish({ path: 'backups/x.db', bytes: 990 });
      },
      interactive: true,
      env: { CARILLON_URL: url, CARILLON_ADMIN_TOKEN: ADMIN_TOKEN },
      fail: () => {
        terminal.failed = true;
      },
    });
    service.operations.backup = proper;
    service.operations.backupProgress = () => undefined;
    expect(terminal.notes).toContain('[#########---------------------]  30 % backing up');
    expect(terminal.out).toEqual(['backup written: backups/x.db (990 bytes)']);
    expect(terminal.failed).toBe(false);
  });

  it('verify fails and lists inconsistent balances', async () => {
    const proper = service.ledger.verify;
    service.ledger.verify = async () => [
      {
        balanceId: 'b',
        accountId: asAccountId('MA_X'),
        currency: 'USD',
        balance: 5,
        sumOfEntries: 4,
        sumOfDailyTotals: 5,
        reservedFunds: 0,
        sumOfReservations: 0,
      },
    ];
    await carillon(['verify']);
    service.ledger.verify = proper;
    expect(terminal.failed).toBe(true);
    expect(terminal.out.join('\n')).toContain('MA_X');
  });
});

describe('errors print one plain line and set a failure status', () => {
  it.each([
    [['accounts', 'show', 'MA_NOBODY'], {}, 'account not found'],
    [['accounts', 'list'], { CARILLON_ADMIN_TOKEN: 'wrong' }, 'refused the admin token'],
    [['accounts', 'list'], { CARILLON_URL: 'http://127.0.0.1:9' }, 'cannot reach the service'],
    [['accounts', 'create', 'X', 'cps_limit=many'], {}, 'cps_limit'],
    [['credit', 'MA_X', 'ten'], {}, 'ten is not an amount'],
    [['nonsense'], {}, 'unknown command'],
  ])('%j', async (args, env: Record<string, string>, said) => {
    await carillon(args, env);
    expect(terminal.failed).toBe(true);
    expect(terminal.notes).toContain(said);
  });

  it('without a token prints where to get one', async () => {
    await carillon(['status'], { CARILLON_ADMIN_TOKEN: '', CARILLON_DATA_DIR: '/nonexistent' });
    expect(terminal.notes).toContain('CARILLON_ADMIN_TOKEN');
  });
});

describe('the data folder', () => {
  it('provides address and token if no option and no environment variable does', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'carillon-cli-'));
    mkdirSync(join(folder, 'keys'));
    writeFileSync(join(folder, 'service.json'), JSON.stringify({ url }));
    writeFileSync(join(folder, 'keys', 'admin.token'), `${ADMIN_TOKEN}\n`);
    await run(['--data-dir', folder, 'status'], {
      print: (line) => terminal.out.push(line),
      note: (text) => {
        terminal.notes += text;
      },
      interactive: false,
      env: {},
      fail: () => {
        terminal.failed = true;
      },
    });
    rmSync(folder, { recursive: true });
    expect(terminal.notes).toBe('');
    expect(terminal.out.join('\n')).toContain('calls_limit');
  });
});
