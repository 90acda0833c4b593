/** Composes exports to folders and object storage: finished recordings, and daily records and ledgers. */
import { join } from 'node:path';
import { DailyExport } from '../daily-export.ts';
import { RecordingOffload, recordingKey } from '../recording-offload.ts';
import { TrustedClock } from '../trusted-clock.ts';
import { type Basics, type Foundation, recordingsFolder } from './foundation.ts';

export interface Leaving {
  /** Location of recordings that are not in their folder. */
  readonly elsewhere:
    | { readonly objects: NonNullable<Foundation['objects']>; keyOf(file: string): string }
    | undefined;
  /** Recordings that wait for object storage. */
  waiting(): number;
  start(): void;
  stop(): Promise<void>;
}

export function joinLeaving(basics: Basics, foundation: Foundation): Leaving {
  const { settings, dataDir } = basics;
  const { objects, recordings, store } = foundation;
  const isMoved = settings.recordings.storage === 's3' && objects !== undefined;
  const isExported = settings.dataExport.folder !== '' || settings.dataExport.toS3;
  const offload = isMoved
    ? new RecordingOffload({ ...basics, folder: recordingsFolder(dataDir), objects, recordings })
    : undefined;
  const trusted = new TrustedClock({ ...basics, settings: store.settings });
  const works = [
    ...(offload === undefined ? [] : [offload]),
    ...(isExported
      ? [
          new DailyExport({
            ...basics,
            ...foundation,
            settings: settings.dataExport,
            workFolder: join(dataDir, 'exports'),
            objects,
            marks: store.settings,
            isMine: async () =>
              (await store.nodes.claim('housekeeping')) && (await trusted.isTrusted()),
          }),
        ]
      : []),
  ];
  return {
    elsewhere: objects && { objects, keyOf: recordingKey },
    waiting: () => offload?.waiting ?? 0,
    start() {
      for (const work of works) work.start();
    },
    async stop() {
      await Promise.all(works.map((work) => work.stop()));
    },
  };
}
