/** Quarantine of RTP ports; a single port is reused after the minimum time. */
import { afterEach, expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/logger.ts';
import type { PeerAtEnd } from '../../../src/domain/call/needs.ts';
import { createMedia, type MediaEngine } from '../../../src/edge/media/engine.ts';
import { encodeMulaw, FRAME, rtp, sine } from './peer.ts';

const QUIET = { dtmf: () => undefined, silent: () => undefined };
let media: MediaEngine;
afterEach(() => media.stop());

/** Closes a leg on the only port of an engine and returns the time until the port is available again, in ms. */
async function restsMs(peer: PeerAtEnd | undefined, found = false): Promise<number> {
  media = createMedia({
    rtpHost: '127.0.0.1',
    publicHost: '127.0.0.1',
    portMin: 31_000,
    portMax: 31_001,
    drive: 'manual',
    wallMs: () => 0,
    logger: silentLogger,
  });
  const { manual } = media;
  if (manual === undefined) throw new Error('not manual');
  const leg = await media.openLeg({ mediaTimeoutMs: 0 }, QUIET);
  if (found) {
    const payload = encodeMulaw(sine(1000, FRAME));
    manual.inject(leg.port, { address: '127.0.0.1', port: 4000 }, rtp({ payload }));
    manual.advance(20);
  }
  leg.close(peer);
  const closedMs = manual.nowMs();
  while (media.status().portsFree === 0) manual.advance(500);
  return manual.nowMs() - closedMs;
}

it.each<[string, PeerAtEnd | undefined, number]>([
  ['a call that was answered', undefined, 5000],
  ['an offer that was withdrawn', 'offered', 5000],
  ['an offer that was refused', 'refused', 1000],
])('after %s', async (_, peer, ms) => {
  expect(await restsMs(peer)).toBe(ms);
});

it('after a packet was received', async () => {
  expect(await restsMs('refused', true)).toBe(5000);
});
