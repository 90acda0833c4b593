/** Observability of one call: log lines that carry its UUID, and its trace. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Customer, type Posted } from './customer.ts';
import { callFor, makeUser } from './phone.ts';
import {
  eventually,
  type Json,
  newPlace,
  removePlace,
  Service,
  type ServicePlace,
} from './service.ts';

let place: ServicePlace;
let service: Service;
let customer: Customer;
beforeAll(async () => {
  customer = await Customer.listen();
  place = await newPlace({
    CARILLON_LOG_LEVEL: 'debug',
    CARILLON_TELEMETRY_TRACES_URL: `http://${customer.authority}`,
  });
  service = await Service.start(place);
});
afterAll(async () => {
  await service.kill();
  await customer.close();
  removePlace(place);
});

const lines = (): readonly Json[] =>
  service.program.stdout
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as Json);

/** Log lines without a call: of the node, of REST requests, and of INVITEs without credentials. */
const OF_NO_CALL =
  /^(overload|warmed|RTP ports in use|request served|SIP request refused|SIP authentication failed)/;

it('writes the call UUID to every log line of a failing call', async () => {
  const dead = 'http://127.0.0.1:9';
  const answer = customer.xml(
    '/everything',
    `<Response><Play>${dead}/x.mp3</Play><Record maxLength="1" redirect="false" action="${dead}/r"/>
      <Stream keepCallAlive="true" statusCallbackUrl="${dead}/s">ws://127.0.0.1:9/bot</Stream>
      <Dial timeout="2"><User>sip:nobody@127.0.0.1:9</User></Dial><Speak>done</Speak></Response>`,
  );
  const user = await makeUser(service, 'watched', {
    answer_url: answer,
    hangup_url: `${dead}/hangup#rc=0`,
  });
  const before = lines().length;
  const report = await callFor(service, user, 8);
  const cdr = await service.cdrOf(report.sipCallId);
  await eventually('the hangup notification is abandoned', () =>
    lines().some(({ msg, event }) => msg === 'notification abandoned' && event === 'Hangup')
      ? true
      : undefined,
  );
  const left = lines()
    .slice(before)
    .filter(({ msg }) => !OF_NO_CALL.test(String(msg)));
  const said = left.map(({ msg }) => msg);
  expect(said).toEqual(expect.arrayContaining(['audio stream ended', 'notification abandoned']));
  expect(left.filter(({ callUuid }) => callUuid !== cdr['uuid'])).toEqual([]);
});

it("sends traceparent with the call's trace ID in requests to the customer", async () => {
  const answer = customer.xml('/traced', '<Response><Speak>hello</Speak></Response>');
  const user = await makeUser(service, 'traced', {
    answer_url: answer,
    hangup_url: customer.page('/traced-hangup', (response) => void response.end()),
  });
  const report = await callFor(service, user, 1);
  const { uuid } = await service.cdrOf(report.sipCallId);
  const trace = String(uuid).replaceAll('-', '');
  const hungUp = await eventually('the hangup', () => customer.at('/traced-hangup')[0]);
  const spanOf = (posted: Posted | undefined): string => {
    const [, traceId, span = ''] =
      /^00-([0-9a-f]{32})-([0-9a-f]{16})-01$/.exec(String(posted?.headers['traceparent'])) ?? [];
    expect(traceId).toBe(trace);
    return span;
  };
  const spans = [spanOf(customer.at('/traced')[0]), spanOf(hungUp)];
  expect(new Set(spans).size).toBe(2);
  const exported = await eventually('the trace', () =>
    customer.at('/v1/traces').find(({ form }) => JSON.stringify(form).includes(trace)),
  );
  // The exported trace includes the spans named in traceparent, so that the customer's spans have a parent.
  for (const span of spans) expect(JSON.stringify(exported.form)).toContain(span);
});
