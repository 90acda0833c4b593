/** Web server of the customer: a document for every answer URL, and an empty reply to callbacks. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { HOST } from './sipp.ts';

/** Answers, and waits for keys. */
const HOLD = '<Response><GetDigits timeout="600" numDigits="20"/></Response>';

export class Customer {
  answers = 0;
  callbacks = 0;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(document: (from: string) => string): Promise<Customer> {
    const server = createServer((request, reply) => {
      let requested = '';
      request.setEncoding('latin1');
      request.on('data', (piece: string) => {
        requested += piece;
      });
      request.on('end', () => {
        const isAnswer = request.url?.startsWith('/answer') === true;
        if (isAnswer) customer.answers += 1;
        else customer.callbacks += 1;
        const from = /(?:^|&)From=(\d+)/.exec(requested)?.[1] ?? '';
        const isHold = request.url?.startsWith('/hold') === true;
        const body = isAnswer ? document(from) : isHold ? HOLD : '<Response/>';
        reply.writeHead(200, { 'content-type': 'application/xml', 'content-length': body.length });
        reply.end(body);
      });
    });
    const customer = new Customer(server);
    server.keepAliveTimeout = 60_000;
    await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
    return customer;
  }

  get url(): string {
    return `http://${HOST}:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
