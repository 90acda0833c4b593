/**
 * Callbacks to customers. Documents are fetched with retries and a fallback URL; notifications are stored and
 * delivered at least once.
 */

import type { AccountId } from '../../base/ids.ts';
import { type DeliveryNeeds, DeliveryQueue } from './delivery-queue.ts';
import {
  type DocumentNeeds,
  type DocumentOptions,
  type DocumentResult,
  fetchDocument,
} from './document.ts';
import { JsonEvents } from './json-events.ts';
import { SecondLook } from './second-look.ts';
import { ORDER_WAIT_MS } from './settings.ts';
import { signatureNonce, upgradeSignatureHeaders } from './signature.ts';
import type {
  CallbackParameters,
  CallbackTarget,
  JsonEvent,
  NotificationDraft,
  StoredNotification,
} from './types.ts';

export type { CallFacts } from './call-facts.ts';
export { Deliveries, type DeliveryRefusal } from './deliveries.ts';
export type { DocumentOptions, DocumentResult } from './document.ts';
export { inlineDocument, inlineXmlOf } from './inline-document.ts';
export { KnownTokens } from './known-tokens.ts';
export {
  type CallStatus,
  type HangupFacts,
  hangupParameters,
  machineDetectionParameters,
  partyParameter,
  ringParameters,
  standardParameters,
  startAppParameters,
} from './parameters.ts';

export { signatureNonce, upgradeSignatureHeaders } from './signature.ts';

/** Creates the function that signs audio stream upgrades with the account's token. Without a token it returns no headers. */
export const createUpgradeSigner =
  (needs: Pick<CallbackNeeds, 'tokens' | 'random' | 'settings'>) =>
  async (url: string, accountId: AccountId): Promise<Readonly<Record<string, string>>> => {
    const tokens = await needs.tokens.tokensOf(accountId);
    if (tokens === undefined) return {};
    const { signatureHeaders: prefixes } = needs.settings;
    return upgradeSignatureHeaders(url, tokens, prefixes, signatureNonce(needs.random));
  };

export interface CallbackClient {
  /**
   * Fetches answer XML from a customer. Expected failures are returned as values; rejects only with the reason of
   * `options.signal`. An empty 2xx body counts as a document, which the XML parser refuses.
   */
  fetchDocument(
    target: CallbackTarget,
    parameters: CallbackParameters,
    options: DocumentOptions,
  ): Promise<DocumentResult>;
  /** Stores the notification and delivers it after earlier ones of the same subject. Returns immediately, never throws. */
  notify(draft: NotificationDraft): void;
  /** Delivers a notification that is already stored (`CallStore.settle`, `RecordingStore.finish`). */
  notifyStored(notification: StoredNotification): void;
  /** Sends an event once, after earlier ones of the same call. Returns immediately, never throws. */
  post(event: JsonEvent): void;
  /** Resumes delivery of stored notifications after a start. Resolves with their number. */
  resume(): Promise<number>;
  /** Delivers notifications that were stored although the answer to their commit is lost. */
  lookAgain(): void;
  /** Number of notifications in memory, in delivery or waiting. */
  queued(): number;
  /**
   * Called when another node declared this one dead. Drops all callbacks in memory and further reports about the
   * given calls. Until `unfence`, other notifications are held back; stored ones are left to the node that adopts
   * them.
   */
  fence(subjects: Iterable<string>): void;
  /** Called when the new epoch of this node has begun in the store. */
  unfence(): void;
  /** Waits up to `graceMs` for deliveries to finish, then stops. The rest is delivered after the next start. */
  close(graceMs: number): Promise<void>;
}

export type CallbackNeeds = DocumentNeeds & DeliveryNeeds;

export function createCallbackClient(needs: CallbackNeeds): CallbackClient {
  const deliveryQueue = new DeliveryQueue(needs);
  const secondLook = new SecondLook(needs, () => deliveryQueue.lookAgain());
  const events = new JsonEvents(needs);
  return {
    fetchDocument: async (target, parameters, options) => {
      // Delivers the notifications of an element before the request to its action URL (dialect §2.1, order of callbacks).
      if (options.kind === 'action') {
        const { accountId, callUuid: subject } = options;
        await deliveryQueue.caughtUp({ accountId, subject }, ORDER_WAIT_MS);
      }
      options.signal.throwIfAborted();
      return fetchDocument(needs, target, parameters, options);
    },
    notify: (draft) => deliveryQueue.notify(draft),
    notifyStored: (notification) => deliveryQueue.notifyStored(notification),
    post: (event) => events.post(event),
    resume: () => deliveryQueue.resume(),
    lookAgain: () => secondLook.soon(),
    queued: () => deliveryQueue.queued,
    fence: (subjects) => {
      const taken = [...subjects];
      deliveryQueue.fence(taken);
      events.fence(taken);
    },
    unfence: () => deliveryQueue.unfence(),
    close: async (graceMs) => {
      secondLook.stop();
      await Promise.all([deliveryQueue.close(graceMs), events.close(graceMs)]);
    },
  };
}
