/** Work that an earlier version left: pending callbacks and notifications are delivered, and a running campaign continues. */
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Carrier } from '../e2e/carrier.ts';
import { Customer } from '../e2e/customer.ts';
import { eventually } from '../eventually.ts';
import { someOf } from '../thorough.ts';
import { RecordedFolder } from './recorded.ts';
import { Upgraded } from './upgraded.ts';

const PATHS = ['/fails/hangup', '/fails/recording', '/fails/notify'];
/** Contacts of the recorded campaigns. */
const CONTACT = /^1415556\d{4}$/;

let folder: RecordedFolder;
let customer: Customer;
let carrier: Carrier;
let running: Upgraded | undefined;
beforeEach(async () => {
  [customer, carrier] = await Promise.all([
    Customer.listen(),
    Carrier.listen(() => ({ kind: 'answered', talkMs: 100 })),
  ]);
  for (const path of PATHS) customer.page(path, (response) => void response.end());
  customer.page('/answer', (response) => {
    response.setHeader('content-type', 'text/xml');
    response.end('<Response><Wait length="5"/></Response>');
  });
});
afterEach(async () => {
  await running?.kill();
  running = undefined;
  await customer.close();
  carrier.close();
  folder.remove();
});

/** The recorded database names the customer and the carrier of its recording. Names those of this test instead. */
function moveHere(): readonly string[] {
  const db = new Database(folder.file);
  const pending = db.prepare('SELECT id, target, call_uuid FROM notification').all() as {
    readonly target: string;
    readonly call_uuid: string;
  }[];
  const [origin = ''] = /127\.0\.0\.1:\d+/.exec(pending[0]?.target ?? '') ?? [];
  const columns: Readonly<Record<string, readonly string[]>> = {
    notification: ['target'],
    campaign: ['notify_url'],
    campaign_agent: ['answer', 'hangup'],
    application: ['answer_url', 'hangup_url'],
  };
  const exists = db.prepare('SELECT 1 FROM sqlite_master WHERE name = ?');
  for (const [table, names] of Object.entries(columns)) {
    if (exists.get(table) === undefined) continue;
    for (const name of names)
      db.prepare(`UPDATE ${table} SET ${name} = replace(${name}, ?, ?)`).run(
        origin,
        customer.authority,
      );
  }
  // The service abandons notifications that are days old.
  db.prepare('UPDATE notification SET created_us = ?').run(Date.now() * 1000);
  db.prepare('UPDATE carrier SET port = ?').run(carrier.port);
  db.close();
  return pending.map((one) => one.call_uuid);
}

/** Identifiers that the received requests name. */
const named = (): string => customer.posted.map(({ form }) => JSON.stringify(form)).join('\n');

it.each(someOf(['schema-08-stopped', 'schema-13-killed', 'schema-26-killed'], 1))(
  '%s: delivers pending callbacks and notifications',
  async (name) => {
    folder = new RecordedFolder(name);
    const subjects = moveHere();
    expect(subjects.length).toBeGreaterThan(0);
    running = await Upgraded.start(folder.dataDir, folder.account);
    await eventually(
      'all notifications',
      () => subjects.every((subject) => named().includes(subject)) || undefined,
      60_000,
    );
    const left = (): number => {
      const db = new Database(folder.file, { readonly: true });
      const old = `SELECT COUNT(*) FROM notification WHERE call_uuid IN (${subjects.map(() => '?')})`;
      const count = Number(db.prepare(old).pluck().get(subjects));
      db.close();
      return count;
    };
    await eventually('an empty queue', () => left() === 0 || undefined, 30_000);
  },
);

/** ID of the campaign with this name. */
function campaignNamed(name: string): string {
  const db = new Database(folder.file, { readonly: true });
  const id = db.prepare('SELECT id FROM campaign WHERE name = ?').pluck().get(name);
  db.close();
  return String(id);
}

async function expectCompleted(upgraded: Upgraded, id: string): Promise<void> {
  const isCompleted = async (): Promise<true | undefined> => {
    const { text } = await upgraded.request('GET', `campaigns/${id}`);
    return text.includes('"status":"completed"') || undefined;
  };
  await eventually('the end of the campaign', isCompleted, 120_000);
}

const dialled = (): ReadonlySet<string> =>
  new Set(
    carrier.calls
      .map(({ number }) => number.replace('+', ''))
      .filter((number) => CONTACT.test(number)),
  );

it('schema-26-killed: the running campaign calls the contacts whose calls were cut off, and completes', async () => {
  folder = new RecordedFolder('schema-26-killed');
  moveHere();
  const db = new Database(folder.file, { readonly: true });
  const open = 'SELECT to_number FROM campaign_attempt WHERE ended_us IS NULL';
  const interrupted = db.prepare(open).pluck().all().map(String);
  db.close();
  expect(interrupted.length).toBeGreaterThan(0);
  running = await Upgraded.start(folder.dataDir, folder.account);
  await expectCompleted(running, campaignNamed('running'));
  expect([...dialled()]).toEqual(expect.arrayContaining(interrupted));
});

it.each(someOf(['schema-25-killed', 'schema-11-killed'], 1))(
  '%s: a prepared campaign starts, calls all contacts and completes',
  async (name) => {
    folder = new RecordedFolder(name);
    moveHere();
    running = await Upgraded.start(folder.dataDir, folder.account);
    const id = campaignNamed('later');
    const started = await running.request('POST', `campaigns/${id}/start`);
    expect(started.status, started.text).toBeLessThan(300);
    await expectCompleted(running, id);
    expect(dialled().size).toBe(6);
  },
);
