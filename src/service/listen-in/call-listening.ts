/**
 * Lets console users listen to running calls (an endless WAV file) or watch stream messages (server-sent events). A
 * slow reader loses data; the call never waits.
 */
import { Readable } from 'node:stream';
import type { Clock } from '../../base/clock.ts';
import type { CallUuid } from '../../base/ids.ts';
import type { Call } from '../../domain/call/call.ts';
import type { MediaStream } from '../../domain/call/needs.ts';
import type { CallListeningAccess, StillAllowed } from '../../edge/rest/server.ts';
import type { StreamWatches } from '../../edge/stream/watches.ts';
import { ENDLESS, wavHeader } from '../../protocol/audio-file/audio-file.ts';
import { type BothDirections, levelOf, listenToBothDirections, RATE } from './both-directions.ts';

export interface CallListeningNeeds {
  readonly callBilling: { get(callUuid: CallUuid): Call | undefined };
  readonly watches: StreamWatches;
  readonly clock: Pick<Clock, 'at' | 'monotonicMs'>;
}

/** Maximum number of listeners per call. The bots' own streams have priority (Leg::kMaxStreams). */
const MAX_PER_CALL = 2;
const MAX_IN_ALL = 20;
const MAX_BUFFERED = 256 * 1024;
const POLL_MS = 5000;
const LEVEL_FRAMES = 10;
const FRAME_MS = 20;
const MAX_MESSAGE = 4096;
/** Maximum amount of buffered audio for a slow listener: 16-bit stereo. */
const MAX_WAITING_MS = 1000;
const BYTES_PER_MS = (RATE / 1000) * 4;
/** Sequence numbers are filled in when messages are sent. */
const UNNUMBERED = /"sequenceNumber": +,/;

/** Output of one listener. Buffers at most 1 s of live audio; beyond that the oldest is dropped. */
export class LiveOutput extends Readable {
  readonly #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #isWanted = false;

  constructor() {
    super({ highWaterMark: FRAME_MS * BYTES_PER_MS });
  }

  override _read(): void {
    const next = this.#waiting.shift();
    this.#isWanted = next === undefined;
    if (next === undefined) return;
    this.#waitingBytes -= next.length;
    this.push(next);
  }

  /** Adds a piece of live audio. */
  offer(audio: Uint8Array): void {
    if (this.#isWanted) {
      this.#isWanted = false;
      this.push(audio);
      return;
    }
    this.#waiting.push(audio);
    this.#waitingBytes += audio.length;
    while (this.#waitingBytes > MAX_WAITING_MS * BYTES_PER_MS) {
      this.#waitingBytes -= this.#waiting.shift()?.length ?? this.#waitingBytes;
    }
  }
}

export class CallListening implements CallListeningAccess {
  readonly #needs: CallListeningNeeds;
  /** Open outputs with their end. */
  readonly #open = new Map<Readable, { readonly callUuid: CallUuid; readonly end: () => void }>();

  constructor(needs: CallListeningNeeds) {
    this.#needs = needs;
  }

  async listen(
    callUuid: CallUuid,
    isAllowed: StillAllowed,
  ): Promise<Readable | 'unknown' | 'busy'> {
    return this.#begin(callUuid, isAllowed, (call, out) => {
      call.log.add('call', 'a console user started to listen in');
      out.push(wavHeader(RATE, 2, ENDLESS));
      return [
        { close: () => call.log.add('call', 'a console user stopped listening in') },
        listenToBothDirections(call.media, (said, received) => {
          out.offer(interleaved(said, received));
        }),
      ];
    });
  }

  async watchStreams(
    callUuid: CallUuid,
    isAllowed: StillAllowed,
  ): Promise<Readable | 'unknown' | 'busy'> {
    return this.#begin(callUuid, isAllowed, (call, out) => {
      const notify = (event: string, facts: object): void => {
        if (out.readableLength > MAX_BUFFERED) return;
        out.push(`event: ${event}\ndata: ${JSON.stringify(facts)}\n\n`);
      };
      const watch = this.#needs.watches.watch(callUuid, ({ direction, text }) => {
        const whole = text.replace(UNNUMBERED, '');
        notify('message', { direction, text: whole.slice(0, MAX_MESSAGE), length: whole.length });
      });
      const levels = everyFrames(LEVEL_FRAMES, (said, received) =>
        notify('levels', { said_dbfs: levelOf(said), heard_dbfs: levelOf(received) }),
      );
      return [watch, listenToBothDirections(call.media, levels)];
    });
  }

  stop(): void {
    for (const { end } of [...this.#open.values()]) end();
  }

  #begin(
    callUuid: CallUuid,
    isAllowed: StillAllowed,
    join: (call: Call, out: LiveOutput) => readonly Pick<MediaStream, 'close'>[],
  ): Readable | 'unknown' | 'busy' {
    const call = this.#needs.callBilling.get(callUuid);
    if (call?.isAnswered !== true || call.isEnded) return 'unknown';
    const ofCall = [...this.#open.values()].filter((one) => one.callUuid === callUuid).length;
    if (ofCall >= MAX_PER_CALL || this.#open.size >= MAX_IN_ALL) return 'busy';
    const out = new LiveOutput();
    let joined: readonly Pick<MediaStream, 'close'>[];
    try {
      joined = join(call, out);
    } catch {
      out.destroy();
      return 'busy';
    }
    // The media ends with the output, not when it was read: a reader may have stopped, and nothing may follow the end.
    const end = (): void => {
      if (!this.#open.delete(out)) return;
      call.signal.removeEventListener('abort', end);
      unwatch();
      for (const one of joined) one.close();
      if (!out.destroyed) out.push(null);
    };
    this.#open.set(out, { callUuid, end });
    const unwatch = this.#look(end, async () => !call.isEnded && (await isAllowed()));
    call.signal.addEventListener('abort', end, { once: true });
    out.once('close', end);
    return out;
  }

  /** Calls `end` within a few seconds after the listener is no longer permitted. */
  #look(end: () => void, isAllowed: StillAllowed): () => void {
    const { clock } = this.#needs;
    let cancel = (): void => undefined;
    const again = (): void => {
      cancel = clock.at(clock.monotonicMs() + POLL_MS, () => {
        void isAllowed()
          .catch(() => true)
          .then((may) => (may ? undefined : end()));
        again();
      });
    };
    again();
    return () => cancel();
  }
}

function everyFrames(
  count: number,
  reported: (said: readonly Int16Array[], received: readonly Int16Array[]) => void,
): BothDirections {
  let [said, received]: [Int16Array[], Int16Array[]] = [[], []];
  return (one, other) => {
    said.push(one);
    received.push(other);
    if (said.length < count) return;
    reported(said, received);
    [said, received] = [[], []];
  };
}

/** Interleaves both directions. Left: audio from the peer; right: audio to the peer. */
function interleaved(said: Int16Array, received: Int16Array): Uint8Array {
  const both = new Int16Array(2 * said.length);
  for (let i = 0; i < said.length; i += 1) {
    both[2 * i] = said[i] ?? 0;
    both[2 * i + 1] = received[i] ?? 0;
  }
  return new Uint8Array(both.buffer);
}
