/** SIPp as failing carriers: cost of an unresponsive carrier, failover target, and guarded redirects. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, type Json } from '../e2e/service.ts';
import { SippStage } from './sipp-stage.ts';
import { missing, type SippOptions, type SippRun } from './tools.ts';

const FIRST = '127.0.0.2';
const SECOND = '127.0.0.3';
const OTHER = '127.0.0.6';
const TALK = '<Response><Wait length="1"/><Hangup/></Response>';

describe.skipIf(missing('sipp', 'sox'))('SIPp as carriers that fail', () => {
  let stage: SippStage;
  let service: SippStage['service'];
  let port: number;

  beforeAll(async () => {
    stage = await SippStage.open(8000);
    ({ service, port } = stage);
  });
  afterAll(() => stage.close());

  let names = 0;
  /** Replaces all carriers with two new ones that have no call history. */
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
      await stage.carrier({ name, host, priority, probe: false, ...(priority === 1 ? more : {}) });
    }
  }

  const carrier = (host: string, scenario: string, more: Partial<SippOptions> = {}): SippRun =>
    stage.called(host, scenario, { limitS: 30, ...more });

  let calls = 0;
  function placed(): Promise<Json> {
    calls += 1;
    return stage.placed('14155550199', TALK, `call-${calls}`);
  }
  const secondsToAnswer = (cdr: Json): number =>
    (Date.parse(String(cdr['answer_time'])) - Date.parse(String(cdr['start_time']))) / 1000;

  it('an unresponsive carrier delays its first call by 4 s, and later calls not at all', async () => {
    await carriers();
    // The socket exists but sends nothing, so no ICMP error reports a failure.
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

  it('wrong credentials fail over to the next carrier', async () => {
    await carriers();
    const first = carrier(FIRST, 'carrier-refuses', { status: '403' });
    const second = carrier(SECOND, 'carrier-answers');
    expect(await placed()).toMatchObject({ hangup_cause_code: 4000, carrier_ip: SECOND });
    expect([(await first.done).status, (await second.done).status]).toEqual([0, 0]);
  });

  it('a custom failover list applies: 404 of this carrier fails over', async () => {
    await carriers({ failover_on: ['404'] });
    const first = carrier(FIRST, 'carrier-refuses', { status: '404' });
    const second = carrier(SECOND, 'carrier-answers');
    expect(await placed()).toMatchObject({ hangup_cause_code: 4000, carrier_ip: SECOND });
    expect([(await first.done).status, (await second.done).status]).toEqual([0, 0]);
  });

  it('a redirect to another host passes the destination guard, which refuses hosts that customers may not reach', async () => {
    await carriers();
    const first = carrier(FIRST, 'carrier-redirects', { status: `10.9.8.7:${port}` });
    const second = carrier(SECOND, 'carrier-answers');
    // The guard refuses the private address, so the next carrier gets the call.
    expect(await placed()).toMatchObject({ hangup_cause_code: 4000, carrier_ip: SECOND });
    expect([(await first.done).status, (await second.done).status]).toEqual([0, 0]);
  });

  it('a redirect to a permitted host is followed', async () => {
    await carriers();
    const first = carrier(FIRST, 'carrier-redirects', { status: `${OTHER}:${port}` });
    const other = carrier(OTHER, 'carrier-answers');
    const cdr = await placed();
    expect(cdr).toMatchObject({ hangup_cause_code: 4000 });
    expect([(await first.done).status, (await other.done).status]).toEqual([0, 0]);
  });

  it('leaves no call, no reservation and no internal error', async () => {
    await eventually('the end of every call', async () =>
      (await service.admin('GET', '/calls')).body['count'] === 0 ? true : undefined,
    );
    expect((await service.balance())['reserved_funds']).toBe(0);
    const ours = /"level":"(error|fatal)"|"bug":true/;
    expect(service.program.stdout.split('\n').filter((line) => ours.test(line))).toEqual([]);
  });
});
