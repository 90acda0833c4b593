import { describe, expect, it } from 'vitest';
import { wallUs } from '../../../src/base/clock.ts';
import { Serviceability } from '../../../src/domain/cluster/cluster.ts';
import { SimClock } from '../../sim/clock.ts';

function watched() {
  const clock = new SimClock();
  const reported: (string | undefined)[] = [];
  const serviceability = new Serviceability(clock);
  serviceability.onChange((cause) => reported.push(cause));
  return { clock, reported, serviceability };
}

describe('serviceability of a node', () => {
  it('lists each condition with its start and reports each change of the cause once', async () => {
    const { clock, reported, serviceability } = watched();
    const [store, redis] = [serviceability.of('store'), serviceability.of('redis')];
    const beganUs = wallUs(clock);
    store('the disk is full');
    store('the disk is full');
    await clock.advance(1000);
    redis('Redis does not answer');
    expect(serviceability.conditions).toEqual([
      { condition: 'store', sinceUs: beganUs, cause: 'the disk is full' },
      { condition: 'redis', sinceUs: beganUs + 1_000_000, cause: 'Redis does not answer' },
    ]);
    expect(serviceability.cause).toBe('Redis does not answer');
    redis(undefined);
    expect(serviceability.cause).toBe('the disk is full');
    store(undefined);
    expect(serviceability.conditions).toEqual([]);
    expect(reported).toEqual([
      ...['the disk is full', 'Redis does not answer', 'the disk is full'],
      undefined,
    ]);
  });

  it('keeps the start of a condition whose cause changes', async () => {
    const { clock, serviceability } = watched();
    serviceability.of('store')('the database is down');
    const [{ sinceUs } = { sinceUs: 0 }] = serviceability.conditions;
    await clock.advance(500);
    serviceability.of('store')('the disk is full');
    expect(serviceability.conditions).toMatchObject([{ sinceUs, cause: 'the disk is full' }]);
  });

  it('converts causes to valid SIP header field content', () => {
    const { serviceability } = watched();
    serviceability.of('store')('ERROR: "x"\r\nVia: \\y');
    expect(serviceability.cause).toBe("ERROR: 'x' Via: 'y");
  });
});
