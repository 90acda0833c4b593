/**
 * Public interface of audio-stream sockets to customers' bots. Implements `AudioStreams` of the call domain over native
 * sockets.
 */
import { readFileSync } from 'node:fs';
import { getCACertificates } from 'node:tls';
import { ServiceError } from '../../base/errors.ts';
import type { AudioStreams } from '../../domain/call/needs.ts';
import { newTally, StreamDispatcher, type StreamTally } from './dispatcher.ts';
import { type AudioStreamsOptions, DEFAULT_STREAM_LIMITS } from './limits.ts';
import { NativeConnection } from './native-connection.ts';
import { Sockets } from './sockets.ts';
import { StreamWatches } from './watches.ts';

export {
  type AudioStreamsOptions,
  DEFAULT_STREAM_LIMITS,
} from './limits.ts';

interface StreamCounters extends Readonly<StreamTally> {
  readonly mediaSent: number;
  readonly messagesReceived: number;
  /** Socket threads; `busy` is the fraction of the last second spent working, 0..1. */
  readonly threads: readonly { readonly sockets: number; readonly busy: number }[];
}

export interface AudioStreamsEdge extends AudioStreams {
  /** Totals since the start, and the number of open streams. */
  counters(): StreamCounters;
  /** Watchers of stream messages. */
  readonly watches: StreamWatches;
  /** Closes every socket. Queued messages are still sent; bots get no further messages. */
  stop(): void;
}

export function createAudioStreams(options: AudioStreamsOptions): AudioStreamsEdge {
  const tally = newTally();
  const watches = new StreamWatches();
  const socketLimits = { ...DEFAULT_STREAM_LIMITS, ...options.limits };
  const own = ownAuthority(options.caFile);
  const sockets = new Sockets(
    () => [...getCACertificates('default'), own].join('\n'),
    options.threads ?? 1,
    options.logger,
  );
  const connectionNeeds = { ...options, sockets, socketLimits };
  const { clock, logger, turnTook } = options;
  return {
    open: (stream, leg, events) => {
      const connection = new NativeConnection(stream, connectionNeeds);
      const limits = socketLimits;
      const needs = { connection, clock, logger, limits, tally, watches, turnTook };
      return new StreamDispatcher(stream, leg, events, needs);
    },
    watches,
    counters: () => ({ ...tally, ...sockets.counters() }),
    stop: () => sockets.stop(),
  };
}

function ownAuthority(caFile: string | undefined): string {
  if (caFile === undefined || caFile === '') return '';
  try {
    return readFileSync(caFile, 'utf8');
  } catch (cause) {
    throw new ServiceError('CONFIG_INVALID', `streams.caFile ${caFile} cannot be read`, { cause });
  }
}
