import { describe, expect, it } from 'vitest';
import { asLegId } from '../../../src/base/ids.ts';
import type {
  TemporaryLogin,
  UserAgentOptions,
} from '../../../src/protocol/sip/user-agent-types.ts';
import { answering, inviteCommand, PEER, reply, SERVER } from './script.ts';
import { type Agent, ANSWER, brief, OFFER, REALM, World } from './world.ts';

function setup(options: Partial<UserAgentOptions> = {}) {
  const world = new World();
  const server = world.agent(SERVER, { realm: REALM, ...options });
  server.users.set('alice', 'wonderland');
  server.users.set('bob', 'builder');
  return { world, server };
}

const register = (phone: Agent, username: string, password: string, more = {}): void =>
  phone.dispatch({
    kind: 'register',
    registration: 1,
    aor: `sip:${username}@${SERVER}`,
    registrar: `sip:${SERVER}`,
    account: { username, password },
    expires: 600,
    ...more,
  });

describe('registration over the network', () => {
  it('is challenged, stored before the response, and listed', () => {
    const { world, server } = setup();
    const phone = world.agent(PEER);
    register(phone, 'alice', 'wonderland');
    world.advance(50);
    expect(world.ladder()).toEqual(['REGISTER', '401 REGISTER', 'REGISTER', '200 REGISTER']);
    expect(phone.last('registration')).toMatchObject({ state: 'registered', status: 200 });
    expect(server.stored.at(-1)?.save).toMatchObject([
      {
        username: 'alice',
        contactUri: `sip:alice@${PEER}:5060`,
        flow: { address: PEER, port: 5060 },
      },
    ]);
    expect(server.ua.contactsOf('alice', world.nowMs)).toHaveLength(1);
    expect(server.ua.contactsOf('bob', world.nowMs)).toEqual([]);
  });

  it('is refreshed before expiry and removed by unregistering', () => {
    const { world, server } = setup();
    const phone = world.agent(PEER);
    register(phone, 'alice', 'wonderland');
    world.advance(7_000_000);
    expect(server.ua.contactsOf('alice', world.nowMs)).toHaveLength(1);
    phone.dispatch({ kind: 'unregister', registration: 1 });
    world.advance(50);
    expect(phone.last('registration').state).toBe('removed');
    expect(server.ua.contactsOf('alice', world.nowMs)).toEqual([]);
    expect(server.stored.at(-1)?.remove).toHaveLength(1);
  });

  it('is not created again by a late challenge to an earlier REGISTER', () => {
    const { world, server } = setup();
    const phone = world.agent(PEER);
    let challenges = 0;
    world.lose = ({ message }) => {
      if (brief(message) !== '401 REGISTER') return false;
      challenges += 1;
      return challenges === 1;
    };
    register(phone, 'alice', 'wonderland');
    world.advance(100);
    phone.dispatch({ kind: 'unregister', registration: 1 });
    world.advance(40_000);
    expect(challenges).toBeGreaterThan(2);
    expect(phone.last('registration').state).toBe('removed');
    expect(server.ua.contactsOf('alice', world.nowMs)).toEqual([]);
  });

  it('expires in memory and in the store', () => {
    const { world, server } = setup();
    const phone = world.agent(PEER);
    register(phone, 'alice', 'wonderland');
    world.advance(50);
    world.lose = () => true;
    world.advance(661_000);
    expect(server.ua.contactsOf('alice', world.nowMs)).toEqual([]);
    expect(server.stored.at(-1)).toMatchObject({ id: undefined, save: [] });
    expect(server.stored.at(-1)?.remove).toHaveLength(1);
  });

  it('with a short interval gets 423, and our client uses the required minimum (RFC 3261 §10.2.8)', () => {
    const { world, server } = setup({
      registrar: { defaultExpires: 3600, minExpires: 1200, maxExpires: 7200, maxContacts: 3 },
    });
    const phone = world.agent(PEER);
    register(phone, 'alice', 'wonderland');
    world.advance(100);
    expect(world.ladder()).toContain('423 REGISTER');
    const [binding] = server.ua.contactsOf('alice', world.nowMs);
    const leftMs = (binding?.expiresUs ?? 0) / 1000 - Date.UTC(2026, 0, 1) - world.nowMs;
    expect(leftMs).toBeGreaterThan(1_199_000);
  });

  it('of another user than that of the credentials gets 403', () => {
    const { world, server } = setup();
    const phone = world.agent(PEER);
    register(phone, 'alice', 'wonderland', { aor: `sip:bob@${SERVER}` });
    world.advance(50);
    expect(phone.last('registration')).toMatchObject({ state: 'failed', status: 403 });
    expect(server.ua.bindings(world.nowMs)).toEqual([]);
  });

  it('with a wrong password is refused like one of an unknown user, then blocked with 403 for a time', () => {
    const failures = { maxFailures: 3, windowMs: 60_000, maxSources: 10 };
    const { world, server } = setup({ failures });
    const phone = world.agent(PEER);
    for (const [index, name] of ['alice', 'nobody', 'alice', 'alice', 'alice'].entries()) {
      register(phone, name, 'guess', { registration: index });
      world.advance(100);
    }
    expect(world.ladder().filter((line) => line === '401 REGISTER')).toHaveLength(9);
    expect(phone.last('registration')).toMatchObject({ state: 'failed', status: 403 });
    world.advance(61_000);
    register(phone, 'alice', 'wonderland', { registration: 9 });
    world.advance(100);
    expect(server.ua.contactsOf('alice', world.nowMs)).toHaveLength(1);
  });

  it('gets 503 while the user directory fails, without counting a failure', () => {
    const failures = { maxFailures: 1, windowMs: 60_000, maxSources: 10 };
    const { world, server } = setup({ failures });
    server.directoryWorks = false;
    const phone = world.agent(PEER);
    register(phone, 'alice', 'wonderland');
    world.advance(50);
    expect(phone.last('registration')).toMatchObject({ state: 'failed', status: 503 });
    server.directoryWorks = true;
    world.advance(31_000);
    expect(phone.last('registration')).toMatchObject({ state: 'registered' });
  });

  it('gets 500 if it cannot be stored', () => {
    const { world, server } = setup();
    server.storeWorks = false;
    const phone = world.agent(PEER);
    register(phone, 'alice', 'wonderland');
    world.advance(50);
    expect(phone.last('registration')).toMatchObject({ state: 'failed', status: 500 });
  });

  it('over TCP ends with its connection, and the client registers again (RFC 5626 §4.2)', () => {
    const { world, server } = setup();
    const phone = world.agent(PEER);
    register(phone, 'alice', 'wonderland', { transport: 'tcp' });
    world.advance(50);
    expect(server.ua.contactsOf('alice', world.nowMs)).toMatchObject([
      { flow: { transport: 'tcp', connectionId: '1' } },
    ]);
    server.dispatch({ kind: 'connectionLost', connectionId: 1 });
    expect(server.ua.contactsOf('alice', world.nowMs)).toEqual([]);
    expect(server.stored.at(-1)?.remove).toHaveLength(1);
    phone.dispatch({ kind: 'connectionLost', connectionId: 1 });
    world.advance(2_000);
    expect(server.ua.contactsOf('alice', world.nowMs)).toHaveLength(1);
  });

  it('survives a restart: stored bindings can be called', () => {
    const { world, server } = setup();
    register(world.agent(PEER), 'alice', 'wonderland');
    world.advance(50);
    const again = world.agent('192.0.2.2', { realm: REALM });
    again.dispatch({ kind: 'restoreBindings', bindings: server.stored.at(-1)?.save ?? [] });
    expect(again.ua.contactsOf('alice', world.nowMs)).toHaveLength(1);
    expect(again.ua.contactsOf('alice', world.nowMs + 601_000)).toEqual([]);
  });

  it('is refused by a plain phone with 405', () => {
    const world = new World();
    world.agent(SERVER);
    register(world.agent(PEER), 'alice', 'wonderland');
    world.advance(50);
    expect(world.ladder()).toEqual(['REGISTER', '405 REGISTER']);
  });

  it('is retried with growing delays while it fails (RFC 5626 §4.5)', () => {
    const world = new World();
    world.agent(SERVER);
    register(world.agent(PEER), 'alice', 'wonderland');
    world.advance(30_000 + 60_000 + 1_000);
    const tries = world.sent.filter(({ message }) => brief(message) === 'REGISTER');
    expect(tries.map(({ atMs }) => Math.round((atMs - 1000) / 1000))).toEqual([0, 30, 90]);
  });
});

