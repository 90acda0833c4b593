/** Maps payload types to codecs: `a=rtpmap`, `a=fmtp` and the static table of RFC 3551 §6. */
import { fixed } from './codec-format.ts';
import { CODEC_NAMES, type CodecName, codecProperties } from './codec-table.ts';
import type { Codec, MediaDescription } from './types.ts';

/** Entries of a preference list: codecs, and comfort noise, which offers include only if it is listed. */
export type CodecPreference = CodecName | typeof COMFORT_NOISE_NAME;
const COMFORT_NOISE_NAME = 'CN';
export const CODEC_PREFERENCES: readonly CodecPreference[] = [...CODEC_NAMES, COMFORT_NOISE_NAME];
export const isCodecPreference = (text: string): text is CodecPreference =>
  CODEC_PREFERENCES.some((name) => name === text);

/** Comfort noise of RFC 3389, for codecs with an RTP clock of 8000 Hz. */
const COMFORT_NOISE = fixed(13, COMFORT_NOISE_NAME, 8_000);
/** Comfort noise for codecs with an RTP clock of 16,000 Hz. */
const WIDE_COMFORT_NOISE = fixed(105, COMFORT_NOISE_NAME, 16_000);

/** RFC 3551 table 4, audio. The RTP clock of G722 is 8000 Hz for historical reasons, although it samples at 16000 Hz. */
const STATIC_CODECS: readonly Codec[] = [
  fixed(0, 'PCMU', 8_000),
  fixed(3, 'GSM', 8_000),
  fixed(4, 'G723', 8_000),
  fixed(5, 'DVI4', 8_000),
  fixed(6, 'DVI4', 16_000),
  fixed(7, 'LPC', 8_000),
  fixed(8, 'PCMA', 8_000),
  fixed(9, 'G722', 8_000),
  fixed(10, 'L16', 44_100, 2),
  fixed(11, 'L16', 44_100),
  fixed(12, 'QCELP', 8_000),
  COMFORT_NOISE,
  fixed(15, 'G728', 8_000),
  fixed(16, 'DVI4', 11_025),
  fixed(17, 'DVI4', 22_050),
  fixed(18, 'G729', 8_000),
];

const staticByPayloadType = new Map(STATIC_CODECS.map((codec) => [codec.payloadType, codec]));

/** Codec of the static table by name, at 8 kHz, or undefined if the name needs a dynamic payload type. */
export const staticCodec = (name: string): Codec | undefined =>
  STATIC_CODECS.find((codec) => codec.name === name && codec.clockRateHz === 8_000);

/** Formats of comfort noise that our offers list next to these codecs: one per clock rate. */
export const offeredComfortNoise = (codecs: readonly Codec[]): readonly Codec[] =>
  [COMFORT_NOISE, WIDE_COMFORT_NOISE].filter((noise) =>
    codecs.some(({ clockRateHz }) => clockRateHz === noise.clockRateHz),
  );

export const comfortNoise = (payloadType: number, clockRateHz: number): Codec =>
  fixed(payloadType, COMFORT_NOISE_NAME, clockRateHz);

export const isComfortNoise = (codec: Codec): boolean => codec.name === COMFORT_NOISE_NAME;

/** Formats that our offers list for a codec name: one per clock rate. */
export function offeredCodecs(name: string): readonly Codec[] {
  const plain = staticCodec(name);
  return codecProperties(name)?.offered ?? (plain === undefined ? [] : [plain]);
}

/** Returns whether a codec of a description has the clock rate and channels that this implementation supports. */
export function isOurs({ name, clockRateHz, channels }: Codec): boolean {
  const { offered = [], maxChannels = 1 } = codecProperties(name) ?? {};
  return channels <= maxChannels && offered.some((format) => format.clockRateHz === clockRateHz);
}

/** Codec of an offer as our answer repeats it, with local parameters in place of the peer's. */
export function answeredCodec(codec: Codec): Codec {
  const ours = codecProperties(codec.name)?.offered.find((format) => format.fmtp !== '');
  return ours === undefined ? codec : { ...codec, channels: ours.channels, fmtp: ours.fmtp };
}

/** Returns whether `a=rtpmap` has the name in lower case. */
export const isLowerCase = (codec: Codec): boolean =>
  isTelephoneEvent(codec) || codecProperties(codec.name)?.isLowerCase === true;

export const telephoneEvent = (payloadType: number, clockRateHz = 8_000): Codec => ({
  payloadType,
  name: 'TELEPHONE-EVENT',
  clockRateHz,
  channels: 1,
  // The sixteen DTMF digits (RFC 4733 §3.2).
  fmtp: '0-15',
});

const RTPMAP = /^([0-9]{1,3})[ \t]+([^/ \t]+)\/([0-9]{1,6})(?:\/([0-9]{1,2}))?$/;
const FMTP = /^([0-9]{1,3})[ \t]+(.*)$/;

/** Formats of an RTP m-line in order. Dynamic formats without rtpmap are skipped. */
export function codecsOf(media: MediaDescription): readonly Codec[] {
  const maps = new Map<number, Codec>();
  const fmtps = new Map<number, string>();
  for (const { name, value = '' } of media.attributes) {
    const match =
      name === 'rtpmap' ? RTPMAP.exec(value) : name === 'fmtp' ? FMTP.exec(value) : null;
    if (match === null) continue;
    const payloadType = Number(match[1]);
    if (name === 'fmtp') fmtps.set(payloadType, match[2] ?? '');
    else if (!maps.has(payloadType)) {
      const channels = match[4] === undefined ? 1 : Number(match[4]);
      const clockRateHz = Number(match[3]);
      const encoding = (match[2] ?? '').toUpperCase();
      maps.set(payloadType, { payloadType, name: encoding, clockRateHz, channels, fmtp: '' });
    }
  }
  const codecs: Codec[] = [];
  for (const format of new Set(media.formats)) {
    if (!/^[0-9]{1,3}$/.test(format)) continue;
    const payloadType = Number(format);
    const codec = maps.get(payloadType) ?? staticByPayloadType.get(payloadType);
    if (codec === undefined || payloadType > 127) continue;
    codecs.push({ ...codec, fmtp: fmtps.get(payloadType) ?? '' });
  }
  return codecs;
}

export const isTelephoneEvent = (codec: Codec): boolean => codec.name === 'TELEPHONE-EVENT';

/** Returns whether both codecs have the same encoding, regardless of payload type. */
export const sameCodec = (a: Codec, b: Codec): boolean =>
  a.name === b.name &&
  a.clockRateHz === b.clockRateHz &&
  // Some peers omit the two channels of Opus.
  (a.channels === b.channels || a.name === 'OPUS');
