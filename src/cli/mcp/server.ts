/** MCP server with the official SDK, an optional package. */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hashHex } from '../../base/hash.ts';
import { createServer, urlOf } from '../../base/node-http.ts';
import { truncate } from '../../base/text.ts';
import { VERSION } from '../../config/version.ts';
import { sentenceOf } from '../refusal.ts';
import type { Arguments, McpTool } from './tools.ts';

const MCP_PACKAGE = '@modelcontextprotocol/sdk';
const INSTALL = `carillon mcp needs the package ${MCP_PACKAGE}: run npm install --no-save ${MCP_PACKAGE}@1`;
const MAX_BODY_BYTES = 1024 * 1024;
/** Maximum length of a result, with the sentence that it is cut. A model cannot use more. */
const MAX_RESULT = 100_000;
/** Space for this sentence. */
const CUT_MAX = 100;

/** Modules of the SDK, loaded on demand. */
async function sdk() {
  try {
    const [server, types] = await Promise.all([
      import('@modelcontextprotocol/sdk/server/index.js'),
      import('@modelcontextprotocol/sdk/types.js'),
    ]);
    return { ...server, ...types };
  } catch (cause) {
    throw new Error(INSTALL, { cause });
  }
}

/** Creates a server with these tools. Each connection needs its own. `running` holds the tool calls in progress. */
async function createMcpServer(tools: readonly McpTool[], running = new Set<Promise<unknown>>()) {
  const { Server, ListToolsRequestSchema, CallToolRequestSchema } = await sdk();
  const server = new Server(
    { name: 'carillon', version: VERSION },
    { capabilities: { tools: {} } },
  );
  server.setRequestHandler(ListToolsRequestSchema, async () => ({
    tools: tools.map(({ name, description, inputSchema, isReadOnly }) => ({
      name,
      description,
      inputSchema: { ...inputSchema, required: [...(inputSchema.required ?? [])] },
      annotations: { readOnlyHint: isReadOnly, destructiveHint: !isReadOnly },
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const call = called(tools, params.name, params.arguments ?? {});
    running.add(call);
    return call.finally(() => running.delete(call));
  });
  return server;
}

/** Cuts a long result, and tells the model so. */
function fitting(text: string): string {
  if (text.length <= MAX_RESULT) return text;
  const shown = truncate(text, MAX_RESULT - CUT_MAX);
  return `${shown}\n\n[cut: ${text.length} characters, of which ${shown.length} are shown]`;
}

async function called(tools: readonly McpTool[], name: string, args: Arguments) {
  const failed = (text: string) => ({ content: [{ type: 'text' as const, text }], isError: true });
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) return failed(`there is no tool ${name}`);
  const fault = argumentFault(tool, args);
  if (fault !== undefined) return failed(fault);
  try {
    const result = await tool.run(args);
    const text = typeof result === 'string' ? result : JSON.stringify(result ?? null, undefined, 2);
    return { content: [{ type: 'text' as const, text: fitting(text) }] };
  } catch (error) {
    return failed(sentenceOf(error));
  }
}

function argumentFault({ inputSchema }: McpTool, args: Arguments): string | undefined {
  const { properties, required = [] } = inputSchema;
  const unknown = Object.keys(args).find((name) => !(name in properties));
  if (unknown !== undefined) return `${unknown} is not an argument`;
  const missing = required.find((name) => args[name] === undefined);
  if (missing !== undefined) return `${missing} is missing`;
  for (const [name, value] of Object.entries(args)) {
    const { type, maxLength, minimum, maximum } = properties[name] as {
      readonly type: string;
      readonly maxLength?: number;
      readonly minimum?: number;
      readonly maximum?: number;
    };
    const isText = type === 'string';
    if (isText && (typeof value !== 'string' || value.length > (maxLength ?? 0)))
      return `${name} must be a string of at most ${maxLength} characters`;
    const isInRange =
      typeof value === 'number' && value >= (minimum ?? 0) && value <= (maximum ?? 0);
    if (type === 'integer' && !Number.isInteger(value)) return `${name} must be a whole number`;
    if (!isText && !isInRange) return `${name} must be from ${minimum} to ${maximum}`;
  }
  return undefined;
}

/**
 * Serves one client over standard input and output. Resolves when the client disconnects. If only the input ends, as of a
 * script that pipes its requests, the responses to these requests are complete.
 */
export async function serveStdio(tools: readonly McpTool[]): Promise<void> {
  const running = new Set<Promise<unknown>>();
  const server = await createMcpServer(tools, running);
  const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
  const closed = new Promise<void>((resolve) => {
    server.onclose = resolve;
    process.stdin.once('end', resolve);
  });
  await server.connect(new StdioServerTransport());
  await closed;
  await Promise.all(running);
  // The SDK sends the last response after the call has ended.
  await new Promise(setImmediate);
  await server.close();
}

export interface HttpOptions {
  readonly host: string;
  /** Port to listen on; 0 picks a free one. */
  readonly port: number;
  /** Bearer token that clients must send. */
  readonly token: string;
}

export interface McpHttpServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Serves clients over Streamable HTTP at `/mcp`, without sessions. */
export async function serveHttp(
  tools: readonly McpTool[],
  { host, port, token }: HttpOptions,
): Promise<McpHttpServer> {
  await sdk();
  const server = createServer((request, response) => {
    answer(tools, token, { request, response }).catch(() => {
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(new Error(`cannot listen on ${host}:${port}: ${error.code ?? error.message}`)),
    );
    server.listen(port, host, resolve);
  });
  const at = server.address() as AddressInfo;
  const authority = `${at.family === 'IPv6' ? `[${at.address}]` : at.address}:${at.port}`;
  return {
    url: `http://${authority}/mcp`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

async function answer(
  tools: readonly McpTool[],
  token: string,
  { request, response }: Exchange,
): Promise<void> {
  const status = refusalOf(request, token);
  if (status !== undefined) return refuse(response, status);
  const body = await bodyOf(request);
  if (body === 'tooLong') return refuse(response, 413);
  if (body === undefined) return refuse(response, 400);
  const { StreamableHTTPServerTransport } = await import(
    '@modelcontextprotocol/sdk/server/streamableHttp.js'
  );
  const server = await createMcpServer(tools);
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
  response.on('close', () => {
    void transport.close();
    void server.close();
  });
  // The declared types of the SDK do not fit `exactOptionalPropertyTypes`.
  await server.connect(transport as unknown as Parameters<typeof server.connect>[0]);
  await transport.handleRequest(request, response, body);
}

/** Reasons of refusals by HTTP status. */
const REASONS = {
  400: 'the body is not JSON',
  401: 'the token is missing or wrong: send Authorization: Bearer with CARILLON_MCP_TOKEN',
  404: 'the MCP server is at /mcp',
  405: 'send requests with POST: the server has no sessions and no event stream',
  413: `the body exceeds ${MAX_BODY_BYTES} bytes`,
} as const;
type Refusal = keyof typeof REASONS;

function refuse(response: ServerResponse, status: Refusal): void {
  const headers = {
    'Content-Type': 'application/json',
    ...(status === 401 && { 'WWW-Authenticate': 'Bearer' }),
    ...(status === 405 && { Allow: 'POST' }),
    // The rest of the body is not read.
    ...(status === 413 && { Connection: 'close' }),
  };
  const error = { code: -32_600, message: REASONS[status] };
  response.writeHead(status, headers).end(JSON.stringify({ jsonrpc: '2.0', error, id: null }));
}

function refusalOf(request: IncomingMessage, token: string): Refusal | undefined {
  if (urlOf(request)?.pathname !== '/mcp') return 404;
  if (request.method !== 'POST') return 405;
  const given = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
  // Hashes have equal length, which the comparison requires.
  const hash = (text: string): Buffer => Buffer.from(hashHex('sha256', text));
  return timingSafeEqual(hash(given), hash(token)) ? undefined : 401;
}

/** Returns the parsed body, or undefined if it is not a JSON object or array. */
async function bodyOf(request: IncomingMessage): Promise<object | 'tooLong' | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += (chunk as Buffer).length;
    if (length > MAX_BODY_BYTES) return 'tooLong';
    chunks.push(chunk as Buffer);
  }
  try {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    return typeof body === 'object' && body !== null ? body : undefined;
  } catch {
    return undefined;
  }
}
