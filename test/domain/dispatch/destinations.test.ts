import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CALLED, NOTHING_LEFT, OWN_NUMBER, openStage, type Stage } from './stage.ts';

let stage: Stage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(() => stage.close());

describe('POST Call: refused destinations end with a cause', () => {
  const failsWith = async (to: string, over: Parameters<Stage['placed']>[0] = {}) => {
    const { callUuid } = await stage.placed({ to: [to], ...over });
    expect(stage.signalling.invites).toHaveLength(0);
    const cdr = await stage.cdr(callUuid);
    expect(await stage.leftovers()).toEqual(NOTHING_LEFT);
    expect(stage.customer.events()).toEqual(['Hangup']);
    return cdr;
  };

  it('a foreign caller ID: 3030 Unknown Caller ID (decisions: caller id ownership)', async () => {
    expect(await failsWith(CALLED, { from: '14155550177' })).toMatchObject({
      hangupCauseCode: 3030,
      hangupCauseName: 'Unknown Caller ID',
      hangupDisposition: 'send_refuse',
      failureReason: '14155550177 is not a caller ID of this account',
    });
  });

  it('a registered endpoint: 2020 Endpoint Not Registered, even while registered (spec rule 4)', async () => {
    stage.signalling.registered.add('alice');
    expect(await failsWith('sip:alice@voice.test:5060;transport=udp')).toMatchObject({
      hangupCauseCode: 2020,
    });
  });

  it('a barred prefix, number and country: 2050, 2040, 2030 (dialect §3.12)', async () => {
    const { authId } = stage.account;
    await stage.accounts.patch(authId, {
      barredPrefixes: ['1876', '14155550102'],
      barredCountries: ['GB'],
    });
    expect(await failsWith('18765550100')).toMatchObject({ hangupCauseCode: 2050 });
    stage.customer.reported.length = 0;
    expect(await failsWith('14155550102')).toMatchObject({ hangupCauseCode: 2040 });
    stage.customer.reported.length = 0;
    expect(await failsWith('442079460000')).toMatchObject({ hangupCauseCode: 2030 });
  });

  it('emergency, short and premium-rate numbers: 2040, for all accounts', async () => {
    expect(await failsWith('911')).toMatchObject({ hangupCauseCode: 2040 });
    stage.customer.reported.length = 0;
    expect(await failsWith('19005550100')).toMatchObject({ hangupCauseCode: 2040 });
  });

  it('digits that are not a valid number: 2000', async () => {
    expect(await failsWith('999123456789')).toMatchObject({ hangupCauseCode: 2000 });
  });

  it('no carrier or no price: 5020 with the respective reason', async () => {
    await stage.provisioning.carriers.patch('north', { prefixes: ['44'] });
    expect(await failsWith(CALLED)).toMatchObject({
      hangupCauseCode: 5020,
      failureReason: `no carrier accepts calls to ${CALLED}`,
    });
    await stage.close();
    stage = await openStage({ currency: 'EUR' });
    expect(await failsWith(CALLED)).toMatchObject({
      hangupCauseCode: 5020,
      failureReason: `calls to ${CALLED} have no price in EUR`,
    });
  });
});

describe('POST Call: routing', () => {
  it('completes national numbers with the country of the account', async () => {
    const { callUuid } = await stage.placed({ to: ['4155550101'], from: '4155550100' });
    expect(stage.signalling.last.target).toMatchObject({ number: CALLED });
    expect(stage.live(callUuid).facts).toMatchObject({ from: OWN_NUMBER, to: CALLED });
    await stage.finish();
  });

  it('dials special numbers that the operator allows unchanged', async () => {
    await stage.close();
    stage = await openStage({}, { allowSpecial: ['933'] });
    await stage.placed({ to: ['933'] });
    expect(stage.signalling.last.target).toMatchObject({ kind: 'carrier', number: '933' });
    await stage.finish();
  });

  it('calls external SIP addresses directly', async () => {
    await stage.placed({ to: ['sip:bob@192.0.2.77:5070;transport=tcp'] });
    expect(stage.signalling.last.target).toMatchObject({
      kind: 'uri',
      uri: 'sip:bob@192.0.2.77:5070;transport=tcp',
    });
    await stage.finish();
  });

  it('tries the next carrier after a 503, but not after a 486', async () => {
    await stage.provisioning.carriers.create({ name: 'south', host: '192.0.2.11', priority: 2 });
    const first = await stage.placed();
    stage.signalling.last.heardFrom('192.0.2.10', 'North/1');
    await stage.signalling.last.ends('refused', 503);
    expect(stage.signalling.invites.map(({ target }) => target)).toMatchObject([
      { carrier: 'north' },
      { carrier: 'south' },
    ]);
    stage.signalling.last.heardFrom('192.0.2.11');
    await stage.signalling.last.ends('refused', 486);
    expect(stage.signalling.invites).toHaveLength(2);
    expect(await stage.cdr(first.callUuid)).toMatchObject({
      hangupCauseCode: 3010,
      carrier: 'south',
      remoteAddress: '192.0.2.11',
      sipUserAgent: undefined,
    });
  });

  it('skips a full carrier; if all are full, waits and ends as 5030 with the exhausted limit', async () => {
    await stage.provisioning.carriers.patch('north', { concurrentCallsLimit: 1 });
    await stage.placed();
    const second = await stage.placed();
    await stage.clock.advance(1999);
    expect(stage.live(second.callUuid).isEnded).toBe(false);
    await stage.clock.advance(1);
    expect(stage.signalling.invites).toHaveLength(1);
    const failureReason = 'carrier north is full: 1 concurrent calls (waited 2000 ms)';
    expect(await stage.cdr(second.callUuid)).toMatchObject({
      hangupCauseCode: 5030,
      hangupSource: 'Carillon',
      failureReason,
    });
    expect(stage.customer.reported.at(-1)?.parameters).toMatchObject({
      Event: 'Hangup',
      HangupCauseName: 'Concurrency Limit Breached',
      FailureReason: failureReason,
    });
    await stage.signalling.last.ends('refused', 486);
    await stage.placed();
    expect(stage.signalling.invites).toHaveLength(2);
    await stage.finish();
  });
});
