import { X509Certificate } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createHttp, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { loadNativeAddon } from '../../src/base/native-addon.ts';
import { checkParts, checkRedis } from '../../src/cli/doctor/cluster.ts';
import { abortedWithin, type Finding } from '../../src/cli/doctor/finding.ts';
import {
  checkClock,
  checkDisk,
  checkEngine,
  checkLimits,
  checkNode,
  type Machine,
} from '../../src/cli/doctor/machine.ts';
import { checkCarriers, checkDns, checkPorts } from '../../src/cli/doctor/network.ts';
import { checkPublicAddress } from '../../src/cli/doctor/public-address.ts';
import {
  checkAnswerUrl,
  checkAudioCleaning,
  checkCertificates,
  checkMail,
} from '../../src/cli/doctor/services.ts';
import { run } from '../../src/cli/program.ts';
import { testSettings } from '../foundation.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const verdicts = (findings: readonly Finding[]): readonly string[] =>
  findings.map(({ check, verdict }) => `${check}: ${verdict}`);

const machineWith = (files: Readonly<Record<string, string>>, said?: string): Machine => ({
  read: (path) => files[path],
  ask: () => said,
  isRoot: false,
});

async function listening<T extends Server>(server: T): Promise<T & { readonly port: number }> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => server.close());
  return Object.assign(server, { port: (server.address() as AddressInfo).port });
}

describe('machine checks', () => {
  it('name the version of libopus, or why the media engine does not load', () => {
    const built = checkEngine(() => ({ opusVersion: 'libopus 1.5.2 (system)' }));
    expect(built).toMatchObject({ verdict: 'ok', found: 'libopus 1.5.2 (system)' });
    const missing = checkEngine(() => loadNativeAddon('/nowhere/carillon.node'));
    expect(missing.verdict).toBe('problem');
    expect(missing.found).toContain('/nowhere/carillon.node cannot be loaded');
    expect(checkEngine().found).toMatch(/^libopus \d+\.\d+/);
  });

  it('require a current Node, a correct clock and free disk space', () => {
    expect(checkNode('20.20.2').verdict).toBe('problem');
    expect(checkNode('24.1.0').verdict).toBe('ok');
    expect(checkClock(machineWith({}, 'no')).advice).toContain('timedatectl set-ntp true');
    expect(checkClock(machineWith({}, 'yes')).verdict).toBe('ok');
    expect(checkClock(machineWith({})).verdict).toBe('skipped');
    expect(checkDisk('/tmp/not/made/yet').verdict).toBe('ok');
    expect(checkDisk('/proc/1/data').verdict).toBe('problem');
    const free = (bavail: number) =>
      checkDisk('/tmp', () => ({ bavail, blocks: 100_000, bsize: 2 ** 20 })).verdict;
    expect([free(50_000), free(5000), free(1000)]).toEqual(['ok', 'warning', 'problem']);
  });

  it('report Redis that does not answer, without its password', async () => {
    const alone = testSettings({});
    expect((await checkRedis(alone)).verdict).toBe('skipped');
    const { port } = await listening(createServer((socket) => socket.destroy()));
    const found = await checkRedis({
      cluster: { ...alone.cluster, redis: `redis://user:secret@127.0.0.1:${port}` },
    });
    expect(found.verdict).toBe('problem');
    expect(JSON.stringify(found)).not.toContain('secret');
  });

  it('report backlogs, a lost lease and missing peers of the running service', () => {
    const { cluster } = testSettings({});
    const parts = (spool: number, objects: number, peers: number, isFenced: boolean) =>
      [
        { part: 'spool', ready: true, detail: '', count: spool },
        { part: 'objects', ready: true, detail: '', count: objects },
        { part: 'fenced', ready: !isFenced, detail: 'declared dead' },
        { part: 'peers', ready: true, detail: '', count: peers },
      ] as const;
    expect(checkParts([], { cluster })).toEqual([]);
    expect(verdicts(checkParts(parts(0, 0, 1, false), { cluster }))).toEqual([
      'spool: ok',
      'object storage: ok',
    ]);
    const shared = { cluster: { ...cluster, redis: 'redis://127.0.0.1' } };
    expect(verdicts(checkParts(parts(0, 0, 3, false), shared))).toEqual([
      'spool: ok',
      'object storage: ok',
      'lease: ok',
      'peers: ok',
    ]);
    expect(verdicts(checkParts(parts(21, 21, 1, true), shared))).toEqual([
      'spool: warning',
      'object storage: warning',
      'lease: problem',
      'peers: warning',
    ]);
  });

  it('report limits that are too low for the configured calls', () => {
    const limits = (files: number, rtprio: number): Machine =>
      machineWith({
        '/proc/self/limits': `Max open files            1024                 ${files}               files\nMax realtime priority     0                    ${rtprio}                    \n`,
        '/proc/sys/net/core/rmem_max': '212992\n',
      });
    const settings = testSettings({});
    const [files, priority, buffers] = checkLimits(settings, limits(4096, 0));
    expect(priority).toMatchObject({
      verdict: 'warning',
      advice: expect.stringContaining('LimitRTPRIO'),
    });
    expect(checkLimits(settings, limits(4096, 20))[1]?.verdict).toBe('ok');
    expect(files).toMatchObject({
      verdict: 'problem',
      advice: expect.stringContaining('LimitNOFILE=14000'),
    });
    expect(buffers).toMatchObject({
      verdict: 'warning',
      advice: expect.stringContaining('60-carillon'),
    });
    expect(checkLimits(settings, limits(524_288, 20))[0]?.verdict).toBe('ok');
    const few = testSettings({ CARILLON_CALLS_MAX_CONCURRENT: '100' });
    expect(checkLimits(few, limits(4096, 0))[0]?.verdict).toBe('ok');
  });
});

