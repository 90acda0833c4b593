/** Kamailio as a TLS carrier with SIPp over UDP behind it: calls in both directions through Record-Route. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Customer, echoBot, streamXml } from '../e2e/customer.ts';
import { makeUser } from '../e2e/phone.ts';
import {
  eventually,
  freePort,
  newPlace,
  removePlace,
  Service,
  type ServicePlace,
} from '../e2e/service.ts';
import { certificate } from '../edge/sip/certificates.ts';
import { missing, sipp, startSipp, workFolder } from './tools.ts';

const OWN_NUMBER = '14155550123';
const PROXY = '127.0.0.2';
const GATEWAY = '127.0.0.3';

interface Ports {
  /** TLS port of the proxy. */
  readonly tls: number;
  readonly udp: number;
  /** Port of SIPp behind the proxy, followed by the port of the service. */
  readonly gateway: number;
  readonly service: number;
}

const script = (folder: string, { tls, udp, gateway, service }: Ports): string => `#!KAMAILIO
children=1
tcp_children=1
log_stderror=yes
debug=1
auto_aliases=no
enable_tls=yes
tcp_source_ipv4=${PROXY}
listen=udp:${PROXY}:${udp}
listen=tls:${PROXY}:${tls}
mpath="/usr/lib/x86_64-linux-gnu/kamailio/modules/"
loadmodule "tls.so"
loadmodule "pv.so"
loadmodule "tm.so"
loadmodule "sl.so"
loadmodule "rr.so"
loadmodule "textops.so"
loadmodule "siputils.so"
modparam("tls", "private_key", "${join(folder, 'proxy.key')}")
modparam("tls", "tls_method", "TLSv1.2+")
modparam("tls", "certificate", "${join(folder, 'proxy.crt')}")
modparam("rr", "enable_double_rr", 1)
request_route {
  if (is_method("OPTIONS")) { sl_send_reply("200", "OK"); exit; }
  if (has_totag()) {
    if (loose_route() || t_check_trans()) t_relay();
    exit;
  }
  if (is_method("CANCEL")) { if (t_check_trans()) t_relay(); exit; }
  record_route();
  if (proto == TLS) $du = "sip:${GATEWAY}:${gateway}";
  else $du = "sip:127.0.0.1:${service};transport=tls";
  t_relay();
}
`;

describe.skipIf(missing('kamailio', 'sipp', 'sox'))('Kamailio over TLS', () => {
  let place: ServicePlace;
  let service: Service;
  let customer: Customer;
  let proxy: ChildProcess;
  let ports: Ports;
  let said = '';
  const folder = workFolder();

  beforeAll(async () => {
    const free = [await freePort(), await freePort(), await freePort(), await freePort()];
    const [tls = 0, udp = 0, gateway = 0, own = 0] = free;
    ports = { tls, udp, gateway, service: own };
    const shown = await certificate([PROXY]);
    writeFileSync(join(folder.path, 'proxy.crt'), shown.cert);
    writeFileSync(join(folder.path, 'proxy.key'), shown.key);
    writeFileSync(join(folder.path, 'kamailio.cfg'), script(folder.path, ports));
    const run = join(folder.path, 'run');
    mkdirSync(run);
    const options = ['-f', join(folder.path, 'kamailio.cfg'), '-DD', '-E', '-Y', run, '-w', run];
    proxy = spawn('kamailio', options, { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [proxy.stdout, proxy.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(-6000);
      });
    }
    await eventually(`the port of Kamailio: ${said}`, async () => {
      const attempt = connect(tls, PROXY);
      const open = once(attempt, 'connect').then(
        () => true,
        () => undefined,
      );
      return open.finally(() => attempt.destroy());
    });
    customer = await Customer.listen();
    place = await newPlace({
      CARILLON_SIP_TLS_PORT: String(own),
      CARILLON_SIP_TLS_CA_FILE: join(folder.path, 'proxy.crt'),
    });
    service = await Service.start(place);
    const made = await service.admin('POST', '/carriers', {
      name: 'kamailio',
      host: PROXY,
      port: tls,
      transport: 'tls',
      source_addresses: [PROXY],
      prefixes: [''],
    });
    expect(made.status, made.text).toBe(201);
    const number = { e164: OWN_NUMBER, country: 'US', currency: 'USD' };
    await service.admin('POST', '/numbers', { ...number, account_id: service.demo.authId });
    const { appId } = await makeUser(service, 'owner', {
      answer_url: customer.xml('/did', streamXml(customer.bot('/echo', echoBot))),
    });
    await service.api('POST', `numbers/${OWN_NUMBER}/application`, { application_id: appId });
  });
  afterAll(async () => {
    await service?.kill();
    await customer?.close();
    const gone = proxy.exitCode === null ? once(proxy, 'close') : undefined;
    proxy.kill('SIGTERM');
    await gone;
    removePlace(place);
    folder.remove();
  });

  it('forwards a call from the service to its gateway, with ACK and BYE along Record-Route', async () => {
    const run = startSipp({
      folder: folder.path,
      scenario: 'carrier-answers',
      localAddress: GATEWAY,
      localPort: ports.gateway,
      mediaPort: 6100,
      calls: 1,
    });
    const placed = await service.api('POST', 'Call/', {
      from: OWN_NUMBER,
      to: '14155550199',
      answer_url: customer.xml('/out', '<Response><Wait length="1"/><Hangup/></Response>'),
    });
    expect(placed.status, placed.text).toBeLessThan(300);
    const { status, report } = await run.done;
    expect(status, `${report}\n${said}`).toBe(0);
  });

  it('forwards twenty simultaneous calls to the service over TLS', async () => {
    await sipp({
      folder: folder.path,
      scenario: 'from-carrier',
      target: ports.service,
      localAddress: GATEWAY,
      localPort: ports.gateway,
      mediaPort: 6200,
      calls: 20,
      service: `+${OWN_NUMBER}`,
      more: ['-rsa', `${PROXY}:${ports.udp}`],
    });
    const { text } = await service.get('/metrics');
    expect(text).toMatch(/transport="tls",method="BYE",code=""\} 2\d/);
  });
});
