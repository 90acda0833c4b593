/** The customers' API, as one account. */
import { createReadStream, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { DEMO_FILE } from '../service/data-folder.ts';
import { type Json, refusalText } from './client.ts';
import { type ConnectionOptions, type Environment, findUrl } from './connection.ts';

export interface AccountOptions extends ConnectionOptions {
  readonly authId?: string | undefined;
  readonly authToken?: string | undefined;
}

interface AccountConnection {
  readonly url: string;
  readonly authId: string;
  readonly authToken: string;
}

/** Options first, then the environment, then the account that the first start of the service made. */
export function findAccount(options: AccountOptions, env: Environment): AccountConnection {
  const dataDir = options.dataDir ?? env['CARILLON_DATA_DIR'] ?? 'data';
  const first = firstAccount(join(dataDir, DEMO_FILE));
  const authId = options.authId ?? env['CARILLON_AUTH_ID'] ?? first?.authId;
  const own = authId === first?.authId ? first?.authToken : undefined;
  const authToken = options.authToken ?? env['CARILLON_AUTH_TOKEN'] ?? own;
  if (!authId || !authToken) {
    throw new Error(
      'no account: give --auth-id and --auth-token, or set CARILLON_AUTH_ID and CARILLON_AUTH_TOKEN',
    );
  }
  return { url: findUrl(options, env), authId, authToken };
}

function firstAccount(file: string): { authId?: string; authToken?: string } | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as { authId?: string; authToken?: string };
  } catch {
    return undefined;
  }
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

export class AccountClient {
  readonly #connection: AccountConnection;

  constructor(connection: AccountConnection) {
    this.#connection = connection;
  }

  async json(method: Method, path: string, body?: object): Promise<Json> {
    const reply = await this.#send(path, {
      method,
      ...(body && {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    });
    const text = await reply.text();
    return text === '' ? {} : (JSON.parse(text) as Json);
  }

  /** A file that comes line by line. */
  async lines(path: string, print: (line: string) => void): Promise<void> {
    const reply = await this.#send(path, { method: 'GET' });
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of reply.body ?? []) {
      const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) print(line);
    }
    if (rest !== '') print(rest);
  }

  /** Sends a file as it is read; `sent` is told of its bytes, done and in all. */
  async upload(
    path: string,
    file: string,
    sent: (bytes: number, total: number) => void,
  ): Promise<Json> {
    const total = statSync(file).size;
    let bytes = 0;
    async function* counted(): AsyncGenerator<Uint8Array> {
      for await (const chunk of createReadStream(file)) {
        bytes += (chunk as Uint8Array).length;
        sent(bytes, total);
        yield chunk as Uint8Array;
      }
    }
    const reply = await this.#send(path, {
      method: 'POST',
      headers: { 'content-type': file.endsWith('.json') ? 'application/json' : 'text/csv' },
      body: Readable.toWeb(Readable.from(counted())) as RequestInit['body'],
      duplex: 'half',
    } as RequestInit);
    return (await reply.json()) as Json;
  }

  async #send(path: string, request: RequestInit): Promise<Response> {
    const { url, authId, authToken } = this.#connection;
    let reply: Response;
    try {
      reply = await fetch(`${url}/api/v1/account/${encodeURIComponent(authId)}${path}`, {
        ...request,
        headers: { ...request.headers, 'x-auth-id': authId, 'x-auth-token': authToken },
      });
    } catch (cause) {
      throw new Error(`cannot reach the service at ${url}: is it running? (npm start)`, { cause });
    }
    if (!reply.ok) throw new Error(refusalText(reply.status, await reply.text(), 'credentials'));
    return reply;
  }
}
