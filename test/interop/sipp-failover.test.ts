/** SIPp as carriers that fail: what a dead one costs, who gets the call, and where a redirection may lead. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Customer } from '../e2e/customer.ts';
import {
  eventually,
  freePort,
  type Json,
  newPlace,
  removePlace,
  Service,
  type ServicePlace,
} from '../e2e/service.ts';
import { missing, type SippOptions, type SippRun, startSipp, workFolder } from './tools.ts';

const OWN_NUMBER = '14155550123';
const FIRST = '127.0.0.2';
const SECOND = '127.0.0.3';
const OTHER = '127.0.0.6';
const TALK = '<Response><Wait length="1"/><Hangup/></Response>';

describe.skipIf(missing('sipp', 'sox'))('SIPp as carriers that fail', () => {
  let place: ServicePlace;
  let service: Service;
  let customer: Customer;
  let folder: ReturnType<typeof workFolder>;
  let port: number;
  const running: SippRun[] = [];

  beforeAll(async () => {
    folder = workFolder();
    customer = await Customer.listen();
    port = await freePort();
    place = await newPlace();
    service = await Service.start(place);
    const number = await service.admin('POST', '/numbers', {
      ...{ e164: OWN_NUMBER, country: 'US', currency: 'USD', account_id: service.demo.authId },
    });
    expect(number.status, number.text).toBe(201);
  });
  afterAll(async () => {
    for (const run of running) run.stop();
    await service.kill();
    await customer.close();
    removePlace(place);
    folder.remove();
  });

  let names = 0;
  /** Two carriers that no call has been made to; the names of earlier ones are gone. */
  async function carriers(more: Json = {}): Promise<void> {
    const { body } = await service.admin('GET', '/carriers');
    for (const { name } of body['carriers'] as Json[]) {
      await service.admin('DELETE', `/carriers/${String(name)}`);
    }
    names += 1;
    for (const [name, host, priority] of [
      [`first-${names}`, FIRST, 1],
      [`second-${names}`, SECOND, 2],
    ] as const) {
      const made = await service.admin('POST', '/carriers', {
        ...{ name, host, port, priority, transport: 'udp', prefixes: [''], probe: false },
        ...(priority === 1 ? more : {}),
      });
      expect(made.status, made.text).toBe(201);
    }
  }

  let mediaPort = 8000;
  function carrier(host: string, scenario: string, more: Partial<SippOptions> = {}): SippRun {
    mediaPort += 10;
    const run = startSipp({
      ...{ folder: folder.path, scenario, localAddress: host, localPort: port },
      ...{ mediaPort, calls: 1, limitS: 30 },
      ...more,
    });
    running.push(run);
    return run;
  }

  let calls = 0;
  async function placed(): Promise<Json> {
    calls += 1;
    const name = `call-${calls}`;
    const answer = await service.api('POST', 'Call/', {
      ...{ from: OWN_NUMBER, to: '14155550199', answer_url: customer.xml(`/${name}`, TALK) },
      hangup_url: `http://${customer.authority}/${name}-hangup`,
    });
    expect(answer.status, answer.text).toBeLessThan(300);
    const uuid = await eventually(
      'the hangup notification',
      () => customer.at(`/${name}-hangup`)[0]?.form['CallUUID'],
      40_000,
    );
    return (await service.api('GET', `cdr/${uuid}`)).body['data'] as Json;
  }
  const secondsToAnswer = (cdr: Json): number =>
    (Date.parse(String(cdr['answer_time'])) - Date.parse(String(cdr['start_time']))) / 1000;

  it('a carrier that answers nothing costs its first call 4 s, and later ones nothing', async () => {
    await carriers();
    // It is there and says nothing: no ICMP tells that it is gone.
    const first = carrier(FIRST, 'carrier-silent', { calls: 9 });
    const second = carrier(SECOND, 'carrier-answers', { calls: 2 });
    const one = await placed();
    expect(one).toMatchObject({ hangup_cause_code: 4000, carrier_ip: SECOND });
    expect(secondsToAnswer(one)).toBeGreaterThan(3.9);
    expect(secondsToAnswer(one)).toBeLessThan(5.5);
    const two = await placed();
    expect(two).toMatchObject({ hangup_cause_code: 4000, carrier_ip: SECOND });
    expect(secondsToAnswer(two)).toBeLessThan(1);
    first.stop();
    expect((await second.done).status).toBe(0);
  });

  it('wrong credentials lead to the next carrier', async () => {
    await carriers();
    const first = carrier(FIRST, 'carrier-refuses', { status: '403' });
    const second = carrier(SECOND, 'carrier-answers');
    expect(await placed()).toMatchObject({ hangup_cause_code: 4000, carrier_ip: SECOND });
    expect([(await first.done).status, (await second.done).status]).toEqual([0, 0]);
  });

  it('a list of its own decides: 404 of this carrier is no last word', async () => {
    await carriers({ failover_on: ['404'] });
    const first = carrier(FIRST, 'carrier-refuses', { status: '404' });
    const second = carrier(SECOND, 'carrier-answers');
    expect(await placed()).toMatchObject({ hangup_cause_code: 4000, carrier_ip: SECOND });
    expect([(await first.done).status, (await second.done).status]).toEqual([0, 0]);
  });

  it('a redirection to another host is followed through the guard, which refuses what customers may not reach', async () => {
    await carriers();
    const first = carrier(FIRST, 'carrier-redirects', { status: `10.9.8.7:${port}` });
    const second = carrier(SECOND, 'carrier-answers');
    // A private address: the guard refuses it, and the next carrier has the call.
    expect(await placed()).toMatchObject({ hangup_cause_code: 4000, carrier_ip: SECOND });
    expect([(await first.done).status, (await second.done).status]).toEqual([0, 0]);
  });

  it('a redirection to where the guard lets calls go brings the call there', async () => {
    await carriers();
    const first = carrier(FIRST, 'carrier-redirects', { status: `${OTHER}:${port}` });
    const other = carrier(OTHER, 'carrier-answers');
    const cdr = await placed();
    expect(cdr).toMatchObject({ hangup_cause_code: 4000 });
    expect([(await first.done).status, (await other.done).status]).toEqual([0, 0]);
  });

  it('has left no call, no reservation and no error of ours', async () => {
    await eventually('the end of every call', async () =>
      (await service.admin('GET', '/calls')).body['count'] === 0 ? true : undefined,
    );
    expect((await service.balance())['reserved_funds']).toBe(0);
    const ours = /"level":"(error|fatal)"|"bug":true/;
    expect(service.program.stdout.split('\n').filter((line) => ours.test(line))).toEqual([]);
  });
});
