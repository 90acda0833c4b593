import { MASK, maskSecrets } from '../../../base/mask.ts';
import { type Failure, invalidField } from '../http/failure.ts';

/** Returns a stored URL with its password and tokens masked. */
export const showMasked = (url: string | undefined): string | null =>
  url === undefined ? null : maskSecrets(url);

/** Returns whether the URL contains a mask, so that the stored one is kept. */
export const isMasked = (url: string | null | undefined): boolean => url?.includes(MASK) === true;

/** Rejects a mask in any URL other than the stored one: it would be stored as the password. */
export const wrongMask = (
  field: string,
  url: string | null | undefined,
  stored: string | undefined,
): Failure | undefined =>
  isMasked(url) && url !== showMasked(stored)
    ? invalidField(field, `contains ${MASK} instead of the secret: write the secret itself`)
    : undefined;
