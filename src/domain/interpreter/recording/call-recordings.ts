import type { RecordingId } from '../../../base/ids.ts';
import type { Call } from '../../call/call.ts';
import type { RunningRecording } from './running-recording.ts';

/** Recording state of one call. */
export class CallRecordings {
  readonly live = new Set<RunningRecording>();
  armed: readonly (() => void)[] = [];
  readonly #call: Call;
  readonly #paused = new Set<RunningRecording>();
  /** Whether recordings of both sides that start now begin paused. */
  #startsPaused = false;
  #starting = 0;
  /** Number of requests to stop all recordings. */
  #stops = 0;

  constructor(call: Call) {
    this.#call = call;
  }

  /** Number of recordings that run or start. */
  get count(): number {
    return this.live.size + this.#starting;
  }

  /**
   * Counts a recording that starts. The returned function must be called when its record is stored, or that has failed. It
   * returns true if all recordings were stopped in between.
   */
  begins(): () => boolean {
    this.#starting += 1;
    const stops = this.#stops;
    return () => {
      this.#starting -= 1;
      return stops !== this.#stops;
    };
  }

  /** A recording that was to start does not. */
  failed(): void {
    if (this.count === 0) this.#startsPaused = false;
  }

  /** Adds a recording that has started. `mayPause`: a pause of all recordings applies to it. */
  add(take: RunningRecording, mayPause: boolean): void {
    this.live.add(take);
    if (this.#startsPaused && mayPause) this.#pause(take, true);
    void take.ended.then(() => {
      this.live.delete(take);
      if (this.count === 0) this.#startsPaused = false;
      if (this.#paused.delete(take)) this.#call.log.hidesInput = this.#paused.size > 0;
    });
  }

  /** Stops one recording or all of them, including those that start. Returns false if there was none. */
  stop(recordingId: RecordingId | undefined): boolean {
    const isAll = recordingId === undefined;
    const chosen = this.#chosen(recordingId);
    const starting = isAll ? this.#starting : 0;
    if (isAll) this.#stops += 1;
    for (const take of chosen) take.stop('API request');
    return chosen.length + starting > 0;
  }

  /** Pauses or resumes one recording or all of them, including those that start. Returns their number. */
  pause(isPaused: boolean, recordingId: RecordingId | undefined): number {
    const isAll = recordingId === undefined;
    if (isAll) this.#startsPaused = isPaused && this.count > 0;
    const chosen = this.#chosen(recordingId);
    for (const take of chosen) this.#pause(take, isPaused);
    return chosen.length + (isAll ? this.#starting : 0);
  }

  #chosen(recordingId: RecordingId | undefined): readonly RunningRecording[] {
    return [...this.live].filter(
      (take) => recordingId === undefined || take.recordingId === recordingId,
    );
  }

  #pause(take: RunningRecording, isPaused: boolean): void {
    const { log } = this.#call;
    take.pause(isPaused);
    if (isPaused) this.#paused.add(take);
    else this.#paused.delete(take);
    const text = isPaused ? 'recording paused' : 'recording resumed';
    log.add('media', text, { recordingId: take.recordingId });
    log.hidesInput = this.#paused.size > 0;
  }
}
