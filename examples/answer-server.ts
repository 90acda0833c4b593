/** Shared code of the TypeScript answer servers: documents and callbacks by path, without a framework. */
import { createServer, type IncomingMessage } from 'node:http';
import { publicUrl } from './bot-server.ts';

/** Longest accepted body in bytes. */
const MAX_BODY = 1 << 16;

export interface Callback {
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  /** Parameters of the query and of the body. */
  readonly parameters: URLSearchParams;
  readonly body: string;
}

/** Returns the reply to one callback: a document as text, or nothing for events. */
export type Reply = (callback: Callback) => string | undefined | Promise<string | undefined>;

/** Serves the replies on 127.0.0.1 and prints the URL of each path. */
export function serveReplies(port: number, replies: Readonly<Record<string, Reply>>): void {
  const base = publicUrl(port);
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', base);
    const reply = replies[url.pathname];
    try {
      const body = await bodyOf(request);
      if (reply === undefined) {
        response.writeHead(404).end();
        return;
      }
      const parameters = new URLSearchParams([...url.searchParams, ...formOf(request, body)]);
      const { headers } = request;
      const text = await reply({ url: url.href, headers, parameters, body });
      response.writeHead(200, { 'Content-Type': 'application/xml' }).end(text ?? '');
    } catch (error) {
      console.log(`${url.pathname}: ${error}`);
      if (!response.headersSent) response.writeHead(500).end();
    }
  });
  server.listen(port, '127.0.0.1', () => {
    for (const path of Object.keys(replies)) console.log(`serving ${base}${path}`);
  });
}

/** Escapes a text for an XML document. */
export const xml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

const formOf = ({ headers }: IncomingMessage, body: string): URLSearchParams =>
  new URLSearchParams(headers['content-type']?.includes('urlencoded') ? body : '');

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const part of request.setEncoding('utf8')) {
    body += part;
    if (body.length > MAX_BODY) throw new Error('the body is too long');
  }
  return body;
}
