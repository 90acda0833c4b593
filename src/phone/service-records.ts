/** Fetches the service's records of a call from its public REST API. */
import type { Clock } from '../base/clock.ts';

export interface RecordsOptions {
  readonly baseUrl: string;
  readonly authId: string;
  readonly authToken: string;
  readonly clock: Clock;
}

/** Fields of a call record that are shown, as received. */
interface CallRecord {
  readonly uuid: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

interface LedgerEntry {
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface ServiceRecords {
  readonly cdr: CallRecord;
  readonly entries: readonly LedgerEntry[];
}

/** Number of fetches. The service writes the CDR within a second of the end of the call. */
const ATTEMPTS = 20;
const INTERVAL_MS = 250;
const REQUEST_TIMEOUT_MS = 5000;
/** Consecutive fetches without a new entry after which the list counts as complete. */
const SETTLED_AFTER = 4;

/** Returns the records of a call, or undefined if no CDR appeared in time. */
export async function fetchRecords(
  options: RecordsOptions,
  sipCallId: string,
): Promise<ServiceRecords | undefined> {
  const account = `${options.baseUrl}/api/v1/Account/${options.authId}`;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const query = new URLSearchParams({ sip_call_id: sipCallId });
    const [cdr] = listOf(await get(`${account}/cdr?${query}`, options), 'data');
    if (cdr !== undefined && typeof cdr['uuid'] === 'string') {
      const uuid = cdr['uuid'];
      const entries = await settledEntries(account, uuid, options);
      return { cdr: { uuid, fields: cdr }, entries: entries.map((fields) => ({ fields })) };
    }
    await options.clock.sleep(INTERVAL_MS);
  }
  return undefined;
}

/** Returns all ledger entries of a call after no new one appeared for a while. Recordings are charged when their files are ready. */
async function settledEntries(
  account: string,
  uuid: string,
  options: RecordsOptions,
): Promise<readonly Json[]> {
  let entries: readonly Json[] = [];
  let unchanged = 0;
  for (let attempt = 0; attempt < ATTEMPTS && unchanged < SETTLED_AFTER; attempt += 1) {
    if (attempt > 0) await options.clock.sleep(INTERVAL_MS);
    const found = await entriesOf(account, uuid, options);
    unchanged = found.length === entries.length ? unchanged + 1 : 0;
    entries = found;
  }
  return entries;
}

/** Returns entries that refer to the call, and those of its streams, recordings and transcriptions, matched by description. */
async function entriesOf(
  account: string,
  uuid: string,
  options: RecordsOptions,
): Promise<readonly Json[]> {
  const path = `${account}/transactions?per_page=1000`;
  const found = await Promise.all([
    get(`${path}&reference=${uuid}`, options),
    get(`${path}&description=${uuid}`, options),
  ]);
  const entries = found.flatMap((page) => listOf(page, 'transactions'));
  return [...new Map(entries.map((entry) => [entry['id'], entry])).values()];
}

type Json = Readonly<Record<string, unknown>>;

async function get(url: string, { authId, authToken }: RecordsOptions): Promise<unknown> {
  try {
    const response = await fetch(url, {
      headers: { 'X-Auth-ID': authId, 'X-Auth-Token': authToken },
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    return response.ok ? await response.json() : undefined;
  } catch {
    return undefined;
  }
}

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null;

function listOf(body: unknown, key: string): readonly Json[] {
  const list = isJson(body) ? body[key] : undefined;
  return Array.isArray(list) ? list.filter(isJson) : [];
}
