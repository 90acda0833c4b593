/** The recording of one room: at most one at a time, whoever asked for it. */
import { err, ok, type Result } from '../../../base/result.ts';
import type { MediaRoom } from '../../call/needs.ts';
import type { Recorder } from '../needs.ts';
import type { LiveRecording, RecordRefusal, RoomRecordRequest } from '../recording/types.ts';

export class RoomRecording {
  readonly #recorder: Pick<Recorder, 'startRoom'>;
  readonly #room: MediaRoom;
  #live: LiveRecording | undefined;
  #starting: Promise<unknown> | undefined;
  #last: LiveRecording | undefined;
  #stopWanted = false;

  constructor(recorder: Pick<Recorder, 'startRoom'>, room: MediaRoom) {
    this.#recorder = recorder;
    this.#room = room;
  }

  /** The recording that runs, or the last one that did. */
  get last(): LiveRecording | undefined {
    return this.#last;
  }

  get isRunning(): boolean {
    return this.#live !== undefined || this.#starting !== undefined;
  }

  async start(request: RoomRecordRequest): Promise<Result<LiveRecording, RecordRefusal>> {
    if (this.isRunning) {
      return err({ kind: 'wrongState', detail: 'the conference is being recorded already' });
    }
    this.#stopWanted = false;
    const starting = this.#recorder.startRoom(this.#room, request);
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
      // It may have been stopped while the file was being opened.
      if (this.#stopWanted) current.stop('HungUp');
      else this.#live = current;
      return ok(current);
    } finally {
      this.#starting = undefined;
    }
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
