/** Limits of an answer document. The size comes from dialect §2.0; the others bound the cost of a hostile document. */
export const MAX_DOCUMENT_BYTES = 100 * 1024;
export const MAX_DEPTH = 16;
export const MAX_ELEMENTS = 2000;
export const MAX_ATTRIBUTES = 100;
export const MAX_URL_LENGTH = 4096;
/** Limit of dialect §1.3, in bytes. */
export const MAX_EXTRA_HEADERS_BYTES = 512;
/** Maximum number of legs that one `Dial` rings at the same time. */
export const MAX_DIAL_DESTINATIONS = 20;
export const MAX_HEADER_PAIRS = 30;
/** Maximum loop count; 0 repeats until the call ends. */
export const MAX_LOOP = 1000;
export const DAY_S = 86_400;
