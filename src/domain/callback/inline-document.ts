import type { CallbackTarget } from './types.ts';

/** No URL of a customer: those are http and https. */
const SCHEME = 'document:';

/** A target that is its own answer: a document that the service itself has written. Nothing is asked over the network. */
export const inlineDocument = (xml: string): CallbackTarget => ({
  url: SCHEME + Buffer.from(xml, 'utf8').toString('base64url'),
  method: 'POST',
});

/** Undefined: an address like any other. */
export const inlineXmlOf = (url: string): string | undefined =>
  url.startsWith(SCHEME)
    ? Buffer.from(url.slice(SCHEME.length), 'base64url').toString('utf8')
    : undefined;
