/** STUN keep-alives on the flow of a phone registered over UDP (RFC 5626 §8). */
import { describe, expect, it, onTestFinished } from 'vitest';
import { until } from '../../eventually.ts';
import { authenticated, headerOf, startRig, UdpPeer } from './rig.ts';

const HEADER = '2112a442b7e7a701bc34d686fa87dfae';
const REQUEST = Buffer.from(`00010000${HEADER}`, 'hex');
const OUTBOUND = '+sip.instance="<urn:uuid:00000000-0000-1000-8000-00000000000a>";reg-id=1';

async function phone() {
  const rig = await startRig();
  onTestFinished(() => rig.signalling.stop());
  const peer = await UdpPeer.open(rig.signalling.ports().udp ?? 0);
  onTestFinished(() => peer.close());
  return { rig, peer };
}

const isAnswer = (text: string): boolean =>
  Buffer.from(text, 'latin1').toString('hex').startsWith(`0101000c${HEADER}`);

describe('STUN on the SIP port', () => {
  it('returns the address of its flow to a registered phone, between SIP requests', async () => {
    const { peer } = await phone();
    const lines = { method: 'REGISTER', uri: 'sip:127.0.0.1', to: '<sip:alice@127.0.0.1>' };
    const more = ['Supported: outbound, path'];
    for (const callId of ['stun-1', 'stun-2']) {
      await authenticated(peer, { ...lines, callId, contactParams: `;${OUTBOUND}`, more });
      const ok = await peer.read('SIP/2.0 ');
      expect(ok).toMatch(/^SIP\/2.0 200 /);
      expect(headerOf(ok, 'Require')).toBe('outbound');
      peer.write(REQUEST);
      const answer = Buffer.from(await peer.read('\u0001\u0001'), 'latin1');
      expect(answer.readUInt16BE(26) ^ 0x2112).toBe(peer.port);
      expect((answer.readUInt32BE(28) ^ 0x2112a442) >>> 0).toBe(0x7f000001);
    }
  });

  it('is answered within a rate, and never if malformed', async () => {
    const { rig, peer } = await phone();
    const dropped = (): number => rig.signalling.counters().dropped['stun'] ?? 0;
    peer.write(Buffer.from(`0001ffff${HEADER}`, 'hex'));
    await until(() => dropped() === 1);
    expect(peer.texts).toEqual([]);
    for (let count = 0; count < 50; count += 1) peer.write(REQUEST);
    await until(() => dropped() + peer.texts.length === 51);
    expect(peer.texts.every(isAnswer)).toBe(true);
    expect(peer.texts.length).toBeGreaterThan(0);
    expect(peer.texts.length).toBeLessThan(40);
  });
});
