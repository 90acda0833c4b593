/** linphonec over TLS: registers, calls the demo, receives its echo, and hangs up. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findEcho } from '../../src/phone/audio/echo-delay.ts';
import { readWav } from '../../src/phone/audio/wav.ts';
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

const SPEECH = new URL('../../fixtures/audio/speech.wav', import.meta.url).pathname;
/** Format of the recorded audio: 48 kHz mono, read raw because linphone completes the header only at the end. */
const RECEIVED = ['-t', 'raw', '-r', '48000', '-e', 'signed', '-b', '16', '-c', '1'];
const TALK_BYTES = 9 * 48_000 * 2;

describe.skipIf(missing('linphonec', 'sox'))('linphone over TLS', () => {
  let place: ServicePlace;
  let service: Service;
  let phone: ChildProcess;
  let said = '';
  const folder = workFolder();
  const said16 = join(folder.path, 'said.wav');
  const received = join(folder.path, 'heard.wav');
  const retained = join(folder.path, 'kept.wav');
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
      // linphone accepts only certificates of public authorities, so verification is off.
      'verify_server_certs=0',
      'verify_server_cn=0',
    ];
    spawnSync('sox', [SPEECH, '-r', '16000', '-c', '1', said16]);
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

  it('registers, calls, receives its echo and hangs up', async () => {
    const { username, password } = service.demo;
    await says('linphonec>');
    type(`register sip:${username}@127.0.0.1 <sip:${server};transport=tls> ${password}`);
    await eventually('the registration', async () => {
      const { body } = await service.admin('GET', '/registrations');
      const [first] = body['registrations'] as Json[];
      return first?.['transport'] === 'tls' || undefined;
    });
    // Uses files instead of a sound card for sent and received audio.
    type('soundcard use files');
    type(`record ${received}`);
    type(`call sip:1000@${server};transport=tls`);
    await says('Media streams established');
    type(`play ${said16}`);
    await eventually(
      'the received audio',
      () => (existsSync(received) && statSync(received).size > TALK_BYTES) || undefined,
    );
    // linphone truncates the file at the end of the call, so the test keeps a copy.
    writeFileSync(retained, readFileSync(received));
    type('terminate');
    const [cdr] = await eventually('the record', async () => {
      const data = (await service.api('GET', 'cdr?per_page=1')).body['data'] as Json[];
      return data.length > 0 ? data : undefined;
    });
    expect(cdr).toMatchObject({ hangup_cause_code: 4000, hangup_source: 'Caller' });
    expect(cdr?.['packet_loss']).toBe(0);
    const narrow = join(folder.path, 'narrow.wav');
    spawnSync('sox', [...RECEIVED, retained, '-r', '8000', '-c', '1', narrow]);
    const [was, came] = [SPEECH, narrow].map((file) => readWav(readFileSync(file)));
    if (was?.ok !== true || came?.ok !== true) throw new Error('no sound');
    const echo = findEcho(was.value.samples, came.value.samples, 4000);
    expect(echo?.likeness ?? 0).toBeGreaterThan(0.7);
  });
});
