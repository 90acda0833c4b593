/** Reads HTTP bodies up to a limit. */

/** Yields the body in chunks. Throws if it exceeds `maxBytes`. */
export async function* chunksWithin(reply: Response, maxBytes: number): AsyncGenerator<Buffer> {
  let total = 0;
  for await (const chunk of reply.body ?? []) {
    total += chunk.length;
    if (total > maxBytes) throw new Error(`the response exceeds ${maxBytes} bytes`);
    yield Buffer.from(chunk);
  }
}

export async function textWithin(reply: Response, maxBytes: number): Promise<string> {
  const parts: Buffer[] = [];
  for await (const chunk of chunksWithin(reply, maxBytes)) parts.push(chunk);
  return Buffer.concat(parts).toString('utf8');
}
