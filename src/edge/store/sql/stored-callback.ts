/** Stored JSON of callbacks and notifications. */
import type {
  CallbackParameters,
  CallbackTarget,
  DeliveryRequest,
  NotificationDraft,
  StoredNotification,
} from '../../../domain/callback/types.ts';
import {
  aNumber,
  aPair,
  aText,
  dictionaryOf,
  listOf,
  type Members,
  maybe,
  oneOf,
  type Shape,
  struct,
} from '../shape.ts';
import { StoredList, StoredObject, unchanged } from '../stored-kind.ts';

/** Parts of a request that a replay sends again. */
export const DELIVERY_REQUEST = new StoredObject<DeliveryRequest>({
  name: 'request of a webhook delivery',
  version: 1,
  shape: struct<DeliveryRequest>({
    url: aText(),
    parameters: listOf(aPair()),
    json: maybe(aText()),
    signs: maybe(oneOf('url', 'body')),
    headers: maybe(dictionaryOf(aText())),
  }),
  upgrades: [unchanged],
});

/** A notification inside the JSON of another record. The subject is stored as `callUuid`, as in records of earlier versions. */
export type StoredSubject<T extends { readonly subject: string }> = Omit<T, 'subject'> & {
  readonly callUuid: string;
};

export const writeSubject = <T extends NotificationDraft>({
  subject,
  ...rest
}: T): StoredSubject<T> => ({ ...rest, callUuid: subject });

export const readSubject = <T extends NotificationDraft>({ callUuid, ...rest }: StoredSubject<T>) =>
  ({ ...rest, subject: callUuid }) as unknown as T;

export const targetShape: Shape<CallbackTarget> = struct<CallbackTarget>({
  url: aText(),
  method: oneOf('GET', 'POST'),
});

export const TARGET = new StoredObject<CallbackTarget>({
  name: 'callback target',
  version: 1,
  shape: targetShape,
  upgrades: [unchanged],
});

const parametersShape: Shape<CallbackParameters> = listOf(aPair());

export const PARAMETERS = new StoredList<CallbackParameters>({
  name: 'callback parameters',
  version: 1,
  shape: parametersShape,
});

const draft: Members<StoredSubject<NotificationDraft>> = {
  accountId: aText(),
  callUuid: aText(),
  event: aText(),
  target: targetShape,
  parameters: parametersShape,
  json: maybe(aText()),
};

export const draftShape = struct(draft);

export const notificationShape = struct<StoredSubject<StoredNotification>>({
  id: aText(),
  ...draft,
  createdUs: aNumber(),
  attempts: aNumber(),
});
