/** What happens to the call after the stream. */
export type Outcome =
  | { readonly kind: 'hangup' }
  | { readonly kind: 'fallback'; readonly cause: string }
  | { readonly kind: 'limit' }
  | { readonly kind: 'transfer'; readonly to: string; readonly callerId: string | undefined };
