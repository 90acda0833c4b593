/** The supported codecs, in one table: formats in SDP, and the audio that they carry. */
import { type Codec, fixed, parametersOf } from './codec-format.ts';

/** Sample rates of audio in Hz. */
export type AudioRate = 8000 | 16_000 | 24_000 | 48_000;

/** Encoding that an Opus peer requests (RFC 7587 §6.1). */
export interface OpusSending {
  /** Bit rate in bit/s; 0 selects the default for the sample rate. */
  readonly bitrate: number;
  /** In-band forward error correction. */
  readonly fec: boolean;
  /** Discontinuous transmission: no packets during silence. */
  readonly dtx: boolean;
}

interface CodecProperties {
  /** Formats of our offers, one for each clock rate. */
  readonly offered: readonly Codec[];
  /** Maximum number of channels in a description. Default: 1. */
  readonly maxChannels?: number;
  /** True if `a=rtpmap` has the name in lower case; some peers compare case-sensitively. */
  readonly isLowerCase?: boolean;
  /** Sample rate of the audio. */
  readonly sampleRate: (codec: Codec) => AudioRate;
  /** Encoding that the peer requests, if the codec has such parameters. */
  readonly sending?: (codec: Codec) => OpusSending;
}

/**
 * Opus parameters in our descriptions (RFC 7587 §7): mono (`stereo` defaults to 0), forward error correction, full
 * band. Bridged legs forward Opus packets unchanged, so the band exceeds the 12 kHz of local audio.
 */
const OPUS_FMTP = 'useinbandfec=1;maxplaybackrate=48000;sprop-maxcapturerate=48000';
/**
 * Sample rates for Opus, highest first. The first that does not exceed the peer's maximum playback rate is used (RFC
 * 7587 §6.1).
 */
const OPUS_RATES: readonly AudioRate[] = [24_000, 16_000, 8000];
/** Full Opus rate, used only if the peer explicitly requests it: speech has little energy above 12 kHz. */
const OPUS_FULL_RATE = 48_000;
const LOWEST_BITRATE = 6000;
const HIGHEST_BITRATE = 510_000;

const parameter = (codec: Codec, name: string): number =>
  Number(parametersOf(codec).get(name) ?? Number.NaN);

function opusSampleRate(codec: Codec): AudioRate {
  const playback = parameter(codec, 'maxplaybackrate');
  if (playback === OPUS_FULL_RATE) return OPUS_FULL_RATE;
  return OPUS_RATES.find((rate) => !(rate > playback)) ?? 8000;
}

/** Invalid values are ignored. */
function opusSending(codec: Codec): OpusSending {
  const bitrate = parameter(codec, 'maxaveragebitrate');
  const isValid = bitrate >= LOWEST_BITRATE && bitrate <= HIGHEST_BITRATE;
  return {
    bitrate: isValid ? Math.floor(bitrate) : 0,
    fec: parametersOf(codec).get('useinbandfec') === '1',
    dtx: parametersOf(codec).get('usedtx') === '1',
  };
}

/** Codecs by name as in `a=rtpmap`, in upper case. The native table is in `native/core/codec/make_codec.cpp`. */
const CODECS = {
  OPUS: {
    // Opus is always written with two channels (RFC 7587 §7).
    offered: [{ ...fixed(96, 'OPUS', 48_000), channels: 2, fmtp: OPUS_FMTP }],
    maxChannels: 2,
    isLowerCase: true,
    sampleRate: opusSampleRate,
    sending: opusSending,
  },
  // The RTP clock of G722 is 8000 Hz for historical reasons, although it samples at 16000 Hz (RFC 3551).
  G722: { offered: [fixed(9, 'G722', 8000)], sampleRate: () => 16_000 },
  PCMU: { offered: [fixed(0, 'PCMU', 8000)], sampleRate: () => 8000 },
  PCMA: { offered: [fixed(8, 'PCMA', 8000)], sampleRate: () => 8000 },
  L16: {
    offered: [fixed(97, 'L16', 16_000), fixed(98, 'L16', 8000)],
    sampleRate: ({ clockRateHz }) => (clockRateHz === 16_000 ? 16_000 : 8000),
  },
} as const satisfies Readonly<Record<string, CodecProperties>>;

/** Supported codec names as in `a=rtpmap`, in upper case. */
export type CodecName = keyof typeof CODECS;
export const isCodecName = (text: string): text is CodecName => Object.hasOwn(CODECS, text);
export const CODEC_NAMES: readonly CodecName[] = Object.keys(CODECS).filter(isCodecName);

/** Properties of a supported codec; undefined for any other. */
export const codecProperties = (name: string): CodecProperties | undefined =>
  isCodecName(name) ? CODECS[name] : undefined;
