/** Composes transcriptions on recording files, stored locally or in object storage. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Transcriptions } from '../../domain/transcription/transcription.ts';
import { recordingKey } from '../recording-offload.ts';
import type { Derived } from '../settings.ts';
import { type Basics, type Foundation, recordingsFolder } from './foundation.ts';
import type { Lines } from './lines.ts';

export function joinTranscriptions(
  basics: Basics,
  { store, ledger, objects }: Foundation,
  { callbacks, recognizer }: Pick<Lines, 'callbacks' | 'recognizer'>,
  { publicUrl }: Pick<Derived, 'publicUrl'>,
): Transcriptions {
  const folder = recordingsFolder(basics.dataDir);
  return new Transcriptions({
    ...basics,
    store: store.transcriptions,
    recordings: store.recordings,
    ledger,
    callbacks,
    recognizer,
    language: basics.settings.recognition.language,
    linkTo: ({ accountId, transcriptionId }) =>
      `${publicUrl}/v1/Account/${accountId}/Transcription/${transcriptionId}/`,
    files: {
      async read(file, maxBytes) {
        const path = join(folder, file);
        const size = await stat(path).then(
          (found) => found.size,
          () => undefined,
        );
        if (size !== undefined) return size > maxBytes ? undefined : readFile(path);
        return objects && readObject(objects, recordingKey(file), maxBytes);
      },
    },
  });
}

async function readObject(
  objects: NonNullable<Foundation['objects']>,
  key: string,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  const found = await objects.get(key);
  if (found === undefined) return undefined;
  if (found.totalBytes > maxBytes) {
    found.body.destroy();
    return undefined;
  }
  const parts: Buffer[] = [];
  for await (const part of found.body) parts.push(Buffer.from(part));
  return Buffer.concat(parts);
}
