/** Sounds of the service: hold music, and preloading so that the first sound is as fast as later ones. */
import { accessSync, constants } from 'node:fs';
import { ServiceError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { LineRate, Pcm } from '../domain/call/needs.ts';
import { type AudioService, holdMusic } from '../edge/audio/audio-library.ts';
import type { SpeechService } from '../edge/speech/synthesizer.ts';

export type HoldMusic = (rate: LineRate) => Promise<Pcm | undefined>;

/**
 * Creates the hold music. It is generated or read once per sample rate, on first use. Throws CONFIG_INVALID for a
 * missing file.
 */
export function createHoldMusic(
  setting: string,
  audio: Pick<AudioService, 'decodeFile'>,
  logger: Logger,
): HoldMusic {
  if (setting === 'silence') return () => Promise.resolve(undefined);
  if (setting !== 'default') assertReadable(setting);
  const make = async (rate: LineRate): Promise<Pcm | undefined> => {
    if (setting === 'default') return holdMusic();
    const decoded = await audio.decodeFile(setting, rate);
    if (decoded.ok) return decoded.value;
    logger.error({ file: setting, ...decoded.error }, 'failed to decode the hold music');
    return undefined;
  };
  const made = new Map<LineRate, Promise<Pcm | undefined>>();
  return (preferred) => {
    // Generated music has no content above the telephone band.
    const rate = setting === 'default' ? 8000 : preferred;
    const music = made.get(rate) ?? make(rate);
    made.set(rate, music);
    return music;
  };
}

function assertReadable(file: string): void {
  try {
    accessSync(file, constants.R_OK);
  } catch (cause) {
    throw new ServiceError('CONFIG_INVALID', `calls.holdMusic ${file} cannot be read`, { cause });
  }
}

/** Preloads sounds sequentially, while calls are already accepted. */
export async function warmSounds(
  { audio, speech }: { readonly audio: AudioService; readonly speech: SpeechService },
  music: HoldMusic,
): Promise<void> {
  await audio.warm();
  await speech.warm();
  await music(8000);
}
