/** Limits of drachtio-server listed in `docs/guides/drachtio.md`: unsupported requests fail immediately with a reason. */
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/logger.ts';
import type { SignallingOptions } from '../../../src/edge/sip/signalling.ts';
import { until } from '../../eventually.ts';
import type { Rig } from './rig.ts';
import { headerOf, requestText, SDP, TcpPeer, UdpPeer } from './rig.ts';
import { call, DIAL, home, recorder, register } from './scenarios.ts';

/** Same as `MAX_SENT_BYTES`: longer messages overwrite themselves in a server's buffer. */
const LONGEST_BYTES = 12_000;

export function limitStories(start: (options: Partial<SignallingOptions>) => Promise<Rig>): void {
  it('does not send a message that is too long for a server; its call ends immediately with a reason', async () => {
    const logged: string[] = [];
    const note = (fields: object, text: string): void => {
      logged.push(`${text} ${JSON.stringify(fields)}`);
    };
    const logger = { ...silentLogger, debug: note };
    const { signalling } = await start({ logger });
    await until(() => signalling.ready());
    const target = { kind: 'uri', uri: 'sip:a@127.0.0.1:9' } as const;
    const said = recorder();
    const sdp = `${SDP}a=x-filler:${'x'.repeat(LONGEST_BYTES)}\r\n`;
    signalling.invite(target, { ...DIAL, sdp }, said.events);
    await until(() => said.ends.length === 1);
    expect(said.ends[0]).toMatchObject({ how: 'transport' });
    expect(logged.join('\n')).toContain('too long for drachtio-server');
    await signalling.stop();
  });

  it('answers a browser at /sip of the HTTP port with 503', async () => {
    const { signalling } = await start({});
    const socket = new PassThrough();
    signalling.upgrade({} as never, socket, Buffer.alloc(0), {} as never);
    const chunks = await socket.toArray();
    expect(Buffer.concat(chunks).toString()).toMatch(/^HTTP\/1\.1 503 Service Unavailable\r\n/);
    await signalling.stop();
  });

  it('keeps a registration over TCP after its connection closes, because a server does not report that', async () => {
    const rig = await start({});
    const phone = await TcpPeer.open(rig.signalling.port());
    await register(rig, phone);
    phone.close();
    const other = await UdpPeer.open(rig.signalling.port());
    other.write(requestText(other, { method: 'OPTIONS', uri: home(rig), callId: 'after' }));
    await other.read('200');
    expect(rig.signalling.isRegistered('alice')).toBe(true);
    other.close();
    await rig.signalling.stop();
  });

  it.each([
    ['Supported: 100rel', ''],
    ['Require: 100rel', '100rel'],
  ])(
    'requests PRACK for early media with a caller that sends %s: "%s"',
    async (line, requested) => {
      const rig = await start({});
      const peer = await UdpPeer.open(rig.signalling.port());
      const { leg } = await call(rig, peer, { more: [line] });
      leg.ring(SDP);
      expect(headerOf(await peer.read('183'), 'Require')).toBe(requested);
      peer.close();
      await rig.signalling.stop();
    },
  );
}