it('a registration is accepted by a registrar that writes Expires as a date (RFC 2543)', () => {
  const world = new World();
  const headers = [['Expires', 'Thu, 01 Dec 2026 16:00:00 GMT']] as const;
  answering(world.peer(SERVER), (request) => reply(request, 200, { headers }));
  const phone = world.agent(PEER);
  register(phone, 'alice', 'wonderland');
  world.advance(100);
  expect(phone.last('registration')).toMatchObject({ state: 'registered', againIn: 540 });
});

it.each([
  [600, [0, 600]],
  [86_400, [0, 1800]],
])('a registration waits for the Retry-After of %i s, at most half an hour', (wait, expected) => {
  const world = new World();
  const registrar = world.peer(SERVER);
  const headers = [['Retry-After', String(wait)]] as const;
  answering(registrar, (request) => reply(request, 503, { headers }));
  const phone = world.agent(PEER);
  register(phone, 'alice', 'wonderland');
  world.advance(1_000 * (Math.min(wait, 1800) + 100));
  const tries = world.sent.filter(({ message }) => brief(message) === 'REGISTER');
  expect(tries.map(({ atMs }) => Math.round((atMs - 1000) / 1000))).toEqual(expected);
});

it('a registration limits its immediate retries after 423 with a higher Min-Expires each time', () => {
  const world = new World();
  const registrar = world.peer(SERVER);
  let tries = 0;
  answering(registrar, (request) => {
    tries += 1;
    return reply(request, 423, { headers: [['Min-Expires', String(600 + tries)]] });
  });
  const phone = world.agent(PEER);
  register(phone, 'alice', 'wonderland');
  world.advance(20_000);
  expect(tries).toBe(3);
  expect(phone.last('registration')).toMatchObject({ state: 'failed', status: 423, againIn: 30 });
});

