/** Loads the files of the tools of type play. */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { FileFaults } from '../config/checked-file.ts';
import { convertRate, l16Bytes, readWav } from '../phone/audio/wav.ts';
import type { AgentFile } from './agent-file.ts';

const RATE_HZ = 8000;
/** Maximum length in seconds: less than the playback queue of the service. */
const MAX_S = 55;

/**
 * Returns signed 16-bit little-endian samples at 8 kHz by tool name. Relative paths begin at the folder of the agent file.
 *
 * @throws FileFaults if a file is not usable
 */
export function loadSounds(agentFile: string, { tools }: AgentFile): ReadonlyMap<string, Buffer> {
  const sounds = new Map<string, Buffer>();
  const faults: string[] = [];
  for (const { name, file } of tools) {
    if (file === undefined) continue;
    const result = load(resolve(dirname(agentFile), file));
    if (typeof result === 'string') faults.push(`${agentFile}: tool ${name}: file: ${result}`);
    else sounds.set(name, result);
  }
  if (faults.length > 0) throw new FileFaults(faults);
  return sounds;
}

function load(path: string): Buffer | string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    return `cannot read it: ${error instanceof Error ? error.message : String(error)}`;
  }
  const sound = readWav(bytes);
  if (!sound.ok) return sound.error;
  const samples = convertRate(sound.value, RATE_HZ);
  if (samples.length > MAX_S * RATE_HZ) return `longer than ${MAX_S} s`;
  return l16Bytes(samples);
}