describe('network checks', () => {
  it('name ports that are in use', async () => {
    const { port } = await listening(createServer());
    const { port: sipPort } = await listening(createServer());
    const udp = createSocket('udp4');
    udp.bind(0, '127.0.0.1');
    await once(udp, 'listening');
    closing.push(() => udp.close());
    const rtp = udp.address().port;
    const findings = await checkPorts(
      testSettings({
        CARILLON_HTTP_PORT: String(port),
        CARILLON_SIP_PORT: String(sipPort),
        CARILLON_RTP_PORT_MIN: String(rtp - (rtp % 2)),
        CARILLON_RTP_PORT_MAX: String(rtp - (rtp % 2) + 1),
        CARILLON_RTP_ICE_PORT: '-1',
      }),
    );
    expect(verdicts(findings)).toEqual([
      'http port: problem',
      'sip port (UDP): ok',
      'sip port (TCP): problem',
      'rtp ports: problem',
    ]);
    expect(findings[0]?.found).toContain(`127.0.0.1:${port} cannot be opened: EADDRINUSE`);
    const elsewhere = await checkPorts(testSettings({ CARILLON_HTTP_HOST: '192.0.2.1' }));
    expect(elsewhere[0]?.advice).toContain('not an address of this machine');
  });

  it('reject an advertised address that peers cannot use', async () => {
    const reported = async (environment: Record<string, string>) =>
      verdicts(await checkPublicAddress(testSettings(environment)));
    expect(await reported({ CARILLON_SIP_HOST: '0.0.0.0', CARILLON_RTP_HOST: '0.0.0.0' })).toEqual([
      'sip address: problem',
      'rtp address: problem',
    ]);
    expect(
      await reported({
        CARILLON_SIP_PUBLIC_HOST: '192.0.2.10',
        CARILLON_RTP_PUBLIC_HOST: 'voice.example',
      }),
    ).toEqual(['sip address: warning', 'rtp address: problem']);
  });

  it.each([
    [{ SIP_HOST: '0.0.0.0', SIP_PUBLIC_HOST: '2001:db8::7' }, 'sip.host 0.0.0.0 uses IPv4 only'],
    [{ SIP_HOST: '::1', SIP_PUBLIC_HOST: '192.0.2.7' }, 'sip.host ::1 uses IPv6 only'],
    [{ RTP_HOST: '0.0.0.0', RTP_PUBLIC_HOST: '2001:db8::7' }, 'rtp.host 0.0.0.0 uses IPv4 only'],
  ])('reject a public host of the wrong family: %j', async (given, why) => {
    const environment = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [`CARILLON_${name}`, value]),
    );
    const findings = await checkPublicAddress(testSettings(environment));
    const problems = findings.filter(({ verdict }) => verdict === 'problem');
    expect(problems).toHaveLength(1);
    expect(problems[0]?.found).toContain(why);
  });

  it('check the public host of each family', async () => {
    const of = (more: Readonly<Record<string, string>>) =>
      checkPublicAddress(
        testSettings({
          CARILLON_SIP_HOST: '::',
          CARILLON_SIP_PUBLIC_HOST: '127.0.0.1',
          CARILLON_RTP_PUBLIC_HOST: '127.0.0.1',
          ...more,
        }),
      );
    expect(verdicts(await of({ CARILLON_SIP_PUBLIC_HOST6: '[::1]' }))).toEqual([
      'sip address: warning',
      'sip address (IPv6): warning',
      'rtp address: warning',
    ]);
    const [, lacking] = await of({});
    expect(lacking?.found).toBe('peers with IPv6 get 127.0.0.1, which has no IPv6 address');
    const named = await of({ CARILLON_SIP_PUBLIC_HOST6: 'nowhere.invalid' });
    expect(named[1]?.found).toContain('nowhere.invalid does not resolve to an IPv6 address');
  });

  it('report a name server that is unreachable or invalid, and accept one that refuses the root', async () => {
    const server = createSocket('udp4');
    server.on('message', (query, { port, address }) => {
      // Header bits QR and REFUSED (RFC 1035 §4.1.1).
      const reply = Buffer.from(query);
      reply[2] = 0x81;
      reply[3] = 0x05;
      server.send(reply, port, address);
    });
    server.bind(0, '127.0.0.1');
    await once(server, 'listening');
    closing.push(() => server.close());
    const found = await checkDns([`127.0.0.1:${server.address().port}`]);
    expect(found).toMatchObject({ verdict: 'ok' });
    expect(await checkDns([])).toMatchObject({ verdict: 'problem' });
    const nobody = await checkDns(['127.0.0.1:9']);
    expect(nobody).toMatchObject({
      verdict: 'problem',
      advice: expect.stringContaining('/etc/resolv.conf'),
    });
  });

  it('probe a carrier over SIP and report an unreachable one', async () => {
    const carrier = createSocket('udp4');
    carrier.on('message', (request, { port, address }) => {
      const copied = String(request)
        .split('\r\n')
        .filter((line) => /^(Via|From|To|Call-ID|CSeq)/.test(line));
      carrier.send(['SIP/2.0 200 OK', ...copied, '', ''].join('\r\n'), port, address);
    });
    carrier.bind(0, '127.0.0.1');
    await once(carrier, 'listening');
    closing.push(() => carrier.close());
    const tcp = await listening(createServer());
    tcp.close();
    await once(tcp, 'close');
    const findings = await checkCarriers([
      { name: 'up', host: '127.0.0.1', port: carrier.address().port },
      { name: 'down', host: '127.0.0.1', port: tcp.port, transport: 'tcp' },
    ]);
    expect(verdicts(findings)).toEqual(['carrier up: ok', 'carrier down: problem']);
    expect(findings[0]?.found).toContain('answers 200 OK');
    expect(verdicts(await checkCarriers([]))).toEqual(['carriers: skipped']);
  });
});

