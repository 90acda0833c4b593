/** Data that the called party gets: header fields of the caller, number formats (RFC 3966, 5806, 7044, 7433, 7989), passwords. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { headerIn, sdpOf, WirePeer } from './wire-peer.ts';
import { WireStage } from './wire-stage.ts';

let stage: WireStage;
let dials: string;

beforeAll(async () => {
  stage = await WireStage.open({ CARILLON_EGRESS_ALLOW: '127.0.0.0/8' });
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

/** RFC 3261 §22: a digest lets its receiver guess the password offline, so only the peer that holds the account may get one. */
describe('the password of a carrier', () => {
  const challenge = (realm: string) => `Digest realm="${realm}", nonce="n-${realm}", qop="auth"`;
  const asks = (status: 401 | 407, realm: string) => [
    `${status === 407 ? 'Proxy' : 'WWW'}-Authenticate: ${challenge(realm)}`,
  ];
  const digestIn = (received: { readonly text: string }) =>
    `${headerIn(received, 'Authorization')}${headerIn(received, 'Proxy-Authorization')}`;
  let foreign: WirePeer;

  beforeAll(async () => {
    foreign = await WirePeer.udp('127.0.0.5');
    const auth = { username: 'trunk-user', password: 'trunk-password', register: false };
    const changed = await stage.service.admin('PATCH', '/carriers/called', { auth });
    expect(changed.status, changed.text).toBe(200);
  });
  afterAll(async () => {
    foreign.close();
    await stage.service.admin('PATCH', '/carriers/called', { auth: null });
  });

  /** An outgoing call whose carrier has challenged and got the digest. */
  async function authenticated() {
    const call = stage.caller(dials);
    call.invite();
    await (await stage.callee()).refuse('407 Proxy Authentication Required', asks(407, 'carrier'));
    const callee = await stage.callee();
    expect(digestIn(callee.invite)).toContain('realm="carrier"');
    return { call, callee };
  }

  it('never goes to a called party that answers at another host and challenges BYE or re-INVITE', async () => {
    for (const [status, text] of [
      [401, '401 Unauthorized'],
      [407, '407 Proxy Authentication Required'],
    ] as const) {
      const { call, callee } = await authenticated();
      callee.answer('200 OK', { body: sdpOf(), headers: [`Contact: ${foreign.contact}`] });
      await foreign.request('ACK');
      await call.answered();
      expect((await call.hangUp()).status).toBe(200);
      const bye = await foreign.request('BYE');
      expect(digestIn(bye)).toBe('');
      foreign.answer(bye, text, { headers: asks(status, 'carrier') });
      await stage.quiet();
      // Nothing but retransmissions of the same BYE may follow.
      expect(foreign.received.map(digestIn).join('')).toBe('');
    }
  });

  it('never answers a challenge of another realm, in a call or in its dialog', async () => {
    const { call, callee } = await authenticated();
    await callee.refuse('401 Unauthorized', asks(401, 'attacker'));
    expect((await call.invited('final')).status).toBeGreaterThanOrEqual(400);
    const second = await authenticated();
    await second.callee.accept();
    await second.call.answered();
    await second.call.hangUp();
    const bye = await stage.called.request('BYE');
    stage.called.answer(bye, '401 Unauthorized', { headers: asks(401, 'attacker') });
    await stage.quiet();
    for (const received of stage.called.received)
      expect(digestIn(received)).not.toContain('attacker');
  });

  it('does not follow a redirection', async () => {
    const { call, callee } = await authenticated();
    await callee.refuse('302 Moved Temporarily', [`Contact: ${foreign.contact}`]);
    const refused = await call.invited('final');
    expect(refused.status).toBeGreaterThanOrEqual(400);
    expect(foreign.received.map(digestIn).join('')).toBe('');
  });

  it('is not used for a caller that hangs up with a challenge', async () => {
    const call = stage.caller(await stage.number('<DTMF>1</DTMF><Wait length="60"/>'));
    call.invite();
    await call.answered();
    const { body } = await stage.service.admin('GET', '/calls');
    const [{ call_uuid: uuid = '' } = {}] = body['calls'] as readonly Record<string, string>[];
    expect((await stage.service.api('DELETE', `Call/${uuid}/`)).status).toBe(204);
    const bye = await stage.calling.request('BYE');
    stage.calling.answer(bye, '401 Unauthorized', { headers: asks(401, 'carrier') });
    await stage.quiet();
    expect([bye, ...stage.calling.received].map(digestIn).join('')).toBe('');
  });
});

/** Values that end a header field, a quoted string or a parameter where a service writes them unchanged. */
const HOSTILE = {
  'CR LF': 'x\r\nEvil: yes',
  LF: 'x\nEvil: yes',
  CR: 'x\rEvil: yes',
  NUL: 'x\u0000Evil: yes',
  'the end of the head': 'x\r\n\r\nBYE sip:evil SIP/2.0',
  'next line (U+0085)': 'x\u0085Evil: yes',
  'characters that are CR LF after loss of their high byte': 'x\u010d\u010aEvil: yes',
  'escaped CR LF': 'x%0d%0aEvil: yes',
  'quotes and an address': 'x\\" <sip:evil@127.0.0.9>;tag=evil, "y',
  'URI header fields': 'x?Evil=yes&Route=%3csip:127.0.0.9%3e',
} as const;

