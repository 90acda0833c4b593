/** Test scene with recognition and recording on its legs. Uses the real recorder with an in-memory folder. */

import { ServiceError } from '../../../src/base/errors.ts';
import type { RecordingId } from '../../../src/base/ids.ts';
import { micros } from '../../../src/base/money.ts';
import { err, ok } from '../../../src/base/result.ts';
import type {
  AudioProblem,
  MachineDetectionOptions,
  MachineDetectionResult,
  MediaLeg,
  MediaRecording,
  Pcm,
  RecordEnd,
  RecordOptions,
  SpeechProblem,
  SpeechRequest,
} from '../../../src/domain/call/needs.ts';
import type { StoredNotification } from '../../../src/domain/callback/types.ts';
import { CallRecorder } from '../../../src/domain/interpreter/interpreter.ts';
import type { RecorderNeeds } from '../../../src/domain/interpreter/recorder.ts';
import { Recordings } from '../../../src/domain/recording/recording.ts';
import type { Recording } from '../../../src/domain/recording/types.ts';
import { FakeMediaLeg } from '../../fakes/media.ts';
import { NO_TRANSCRIPTIONS } from '../../no-speech.ts';
import { FakeUses } from '../ledger/fake-uses.ts';
import { Scene } from './scene.ts';

export const pcm = (samples = 800): Pcm => ({ rate: 8000, samples: new Uint8Array(samples * 2) });

export class ScriptedRecording implements MediaRecording {
  readonly options: RecordOptions;
  readonly finished: Promise<RecordEnd>;
  readonly #startedMs: number;
  readonly #nowMs: () => number;
  #resolve: (end: RecordEnd) => void = () => undefined;
  isOver = false;
  isPaused = false;

  constructor(options: RecordOptions, nowMs: () => number) {
    this.options = options;
    this.#nowMs = nowMs;
    this.#startedMs = nowMs();
    this.finished = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  end(reason: RecordEnd['reason'], error?: string): void {
    if (this.isOver) return;
    this.isOver = true;
    const durationMs = error === undefined ? this.#nowMs() - this.#startedMs : 0;
    this.#resolve({ reason, durationMs, error });
  }

  stop(): void {
    this.end('stopped');
  }

  pause(isPaused: boolean): void {
    this.isPaused = isPaused;
  }
}

export class ListeningLeg extends FakeMediaLeg {
  readonly recordings: ScriptedRecording[] = [];
  readonly silencesAwaited: Array<{ ms: number; maxMs: number; received: () => void }> = [];
  readonly detections: Array<{
    options: MachineDetectionOptions;
    conclude: (reason: MachineDetectionResult['reason']) => void;
    isCanceled: boolean;
  }> = [];
  /** Result of `sendDigits`; tests replace it to delay the last digit. */
  digitsSent: Promise<void> = Promise.resolve();
  nowMs: () => number = () => 0;

  record(options: RecordOptions): ScriptedRecording {
    const recording = new ScriptedRecording(options, this.nowMs);
    this.recordings.push(recording);
    return recording;
  }

  waitForSilence(ms: number, maxMs: number, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      this.silencesAwaited.push({ ms, maxMs, received: () => resolve(true) });
      signal.addEventListener('abort', () => resolve(false), { once: true });
    });
  }

  override detectMachine(
    options: MachineDetectionOptions,
    signal?: AbortSignal,
  ): Promise<MachineDetectionResult> {
    return new Promise((resolve) => {
      const conclude = (reason: MachineDetectionResult['reason']): void =>
        resolve({ machine: reason === 'beep', reason, afterMs: 0 });
      const detection = { options, conclude, isCanceled: false };
      this.detections.push(detection);
      signal?.addEventListener('abort', () => {
        detection.isCanceled = true;
        conclude('ended');
      });
    });
  }

  override sendDigits(digits: string, options: { toneMs: number }): Promise<void> {
    void super.sendDigits(digits, options);
    return this.digitsSent;
  }

  override close(): undefined {
    for (const recording of this.recordings) recording.end('legEnded');
    return super.close();
  }
}

export class ListeningScene extends Scene {
  readonly rows = new Map<string, Recording>();
  /** Sizes of files in the folder, by relative name. */
  readonly files = new Map<string, number>();
  /** File that cannot be opened at the moment. */
  unreadable: string | undefined;
  readonly encoded: string[] = [];
  readonly spoken: SpeechRequest[] = [];
  readonly uses = new FakeUses();
  readonly rateBook = this.uses.rateBook;
  readonly recorder: CallRecorder;
  /** Failures of the next audio fetches; later ones succeed. */
  readonly audioProblems: AudioProblem[] = [];
  readonly speechProblems: SpeechProblem[] = [];
  speechPieces: readonly Pcm[] = [pcm()];
  piecesMade = 0;
  /** Failures of the next encodings; later ones succeed. */
  readonly encoderProblems: AudioProblem[] = [];
  /** Notifications stored together with their recording. */
  readonly storedNotifications: StoredNotification[] = [];
  isStoreDown = false;
  isStoreFull = false;
  /** Gate for `RecordStop` of an ended call. */
  hangupReported: Promise<void> = Promise.resolve();

