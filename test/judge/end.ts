/** Reads the final state of a judged run: records, ledger, recordings, contacts and slots. */
import { type Answer, eventually, type Json, type Service } from '../e2e/service.ts';
import type { Clients } from './clients.ts';
import type { Observation } from './history.ts';
import { checked, endText, micros } from './scene.ts';

const PAGE = 100;
/** Longest time for the end of all calls, for their reports, and for the release of slots, ms. */
const CALLS_END_MS = 90_000;
const REPORTS_MS = 60_000;
const RELEASE_MS = 40_000;

type Get = (path: string) => Promise<Answer>;
type Observe = (observation: Observation) => void;

/** Records of the account, after all calls have ended and were reported. */
export async function observeEnd(
  clients: Clients,
  service: Service,
  observe: Observe,
): Promise<void> {
  const { account, callees } = clients;
  const api: Get = (path) => service.api('GET', path, undefined, account);
  await callees.pause(service);
  await eventually(
    'the end of all calls',
    async () => {
      const { body } = await api('Call/?status=live');
      return (body['calls'] as unknown[] | undefined)?.length === 0 || undefined;
    },
    CALLS_END_MS,
  );
  const rows = await eventually(
    'the report of all calls',
    () => reported(clients, api),
    REPORTS_MS,
  ).catch(async () => (await allRecords(api)) ?? []);
  callees.observe();
  for (const row of rows) observe(recordOf(row));
  await callees.observeContacts(service);
  await observeRecordings(api, observe);
  const slotsUsed = await eventually(
    'released slots',
    async () => ((await api('concurrency')).body['concurrent_calls'] === 0 ? 0 : undefined),
    RELEASE_MS,
  ).catch(async () => Number((await api('concurrency')).body['concurrent_calls']));
  await observeEntries(api, observe);
  const { body } = await api('balance/USD');
  observe({
    kind: 'end',
    balance: micros(body['balance']),
    reserved: micros(body['reserved_funds']),
    slotsUsed,
  });
}

/** All records, if each answered call was reported. */
async function reported(clients: Clients, api: Get): Promise<readonly Json[] | undefined> {
  const found = await allRecords(api);
  const answered = found?.filter((row) => row['answer_time'] !== null);
  return answered?.every((row) => clients.reported.has(String(row['uuid']))) ? found : undefined;
}

/** All records; undefined if one was added between two pages. */
async function allRecords(get: Get): Promise<Json[] | undefined> {
  const found: Json[] = [];
  for (let page = 1; ; page += 1) {
    const { body } = await get(`cdr?per_page=${PAGE}&page=${page}`);
    const part = (body['data'] as Json[] | undefined) ?? [];
    found.push(...part);
    const { total } = (body['pagination'] ?? {}) as { readonly total?: number };
    if (part.length === PAGE) continue;
    const isStable =
      found.length === total && new Set(found.map(({ uuid }) => uuid)).size === total;
    return isStable ? found : undefined;
  }
}

const recordOf = (row: Json): Observation => ({
  kind: 'record',
  call: String(row['sip_call_id'] ?? ''),
  uuid: String(row['uuid']),
  to: String(row['destination_number']),
  answered: row['answer_time'] !== null,
  billsec: Number(row['billsec']),
  cost: micros(row['cost']),
  streamCost: micros(row['streaming_cost']),
  end: endText(row['billsec'], row['rounded_bill_duration'], row['hangup_cause_code']),
});

async function observeRecordings(api: Get, observe: Observe): Promise<void> {
  for (let offset = 0; ; ) {
    const { objects } = await checked(api(`Recording/?limit=${PAGE}&offset=${offset}`));
    const rows = objects as readonly Json[];
    for (const row of rows) observe({ kind: 'recording', call: String(row['call_uuid']) });
    if (rows.length === 0) return;
    offset += rows.length;
  }
}

async function observeEntries(api: Get, observe: Observe): Promise<void> {
  for (let page = 1; ; page += 1) {
    const body = await checked(api(`transactions?per_page=1000&page=${page}`));
    for (const entry of body['transactions'] as Json[]) {
      const type = String(entry['type']);
      // Earlier credits are part of the first balance.
      if (type === 'credit' && !String(entry['description']).startsWith('credit-')) continue;
      observe({
        kind: 'entry',
        id: String(entry['id']),
        type,
        amount: micros(entry['amount']),
        reference: String(type === 'credit' ? entry['description'] : entry['reference']),
      });
    }
    if (page >= Number(body['total_pages'])) return;
  }
}
