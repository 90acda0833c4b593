import { SECOND_MS, secondsOf } from '../../../base/duration.ts';
import type { StoredNotification } from '../../../domain/callback/types.ts';
import type { OpenCall, OpenStream } from '../../../domain/cdr/needs.ts';
import type { Cdr } from '../../../domain/cdr/types.ts';
import { readSubject, type StoredSubject, writeSubject } from './notifications.ts';
import { finishedStream, type StoredStream, storedStream } from './stored-stream.ts';

type StoredOpenStream = Omit<OpenStream, 'pulseMs'> & { readonly pulseSeconds: number };
type StoredCdr = Omit<Cdr, 'billedMs' | 'streams'> & {
  readonly billedSeconds: number;
  readonly streams: readonly StoredStream[];
};

/** The JSON of an open record. A later version reads what an earlier one has left: its names and units stay. */
export type StoredCall = Omit<
  OpenCall,
  'cdr' | 'pulseMs' | 'streamPulseMs' | 'streams' | 'hangupNotification'
> & {
  readonly cdr: StoredCdr;
  readonly pulseSeconds: number;
  readonly streamPulseSeconds: number;
  readonly streams: readonly StoredOpenStream[];
  readonly hangupNotification?: StoredSubject<StoredNotification> | undefined;
};

/** JSON leaves out what is undefined: to copy a record whole and to clear a field costs a third of what leaving it out does. */
const LEFT_OUT = {
  ofCall: { pulseMs: undefined, streamPulseMs: undefined },
  ofCdr: { billedMs: undefined },
};

export function storedCall(call: OpenCall): StoredCall {
  const { cdr, streams, hangupNotification } = call;
  return {
    ...call,
    ...LEFT_OUT.ofCall,
    cdr: {
      ...cdr,
      ...LEFT_OUT.ofCdr,
      billedSeconds: secondsOf(cdr.billedMs),
      streams: cdr.streams.map(storedStream),
    },
    pulseSeconds: secondsOf(call.pulseMs),
    streamPulseSeconds: secondsOf(call.streamPulseMs),
    streams: streams.map(({ pulseMs: pulse, ...stream }) => ({
      ...stream,
      pulseSeconds: secondsOf(pulse),
    })),
    hangupNotification: hangupNotification && writeSubject(hangupNotification),
  };
}

export function openCall(stored: StoredCall): OpenCall {
  const { cdr, pulseSeconds, streamPulseSeconds, streams, hangupNotification, ...rest } = stored;
  const { billedSeconds, streams: finished, ...record } = cdr;
  return {
    ...rest,
    cdr: { ...record, billedMs: billedSeconds * SECOND_MS, streams: finished.map(finishedStream) },
    pulseMs: pulseSeconds * SECOND_MS,
    streamPulseMs: streamPulseSeconds * SECOND_MS,
    streams: streams.map(({ pulseSeconds: pulse, ...stream }) => ({
      ...stream,
      pulseMs: pulse * SECOND_MS,
    })),
    hangupNotification: hangupNotification && readSubject(hangupNotification),
  };
}
