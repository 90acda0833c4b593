/** Recording of one room or one member. At most one runs at a time, whether a document or the REST API requested it. */
import { err, ok, type Result } from '../../../base/result.ts';
import type { LiveRecording, RecordRefusal } from '../recording/types.ts';

type Outcome = Promise<Result<LiveRecording, RecordRefusal>>;

export class RecordingSlot<Request> {
  readonly #begin: (request: Request) => Outcome;
  #live: LiveRecording | undefined;
  #starting: Promise<unknown> | undefined;
  #last: LiveRecording | undefined;
  #request: Request | undefined;
  #stopWanted = false;
  #isPaused = false;

  constructor(begin: (request: Request) => Outcome) {
    this.#begin = begin;
  }

  /** The active recording, or the most recent one. */
  get last(): LiveRecording | undefined {
    return this.#last;
  }

  /** The most recent request. */
  get request(): Request | undefined {
    return this.#request;
  }

  get isRunning(): boolean {
    return this.#live !== undefined || this.#starting !== undefined;
  }

  /** Whether the recording was stopped while it was being started. */
  get isStopping(): boolean {
    return this.#starting !== undefined && this.#stopWanted;
  }

  get state(): 'not-recording' | 'recording' | 'paused' {
    if (!this.isRunning) return 'not-recording';
    return this.#isPaused ? 'paused' : 'recording';
  }

  async start(request: Request): Outcome {
    if (this.isRunning)
      return err({ kind: 'wrongState', detail: 'a recording is already running' });
    this.#stopWanted = false;
    this.#isPaused = false;
    this.#request = request;
    const starting = this.#begin(request);
    this.#starting = starting;
    try {
      const started = await starting;
      if (!started.ok) return started;
      const current = started.value;
      this.#last = current;
      // A recording ends automatically at its time limit.
      void current.ended.then(() => {
        if (this.#live === current) this.#live = undefined;
      });
      // stop() or pause() may have been called while the file was being opened.
      if (this.#stopWanted) current.stop('HungUp');
      else this.#live = current;
      if (this.#isPaused) current.pause(true);
      return ok(current);
    } finally {
      this.#starting = undefined;
    }
  }

  /** Pauses or resumes; paused audio is not recorded or charged. Returns false if no recording is running. */
  pause(isPaused: boolean): boolean {
    if (!this.isRunning) return false;
    this.#isPaused = isPaused;
    this.#live?.pause(isPaused);
    return true;
  }

  /** Stops the recording. Returns false if none is running. */
  stop(reason: 'HungUp' | 'API request'): boolean {
    if (!this.isRunning) return false;
    this.#stopWanted = true;
    this.#live?.stop(reason);
    this.#live = undefined;
    return true;
  }
}