describe('service checks', () => {
  it('require an answer URL to return a valid document', async () => {
    const answers: [number, string][] = [
      [200, '<Response><Speak>hello</Speak></Response>'],
      [200, '<Response><Speek/></Response>'],
      [500, 'no'],
    ];
    const bodies: string[] = [];
    const server = await listening(
      createHttp((request, reply) => {
        request.on('data', (part) => bodies.push(String(part)));
        request.on('end', () => {
          const [status, text] = answers.shift() ?? [404, ''];
          reply.writeHead(status).end(text);
        });
      }),
    );
    const url = `http://127.0.0.1:${server.port}/answer`;
    const found = [];
    for (const _ of [1, 2, 3]) found.push(await checkAnswerUrl(url, true));
    expect(found.map(({ verdict }) => verdict)).toEqual(['ok', 'problem', 'problem']);
    expect(found[1]?.found).toMatch(/line 1, column \d+/);
    expect(bodies[0]).toContain('CallUUID=doctor');
    server.close();
    await once(server, 'close');
    expect((await checkAnswerUrl(url, true)).found).toContain('cannot be reached');
    expect((await checkAnswerUrl(undefined, true)).verdict).toBe('skipped');
  });

  it('report an unreachable mail server without its password', async () => {
    const finding = await checkMail(
      testSettings({ CARILLON_MAIL_SMTP_URL: 'smtp://u:s3cret@127.0.0.1:9' }),
    );
    expect(finding.verdict).toBe('problem');
    expect(JSON.stringify(finding)).not.toContain('s3cret');
  });

  it('require encryption for public HTTP, with valid certificate files', () => {
    const nowMs = Date.UTC(2026, 0, 1);
    const check = (environment: Record<string, string>) =>
      verdicts(checkCertificates(testSettings(environment), nowMs));
    expect(check({})).toEqual(['certificate: skipped']);
    expect(check({ CARILLON_HTTP_HOST: '0.0.0.0' })).toEqual(['certificate: warning']);
    expect(
      check({
        CARILLON_HTTP_TLS_CERT_FILE: 'package.json',
        CARILLON_HTTP_TLS_KEY_FILE: 'package.json',
      }),
    ).toEqual(['certificate: problem']);
    const tls = (name: string, key: string): Record<string, string> => ({
      CARILLON_HTTP_TLS_CERT_FILE: `test/edge/stream/tls/${name}`,
      CARILLON_HTTP_TLS_KEY_FILE: `test/edge/stream/tls/${key}`,
    });
    expect(check(tls('expired.pem', 'key.pem'))).toContain('certificate: problem');
    expect(check(tls('cert.pem', 'leaf-key.pem'))).toContain('certificate: problem');
    const { validTo } = new X509Certificate(readFileSync('test/edge/stream/tls/cert.pem'));
    const nearly = testSettings(tls('cert.pem', 'key.pem'));
    const lateMs = Date.parse(validTo) - 5 * 86_400_000;
    expect(verdicts(checkCertificates(nearly, lateMs))).toContain('certificate: warning');
    const elsewhere = {
      ...tls('cert.pem', 'key.pem'),
      CARILLON_PUBLIC_URL: 'https://other.example',
    };
    expect(checkCertificates(testSettings(elsewhere), nowMs)[0]?.advice).toContain(
      'subjectAltName',
    );
    const sip = (name: string, key: string): Record<string, string> => ({
      CARILLON_SIP_TLS_CERT_FILE: `test/edge/stream/tls/${name}`,
      CARILLON_SIP_TLS_KEY_FILE: `test/edge/stream/tls/${key}`,
    });
    expect(check(sip('cert.pem', 'leaf-key.pem'))).toContain('sip certificate: problem');
    const late = checkCertificates(testSettings(sip('cert.pem', 'key.pem')), lateMs);
    expect(verdicts(late)).toContain('sip certificate: warning');
  });
});

