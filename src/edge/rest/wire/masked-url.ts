import { MASK, maskSecrets } from '../../../base/mask.ts';
import { type Failure, invalidField } from '../http/failure.ts';

/** A stored URL with its password and tokens masked. */
export const showMasked = (url: string | undefined): string | null =>
  url === undefined ? null : maskSecrets(url);

/** Sent back as it was shown: the one that is stored stays. */
export const isMasked = (url: string | null | undefined): boolean => url?.includes(MASK) === true;

/** A mask in another URL than the one that is stored is nobody's password. */
export const wrongMask = (
  field: string,
  url: string | null | undefined,
  stored: string | undefined,
): Failure | undefined =>
  isMasked(url) && url !== showMasked(stored)
    ? invalidField(field, `holds ${MASK}, which stands for what is stored: write the secret itself`)
    : undefined;