/** Checks the head of a request that the service sent: one field per line, each once, addresses of the service only. */
function expectClean({ text }: { readonly text: string }): void {
  const [start = '', ...lines] = text.slice(0, text.indexOf('\r\n\r\n')).split('\r\n');
  expect(start).toMatch(/^INVITE sip:[^\s<>"]+@127\.0\.0\.3[^\s<>"]* SIP\/2\.0$/);
  const names = lines.map((line) => /^([\w-]+): [^\u0000-\u001f\u007f]*$/.exec(line)?.[1]);
  expect(names, text).not.toContain(undefined);
  expect(names.filter((name) => /^(evil|route)$/i.test(name ?? ''))).toEqual([]);
  for (const once of ['From', 'To', 'Call-ID', 'CSeq', 'Contact', 'Via'])
    expect(names.filter((name) => name === once)).toEqual([once]);
  // Outside of quoted strings and header values of the customer, nothing names another host.
  for (const name of ['From', 'To', 'Contact', 'P-Asserted-Identity'])
    expect(headerIn({ text }, name).replace(/"(?:[^"\\]|\\.)*"/g, '')).not.toContain('evil');
}

/** Ends calls that reach the carrier, and checks them. */
async function checkedCalls(limitMs: number): Promise<number> {
  let calls = 0;
  for (;;) {
    const callee = await stage.callee(calls === 0 ? limitMs : 1).catch(() => undefined);
    if (callee === undefined) return calls;
    calls += 1;
    expectClean(callee.invite);
    await callee.refuse('486 Busy Here');
  }
}

describe('values of customers that end a header field', () => {
  it.each(Object.entries(HOSTILE))(
    'with %s, REST refuses them or encodes them',
    async (_, evil) => {
      const answer_url = stage.document('<Response/>');
      const good = { from: dials, to: '14155550177', answer_url };
      const statuses: number[] = [];
      for (const more of [
        { from: `1415${evil}` },
        { to: `14155550177${evil}` },
        { to: `sip:${evil}@127.0.0.3:${stage.called.port}` },
        { caller_name: evil },
        { caller_name: 'n'.repeat(100_000) },
        { sip_headers: `a=${evil}` },
        { sip_headers: `${evil}=b` },
        { sip_headers: `a=${'v'.repeat(1500)}` },
        { answer_url: `${answer_url}/${evil}` },
        { answer_url: `http://user:${evil}@127.0.0.1/` },
        { answer_url: `${answer_url}?${'q'.repeat(100_000)}` },
      ]) {
        const { status } = await stage.service.api('POST', 'Call/', { ...good, ...more });
        statuses.push(status);
        if (status < 300) await checkedCalls(1000);
      }
      expect(statuses.filter((status) => status >= 500)).toEqual([]);
      // Limits of length always apply.
      for (const at of [4, 7, 10]) expect(statuses[at]).toBe(400);
      await stage.quiet();
    },
  );

  it.each(Object.entries(HOSTILE))('with %s, documents are refused or encoded', async (_, evil) => {
    const text = [...evil]
      .map((char) => (/\w/.test(char) ? char : `&#${char.codePointAt(0)};`))
      .join('');
    for (const document of [
      `<Dial callerName="${text}"><Number>14155550177</Number></Dial>`,
      `<Dial callerId="${text}"><Number>14155550177</Number></Dial>`,
      `<Dial callerId="NUMBER" sipHeaders="a=${text}"><Number>14155550177</Number></Dial>`,
      `<Dial callerId="NUMBER"><Number>14155550177${text}</Number></Dial>`,
    ]) {
      const call = stage.caller(await stage.number(document));
      call.invite();
      const ended = call.invited('final');
      let isOver = false;
      void ended.finally(() => {
        isOver = true;
      });
      while (!isOver) await checkedCalls(100);
      if ((await ended).status < 300) {
        call.acknowledge();
        await stage.quiet();
      }
    }
  });

  it('from a caller reach the customer as one value each', async () => {
    for (const method of ['POST', 'GET']) {
      const number = await stage.number('<Hangup/>', method);
      const call = stage.caller(number);
      const name = 'x&Direction=outbound&To=1%0d%0aEvil: yes#f';
      call.invite({
        from: `"${name}" <sip:14155550001%0d%0aEvil%3a@127.0.0.2>;tag=${call.localTag}`,
        headers: ['X-PH-Note: a&CallStatus=completed%0d%0aEvil: yes'],
      });
      await call.invited('final');
      const [request] = stage.requests(number);
      expect(request, 'a request for the document').toBeDefined();
      const { url = '', body = '', headers = {} } = request ?? {};
      expect(Object.keys(headers).filter((header) => /evil/i.test(header))).toEqual([]);
      const sent = new URLSearchParams(method === 'GET' ? url.split('?')[1] : body);
      for (const once of ['Direction', 'From', 'To', 'CallStatus', 'CallUUID'])
        expect([once, sent.getAll(once).length]).toEqual([once, 1]);
      expect(sent.get('Direction')).toBe('inbound');
      expect(sent.get('To')).toContain(number);
      expect([...sent.keys()].filter((key) => /evil/i.test(key))).toEqual([]);
      await stage.quiet();
    }
  });
});
