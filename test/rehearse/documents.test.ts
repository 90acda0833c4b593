import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { runDocuments } from '../../src/rehearse/documents.ts';

it('reports a failed request without the password of its URL', async () => {
  const server = createServer((_, response) => response.writeHead(503).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const faults: string[] = [];
  await runDocuments(`http://user:first@second@127.0.0.1:${port}/answer`, {
    observed: { faults } as never,
    parameters: {},
    stream: async () => undefined,
    isOver: () => false,
  });
  server.close();
  expect(faults).toEqual([`http://127.0.0.1:${port}/answer responded with status 503`]);
});
