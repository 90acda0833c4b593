import type { CallbackTarget } from './types.ts';

/** Internal scheme. Customer URLs are always http or https. */
const SCHEME = 'document:';

/** Returns a target that contains its own document. Fetching it needs no network. */
export const inlineDocument = (xml: string): CallbackTarget => ({
  url: SCHEME + Buffer.from(xml, 'utf8').toString('base64url'),
  method: 'POST',
});

/** Returns the document of an inline target, or undefined for an ordinary URL. */
export const inlineXmlOf = (url: string): string | undefined =>
  url.startsWith(SCHEME)
    ? Buffer.from(url.slice(SCHEME.length), 'base64url').toString('utf8')
    : undefined;
