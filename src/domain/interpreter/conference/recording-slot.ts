/** The recording of one room, or of one member: at most one at a time, whoever asked for it. */
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

  /** The recording that runs, or the last one that did. */
  get last(): LiveRecording | undefined {
    return this.#last;
  }

  /** What was asked for last. */
  get request(): Request | undefined {
    return this.#request;
  }

  get isRunning(): boolean {
    return this.#live !== undefined || this.#starting !== undefined;
  }

  get state(): 'not-recording' | 'recording' | 'paused' {
    if (!this.isRunning) return 'not-recording';
    return this.#isPaused ? 'paused' : 'recording';
  }

  async start(request: Request): Outcome {
    if (this.isRunning) return err({ kind: 'wrongState', detail: 'it is being recorded already' });
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
      // At its time limit a recording ends by itself.
      void current.ended.then(() => {
        if (this.#live === current) this.#live = undefined;
      });
      // It may have been stopped, or paused, while the file was being opened.
      if (this.#stopWanted) current.stop('HungUp');
      else this.#live = current;
      if (this.#isPaused) current.pause(true);
      return ok(current);
    } finally {
      this.#starting = undefined;
    }
  }

  /** What is said during a pause is neither kept nor charged. False when nothing runs. */
  pause(isPaused: boolean): boolean {
    if (!this.isRunning) return false;
    this.#isPaused = isPaused;
    this.#live?.pause(isPaused);
    return true;
  }

  /** False when there was nothing to stop. */
  stop(reason: 'HungUp' | 'API request'): boolean {
    if (!this.isRunning) return false;
    this.#stopWanted = true;
    this.#live?.stop(reason);
    this.#live = undefined;
    return true;
  }
}
