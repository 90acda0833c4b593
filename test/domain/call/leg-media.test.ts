/** What becomes of the address in a peer's SDP. */

import { describe, expect, it } from 'vitest';
import type { RtpVerdict } from '../../../src/base/egress.ts';
import { asAccountId, asCallUuid } from '../../../src/base/ids.ts';
import { CallLogs } from '../../../src/domain/call/call.ts';
import { LegMedia, type RtpPeer } from '../../../src/domain/call/leg-media.ts';
import type { Media, MediaSession } from '../../../src/domain/call/needs.ts';

const CLOCK = { monotonicMs: () => 0, wallMs: () => 0 };

const sdpOf = (address: string): string =>
  `v=0\r\no=- 1 1 IN IP4 ${address}\r\ns=-\r\nc=IN IP4 ${address}\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0\r\n`;

async function legWith(verdict: RtpVerdict) {
  const configured: MediaSession[] = [];
  const asked: RtpPeer[] = [];
  const leg = {
    address: '127.0.0.1',
    port: 20_000,
    configure: (remote: MediaSession) => void configured.push(remote),
  };
  const log = new CallLogs({ entries: 10, retentionMs: 1000, calls: 10 }, CLOCK).open(
    asCallUuid('c'),
    asAccountId('MA_X'),
  );
  const media = new LegMedia(
    {
      media: { openLeg: async () => leg } as unknown as Media,
      sessionId: () => 1,
      mediaTimeoutMs: 1000,
      log,
      judgeRtp: (peer) => {
        asked.push(peer);
        return verdict;
      },
    },
    { dtmf: () => undefined, silent: () => undefined },
    () => ({ heardFrom: '198.51.100.7', carrier: undefined }),
  );
  await media.open();
  return { media, configured, asked, log };
}

describe('the address of a peer', () => {
  it('is sent to when it may be, and is asked about with where the peer was heard', async () => {
    const { media, configured, asked } = await legWith({ kind: 'send' });
    expect(media.describe(sdpOf('198.51.100.7')).ok).toBe(true);
    expect(configured).toMatchObject([{ address: '198.51.100.7', port: 4000 }]);
    expect(asked).toEqual([
      { address: '198.51.100.7', port: 4000, heardFrom: '198.51.100.7', carrier: undefined },
    ]);
  });

  it('is waited for when it may not be: an offer, an answer and a re-INVITE alike', async () => {
    const verdict = { kind: 'learn', why: '10.0.0.9 is a private address' } as const;
    const { media, configured, log } = await legWith(verdict);
    expect(media.describe(sdpOf('10.0.0.9')).ok).toBe(true);
    media.offer();
    expect(media.settle(sdpOf('10.0.0.9')).ok).toBe(true);
    expect(configured.map(({ address }) => address)).toEqual(['', '']);
    expect(log.entries().at(-1)).toMatchObject({ facts: { because: verdict.why } });
  });

  it('is refused when it is the service itself, and nothing changes', async () => {
    const { media, configured } = await legWith({ kind: 'refuse', why: 'an address of ours' });
    expect(media.describe(sdpOf('127.0.0.1'))).toMatchObject({
      ok: false,
      error: { detail: 'an address of ours' },
    });
    expect(configured).toEqual([]);
  });

  it('that says "do not send" is no place, and nobody is asked', async () => {
    const { media, configured, asked } = await legWith({ kind: 'send' });
    expect(media.describe(sdpOf('0.0.0.0')).ok).toBe(true);
    expect(configured).toMatchObject([{ address: '' }]);
    expect(asked).toEqual([]);
  });
});
