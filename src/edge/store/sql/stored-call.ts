import type { StoredNotification } from '../../../domain/callback/types.ts';
import type { OpenCall } from '../../../domain/cdr/needs.ts';
import { readSubject, type StoredSubject, writeSubject } from './notifications.ts';

/** The JSON of an open record. A later version reads what an earlier one has left: its names stay. */
export type StoredCall = Omit<OpenCall, 'hangupNotification'> & {
  readonly hangupNotification?: StoredSubject<StoredNotification> | undefined;
};

export const storedCall = (call: OpenCall): StoredCall => ({
  ...call,
  hangupNotification: call.hangupNotification && writeSubject(call.hangupNotification),
});

export const openCall = (stored: StoredCall): OpenCall => ({
  ...stored,
  hangupNotification: stored.hangupNotification && readSubject(stored.hangupNotification),
});