it.each([
  ['the earliest expiry', ['3500', '300'], 270],
  ['no expired one', ['0', '300'], 270],
  ['at least half a minute', ['300', '4'], 15],
])('a registration whose contact the registrar has rewritten counts %s', (_, expires, againIn) => {
  const { world } = setup();
  const registrar = world.peer(PEER);
  const headers = expires.map(
    (seconds, port) => ['Contact', `<sip:a@203.0.113.5:4000${port}>;expires=${seconds}`] as const,
  );
  answering(registrar, (request) =>
    reply(request, 200, { headers, contact: '<sip:a@h>;expires=3600' }),
  );
  const phone = world.agent('192.0.2.7');
  register(phone, 'alice', 'wonderland', { registrar: `sip:${PEER}` });
  world.advance(50);
  expect(phone.last('registration')).toMatchObject({ state: 'registered', againIn });
});

it('a registration that is granted 0 s has failed and is retried with growing delays', () => {
  const world = new World();
  const registrar = world.peer(SERVER);
  const contact = `<sip:alice@${PEER}:5060>;expires=0`;
  answering(registrar, (request) => reply(request, 200, { contact }));
  const phone = world.agent(PEER);
  register(phone, 'alice', 'wonderland');
  world.advance(30_000 + 60_000 + 1_000);
  const tries = world.sent.filter(({ message }) => brief(message) === 'REGISTER');
  expect(tries.map(({ atMs }) => Math.round((atMs - 1000) / 1000))).toEqual([0, 30, 90]);
  expect(phone.last('registration')).toMatchObject({ state: 'failed', status: 200 });
});

