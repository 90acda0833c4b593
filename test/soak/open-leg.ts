import type { Media, MediaLeg } from '../../src/domain/call/needs.ts';

/** Media timeout, ms. Longer than any run, because callers with misbehaving bots send no RTP. */
const MEDIA_TIMEOUT_MS = 86_400_000;
const nothing = (): void => undefined;

/** Opens a PCMU leg to a port of 127.0.0.1. */
export async function openLeg(media: Media, peerPort: number): Promise<MediaLeg> {
  const leg = await media.openLeg(
    { mediaTimeoutMs: MEDIA_TIMEOUT_MS },
    { dtmf: nothing, silent: nothing },
  );
  leg.configure({
    address: '127.0.0.1',
    port: peerPort,
    codec: { name: 'PCMU', clockRate: 8000, sampleRate: 8000, channels: 1 },
    payloadType: { send: 0, receive: 0 },
    telephoneEvent: { send: 101, receive: 101, clockRate: 8000 },
    ptimeMs: 20,
    direction: 'sendrecv',
    protection: 'none',
  });
  return leg;
}