  constructor() {
    super();
    Object.assign(this.media.asMedia, {
      openLeg: (_options: unknown, events: ConstructorParameters<typeof ListeningLeg>[0]) => {
        const leg = new ListeningLeg(events);
        leg.nowMs = () => this.clock.monotonicMs();
        this.media.legs.push(leg);
        return Promise.resolve(leg as unknown as MediaLeg);
      },
    });
    this.recorder = new CallRecorder(this.#recorderNeeds());
    Object.assign(this.needs, {
      recorder: this.recorder,
      audio: { load: (url: string) => this.#load(url) },
      speech: { speak: (request: SpeechRequest) => this.#speak(request) },
    });
  }

  leg(index = 0): ListeningLeg {
    const leg = this.media.legs[index];
    if (!(leg instanceof ListeningLeg)) throw new Error(`there is no leg ${index}`);
    return leg;
  }

  /** Returns the only recording. */
  row(): Recording {
    const [row] = this.rows.values();
    if (row === undefined) throw new Error('no recording was started');
    return row;
  }

  #load(url: string) {
    this.loaded.push(url);
    const problem = this.audioProblems.shift();
    return Promise.resolve(problem === undefined ? ok(pcm()) : err(problem));
  }

  async *#speak(request: SpeechRequest) {
    this.spoken.push(request);
    for (const piece of this.speechPieces) {
      const problem = this.speechProblems.shift();
      if (problem !== undefined) {
        yield err(problem);
        return;
      }
      this.piecesMade += 1;
      yield ok(piece);
    }
  }

  #recorderNeeds(): RecorderNeeds {
    const { clock, rows, files } = this;
    const { random, callbacks, logger } = this.needs;
    const store = {
      insert: (row: Recording) => {
        if (this.isStoreDown) return Promise.reject(new Error('the disk is full'));
        rows.set(row.recordingId, row);
        return Promise.resolve();
      },
      note: (recordingId: RecordingId, pendingCharges: Recording['pendingCharges']) => {
        const row = rows.get(recordingId);
        if (this.isStoreFull) return Promise.reject(new ServiceError('STORE_FULL', 'disk full'));
        if (row?.status === 'recording') rows.set(recordingId, { ...row, pendingCharges });
        return Promise.resolve();
      },
      finish: (
        recordingId: RecordingId,
        end: Partial<Recording>,
        notification: StoredNotification | undefined,
      ) => {
        const row = rows.get(recordingId);
        if (this.isStoreFull) return Promise.reject(new ServiceError('STORE_FULL', 'disk full'));
        if (row?.status !== 'recording') return Promise.resolve(undefined);
        rows.set(recordingId, { ...row, ...end, pendingCharges: undefined });
        if (notification !== undefined) this.storedNotifications.push(notification);
        return Promise.resolve(rows.get(recordingId));
      },
      unfinished: () => Promise.resolve([...rows.values()].filter((r) => r.status === 'recording')),
    };
    return {
      recordings: new Recordings({
        recordings: store,
        exports: {},
        files: {},
        clock,
        random: { ...random, bytes: (n: number) => new Uint8Array(n).fill(rows.size + 1) },
      } as unknown as ConstructorParameters<typeof Recordings>[0]),
      transcriptions: NO_TRANSCRIPTIONS,
      encoder: {
        encodeMp3: (_wavPath, mp3Path) => {
          this.encoded.push(mp3Path);
          const problem = this.encoderProblems.shift();
          if (problem !== undefined) return Promise.resolve(err(problem));
          files.set(mp3Path.replace('/recordings/', ''), 1234);
          return Promise.resolve(ok({ bytes: 1234 }));
        },
      },
      folder: {
        prepare: (file) => {
          if (file.endsWith('.wav') && !files.has(file)) files.set(file, 16_044);
          return Promise.resolve(`/recordings/${file}`);
        },
        synced: (file) => Promise.resolve(files.get(file)),
        repairWav: async (file) => {
          if (this.unreadable === file) throw new Error('too many open files');
          return files.has(file) ? 1000 : undefined;
        },
        remove: (file) => {
          files.delete(file);
          return Promise.resolve();
        },
      },
      callbacks,
      ledger: this.uses,
      linkTo: ({ recordingId, format }) => `https://media.test/${recordingId}.${format}?sig=s`,
      hangupReported: () => this.hangupReported,
      clock,
      logger,
    };
  }
}

/** Rate for recordings: one cent per minute. */
export const RECORDING_RATE = {
  direction: 'recording',
  prefix: '',
  perMinute: micros(10_000),
  pulseMs: 60_000,
  currency: 'USD',
  accountId: undefined,
} as const;
