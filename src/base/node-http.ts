/**
 * Node's HTTP server, without what else the module names: an ES import of `node:http` asks for all of its exports, and those
 * for browsers (`WebSocket`, `MessageEvent`, `CloseEvent`) load a second HTTP client (760 KB of sources, 2.4 MB of heap).
 */
import { getBuiltinModule } from 'node:process';

export const { createServer, STATUS_CODES } = getBuiltinModule('node:http');
