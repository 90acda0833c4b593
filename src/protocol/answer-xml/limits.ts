/** Limits of an answer document. Size: dialect §2.0; the others keep a hostile document cheap. */
export const MAX_DOCUMENT_BYTES = 100 * 1024;
export const MAX_DEPTH = 16;
export const MAX_ELEMENTS = 2000;
export const MAX_ATTRIBUTES = 100;
export const MAX_URL_LENGTH = 4096;
/** Dialect §1.3. */
export const MAX_EXTRA_HEADERS_BYTES = 512;
/** Legs that one `Dial` rings at the same time. */
export const MAX_DIAL_DESTINATIONS = 20;
export const MAX_HEADER_PAIRS = 30;
/** Loops, in times; 0 is for ever. */
export const MAX_LOOP = 1000;
export const DAY_S = 86_400;
