/** Fetches answer XML with retries, then from the fallback URL (spec, Limits: 3 retries or 60 s). */

import type { Clock } from '../../base/clock.ts';
import type { AccountId, CallUuid } from '../../base/ids.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { type ExchangeFailure, type ExchangeNeeds, exchange } from './exchange.ts';
import { inlineXmlOf } from './inline-document.ts';
import { withRetries } from './retry.ts';
import {
  BACKOFF_MS,
  CONNECT_TIMEOUT_MS,
  DOCUMENT_READ_TIMEOUT_MS,
  MAX_DOCUMENT_BYTES,
  RETRIES,
  TOTAL_MS,
} from './settings.ts';
import type {
  CallbackAttempt,
  CallbackParameters,
  CallbackTarget,
  DocumentFailure,
  FetchedDocument,
} from './types.ts';
import { type CallbackPolicy, RETRY_REASONS, splitUrlOptions } from './url-options.ts';

/** Purpose of a document. Names the exchange in the call log if the parameters have no Event. */
type DocumentKind = 'answer' | 'action' | 'redirect' | 'transfer' | 'sound';

export interface DocumentOptions {
  readonly kind: DocumentKind;
  readonly accountId: AccountId;
  readonly callUuid: CallUuid;
  /** URL requested with the same parameters after the target failed. */
  readonly fallback?: CallbackTarget;
  /** Aborted when the call ends. The fetch then rejects with its reason. */
  readonly signal: AbortSignal;
  readonly onAttempt?: (attempt: CallbackAttempt) => void;
}

export type DocumentResult = Result<
  FetchedDocument & { readonly usedFallback: boolean },
  DocumentFailure
>;

const POLICY: Omit<CallbackPolicy, 'stallTimeoutMs'> = {
  connectTimeoutMs: CONNECT_TIMEOUT_MS,
  readTimeoutMs: DOCUMENT_READ_TIMEOUT_MS,
  totalMs: TOTAL_MS,
  retries: RETRIES,
  backoffMs: BACKOFF_MS,
  retryOn: new Set(RETRY_REASONS),
};

export interface DocumentNeeds extends ExchangeNeeds {
  readonly clock: Clock;
}

export async function fetchDocument(
  needs: DocumentNeeds,
  target: CallbackTarget,
  parameters: CallbackParameters,
  options: DocumentOptions,
): Promise<DocumentResult> {
  const first = await fetchOne(needs, target, parameters, options);
  if (first.ok) return ok({ ...first.value, usedFallback: false });
  if (options.fallback === undefined) return first;
  const second = await fetchOne(needs, options.fallback, parameters, options);
  return second.ok ? ok({ ...second.value, usedFallback: true }) : second;
}

async function fetchOne(
  needs: DocumentNeeds,
  target: CallbackTarget,
  parameters: CallbackParameters,
  options: DocumentOptions,
): Promise<Result<FetchedDocument, DocumentFailure>> {
  const inline = inlineXmlOf(target.url);
  if (inline !== undefined)
    return ok({ body: inline, contentType: 'application/xml', url: 'document:' });
  const { url, policy } = splitUrlOptions(target.url, {
    ...POLICY,
    // The caller hears silence while a sound is fetched, so the call continues without it after one failure.
    ...(options.kind === 'sound' ? { retries: 0 } : {}),
    stallTimeoutMs: needs.settings.firstByteMs,
  });
  const event = parameters.find(([name]) => name === 'Event')?.[1] ?? options.kind;
  // The wait for the lease does not count toward the request timeout.
  await needs.lease?.held(options.signal);
  const result = await withRetries(needs.clock, {
    policy,
    attemptsBefore: 0,
    signal: options.signal,
    once: (readTimeoutMs, signal) =>
      exchange(
        needs,
        {
          event,
          accountId: options.accountId,
          url,
          method: target.method,
          parameters,
          connectTimeoutMs: policy.connectTimeoutMs,
          readTimeoutMs,
          stallTimeoutMs: policy.stallTimeoutMs,
          maxResponseBytes: MAX_DOCUMENT_BYTES,
        },
        options.onAttempt ?? (() => undefined),
        signal,
      ),
  });
  if (!result.ok) return err({ kind: failureKind(result.error), detail: result.error.detail });
  const { body, contentType } = result.value;
  return ok({ body, contentType, url });
}

function failureKind(failure: ExchangeFailure): DocumentFailure['kind'] {
  switch (failure.cause) {
    case 'status':
      return 'badStatus';
    case 'tooLarge':
    case 'refusedAddress':
    case 'invalidUrl':
      return failure.cause;
    default:
      return 'unreachable';
  }
}
