/**
 * Node's HTTP server without the browser exports of the module. An ES import of `node:http` evaluates all exports.
 * `WebSocket`, `MessageEvent` and `CloseEvent` load a second HTTP client (760 KB of sources, 2.4 MB of heap).
 */
import { getBuiltinModule } from 'node:process';

export const { createServer, STATUS_CODES } = getBuiltinModule('node:http');

/** Returns the URL of a request, with a placeholder as its host. Undefined if the target is not a path. */
export function urlOf({ url }: { readonly url?: string | undefined }): URL | undefined {
  // Resolved against a base, the path `//` would be an empty host, which throws.
  return url?.startsWith('/') === true ? new URL(`http://host${url}`) : undefined;
}
