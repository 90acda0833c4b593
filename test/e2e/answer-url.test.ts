/** Failing customer servers: each call ends with the matching cause, and the service continues to take calls. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Customer, echoBot, type Page, streamXml } from './customer.ts';
import { callFor, makeUser, startCall } from './phone.ts';
import { openPair, type Pair } from './scene.ts';
import { eventually, freePort, type Service } from './service.ts';

/** Limits requests to one attempt, so that tests do not wait for the default retries. */
const ONE_TRY = '#rc=0&rt=700';
const HUGE_BYTES = 5_000_000;

let pair: Pair;
let service: Service;
let customer: Customer;

beforeAll(async () => {
  pair = await openPair();
  ({ service, customer } = pair);
});
afterAll(() => pair.close());

let users = 0;
/** Runs a call whose application has this answer URL, and returns its record. */
async function endWith(answerUrl: string, fallback?: string) {
  const user = await makeUser(service, `user${++users}`, {
    answer_url: answerUrl,
    ...(fallback !== undefined && { fallback_answer_url: fallback }),
  });
  const report = await callFor(service, user, 1);
  return { report, cdr: await service.cdrOf(report.sipCallId) };
}

const page = (name: string, serve: Page): string => customer.page(`/${name}`, serve) + ONE_TRY;
const text =
  (body: string, status = 200): Page =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/xml' }).end(body);
  };

describe('answer URL failures end the call with Error Reaching Answer URL (7011)', () => {
  it.each<[string, () => Promise<string> | string]>([
    ['a closed port', async () => `http://127.0.0.1:${await freePort()}/${ONE_TRY}`],
    ['a status of 500', () => page('500', text('<Response/>', 500))],
    ['a status of 404', () => page('404', text('no', 404))],
    ['no response in time', () => page('never', () => undefined)],
    [
      'a body that never ends',
      () =>
        page('drip', (response) => {
          response.writeHead(200).write('<Response>');
        }),
    ],
    [
      'a connection closed within the body',
      () =>
        page('cut', (response) => {
          response.writeHead(200, { 'content-length': '1000' }).write('<Response>');
          setTimeout(() => response.destroy(), 20);
        }),
    ],
    [
      'a body of several megabytes',
      () => page('huge', text(`<Response>${'<!-- -->'.repeat(HUGE_BYTES / 8)}</Response>`)),
    ],
    [
      'redirects without end',
      () =>
        page('loop', (response) => {
          response.writeHead(302, { location: '/loop' }).end();
        }),
    ],
  ])('%s', async (_, url) => {
    const { report, cdr } = await endWith(await url());
    expect(report.setupMs).toBeUndefined();
    expect(cdr).toMatchObject({
      hangup_cause_code: 7011,
      hangup_cause_name: 'Error Reaching Answer URL',
      hangup_source: 'Error',
      answer_time: null,
      total_cost: 0,
    });
    expect(cdr['failure_reason']).toEqual(expect.stringMatching(/.{5}/));
  });
});

describe('invalid documents end the call with Invalid Answer XML (8011)', () => {
  const nested = `<Response>${'<Dial>'.repeat(5000)}${'</Dial>'.repeat(5000)}</Response>`;
  it.each([
    ['an unknown element', '<Response><Teleport/></Response>'],
    ['no root', 'Hello, this is a web page.'],
    ['an empty body', ''],
    ['JSON', '{"Response": []}'],
    ['an unclosed element', '<Response><Hangup></Response>'],
    [
      'a bare ampersand in a URL',
      '<Response><Redirect>http://127.0.0.1/?a=1&b=2</Redirect></Response>',
    ],
    ['a document type with entities', '<!DOCTYPE r [<!ENTITY a "b">]><Response>&a;</Response>'],
    ['bytes that are not text', '\u0000\u0001\ufffd\u0000'],
    ['five thousand levels', nested],
  ])('%s', async (name, body) => {
    const { report, cdr } = await endWith(page(`xml-${name.replaceAll(' ', '-')}`, text(body)));
    expect(report.setupMs).toBeUndefined();
    expect(cdr).toMatchObject({
      hangup_cause_name: 'Invalid Answer XML',
      hangup_cause_code: 8011,
      hangup_source: 'Error',
      total_cost: 0,
    });
  });
});

describe('valid answer URLs', () => {
  it('requests the fallback URL when the answer URL fails', async () => {
    const fallback = customer.xml('/fallback', streamXml(customer.bot('/echo', echoBot)));
    const { report, cdr } = await endWith(page('failing', text('', 503)), fallback);
    expect(report.setupMs).toBeDefined();
    expect(cdr['hangup_cause_code']).toBe(4000);
  });

  it('retries a failing answer URL three times by default, and uses the first document it receives', async () => {
    const starts = () =>
      customer.at('/flaky').filter(({ form }) => form['Event'] === 'StartApp').length;
    const url = customer.page('/flaky', (response) => {
      if (starts() < 3) response.writeHead(502).end();
      else response.writeHead(200).end('<Response><Hangup/></Response>');
    });
    const { cdr } = await endWith(url);
    expect(starts()).toBe(3);
    expect(cdr['hangup_source']).toBe('Answer XML');
  });

  it('posts the parameters of the spec, signed, to the URL without its fragment', async () => {
    await endWith(page('params', text('<Response><Hangup/></Response>')));
    const [posted] = customer.at('/params');
    expect(posted?.form).toMatchObject({
      Event: 'StartApp',
      Direction: 'inbound',
      CallStatus: 'ringing',
      To: '1000',
    });
    expect(posted?.form['CallUUID']).toMatch(/^[0-9a-f-]{36}$/);
    expect(posted?.headers['content-type']).toContain('application/x-www-form-urlencoded');
    expect(posted?.headers).toHaveProperty('x-vobiz-signature-v3');
    expect(posted?.headers).toHaveProperty('x-plivo-signature-v3-nonce');
  });

  it('keeps another running call free of audio loss', async () => {
    const running = await startCall(service, service.demo, { seconds: 20 });
    await running.answered;
    await Promise.all([
      endWith(page('meanwhile-huge', text('x'.repeat(HUGE_BYTES)))),
      endWith(page('meanwhile-bad', text(nestedRubbish()))),
      endWith(page('meanwhile-never', () => undefined)),
    ]);
    running.hangUp();
    const { reception } = await running.report;
    expect(reception.lost).toBe(0);
    expect(reception.received).toBeGreaterThan(20);
  });

  it('ends an unanswered call when its caller cancels, and stops the requests', async () => {
    const user = await makeUser(service, 'impatient', {
      answer_url: customer.page('/slow', () => undefined),
    });
    const call = await startCall(service, user);
    await eventually('the request', () => customer.at('/slow')[0]);
    call.hangUp();
    const { sipCallId, end } = await call.report;
    expect(end.how).toBe('cancel');
    const cdr = await service.cdrOf(sipCallId);
    expect(cdr).toMatchObject({
      hangup_cause_code: 1000,
      hangup_disposition: 'recv_cancel',
      total_cost: 0,
    });
  });
});

const nestedRubbish = (): string => `<Response>${'<a b="&#x41;">'.repeat(3000)}`;
