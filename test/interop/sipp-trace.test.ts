/** Diagnostics of a call between two SIPp instances: SIP ladder, capture for Wireshark, and HEP for Homer. */
import { spawnSync } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestTerminal } from '../cli/terminal.ts';
import { eventually, type Json } from '../e2e/service.ts';
import { OWN_NUMBER, SippStage } from './sipp-stage.ts';
import { missing } from './tools.ts';

const CALLING = '127.0.0.2';
const CALLED = '127.0.0.3';

describe.skipIf(missing('sipp', 'sox'))('a call between SIPp at both ends', () => {
  let stage: SippStage;
  let homer: Socket;
  const reported: string[] = [];
  let a: string;
  let b: string;

  beforeAll(async () => {
    homer = createSocket('udp4').bind(0, '127.0.0.1');
    await once(homer, 'listening');
    homer.on('message', (bytes) => reported.push(bytes.toString('latin1')));
    stage = await SippStage.open(7600, {
      CARILLON_HEP_HOST: '127.0.0.1',
      CARILLON_HEP_PORT: String(homer.address().port),
    });
    await stage.carrier({ name: 'calling', host: CALLING, prefixes: ['999'] });
    await stage.carrier({ name: 'called', host: CALLED });
    await stage.answersOwnNumber(
      `<Response><Dial callerId="${OWN_NUMBER}"><Number>14155550177</Number></Dial></Response>`,
    );
    const callee = stage.called(CALLED, 'carrier-answers', { limitS: 20 });
    const caller = stage.peer('from-carrier', {
      localAddress: CALLING,
      target: stage.service.sipPort,
      service: `+${OWN_NUMBER}`,
      limitS: 20,
      pauseMs: 1000,
    });
    expect((await caller.done).status).toBe(0);
    expect((await callee.done).status).toBe(0);
    const rows = await eventually('both records', async () => {
      const { body } = await stage.service.api('GET', 'cdr?per_page=2');
      const found = body['data'] as Json[];
      return found.length === 2 ? found : undefined;
    });
    a = String(rows.find(({ context }) => context === 'did')?.['uuid']);
    b = String(rows.find(({ context }) => context === 'dial')?.['uuid']);
  });
  afterAll(async () => {
    homer.close();
    await stage.close();
  });

  const asOperator = () => ({
    CARILLON_URL: stage.service.baseUrl,
    CARILLON_ADMIN_TOKEN: stage.service.adminToken,
  });

  it('has a ladder of both legs, available from either leg', async () => {
    const terminal = new TestTerminal();
    for (const uuid of [a, b]) {
      terminal.clear();
      await terminal.run(['ladder', uuid], asOperator());
      const lines = terminal.out.join('\n').split('\n');
      const arrows = lines.map((line) =>
        line
          .slice(12)
          .replace(/[-\s|]+/g, ' ')
          .trim(),
      );
      expect(arrows[0]).toMatch(/^udp 127\.0\.0\.2:\d+ Carillon udp 127\.0\.0\.3:\d+$/);
      expect(arrows).toContain('INVITE sdp >');
      expect(arrows.filter((text) => text === 'INVITE sdp >')).toHaveLength(2);
      expect(arrows.filter((text) => text === '< 200 OK sdp INVITE')).toHaveLength(2);
      expect(arrows.filter((text) => text === 'BYE >')).toHaveLength(2);
      expect(arrows.filter((text) => text === 'ACK >')).toHaveLength(2);
    }
  });

  it('exports a capture that Wireshark reads', async (context) => {
    if (missing('tshark')) return context.skip();
    const terminal = new TestTerminal();
    const file = join(stage.folder.path, 'call.pcap');
    await terminal.run(['ladder', a, '--pcap', file], asOperator());
    const fields = ['ip.src', 'ip.dst', 'sip.Method', 'sip.Status-Code', '_ws.malformed'];
    const read = spawnSync(
      'tshark',
      [
        ...['-r', file, '-o', 'udp.check_checksum:TRUE', '-o', 'ip.check_checksum:TRUE'],
        ...['-d', `udp.port==${stage.service.sipPort},sip`, '-T', 'fields'],
        ...[...fields, 'udp.checksum.status'].flatMap((field) => ['-e', field]),
      ],
      { encoding: 'utf8' },
    );
    const rows = read.stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t'));
    expect(rows[0]?.slice(0, 3), read.stderr).toEqual([CALLING, '127.0.0.1', 'INVITE']);
    expect(rows.every((row) => row[4] === '' && row[5] === '1')).toBe(true);
    expect(rows.map((row) => row[3]).filter((status) => status === '200')).toHaveLength(4);
  });

  it('sends HEP to Homer with the UUID of its A leg, including a media report', async () => {
    const all = await eventually('the messages of both legs', () => {
      const found = reported.filter((text) => text.includes(a));
      return found.filter((text) => /BYE /.test(text)).length >= 2 &&
        found.some((text) => text.includes('"report_blocks"'))
        ? found
        : undefined;
    });
    expect(all.filter((text) => /INVITE sip:/.test(text))).toHaveLength(2);
    expect(reported.some((text) => text.includes(b))).toBe(false);
  });

  it('is counted for each carrier', async () => {
    const { text } = await stage.service.get('/metrics');
    expect(text).toMatch(
      /voice_sip_carrier_messages_total\{direction="in",method="INVITE",code="",carrier="calling"\} 1/,
    );
    expect(text).toMatch(
      /voice_sip_carrier_messages_total\{direction="in",method="",code="200",carrier="called"\} [1-9]/,
    );
  });
});
