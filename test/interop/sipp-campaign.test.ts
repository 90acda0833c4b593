/** A campaign of 2,000 contacts at four SIPp carriers; each result row is compared with the carriers' logs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Customer } from '../e2e/customer.ts';
import {
  eventually,
  freePort,
  newPlace,
  removePlace,
  Service,
  type ServicePlace,
} from '../e2e/service.ts';
import { missing, type SippRun, startSipp, workFolder } from './tools.ts';

const CONTACTS = 2000;
const AT_ONCE = 100;
const A_SECOND = 40;
const FROM = '14155550100';
const LIMIT_MS = 300_000;

/** Carriers by number prefix, with the outcome of their calls and the expected lines in their logs. */
const CARRIERS = [
  { host: '127.0.0.2', scenario: 'carrier-answers', log: 'answered', status: 'answered' },
  { host: '127.0.0.3', scenario: 'carrier-refuses', sip: '486', log: 'refused', status: 'busy' },
  { host: '127.0.0.4', scenario: 'carrier-refuses', sip: '404', log: 'refused', status: 'failed' },
  { host: '127.0.0.5', scenario: 'carrier-rings', log: 'rang', status: 'no_answer' },
] as const;

const carrierOf = (row: number): number => row % CARRIERS.length;
const numberOf = (row: number): string =>
  `141555${5 + carrierOf(row)}${String(row).padStart(4, '0')}`;

describe.skipIf(missing('sipp', 'sox'))('a campaign at SIPp', () => {
  let place: ServicePlace;
  let service: Service;
  let customer: Customer;
  let folder: ReturnType<typeof workFolder>;
  const running: SippRun[] = [];

  beforeAll(async () => {
    folder = workFolder();
    customer = await Customer.listen();
    const port = await freePort();
    place = await newPlace({
      CARILLON_CALLS_MAX_CONCURRENT: '300',
      // A used port is not reused immediately, so the range is large.
      CARILLON_RTP_PORT_MIN: '20000',
      CARILLON_RTP_PORT_MAX: '29999',
    });
    service = await Service.start(place);
    const account = `/accounts/${service.demo.authId}`;
    await service.admin('PATCH', account, {
      concurrent_calls_limit: 2 * AT_ONCE,
      cps_limit: A_SECOND,
    });
    await service.admin('POST', `${account}/caller-ids`, { number: FROM });
    for (const [at, { host, scenario, ...carrier }] of CARRIERS.entries()) {
      const made = await service.admin('POST', '/carriers', {
        name: `carrier-${at}`,
        host,
        port,
        transport: 'udp',
        source_addresses: [host],
        prefixes: [`141555${5 + at}`],
        cps_limit: 1000,
        concurrent_calls_limit: 1000,
      });
      expect(made.status, made.text).toBe(201);
      running.push(
        startSipp({
          folder: folder.path,
          scenario,
          localAddress: host,
          localPort: port,
          mediaPort: 6000 + 200 * at,
          calls: CONTACTS,
          limitS: LIMIT_MS / 1000,
          ...('sip' in carrier && { status: carrier.sip }),
          more: ['-trace_logs', '-log_file', `${host}.log`],
        }),
      );
    }
  });
  afterAll(async () => {
    for (const run of running) run.stop();
    await service.kill();
    await customer.close();
    removePlace(place);
    folder.remove();
  });

  it(
    "calls every contact once and reports the outcome in the carrier's log",
    async () => {
      const agent = await service.api('POST', 'campaign/agents', {
        name: 'Desk',
        answer_url: customer.xml('/talk', '<Response><Wait length="1"/><Hangup/></Response>'),
        ring_timeout: 8,
      });
      const made = await service.api('POST', 'campaigns', {
        name: 'Two thousand',
        agent_id: agent.body['id'],
        max_concurrent: AT_ONCE,
        timezone: 'UTC',
        caller_id_strategy: 'fixed',
        fixed_caller_id: FROM,
      });
      expect(made.status, made.text).toBe(201);
      const path = `campaigns/${made.body['id']}`;
      const contacts = Array.from({ length: CONTACTS }, (_, row) => ({ to: numberOf(row + 1) }));
      const uploaded = await service.api('POST', `${path}/upload`, { contacts });
      expect(uploaded.body, uploaded.text).toMatchObject({ valid_contacts: CONTACTS });
      expect((await service.api('POST', `${path}/start`)).body['status']).toBe('running');
      const campaign = await eventually(
        'the completion of the campaign',
        async () => {
          const { body } = await service.api('GET', path);
          return body['status'] === 'completed' ? body : undefined;
        },
        LIMIT_MS,
      );
      const [, ...lines] = (await service.api('GET', `${path}/results`)).text
        .trimEnd()
        .split('\r\n');
      expect(lines).toHaveLength(CONTACTS);
      const wrong: string[] = [];
      const seen = CARRIERS.map(({ host }) => logOf(join(folder.path, `${host}.log`)));
      for (const [at, line] of lines.entries()) {
        const row = at + 1;
        const [rowNumber, to, , status] = line.split(',');
        const carrier = CARRIERS[carrierOf(row)];
        const calls = seen.flatMap((log) => log.get(numberOf(row)) ?? []);
        const right =
          Number(rowNumber) === row &&
          to === `+${numberOf(row)}` &&
          status === carrier?.status &&
          calls.length === 1 &&
          calls[0] === carrier?.log;
        if (!right) wrong.push(`${line}: ${calls.join()}`);
      }
      expect(wrong).toEqual([]);
      for (const { status } of CARRIERS) expect(campaign[status]).toBe(CONTACTS / CARRIERS.length);
    },
    LIMIT_MS + 30_000,
  );
});

/** Carrier log entries of each number, one list per number. */
function logOf(file: string): Map<string, string[]> {
  const calls = new Map<string, string[]>();
  for (const [, word = '', number = ''] of readFileSync(file, 'utf8').matchAll(
    /(answered|refused|rang) (\d+)/g,
  )) {
    calls.set(number, [...(calls.get(number) ?? []), word]);
  }
  return calls;
}
