/** Kamailio as the edge proxy of baresip: registration with Path, calls along the Path, and calls with Record-Route. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Customer, echoBot, streamXml } from '../e2e/customer.ts';
import { callFor, makeUser } from '../e2e/phone.ts';
import {
  eventually,
  freePort,
  type Json,
  newPlace,
  removePlace,
  Service,
  type ServicePlace,
} from '../e2e/service.ts';
import { Baresip } from './baresip.ts';
import { missing, workFolder } from './tools.ts';

const EDGE = '127.0.0.2';

const script = (edge: number, service: number): string => `#!KAMAILIO
children=1
log_stderror=yes
debug=1
auto_aliases=no
listen=udp:${EDGE}:${edge}
mpath="/usr/lib/x86_64-linux-gnu/kamailio/modules/"
loadmodule "pv.so"
loadmodule "tm.so"
loadmodule "sl.so"
loadmodule "rr.so"
loadmodule "path.so"
loadmodule "textops.so"
loadmodule "siputils.so"
modparam("path", "use_received", 1)
request_route {
  if (is_method("REGISTER")) {
    add_path_received();
    $du = "sip:127.0.0.1:${service}";
    t_relay();
    exit;
  }
  if (has_totag()) {
    if (loose_route() || t_check_trans()) t_relay();
    exit;
  }
  if (is_method("CANCEL")) { if (t_check_trans()) t_relay(); exit; }
  record_route();
  if (src_ip == 127.0.0.1 && src_port == ${service}) loose_route();
  else $du = "sip:127.0.0.1:${service}";
  t_relay();
}
`;

describe.skipIf(missing('kamailio', 'baresip', 'sox'))('Kamailio as an edge', () => {
  let place: ServicePlace;
  let service: Service;
  let customer: Customer;
  let edge: ChildProcess;
  let phone: Baresip;
  let bob: Awaited<ReturnType<typeof makeUser>>;
  let said = '';
  const folder = workFolder();

  beforeAll(async () => {
    const port = await freePort();
    place = await newPlace();
    service = await Service.start(place);
    customer = await Customer.listen();
    const config = join(folder.path, 'kamailio.cfg');
    writeFileSync(config, script(port, service.sipPort));
    const run = join(folder.path, 'run');
    mkdirSync(run);
    edge = spawn('kamailio', ['-f', config, '-DD', '-E', '-Y', run, '-w', run], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [edge.stdout, edge.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(-6000);
      });
    }
    bob = await makeUser(service, 'bob', {
      answer_url: customer.xml('/bob', streamXml(customer.bot('/echo', echoBot))),
    });
    const server = `127.0.0.1:${service.sipPort}`;
    phone = await Baresip.start(
      join(folder.path, 'bob'),
      `<sip:${bob.username}@${server}>;auth_pass=${bob.password};regint=60;answermode=auto;audio_codecs=PCMU/8000;outbound="sip:${EDGE}:${port}"`,
    );
  });
  afterAll(async () => {
    await phone?.stop();
    await service?.kill();
    await customer?.close();
    const gone = edge.exitCode === null ? once(edge, 'close') : undefined;
    edge.kill('SIGTERM');
    await gone;
    removePlace(place);
    folder.remove();
  });

  it('registers the phone with its Path', async () => {
    const found = await eventually(`the registration: ${said}`, async () => {
      const { body } = await service.admin('GET', '/registrations');
      return (body['registrations'] as Json[]).find(({ username }) => username === bob.username);
    });
    expect(found['address']).toBe(EDGE);
  });

  it('forwards a call of the phone to the service, and its BYE', async () => {
    phone.do('dial', `sip:1000@127.0.0.1:${service.sipPort}`);
    await phone.event('CALL_ESTABLISHED');
    phone.do('hangup');
    await phone.event('CALL_CLOSED');
    const cdr = await eventually('the record', async () => {
      const rows = (await service.api('GET', 'cdr?per_page=5')).body['data'] as Json[];
      return rows.length === 1 ? rows[0] : undefined;
    });
    expect(cdr).toMatchObject({ hangup_source: 'Caller', hangup_cause_code: 4000 });
  });

  it('forwards a call to the phone, and its BYE', async () => {
    const caller = await makeUser(service, 'caller', {
      answer_url: customer.xml(
        '/dial',
        `<Response><Dial><User>sip:${bob.username}@127.0.0.1</User></Dial></Response>`,
      ),
    });
    const report = await callFor(service, caller, 2);
    expect(report.setupMs, said).toBeDefined();
    const all = await eventually('both records', async () => {
      const rows = (await service.api('GET', 'cdr?per_page=2')).body['data'] as Json[];
      return rows.some(({ context }) => context === 'dial') ? rows : undefined;
    });
    expect(all.map(({ context }) => context).toSorted()).toEqual(['dial', 'sip-endpoint']);
    expect(all.every(({ hangup_cause_code: code }) => code === 4000)).toBe(true);
  });
});