describe('calling a registered user', () => {
  function registered(...addresses: string[]) {
    const { world, server } = setup();
    const phones = addresses.map((address) => {
      const phone = world.agent(address);
      register(phone, 'bob', 'builder');
      world.advance(50);
      return phone;
    });
    world.sent.length = 0;
    server.dispatch(
      inviteCommand({
        target: { kind: 'registered', username: 'bob' },
        from: { user: 'alice', host: SERVER, displayName: 'Alice' },
        callId: 'fork-1',
        headers: [['X-PH-Key', 'value']],
      }),
    );
    world.advance(50);
    return { world, server, phones };
  }

  it('rings all phones in parallel; the first answer wins, the others get the reason (RFC 3326)', () => {
    const { world, server, phones } = registered('192.0.2.21', '192.0.2.22', '192.0.2.23');
    for (const phone of phones) {
      expect(phone.last('incoming').call.request.header('X-PH-Key')).toBe('value');
      phone.dispatch({ kind: 'ring', leg: asLegId(1), sdp: undefined });
    }
    world.advance(50);
    const [, second] = phones;
    second?.dispatch({ kind: 'answer', leg: asLegId(1), sdp: ANSWER });
    world.advance(100);
    expect(server.last('connected')).toMatchObject({ sdp: ANSWER });
    const ends = [phones[0], phones[2]].map((phone) => phone?.last('ended').end);
    for (const end of ends) {
      expect(end).toMatchObject({ how: 'cancel', reason: expect.stringContaining('elsewhere') });
    }
    server.dispatch({ kind: 'hangup', leg: asLegId(2), status: 487, reason: undefined });
    world.advance(100);
    expect(second?.last('ended').end).toMatchObject({ how: 'bye' });
  });

  it('ends when the last phone has refused, with the best status (RFC 3261 §16.7 step 6)', () => {
    const { world, server, phones } = registered('192.0.2.21', '192.0.2.22');
    for (const [index, status] of [503, 486].entries()) {
      phones[index]?.dispatch({ kind: 'hangup', leg: asLegId(1), status, reason: undefined });
      world.advance(50);
    }
    expect(server.last('ended').end).toMatchObject({ how: 'refused', status: 486 });
  });

  it('ends immediately when one phone declines for its user (6xx)', () => {
    const { world, server, phones } = registered('192.0.2.21', '192.0.2.22');
    phones[0]?.dispatch({ kind: 'hangup', leg: asLegId(1), status: 603, reason: undefined });
    world.advance(50);
    expect(phones[1]?.last('ended').end).toMatchObject({ how: 'cancel' });
    expect(server.last('ended').end).toMatchObject({ status: 603 });
  });

  it('uses early media of the first phone that has some', () => {
    const { world, server, phones } = registered('192.0.2.21', '192.0.2.22');
    phones[1]?.dispatch({ kind: 'ring', leg: asLegId(1), sdp: ANSWER });
    world.advance(20);
    phones[0]?.dispatch({ kind: 'ring', leg: asLegId(1), sdp: OFFER });
    world.advance(20);
    const progress = server.events.filter((event) => event.kind === 'progress');
    expect(progress.map(({ sdp }) => sdp)).toEqual([ANSWER, undefined]);
  });

  it('is cancelled on every phone when the caller cancels', () => {
    const { world, server, phones } = registered('192.0.2.21', '192.0.2.22');
    server.dispatch({ kind: 'hangup', leg: asLegId(2), status: 487, reason: undefined });
    world.advance(100);
    for (const phone of phones) expect(phone.last('ended').end).toMatchObject({ how: 'cancel' });
  });

  describe('at a browser and another phone', () => {
    function ringing() {
      const { world, server } = setup();
      const [browser, desk] = [world.agent('192.0.2.31'), world.agent('192.0.2.32')];
      const receive = server.receive.bind(server);
      server.receive = (bytes, flow) =>
        receive(bytes, flow.transport === 'tcp' ? { ...flow, transport: 'ws' } : flow);
      register(browser, 'bob', 'builder', { registrar: `sip:${SERVER};transport=tcp` });
      register(desk, 'bob', 'builder');
      world.advance(100);
      server.dispatch(inviteCommand({ target: { kind: 'registered', username: 'bob' } }));
      world.advance(50);
      for (const phone of [browser, desk])
        phone.dispatch({ kind: 'ring', leg: asLegId(1), sdp: undefined });
      world.advance(50);
      const answers = (phone: Agent): void => {
        phone.dispatch({ kind: 'answer', leg: asLegId(1), sdp: ANSWER });
        world.advance(100);
      };
      const browserGoes = () => server.dispatch({ kind: 'connectionLost', connectionId: 1 });
      return { server, browser, desk, answers, browserGoes };
    }

    it('keeps ringing at the other phone when the browser goes', () => {
      const { server, desk, answers, browserGoes } = ringing();
      browserGoes();
      expect(server.count('connection')).toBe(0);
      answers(desk);
      expect(server.last('connected')).toMatchObject({ sdp: ANSWER });
    });

    it('reports that the browser has gone after it has answered', () => {
      const { server, browser, answers, browserGoes } = ringing();
      answers(browser);
      browserGoes();
      expect(server.last('connection')).toMatchObject({ connected: false });
    });
  });

  it('goes to the source of the REGISTER, not to the private Contact, and along its Path (RFC 3327)', () => {
    const { world, server } = setup();
    const peer = world.peer(PEER);
    const flow = {
      transport: 'udp',
      address: PEER,
      port: 40_000,
      connectionId: undefined,
    } as const;
    const base = {
      username: 'bob',
      callId: 'c',
      cseq: 1,
      expiresUs: Number.MAX_SAFE_INTEGER,
      q: 1,
      instanceId: undefined,
      userAgent: '',
      flow,
      updatedUs: 0,
    };
    server.dispatch({
      kind: 'restoreBindings',
      bindings: [
        { ...base, contactUri: 'sip:bob@10.0.0.7:5062', path: [] },
        { ...base, contactUri: 'sip:bob@10.0.0.8', path: [`<sip:edge@${PEER}:5070;lr>`] },
      ],
    });
    answering(peer, (request) => reply(request, 480));
    server.dispatch(
      inviteCommand({
        target: { kind: 'registered', username: 'bob' },
        from: { user: 'alice', host: SERVER, displayName: '' },
        callId: 'nat',
      }),
    );
    world.advance(50);
    const invites = world.sent.filter(({ message }) => brief(message) === 'INVITE');
    expect(invites.map(({ to }) => to)).toEqual([`${PEER}:40000`, `${PEER}:5070`]);
    const uris = invites.map(({ message }) => message.kind === 'request' && message.requestUri);
    expect(uris).toEqual(['sip:bob@10.0.0.7:5062', 'sip:bob@10.0.0.8']);
    expect(invites[1]?.message.list('route')).toEqual([`<sip:edge@${PEER}:5070;lr>`]);
  });
});

