/** linphonec over TLS: registers, calls the demo and hangs up. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  eventually,
  freePort,
  type Json,
  newPlace,
  removePlace,
  Service,
  type ServicePlace,
} from '../e2e/service.ts';
import { missing, workFolder } from './tools.ts';

describe.skipIf(missing('linphonec', 'sox'))('linphone over TLS', () => {
  let place: ServicePlace;
  let service: Service;
  let phone: ChildProcess;
  let said = '';
  const folder = workFolder();
  let server: string;

  const says = (text: string): Promise<true> =>
    eventually(
      `"${text}" of linphonec: ${said.slice(-2000)}`,
      () => said.includes(text) || undefined,
    );
  const type = (line: string): void => {
    phone.stdin?.write(`${line}\n`);
  };

  beforeAll(async () => {
    const tls = await freePort();
    server = `127.0.0.1:${tls}`;
    place = await newPlace({ CARILLON_SIP_TLS_PORT: String(tls) });
    service = await Service.start(place);
    const ports = await Promise.all([freePort(), freePort(), freePort()]);
    const settings = [
      '[sip]',
      ...['sip_port', 'sip_tcp_port', 'sip_tls_port'].map((name, i) => `${name}=${ports[i]}`),
      // It wants a public authority behind the certificate.
      'verify_server_certs=0',
      'verify_server_cn=0',
    ];
    mkdirSync(join(folder.path, '.local/share/linphone'), { recursive: true });
    writeFileSync(join(folder.path, 'rc'), `${settings.join('\n')}\n`);
    phone = spawn('linphonec', ['-c', join(folder.path, 'rc')], {
      env: { ...process.env, HOME: folder.path },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    for (const stream of [phone.stdout, phone.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
    }
  });
  afterAll(async () => {
    const gone = once(phone, 'close');
    phone.kill('SIGKILL');
    await gone;
    await service.kill();
    removePlace(place);
    folder.remove();
  });

  it('registers, calls and hangs up', async () => {
    const { username, password } = service.demo;
    await says('linphonec>');
    type(`register sip:${username}@127.0.0.1 <sip:${server};transport=tls> ${password}`);
    await eventually('the registration', async () => {
      const { body } = await service.admin('GET', '/registrations');
      const [first] = body['registrations'] as Json[];
      return first?.['transport'] === 'tls' || undefined;
    });
    type(`call sip:1000@${server};transport=tls`);
    await says('Media streams established');
    type('terminate');
    const [cdr] = await eventually('the record', async () => {
      const data = (await service.api('GET', 'cdr?per_page=1')).body['data'] as Json[];
      return data.length > 0 ? data : undefined;
    });
    expect(cdr).toMatchObject({ hangup_cause_code: 4000, hangup_source: 'Caller' });
  });
});
