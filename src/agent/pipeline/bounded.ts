/** Reads HTTP bodies up to a limit. */

/** Response with its body as a stream. */
export interface Streamed {
  readonly body: AsyncIterable<Uint8Array> | null;
}

interface Refusal {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
}

/** Describes a refusal, with the wait that the server states. */
export function statusOf({ status, headers }: Refusal): string {
  const wait = headers.get('retry-after');
  return wait === null ? `status ${status}` : `status ${status}, retry after ${wait.slice(0, 50)}`;
}

/** Yields the body in chunks. Throws if it exceeds `maxBytes`. */
export async function* chunksWithin(reply: Streamed, maxBytes: number): AsyncGenerator<Buffer> {
  let total = 0;
  for await (const chunk of reply.body ?? []) {
    total += chunk.length;
    if (total > maxBytes) throw new Error(`the response exceeds ${maxBytes} bytes`);
    yield Buffer.from(chunk);
  }
}

export async function textWithin(reply: Streamed, maxBytes: number): Promise<string> {
  const parts: Buffer[] = [];
  for await (const chunk of chunksWithin(reply, maxBytes)) parts.push(chunk);
  return Buffer.concat(parts).toString('utf8');
}
