/** One stored address selects the demo of each requesting node. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/logger.ts';
import { type Demo, startDemo } from '../../../src/demo/demo.ts';
import type { HttpRequest } from '../../../src/domain/callback/needs.ts';
import { createEgressGuard } from '../../../src/edge/egress/egress.ts';
import { DEMO_ORIGIN, DemoApplication } from '../../../src/edge/webhook/demo-application.ts';
import { createHttpCaller } from '../../../src/edge/webhook/http-caller.ts';

const request = (url: string): HttpRequest => ({
  method: 'POST',
  url,
  headers: {},
  body: 'Event=StartApp',
  maxRedirects: 0,
  connectTimeoutMs: 2000,
  readTimeoutMs: 2000,
  maxResponseBytes: 10_000,
});

describe('the demo of a node', () => {
  let demos: readonly Demo[];
  beforeAll(async () => {
    const options = { host: '127.0.0.1', port: 0, logger: silentLogger };
    demos = await Promise.all([startDemo(options), startDemo(options)]);
  });
  afterAll(async () => {
    await Promise.all(demos.map((demo) => demo.stop()));
  });

  /** Creates a node that may not use loopback or unencrypted URLs. */
  function node(demo: Demo | undefined) {
    const own = new DemoApplication();
    if (demo !== undefined) own.listensAt(demo.origin);
    const egress = createEgressGuard({
      allow: [],
      allowLoopback: false,
      allowInsecure: false,
      isOpen: (url) => own.isAt(url),
    });
    const outside = createHttpCaller({ egress, connectionsPerHost: 2 });
    return { egress, http: own.before(outside), close: () => outside.close() };
  }

  it("answers on each node with that node's bot, even if loopback is forbidden", async () => {
    for (const demo of demos) {
      const { http, egress, close } = node(demo);
      const answer = await http.send(request(`${DEMO_ORIGIN}/answer?a=b`));
      expect(answer).toMatchObject({ ok: true, value: { status: 200 } });
      expect(answer.ok && answer.value.body).toContain(`>${demo.streamUrl}</Stream>`);
      expect(egress.refuses(demo.streamUrl)).toBeUndefined();
      const [other] = demos.filter((each) => each !== demo);
      expect(egress.refuses(other?.streamUrl ?? '')).toContain('not allowed');
      expect(await http.send(request(`${other?.origin}/answer`))).toMatchObject({
        error: { kind: 'refusedAddress' },
      });
      await close();
    }
  });

  it('reports a disabled demo', async () => {
    const { http, close } = node(undefined);
    expect(await http.send(request(`${DEMO_ORIGIN}/answer`))).toMatchObject({
      error: { kind: 'connect', detail: 'the demo is off at this node (demo: false)' },
    });
    await close();
  });
});
