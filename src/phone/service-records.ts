/** What the service wrote down about a call, fetched over its public REST interface. */
import type { Clock } from '../base/clock.ts';

export interface RecordsOptions {
  readonly baseUrl: string;
  readonly authId: string;
  readonly authToken: string;
  readonly clock: Clock;
}

/** Fields as they come; only those that are shown. */
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

/** The CDR is written within a second of the end; a few more are no harm. */
const ATTEMPTS = 20;
const INTERVAL_MS = 250;
const REQUEST_TIMEOUT_MS = 5000;

/** Undefined when the record did not appear in time. */
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
      const ledger = await get(`${account}/transactions?per_page=20`, options);
      const entries = listOf(ledger, 'transactions').filter(({ reference }) =>
        String(reference).includes(uuid),
      );
      return { cdr: { uuid, fields: cdr }, entries: entries.map((fields) => ({ fields })) };
    }
    await options.clock.sleep(INTERVAL_MS);
  }
  return undefined;
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
