/** Loads the native addon: one file, loaded once. The modules that use it declare its interface. */
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { ServiceError } from './errors.ts';

/** Path of the addon. It is also a SQLite extension (`edge/store/page-checksums.ts`). */
export const ADDON = fileURLToPath(new URL('../../build/native/carillon.node', import.meta.url));

/** Loads the addon. Throws if that fails, because the service cannot carry calls without it. */
export function loadNativeAddon(path = ADDON): unknown {
  try {
    return createRequire(import.meta.url)(path);
  } catch (cause) {
    throw new ServiceError('MEDIA_UNAVAILABLE', `the native addon ${path} cannot be loaded`, {
      cause,
    });
  }
}
