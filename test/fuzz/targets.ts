/** JavaScript parsers of untrusted bytes. Each must accept any bytes and stay within its limits. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConversionError } from '../../src/edge/audio/conversion.ts';
import { decode } from '../../src/edge/audio/decode.ts';
import { encodeMp3 } from '../../src/edge/audio/encode-mp3.ts';
import { openWav } from '../../src/protocol/audio-file/audio-file.ts';
import { readCryptoLine } from '../../src/protocol/sdp/crypto.ts';
import { buildAnswer, chooseAudio, readAnswer, readOffer } from '../../src/protocol/sdp/sdp.ts';
import { int16Bytes, sine, wavFile } from '../protocol/audio-file/signals.ts';
import { MESSAGE_TARGETS } from './message-targets.ts';
import type { FuzzTarget } from './target.ts';

export type { FuzzTarget } from './target.ts';

const MAX_MS = 2000;
const text = (input: Uint8Array): string => Buffer.from(input).toString('utf8');
const bytes = (...lines: readonly string[]): Uint8Array => Buffer.from(lines.join('\r\n'));

const KEY = Buffer.alloc(30, 5).toString('base64');
/** Host names and IPv6 addresses. */
const OTHER_PLACES = ['IN IP4 media.example.com', 'IN IP6 media.example.com', 'IN IP6 2001:db8::5'];
const HEAD = ['v=0', 'o=- 1 1 IN IP4 192.0.2.1', 's=-', 'c=IN IP4 192.0.2.1', 't=0 0'];
const OFFERS = [
  bytes(
    ...HEAD,
    'm=audio 4000 RTP/AVP 0 8 101',
    'a=rtpmap:101 telephone-event/8000',
    'a=ptime:30',
    '',
  ),
  bytes(
    ...HEAD,
    'm=audio 4000 RTP/SAVP 111 0',
    'a=rtpmap:111 opus/48000/2',
    'a=fmtp:111 useinbandfec=1;maxaveragebitrate=20000',
    `a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${KEY}|2^31|1:4 WSH=64`,
    `a=crypto:2 AEAD_AES_128_GCM inline:${Buffer.alloc(28, 9).toString('base64')}`,
    'a=rtcp-mux',
    'a=rtcp-xr:voip-metrics',
    '',
  ),
  ...OTHER_PLACES.map((place) =>
    bytes('v=0', `o=- 1 1 ${place}`, 's=-', `c=${place}`, 't=0 0', 'm=audio 4000 RTP/AVP 0', ''),
  ),
];
const WAVES = [
  { format: 1, bits: 16, channels: 2, rate: 44_100 },
  { format: 7, bits: 8, channels: 1, rate: 8000 },
  { format: 3, bits: 32, channels: 1, rate: 16_000 },
].map((parts) => wavFile({ ...parts, data: int16Bytes(sine(440, 9000, 8000, 600)) }));

async function decodes(input: Uint8Array): Promise<void> {
  try {
    const { rate, samples } = await decode({
      kind: 'decode',
      bytes: input,
      rate: 16_000,
      maxMs: MAX_MS,
    });
    if (samples.length > (rate * 2 * MAX_MS) / 1000) throw new Error('longer than the limit');
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error;
  }
}

const MEDIA_TARGETS: readonly FuzzTarget[] = [
  {
    name: 'sdp',
    runs: 3000,
    seeds: async () => OFFERS,
    run: async (input) => {
      const offer = readOffer(text(input));
      if (!offer.ok) return;
      const choice = chooseAudio(offer.value, {
        codecs: ['OPUS', 'PCMU'],
        srtp: 'optional',
        families: ['IP4', 'IP6'],
        dtls: true,
      });
      if (!choice.ok) return;
      const local = { address: '192.0.2.9', port: 4000, sessionId: 1, version: 1, ptimeMs: 20 };
      const answer = buildAnswer(offer.value, choice.value, local, { key: new Uint8Array(30) });
      readAnswer(text(input), answer);
    },
  },
  {
    name: 'sdp-crypto',
    runs: 5000,
    seeds: async () => [
      bytes(`1 AES_CM_128_HMAC_SHA1_80 inline:${KEY}`),
      bytes(`22 AES_CM_128_HMAC_SHA1_32 inline:${KEY}|2^20|1:4 KDR=0 WSH=128`),
    ],
    run: async (input) => {
      const line = readCryptoLine(text(input));
      if (line !== undefined && (line.key.length < 28 || line.key.length > 46))
        throw new Error('unexpected key length');
    },
  },
  {
    name: 'wav',
    runs: 500,
    seeds: async () => WAVES,
    run: async (input) => {
      const wav = openWav(input);
      if (wav.ok) wav.value.mono(0, 1000);
      await decodes(input);
    },
  },
  {
    name: 'mp3',
    runs: 40,
    seeds: async () => {
      const folder = mkdtempSync(join(tmpdir(), 'carillon-fuzz-'));
      const [wavPath, mp3Path] = [join(folder, 'in.wav'), join(folder, 'out.mp3')];
      const data = int16Bytes(sine(440, 9000, 8000, 8000));
      writeFileSync(wavPath, wavFile({ format: 1, bits: 16, channels: 1, rate: 8000, data }));
      await encodeMp3({ kind: 'encodeMp3', wavPath, mp3Path });
      const mp3 = readFileSync(mp3Path);
      rmSync(folder, { recursive: true });
      return [mp3, Buffer.concat([Buffer.from('ID3\x04\0\0\0\0\0\x0a0123456789', 'latin1'), mp3])];
    },
    run: decodes,
  },
];

export const TARGETS: readonly FuzzTarget[] = [...MEDIA_TARGETS, ...MESSAGE_TARGETS];
