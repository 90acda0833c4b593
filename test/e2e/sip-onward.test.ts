/** Data forwarded from the caller to the called party, and number formats (RFC 3966, 5806, 7044, 7433, 7989). */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { headerIn } from './wire-peer.ts';
import { WireStage } from './wire-stage.ts';

let stage: WireStage;
let dials: string;

beforeAll(async () => {
  stage = await WireStage.open();
  dials = await stage.dialling();
});
afterAll(() => stage.close());
afterEach(() => stage.quiet());

it('forwards call history, user data, session ID and hop count, but no hop-by-hop data', async () => {
  const passed = {
    Diversion: '<sip:14155550111@far.test>;reason=no-answer',
    'History-Info': '<sip:14155550111@far.test>;index=1',
    'User-to-User': '5465;encoding=hex',
    'Session-ID': 'ab30317f1a784dc48ff824d0d3715d86;remote=00000000000000000000000000000000',
  };
  const call = stage.caller(dials);
  const headers = Object.entries(passed).map(([name, value]) => `${name}: ${value}`);
  call.invite({ hops: 42, headers: [...headers, 'Subject: private', 'Accept-Language: de'] });
  const callee = await stage.callee();
  for (const [name, value] of Object.entries(passed))
    expect(headerIn(callee.invite, name)).toBe(value);
  expect(headerIn(callee.invite, 'Max-Forwards')).toBe('41');
  expect(callee.invite.text).not.toContain('private');
  expect(callee.invite.text).not.toContain(stage.calling.address);
  await callee.refuse('486 Busy Here');
  expect((await call.invited('final')).status).toBe(486);
});

it.each([
  ['a tel: URI', (number: string) => `tel:+${number}`],
  ['a tel URI with visual separators', (number: string) => `tel:+1-415-${number.slice(4)}`],
  [
    'a number in a SIP URI with parameters',
    (number: string) => `sip:+${number};npdi@127.0.0.1;user=phone`,
  ],
])('extracts the number from %s', async (_, written) => {
  const call = stage.caller(dials);
  call.invite({ uri: written(dials) });
  await (await stage.callee()).refuse('486 Busy Here');
  expect((await call.invited('final')).status).toBe(486);
});
