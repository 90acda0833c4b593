/** Front door: callbacks to customers. Documents are fetched with retries and a fallback; notifications are delivered for sure. */

import type { AccountId } from '../../base/ids.ts';
import { type DeliveryNeeds, DeliveryQueue } from './delivery-queue.ts';
import {
  type DocumentNeeds,
  type DocumentOptions,
  type DocumentResult,
  fetchDocument,
} from './document.ts';
import { JsonEvents } from './json-events.ts';
import { ORDER_WAIT_MS } from './settings.ts';
import { signatureNonce, upgradeSignatureHeaders } from './signature.ts';
import type {
  CallbackParameters,
  CallbackTarget,
  JsonEvent,
  NotificationDraft,
  StoredNotification,
} from './types.ts';

export type { CallFacts, StirVerification } from './call-facts.ts';
export type { DocumentKind, DocumentOptions, DocumentResult } from './document.ts';
export { formEncode } from './form.ts';
export { inlineDocument } from './inline-document.ts';
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
export type { CallbackSettings } from './settings.ts';
export {
  type CallbackTokens,
  type SignedRequest,
  type SignedStrings,
  signatureHeaders,
  signatureNonce,
  signedStrings,
  upgradeSignatureHeaders,
} from './signature.ts';

/** Signs the upgrades of audio streams with the account's token; an account without one gets no headers. */
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
   * Asks a customer for answer XML. Every expected failure is a value; rejects only with the reason of `options.signal`.
   * An empty 2xx body is a document (the XML parser refuses it).
   */
  fetchDocument(
    target: CallbackTarget,
    parameters: CallbackParameters,
    options: DocumentOptions,
  ): Promise<DocumentResult>;
  /** Stores and delivers, after the earlier ones of the same subject. Returns at once, never throws. */
  notify(draft: NotificationDraft): void;
  /** Delivers one that is in the store already (`CallStore.settle`, `RecordingStore.finish`). */
  notifyStored(notification: StoredNotification): void;
  /** Sends once, after the earlier ones of the same call. Returns at once, never throws. */
  post(event: JsonEvent): void;
  /** After a start: takes up what is still in the store. */
  resume(): Promise<number>;
  /** Notifications in memory, delivered or waiting. */
  queued(): number;
  /**
   * Another node has declared this one dead: forgets every callback in memory, and drops what is still reported about the given
   * calls. Until `unfence`, other notifications are held back and those that are stored are left to whichever node adopts them.
   */
  fence(subjects: Iterable<string>): void;
  /** The new epoch of this node has begun in the store. */
  unfence(): void;
  /** Lets deliveries finish for at most `graceMs`, then stops; the rest is delivered after the next start. */
  close(graceMs: number): Promise<void>;
}

export type CallbackNeeds = DocumentNeeds & DeliveryNeeds;

export function createCallbackClient(needs: CallbackNeeds): CallbackClient {
  const deliveryQueue = new DeliveryQueue(needs);
  const events = new JsonEvents(needs);
  return {
    fetchDocument: async (target, parameters, options) => {
      // What an element told of while it ran arrives before its end does (dialect §2.1, order of callbacks).
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
    queued: () => deliveryQueue.queued,
    fence: (subjects) => {
      const taken = [...subjects];
      deliveryQueue.fence(taken);
      events.fence(taken);
    },
    unfence: () => deliveryQueue.unfence(),
    close: async (graceMs) => {
      await Promise.all([deliveryQueue.close(graceMs), events.close(graceMs)]);
    },
  };
}
