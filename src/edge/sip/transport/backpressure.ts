import type { Socket } from 'node:net';
import type { Clock } from '../../../base/clock.ts';
import type { ConnectionLimits } from './connection-limits.ts';

/** The reader of a connection, which can be paused. */
interface PausableReader {
  readonly isPaused: boolean;
  /** Bytes that the peer has not accepted yet. */
  readonly unsentBytes: number;
  pause(): void;
  resume(): void;
}

/** State of a connection that decides whether it accepts more bytes. */
interface SendState {
  readonly isClosed: boolean;
  readonly unsentBytes: number;
  readonly limits: ConnectionLimits;
  /** Closes a connection whose peer does not read. */
  stuck(): void;
}

/** Returns whether bytes may be sent. Otherwise it calls `failed`, and `stuck` if the peer does not read. */
export function maySend(state: SendState, failed: () => void): boolean {
  if (state.isClosed) {
    failed();
    return false;
  }
  if (state.unsentBytes <= state.limits.maxUnsentBytes) return true;
  failed();
  state.stuck();
  return false;
}

/**
 * Applies backpressure: a peer that sends faster than it reads responses is paused until it has read them. Calls `stuck`
 * if it does not read them within `messageMs`.
 */
export function applyBackpressure(
  socket: Socket,
  reader: PausableReader,
  { clock, limits }: { readonly clock: Clock; readonly limits: ConnectionLimits },
  stuck: () => void,
): void {
  const isMuch = reader.unsentBytes > limits.maxUnsentBytes / 4;
  if (!isMuch || !socket.writableNeedDrain || reader.isPaused) return;
  reader.pause();
  const cancel = clock.at(clock.monotonicMs() + limits.messageMs, stuck);
  socket.once('close', cancel);
  socket.once('drain', () => {
    socket.off('close', cancel);
    cancel();
    reader.resume();
  });
}
