/** Composes the media engine. */
import { readFileSync } from 'node:fs';
import { createMedia, type MediaEngine } from '../../edge/media/engine.ts';
import type { Derived } from '../settings.ts';
import { trialCertificate } from '../sip-certificate.ts';
import type { Basics } from './foundation.ts';
import { threadsOf } from './threads.ts';

/** Starts the media engine, whose RTP ports must be free. */
export async function openMedia(basics: Basics, derived: Derived): Promise<MediaEngine> {
  const { settings, logger, clock } = basics;
  const media = createMedia({
    identity: await mediaIdentity(basics),
    rtpHost: settings.rtp.host,
    publicHost: derived.rtpPublicHost,
    publicHost6: derived.rtpPublicHost6,
    icePort: settings.rtp.icePort < 0 ? undefined : settings.rtp.icePort,
    portMin: settings.rtp.portMin,
    portMax: settings.rtp.portMax,
    keepAliveMs: settings.rtp.keepAliveMs,
    threads: threadsOf(settings.rtp.mediaThreads),
    ioUring: settings.rtp.ioUring,
    drive: 'thread',
    suppressDigits: settings.recordings.suppressDigits,
    wallMs: () => clock.wallMs(),
    logger,
  });
  media.checkPorts();
  return media;
}

/** Returns the certificate for DTLS-SRTP. Its fingerprint in SDP authenticates it, so it needs no other trust. */
async function mediaIdentity({ dataDir, clock, logger }: Basics) {
  const { certFile, keyFile } = await trialCertificate(dataDir, [], {
    name: 'media',
    nowMs: clock.wallMs(),
    logger,
  });
  return { certificate: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
}