describe('a temporary login', () => {
  const NOW_US = Date.UTC(2026, 0, 1) * 1000;
  const login = (more: Partial<TemporaryLogin> = {}): TemporaryLogin => ({
    id: 'l1',
    username: 'alice',
    untilUs: NOW_US + 90_000_000,
    mayRegister: true,
    mayCall: true,
    over: undefined,
    ...more,
  });
  const asLogin = { aor: `sip:alice@${SERVER}` };
  const start = (rights: Partial<TemporaryLogin>) => {
    const { world, server } = setup();
    server.users.set('alice~l1', 'derived');
    server.logins.set('alice~l1', login(rights));
    return { world, server, phone: world.agent(PEER) };
  };

  it('registers its user, at most until the login expires', () => {
    const { world, server, phone } = start({});
    register(phone, 'alice~l1', 'derived', asLogin);
    world.advance(50);
    expect(server.stored.at(-1)?.save).toMatchObject([
      { username: 'alice', login: 'l1', expiresUs: NOW_US + 90_000_000 },
    ]);
    world.lose = () => true;
    world.advance(90_000);
    expect(server.ua.contactsOf('alice', world.nowMs)).toEqual([]);
  });

  it('can be revoked without removing the contacts of the user', () => {
    const { world, server, phone } = start({});
    register(phone, 'alice~l1', 'derived', asLogin);
    const own = world.agent('192.0.2.77');
    register(own, 'alice', 'wonderland');
    world.advance(50);
    expect(server.ua.contactsOf('alice', world.nowMs)).toHaveLength(2);
    server.dispatch({ kind: 'forgetBindings', username: 'alice', login: 'l1' });
    const left = server.ua.contactsOf('alice', world.nowMs);
    expect(left.map(({ contactUri }) => contactUri)).toEqual(['sip:alice@192.0.2.77:5060']);
  });

  it.each([
    [{ mayRegister: false }, 'REGISTER', '403 Incoming Calls Not Granted'],
    [{ mayCall: false }, 'INVITE', '403 Outgoing Calls Not Granted'],
    [{ over: 'Token Expired' }, 'REGISTER', '403 Token Expired'],
    [{ over: 'Token Revoked' }, 'INVITE', '403 Token Revoked'],
  ])('with %o is refused: %s', (rights, method, answer) => {
    const { world, phone } = start(rights);
    if (method === 'REGISTER') register(phone, 'alice~l1', 'derived', asLogin);
    else {
      phone.dispatch(
        inviteCommand({
          target: { kind: 'uri', uri: `sip:1000@${SERVER}` },
          from: { user: 'alice', host: SERVER, displayName: '' },
          callId: 'c1',
          account: { username: 'alice~l1', password: 'derived' },
        }),
      );
    }
    world.advance(50);
    const replies = world.sent.flatMap(({ message }) =>
      message.kind === 'response' && message.status === 403 ? [message] : [],
    );
    expect(replies.map(({ status, reason }) => `${status} ${reason}`)).toEqual([answer]);
  });

  it('does not reveal its expiry for a wrong password', () => {
    const { world, phone } = start({ over: 'Token Expired' });
    register(phone, 'alice~l1', 'guessed', asLogin);
    world.advance(50);
    expect(world.ladder().filter((line) => line.startsWith('403'))).toEqual([]);
  });
});