describe('carillon doctor', () => {
  it('closes the connection to a service that does not answer, so that it can end', async () => {
    const server = await listening(createHttp());
    const asked = once(server, 'request');
    const url = `http://127.0.0.1:${server.port}`;
    const checked = abortedWithin((signal) => fetch(url, { signal }), 1000);
    const [request] = await asked;
    await Promise.all([
      once(request.socket, 'close'),
      expect(checked).rejects.toThrow('no answer within 1 s'),
    ]);
  });

  it('reports a service that accepts no calls, and a program that is not the service', async () => {
    const outcomeOf = async (answer: (reply: ServerResponse) => void): Promise<string> => {
      const server = await listening(createHttp((_, reply) => answer(reply)));
      const lines: string[] = [];
      await run(['--url', `http://127.0.0.1:${server.port}`, 'doctor'], {
        print: (line) => lines.push(line),
        note: () => undefined,
        interactive: false,
        env: { CARILLON_HTTP_PORT: '0' },
        fail: () => undefined,
      });
      return lines.find((line) => / service +/.test(line)) ?? '';
    };
    const down = (reply: ServerResponse) =>
      reply.writeHead(503).end('{"status":"down","details":{"store":"disk full"}}');
    expect(await outcomeOf(down)).toMatch(/^FAIL service .*accepts no calls: store: disk full/);
    expect(await outcomeOf((reply) => reply.end('hello'))).toMatch(/^FAIL service/);
    expect(await outcomeOf((reply) => reply.end('{"status":"ready"}'))).toMatch(/^ok {3}service/);
  });

  it('exits with status 1 and prints one recommendation per problem, as text and as JSON', async () => {
    const outcome = async (...args: string[]) => {
      const lines: string[] = [];
      let failed = false;
      await run(['--url', 'http://127.0.0.1:9', ...args], {
        print: (line) => lines.push(line),
        note: () => undefined,
        interactive: false,
        env: { CARILLON_RTP_HOST: '0.0.0.0', CARILLON_SIP_PORT: '0' },
        fail: () => {
          failed = true;
        },
      });
      return { text: lines.join('\n'), failed };
    };
    const shown = await outcome('doctor');
    expect(shown.failed).toBe(true);
    expect(shown.text).toMatch(/^FAIL settings +CARILLON_SIP_PORT must be/m);
    expect(shown.text).toMatch(/^ +-> Set rtp\.publicHost/m);
    const { ok, findings } = JSON.parse((await outcome('--json', 'doctor')).text) as {
      ok: boolean;
      findings: Finding[];
    };
    expect(ok).toBe(false);
    const bare = findings.filter(({ verdict, advice }) => verdict === 'problem' && !advice);
    expect(bare).toEqual([]);
  });
});

it('names the package for audio cleaning if it is missing', async () => {
  expect(await checkAudioCleaning(async () => '')).toMatchObject({ verdict: 'ok' });
  const missing = await checkAudioCleaning(async () => 'the library is not installed');
  expect(missing).toMatchObject({ verdict: 'skipped' });
  expect(missing.advice).toContain('apt-get install libspeexdsp1');
});
