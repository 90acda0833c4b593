/** Dialect §3.11 over REST: uploads of contact lists, and results. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { asCallUuid, asCampaignId } from '../../../src/base/ids.ts';
import { type Service, startService } from '../service.ts';

let service: Service;
let root: string;
let id: string;
let url: string;
beforeAll(async () => {
  service = await startService();
  root = `/api/v1/account/${service.account.authId}`;
});
afterAll(() => service.stop());

beforeEach(async () => {
  const agent = { name: 'Desk', answer_url: 'https://bot.example/answer' };
  const { body } = await service.post(`${root}/campaign/agents`, agent);
  const plan = {
    name: 'Spring',
    agent_id: body.id,
    max_concurrent: 2,
    timezone: 'UTC',
    caller_id_strategy: 'fixed',
    fixed_caller_id: '14155550100',
  };
  id = (await service.post(`${root}/campaigns`, plan)).body.id;
  url = `${root}/campaigns/${id}`;
});

const CSV = 'to,from,Name\r\n+14155550101,+14155550111,Ann\r\n4155550102,,"Bob, of Ohio"\r\n';
const sendCsv = (text: string, to = url) =>
  service.post(`${to}/upload`, text, { headers: { 'content-type': 'text/csv' } });
const BOUNDARY = 'xxBOUNDARYxx';
const part = (name: string, text: string, file?: string, type = 'text/csv') =>
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"${file ? `; filename="${file}"` : ''}\r\n${file ? `content-type: ${type}\r\n` : ''}\r\n${text}\r\n`;
const sendForm = (parts: string) =>
  service.post(`${url}/upload`, `${parts}--${BOUNDARY}--\r\n`, {
    headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
  });

const SUMMARY = {
  valid_contacts: 2,
  invalid_rows: 0,
  total_rows: 2,
  custom_headers_detected: ['Name'],
  errors: [],
};

describe('an upload', () => {
  it('accepts CSV, a form file, or JSON rows with the same result, and makes the campaign ready', async () => {
    const rows = [
      { to: '+14155550101', from: '+14155550111', Name: 'Ann' },
      { to: '4155550102', Name: 'Bob, of Ohio' },
    ];
    const seen = [];
    for (const reply of [
      await sendCsv(CSV),
      await sendCsv(`\uFEFF${CSV}`),
      await sendForm(part('note', 'x') + part('file', CSV, 'contacts.csv') + part('more', 'y')),
      await sendForm(part('file', JSON.stringify(rows), 'contacts.json', 'application/json')),
      await service.post(`${url}/upload`, rows),
      await service.post(`${url}/upload`, { contacts: rows }),
    ]) {
      expect(reply.status, reply.text).toBe(200);
      expect(reply.body).toEqual(SUMMARY);
      const { objects } = (await service.get(`${url}/contacts`)).body;
      seen.push(objects.map(({ id: _, ...contact }: { id: number }) => contact));
    }
    expect(new Set(seen.map((one) => JSON.stringify(one))).size).toBe(1);
    expect(seen[0]).toMatchObject([
      {
        row_number: 1,
        to_number: '+14155550101',
        from_number: '+14155550111',
        sip_headers: { Name: 'Ann' },
        status: 'pending',
        attempts: 0,
      },
      { row_number: 2, to_number: '+14155550102', sip_headers: { Name: 'Bob, of Ohio' } },
    ]);
    expect((await service.get(url)).body).toMatchObject({ status: 'ready', total_contacts: 2 });
  });

  it('reports every rejected row, in the reply and as a file', async () => {
    const reply = await sendCsv(
      'to,Name\n14155550101,Ann\nnobody,Bob\n14155550103,Cid,x\n+1 415 555 0101,Dee\n',
    );
    expect(reply.body).toMatchObject({ valid_contacts: 1, invalid_rows: 3, total_rows: 4 });
    expect(reply.body.errors).toMatchObject([
      { row_number: 2, reason: 'to "nobody" is not a phone number' },
      { row_number: 3, reason: 'has 3 cells under 2 columns' },
      { row_number: 4 },
    ]);
    const file = await service.get(`${url}/upload/errors`);
    expect(file.headers['content-type']).toContain('text/csv');
    expect(file.text.split('\r\n').slice(0, 3)).toEqual([
      'row_number,reason',
      '2,"to ""nobody"" is not a phone number"',
      '3,has 3 cells under 2 columns',
    ]);
  });

  it('replaces the previous list; a refused upload keeps it', async () => {
    await sendCsv(CSV);
    expect((await sendCsv('to\n14155550109\n')).body.total_rows).toBe(1);
    const numbers = async () =>
      (await service.get(`${url}/contacts`)).body.objects.map(
        (one: { to_number: string }) => one.to_number,
      );
    expect(await numbers()).toEqual(['+14155550109']);
    for (const [text, why] of [
      ['', 'is empty'],
      ['phone\n14155550101\n', 'has no column to'],
      ['to,Name\n14155550101,"Ann\n', 'quote is not closed'],
    ] as const) {
      const reply = await sendCsv(text);
      expect(reply.status, text).toBe(400);
      expect(reply.body.details.file).toContain(why);
    }
    expect((await sendForm(part('other', CSV, 'contacts.csv'))).body.details.file).toContain(
      'no file in the field file',
    );
    expect(await numbers()).toEqual(['+14155550109']);
    expect(await service.store.campaigns.strayLists()).toEqual([]);
  });

  it('refuses a truncated, oversized or unsupported upload completely', async () => {
    const large = `to,Name\n${'14155550101,Ann\n'.repeat(70_000)}`;
    expect((await sendCsv(large)).status).toBe(413);
    const type = { headers: { 'content-type': 'application/zip' } };
    const zip = await service.post(`${url}/upload`, 'PK', type);
    expect(zip.status).toBe(415);
    expect(zip.text).toContain('multipart/form-data, text/csv, application/json');
    const form = { headers: { 'content-type': 'multipart/form-data' } };
    expect((await service.post(`${url}/upload`, 'x', form)).status).toBe(400);
    const half = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="c.csv"\r\n\r\nto\r\n14155550101\r\n`;
    const cut = await service.post(`${url}/upload`, half, {
      headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
    });
    expect(cut.status, cut.text).toBe(400);
    expect(cut.body.details.file).toContain('is incomplete');
    expect((await service.get(url)).body).toMatchObject({ status: 'draft', total_contacts: 0 });
    expect(await service.store.campaigns.strayLists()).toEqual([]);
  });

  it('keeps all rows of a large list in order', async () => {
    const rows = Array.from(
      { length: 2500 },
      (_, i) => `1415555${String(i).padStart(4, '0')},x${i}`,
    );
    const reply = await sendCsv(`to,Name\n${rows.join('\n')}`);
    expect(reply.body).toMatchObject({ valid_contacts: 2500, total_rows: 2500 });
    const last = (await service.get(`${url}/contacts?limit=1&offset=2499`)).body;
    expect(last).toMatchObject({ total: 2500, objects: [{ row_number: 2500 }] });
    const results = (await service.get(`${url}/results`)).text.trimEnd().split('\r\n');
    expect(results).toHaveLength(2501);
    expect(results.at(-1)).toBe('2500,+14155552499,,pending,,,,,');
  });
});

describe('contacts', () => {
  it('are filtered by status and number, and paged', async () => {
    await sendCsv('to\n14155550101\n14155550102\n14155550202\n');
    const found = async (query: string) => (await service.get(`${url}/contacts?${query}`)).body;
    expect(await found('search=5550')).toMatchObject({ total: 3 });
    expect(await found('search=%2B1-415-555-02')).toMatchObject({
      total: 1,
      objects: [{ to_number: '+14155550202' }],
    });
    expect(await found('status=answered')).toEqual({ objects: [], total: 0 });
    expect(await found('status=pending&limit=1&offset=1')).toMatchObject({
      total: 3,
      objects: [{ row_number: 2 }],
    });
    for (const query of ['status=happy', 'limit=0', 'limit=101', 'color=red']) {
      expect((await service.get(`${url}/contacts?${query}`)).status, query).toBe(400);
    }
  });
});

describe('calls and results', () => {
  const CALL = '7f0cf0f6-0f4b-4f0e-8f57-00000000000';

  /** Calls the first contact: busy at first, then answered for 42 s. */
  async function callFirst(): Promise<void> {
    const { campaigns } = service.store;
    const campaignId = asCampaignId(id);
    await service.post(`${url}/start`, {});
    const [contact] = (await campaigns.contacts(campaignId, {}, { limit: 1, offset: 0 })).items;
    const contactId = contact?.id ?? 0;
    for (const [turn, status] of (['busy', 'answered'] as const).entries()) {
      const callUuid = asCallUuid(`${CALL}${turn}`);
      const placedUs = Date.UTC(2026, 0, 1, 9, turn) * 1000;
      const begun = await campaigns.begin({
        callUuid,
        campaignId,
        contactId,
        from: '14155550100',
        placedUs,
        attemptsBefore: turn,
        poolNumber: undefined,
        maxCallsOfDay: 5,
        dayStartUs: 0,
      });
      expect(begun).toBeDefined();
      await campaigns.finish(
        {
          callUuid,
          day: '2026-01-01',
          status,
          answeredUs: status === 'answered' ? placedUs + 3_000_000 : undefined,
          endedUs: placedUs + 45_000_000,
          hangupCause: status === 'answered' ? 'NORMAL_CLEARING' : 'USER_BUSY',
          hangupCauseCode: status === 'answered' ? 4000 : 3010,
          machine: undefined,
          contact: {
            status: status === 'answered' ? 'answered' : 'retry_pending',
            reason: undefined,
            dueUs: status === 'answered' ? undefined : placedUs,
            counts: true,
          },
          failure: 'none',
        },
        [],
      );
    }
  }

  it('lists every attempt, uses the last as the result, and finds the contact of a call', async () => {
    await sendCsv('to\n14155550101\n14155550102\n');
    await callFirst();
    const calls = (await service.get(`${url}/calls?per_page=1`)).body;
    expect(calls).toMatchObject({ total: 2, page: 1, per_page: 1, total_pages: 2 });
    expect(calls.objects).toMatchObject([
      {
        call_uuid: `${CALL}1`,
        campaign_id: id,
        row_number: 1,
        attempt_number: 2,
        to_number: '+14155550101',
        from_number: '+14155550100',
        status: 'answered',
        duration: 42,
        hangup_cause: 'NORMAL_CLEARING',
        hangup_cause_code: 4000,
      },
    ]);
    expect((await service.get(`${url}/results`)).text).toBe(
      [
        'row_number,to_number,from_number_used,status,call_uuid,duration,hangup_cause,attempt_number,answered_at',
        `1,+14155550101,+14155550100,answered,${CALL}1,42,NORMAL_CLEARING,2,2026-01-01T09:01:03.000000Z`,
        '2,+14155550102,,pending,,,,,',
        '',
      ].join('\r\n'),
    );
    const found = await service.get(`${url}/call-lookup/${CALL.toUpperCase()}0`);
    expect(found.body).toMatchObject({ campaign_id: id, attempt_number: 1, status: 'busy' });
    expect((await service.get(`${url}/call-lookup/${CALL}9`)).status).toBe(404);
    const cloned = (await service.post(`${url}/clone`, {})).body.id;
    const elsewhere = `${root}/campaigns/${cloned}/call-lookup/${CALL}1`;
    expect((await service.get(elsewhere)).status).toBe(404);
    expect((await service.get(`${url}/calls?per_page=201`)).status).toBe(400);
  });
});
