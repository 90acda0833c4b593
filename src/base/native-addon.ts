/** The native half of the service: one file, loaded once, described by the modules that use parts of it. */
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { ServiceError } from './errors.ts';

const ADDON = fileURLToPath(new URL('../../build/native/carillon.node', import.meta.url));

/** Throws: without its native half the service cannot carry a call. */
export function loadNativeAddon(path = ADDON): unknown {
  try {
    return createRequire(import.meta.url)(path);
  } catch (cause) {
    throw new ServiceError('MEDIA_UNAVAILABLE', `the native addon ${path} cannot be loaded`, {
      cause,
    });
  }
}
