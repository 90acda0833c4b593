/** Cost of a call in the Kamailio edge. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Fleet } from '../../test/cluster/fleet.ts';
import { Edge, missingModules } from '../../test/deploy/kamailio.ts';
import { freePort } from '../../test/e2e/service.ts';
import { cpuOf } from '../calls/accounting.ts';
import type { Row } from '../row.ts';
import { calledAt, measureCalls, warmUp } from './calls.ts';
import { rounded } from './figures.ts';

export async function atTheEdge(fleet: Fleet, answerUrl: string): Promise<readonly Row[]> {
  if (missingModules()?.length !== 0) {
    process.stderr.write('kamailio is not installed: the edge is not measured\n');
    return [];
  }
  const folder = mkdtempSync(join(tmpdir(), 'carillon-bench-edge-'));
  const sipPort = await freePort();
  const edge = await Edge.start(
    folder,
    fleet.nodes.map(({ service }) => `127.0.0.1:${service.sipPort}`),
    {
      PUBLIC_ADDRESS: '127.0.0.1',
      PUBLIC_PORT: sipPort,
      WS_PORT: await freePort(),
      PRIVATE_ADDRESS: '127.0.0.1',
      PRIVATE_PORT: await freePort(),
      PRIVATE_HTTP_PORT: await freePort(),
    },
  );
  try {
    const nodes = fleet.nodes.map(({ service }) => service);
    const called = await calledAt(nodes, answerUrl, [{ sipPort }]);
    const before = cpuOf(edge.pid).ms;
    const warm = await warmUp([called]);
    const { calls } = await measureCalls(called);
    return [
      {
        name: 'Kamailio: CPU of a call',
        value: rounded((cpuOf(edge.pid).ms - before) / (warm + calls)),
        unit: 'ms/call',
        note: `a call with a challenge, 9 messages each way, its questions to the nodes included`,
      },
    ];
  } finally {
    await edge.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
