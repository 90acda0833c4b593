/** The bundled edge proxy with TLS: phones and browsers verify its certificate; the node behind it has no TLS. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { type Invitation, SessionState } from 'sip.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Edge, missingModules, tlsFile } from '../deploy/kamailio.ts';
import { Customer, echoBot, streamXml } from '../e2e/customer.ts';
import { makeUser, type SipUser, startCall } from '../e2e/phone.ts';
import {
  eventually,
  freePort,
  type Json,
  newPlace,
  removePlace,
  Service,
  type ServicePlace,
} from '../e2e/service.ts';
import { certificate, IdentityFolder } from '../edge/sip/certificates.ts';
import { Baresip } from './baresip.ts';
import { missing } from './tools.ts';
import { hasReached, WebPhone } from './web-phone.ts';

const EDGE = '127.0.0.1';
/** Address that the edge uses towards the node. The edge's public address is not trusted there. */
const INSIDE = '127.0.0.2';

const isMissing = missing('kamailio', 'baresip', 'sox') || missingModules()?.length !== 0;

describe.skipIf(isMissing)('the edge with TLS', () => {
  const folder = new IdentityFolder();
  let place: ServicePlace;
  let service: Service;
  let customer: Customer;
  let edge: Edge;
  /** The service with the edge's UDP address, as phones see it. */
  let viaEdge: Service;
  let tlsPort: number;
  let wssPort: number;
  let authorityFile: string;

  beforeAll(async () => {
    const authority = await certificate([]);
    const own = await certificate([EDGE], authority);
    authorityFile = folder.write('ca.crt', authority.cert);
    customer = await Customer.listen();
    place = await newPlace({ CARILLON_SIP_EDGES: INSIDE, CARILLON_SIP_PUBLIC_HOST: EDGE });
    service = await Service.start(place);
    const port = await freePort();
    viaEdge = { sipPort: port } as Service;
    [tlsPort, wssPort] = [await freePort(), await freePort()];
    edge = await Edge.start(folder.path, [`127.0.0.1:${service.sipPort}`], {
      PUBLIC_ADDRESS: EDGE,
      PUBLIC_PORT: port,
      WS_PORT: await freePort(),
      PRIVATE_ADDRESS: INSIDE,
      PRIVATE_PORT: await freePort(),
      PRIVATE_HTTP_PORT: await freePort(),
      WITH_TLS: '',
      TLS_PORT: tlsPort,
      WSS_PORT: wssPort,
      TLS_FILE: tlsFile(folder.path, {
        certFile: folder.write('edge.crt', own.cert),
        keyFile: folder.write('edge.key', own.key),
      }),
    });
    await eventually('a node that accepts calls', async () =>
      Object.values(await edge.nodes(INSIDE)).some((flag) => flag.startsWith('A'))
        ? true
        : undefined,
    );
  });
  afterAll(async () => {
    await edge?.stop();
    await service?.kill();
    await customer?.close();
    removePlace(place);
    folder.remove();
  });

  const user = (name: string): ReturnType<typeof makeUser> =>
    makeUser(service, name, {
      answer_url: customer.xml(`/${name}`, streamXml(customer.bot('/echo', echoBot))),
    });

  /** Waits for the registration. The node reads the phone's transport from the edge's headers. */
  const registered = ({ username }: SipUser, transport: string): Promise<Json> =>
    eventually(`the registration over ${transport}: ${edge.said}`, async () => {
      const { body } = await service.admin('GET', '/registrations');
      const all = body['registrations'] as Json[];
      return all.find((one) => one['transport'] === transport && one['username'] === username);
    });

  /** Calls the phone, which the node reaches only through the stored Path. */
  async function callTo({ username }: SipUser, name: string) {
    const action = `http://${customer.authority}/over`;
    const document = `<Response><Dial action="${action}"><User>sip:${username}@127.0.0.1</User></Dial></Response>`;
    customer.xml('/over', '<Response/>');
    const caller = await makeUser(service, `${name}${username}`, {
      answer_url: customer.xml(`/to-${username}`, document),
    });
    return startCall(viaEdge, caller, { seconds: 30 });
  }

  /** Waits for the records of `count` calls of the phone and verifies that all ended normally. */
  const recorded = (context: string, count: number): Promise<readonly Json[]> =>
    eventually(`${count} records of ${context}: ${edge.said}`, async () => {
      const data = (await service.api('GET', 'cdr?per_page=20')).body['data'] as Json[];
      const all = data.filter((one) => one['context'] === context);
      return all.length >= count ? all : undefined;
    });

  it('presents its certificate on both ports and refuses TLS 1.1', async () => {
    const open = (port: number, more: object): Promise<string> =>
      new Promise((resolve) => {
        const options = { host: EDGE, port, ca: readFileSync(authorityFile), ...more };
        const socket = connect(options, () => {
          resolve(socket.authorized ? 'authorized' : String(socket.authorizationError));
          socket.destroy();
        });
        socket.on('error', ({ message }) => resolve(message));
      });
    for (const port of [tlsPort, wssPort]) {
      expect(await open(port, {})).toBe('authorized');
      const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' };
      expect(await open(port, old)).toMatch(/protocol version/i);
    }
  });

  it('forwards registration and calls of a phone over TLS in both directions', async () => {
    const bob = await user('bob');
    const server = `${EDGE}:${tlsPort};transport=tls`;
    const phone = await Baresip.start(
      join(folder.path, 'bob'),
      `<sip:${bob.username}@127.0.0.1;transport=tls>;auth_pass=${bob.password};regint=60;answermode=auto;audio_codecs=PCMU/8000;outbound="sip:${server}"`,
      { settings: ['sip_verify_server yes', `sip_cafile ${authorityFile}`] },
    );
    await registered(bob, 'tls');
    phone.do('dial', 'sip:1000@127.0.0.1');
    await phone.event('CALL_ESTABLISHED');
    phone.do('hangup');
    await phone.event('CALL_CLOSED');
    const [own] = await recorded('sip-endpoint', 1);
    expect(own).toMatchObject({ hangup_source: 'Caller', hangup_cause_code: 4000 });

    for (const whoEnds of ['caller', 'phone']) {
      const call = await callTo(bob, whoEnds);
      await call.answered;
      await phone.event('CALL_ESTABLISHED');
      if (whoEnds === 'caller') call.hangUp();
      else phone.do('hangup');
      await phone.event('CALL_CLOSED');
      expect((await call.report).end).toMatchObject({
        by: whoEnds === 'caller' ? 'local' : 'remote',
      });
    }
    await phone.stop();
  });

  it('forwards registration and calls of a browser over WSS in both directions', async () => {
    const eve = await user('eve');
    const phone = await WebPhone.start(`wss://${EDGE}:${wssPort}`, eve, authorityFile);
    await phone.register();
    await registered(eve, 'wss');
    const session = await phone.call('1000');
    await session.bye();

    for (const whoEnds of ['caller', 'browser']) {
      phone.incoming.length = 0;
      const call = await callTo(eve, whoEnds);
      const invitation = await eventually(
        `the call to the browser: ${edge.said}`,
        () => phone.incoming[0] as Invitation | undefined,
      );
      expect(invitation.request.getHeader('Via')).toMatch(/^SIP\/2\.0\/WSS /);
      await call.answered;
      await hasReached(invitation, SessionState.Established);
      if (whoEnds === 'caller') call.hangUp();
      else await invitation.bye();
      await hasReached(invitation, SessionState.Terminated);
      expect((await call.report).end).toMatchObject({
        by: whoEnds === 'caller' ? 'local' : 'remote',
      });
    }
    await phone.stop();
  });
});
