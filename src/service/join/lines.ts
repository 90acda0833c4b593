/** Composes all external connections: customers' servers and sockets, phones and carriers, audio. */

import { join } from 'node:path';
import type { DestinationGuard } from '../../base/egress.ts';
import { unbracketed } from '../../base/host.ts';
import type { Settings } from '../../config/schema.ts';
import type { CallerProofs } from '../../domain/call/needs.ts';
import { NewCalls } from '../../domain/capacity/capacity.ts';
import { type AudioService, createAudio } from '../../edge/audio/audio-library.ts';
import { createDestinationGuard, createServiceAddresses } from '../../edge/egress/egress.ts';
import type { MediaEngine } from '../../edge/media/engine.ts';
import type { Metrics } from '../../edge/metrics/metrics.ts';
import { createRecognizer, type RecognizerService } from '../../edge/speech/recognizer.ts';
import { createSynthesizer, type SpeechService } from '../../edge/speech/synthesizer.ts';
import type { CustomerHttp } from '../../edge/webhook/http-caller.ts';
import type { Derived } from '../settings.ts';
import { createHoldMusic, type HoldMusic } from '../sounds.ts';
import { type CustomerLines, openCustomerLines } from './customer-lines.ts';
import type { Basics, Foundation } from './foundation.ts';
import { openMedia } from './media-lines.ts';
import { callerProofs, openSip, type SipLines, type SipSurroundings } from './sip-lines.ts';

/** Connections for sound: files of customers, speech and hold music. */
interface SoundLines {
  readonly audio: AudioService;
  readonly speech: SpeechService;
  readonly recognizer: RecognizerService;
  readonly holdMusic: HoldMusic;
}

export interface Lines extends CustomerLines, SipLines, SoundLines {
  readonly media: MediaEngine;
  readonly proofs: CallerProofs & { reload?(): void };
  /** Limits the rate of new calls. */
  readonly newCalls: NewCalls;
  readonly destinations: DestinationGuard;
  /** Registers another listener of this service. Customer traffic to it is refused. */
  readonly listensOn: (url: string) => void;
}

export async function openLines(
  basics: Basics,
  foundation: Foundation,
  derived: Derived,
  metrics: Metrics,
  { cluster, descriptors }: Pick<SipSurroundings, 'cluster' | 'descriptors'>,
): Promise<Lines> {
  const customers = openCustomerLines(basics, foundation, derived, metrics, cluster);
  const media = await openMedia(basics, derived);
  const ports = new Set<number>();
  const destinations = destinationsOf(basics, derived, {
    media,
    isPort: (port) => ports.has(port) || sip.signalling.listensOn(port),
  });
  const newCalls = new NewCalls(basics.clock);
  const surroundings = { cluster, descriptors, egress: destinations, newCalls };
  const sip = await openSip(basics, foundation, derived, surroundings);
  return {
    ...customers,
    ...sip,
    ...(await openSound(basics, customers.http)),
    media,
    newCalls,
    destinations,
    listensOn: (url) => ports.add(portOf(url)),
    proofs: await callerProofs(basics, customers.http),
  };
}

/** Composes the guard of SIP and RTP destinations, which knows the addresses of this service. */
const destinationsOf = (
  { settings, clock }: Basics,
  derived: Derived,
  { media, isPort }: { readonly media: MediaEngine; readonly isPort: (port: number) => boolean },
): DestinationGuard =>
  createDestinationGuard({
    allow: settings.egress.allow,
    allowLoopback: derived.local,
    own: createServiceAddresses({
      hosts: ownHosts(settings, derived),
      isPort,
      isRtpOfLeg: (port) => media.isPortOfLeg(port),
      rtpRange: { min: settings.rtp.portMin, max: settings.rtp.portMax },
      monotonicMs: () => clock.monotonicMs(),
    }),
  });

async function openSound(
  { settings, dataDir, clock, logger }: Basics,
  http: CustomerHttp,
): Promise<SoundLines> {
  const audio = createAudio({
    fetch: (url, request) => http.getBytes(url, request),
    clock,
    limits: { stallTimeoutMs: settings.webhooks.firstByteMs },
  });
  return {
    audio,
    holdMusic: createHoldMusic(settings.calls.holdMusic, audio, logger),
    speech: await createSynthesizer({
      engine: settings.speech.engine,
      http: settings.speech.url === '' ? undefined : settings.speech,
      cacheDir: join(dataDir, 'cache', 'speech'),
      logger,
    }),
    recognizer: await createRecognizer({
      ...settings.recognition,
      decode: (bytes) => audio.decode(bytes),
      logger,
    }),
  };
}

/** Returns all hosts and addresses to which this service is bound or by which it is known. */
function ownHosts({ http, sip, rtp }: Settings, derived: Derived): readonly string[] {
  const { hostname } = new URL(derived.publicUrl);
  const { sipPublicHost, sipPublicHost6, rtpPublicHost, rtpPublicHost6 } = derived;
  const listening = [http.host, sip.host, rtp.host];
  const known = [sipPublicHost, sipPublicHost6, rtpPublicHost, rtpPublicHost6, hostname];
  return [...listening, ...known].filter((host) => host !== undefined).map(unbracketed);
}

function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}
