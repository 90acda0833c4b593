/** Sounds of the service's own: music for who is held, and everything that makes the first sound as quick as later ones. */
import { accessSync, constants } from 'node:fs';
import { ServiceError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { LineRate, Pcm } from '../domain/call/needs.ts';
import { type AudioService, holdMusic } from '../edge/audio/audio-library.ts';
import type { SpeechService } from '../edge/speech/synthesizer.ts';

export type HoldMusic = (rate: LineRate) => Promise<Pcm | undefined>;

/** Made or read once for each rate of a listener, when it is first asked for. Throws CONFIG_INVALID for a file that is not there. */
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
    logger.error({ file: setting, ...decoded.error }, 'hold music cannot be played');
    return undefined;
  };
  const made = new Map<LineRate, Promise<Pcm | undefined>>();
  return (wished) => {
    // What is made here holds nothing above the telephone band.
    const rate = setting === 'default' ? 8000 : wished;
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

/** One after the other, while calls are already taken. */
export async function warmSounds(
  { audio, speech }: { readonly audio: AudioService; readonly speech: SpeechService },
  music: HoldMusic,
): Promise<void> {
  await audio.warm();
  await speech.warm();
  await music(8000);
}
