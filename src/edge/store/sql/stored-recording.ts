/** Stored JSON of recordings and exports. */
import type { NotificationDraft } from '../../../domain/callback/types.ts';
import type { UseRate } from '../../../domain/ledger/types.ts';
import type {
  PendingCharges,
  RecordingEndReason,
  RecordingFilter,
} from '../../../domain/recording/types.ts';
import { aNumber, anInteger, aText, maybe, oneOf, struct } from '../shape.ts';
import { StoredObject, unchanged } from '../stored-kind.ts';
import { type Column, converted, stored } from '../table.ts';
import { draftShape, readSubject, type StoredSubject, writeSubject } from './stored-callback.ts';

type StoredCharges = Omit<PendingCharges, 'notice'> & {
  readonly notice?: StoredSubject<NotificationDraft> | undefined;
};

export const PENDING_CHARGES = new StoredObject<StoredCharges>({
  name: 'pending charges of a recording',
  version: 2,
  shape: struct<StoredCharges>({
    currency: aText(),
    rate: maybe(struct<UseRate>({ perMinute: anInteger(), pulseMs: anInteger() })),
    notice: maybe(draftShape),
    end: maybe(
      struct<NonNullable<PendingCharges['end']>>({
        reason: aText<RecordingEndReason>(),
        digits: aText(),
      }),
    ),
  }),
  upgrades: [unchanged, unchanged],
});

export const chargesColumn = (name: string): Column<PendingCharges> =>
  converted(
    stored(name, PENDING_CHARGES),
    (charges: PendingCharges): StoredCharges => ({
      ...charges,
      notice: charges.notice && writeSubject(charges.notice),
    }),
    (charges) => ({ ...charges, notice: charges.notice && readSubject(charges.notice) }),
  );

export const EXPORT_FILTER = new StoredObject<RecordingFilter>({
  name: 'filter of an export',
  version: 1,
  shape: struct<RecordingFilter>({
    accountId: aText(),
    subAccount: maybe(aText()),
    callUuid: maybe(aText()),
    conferenceName: maybe(aText()),
    conferenceUuid: maybe(aText()),
    fromNumber: maybe(aText()),
    toNumber: maybe(aText()),
    format: maybe(oneOf('mp3', 'wav')),
    recordingId: maybe(aText()),
    addedFromUs: maybe(aNumber()),
    addedToUs: maybe(aNumber()),
  }),
  upgrades: [unchanged],
});
