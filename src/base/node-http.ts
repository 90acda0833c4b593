/**
 * Node's HTTP server without the browser exports of the module. An ES import of `node:http` evaluates all exports.
 * `WebSocket`, `MessageEvent` and `CloseEvent` load a second HTTP client (760 KB of sources, 2.4 MB of heap).
 */
import { getBuiltinModule } from 'node:process';

export const { createServer, STATUS_CODES } = getBuiltinModule('node:http');
