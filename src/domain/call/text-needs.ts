/** Text messages (RFC 3428) between endpoints. */
import type { Headers, Party } from './signalling-needs.ts';

/** Received text message (RFC 3428). */
export interface InboundText {
  readonly from: Party;
  readonly to: Party;
  /** User part of the request URI. */
  readonly dialled: string;
  readonly requestUri: string;
  /** Username of the authenticated endpoint; undefined for a carrier. */
  readonly endpointUsername: string | undefined;
  readonly carrier: string | undefined;
  readonly contentType: string;
  readonly body: Uint8Array;
  /** Sends the final response; call once. `why` is the explanation for the sender. */
  answer(status: number, more?: { readonly why?: string; readonly retryAfterS?: number }): void;
}

/** Text message to all phones of an endpoint. */
export interface OutboundText {
  readonly username: string;
  readonly from: { readonly user: string; readonly displayName: string };
  readonly headers: Headers;
  readonly contentType: string;
  readonly body: Uint8Array;
}

export interface Texting {
  /** Sets the message handler. Must be called exactly once. */
  onText(handler: (text: InboundText) => void): void;
  /** Sends a message. Returns the best final status, or undefined if no phone answered. */
  sendText(text: OutboundText): Promise<number | undefined>;
}
