import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { asCallUuid } from '../../../src/base/ids.ts';
import { type Logger, silentLogger } from '../../../src/base/logger.ts';
import { OtlpExporter } from '../../../src/edge/telemetry/otlp.ts';
import { CallTraces } from '../../../src/service/call-traces.ts';
import { SimClock } from '../../sim/clock.ts';
import { aCdr } from '../store/records.ts';

interface Sent {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: {
    resourceSpans: {
      resource: unknown;
      scopeSpans: { spans: Readonly<Record<string, unknown>>[] }[];
    }[];
  };
}

let server: Server;
let sent: Sent[];
let status: number;

beforeEach(async () => {
  sent = [];
  status = 200;
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => {
      body += part;
    });
    request.on('end', () => {
      sent.push({ headers: request.headers, body: JSON.parse(body) });
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const exporter = (logger: Logger = silentLogger) =>
  new OtlpExporter({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    headers: ['x-team=voice=1'],
    service: { 'service.name': 'carillon' },
    logger,
  });

const CALL = asCallUuid('0b6c1c3e-8f0a-4f4e-9a53-2f6f2c9d1a11');

describe('a trace of a call (OTLP over HTTP)', () => {
  it('contains the call, its callbacks and its SIP messages under the UUID of the call', async () => {
    const clock = new SimClock();
    const out = exporter();
    const traces = new CallTraces({
      exporter: out,
      clock,
      timelineOf: () => [
        { atUs: 2_000_000, kind: 'xml', text: 'Speak', facts: { line: 3 } },
        {
          atUs: 3_000_000,
          kind: 'callback',
          text: 'StartApp',
          facts: {
            durationMs: 250,
            status: 500,
            error: 'HTTP status 500',
            method: 'POST',
            url: 'https://a.example/',
            spanId: '00f067aa0ba902b7',
          },
        },
      ],
      messagesOf: () => [
        { atUs: 1_000_000, direction: 'in', text: 'INVITE sip:1@x SIP/2.0\r\nVia: y' },
      ],
    });
    traces.ended(aCdr({ callUuid: CALL, startUs: 1_000_000, endUs: 9_000_000, streams: [] }));
    await clock.advance(2_999);
    await traces.stop();
    const [{ headers, body } = sent[0] as Sent] = sent;
    expect(headers).toMatchObject({ 'x-team': 'voice=1', 'content-type': 'application/json' });
    const spans = body.resourceSpans[0]?.scopeSpans[0]?.spans ?? [];
    const traceId = '0b6c1c3e8f0a4f4e9a532f6f2c9d1a11';
    expect(spans).toMatchObject([
      {
        traceId,
        spanId: '9a532f6f2c9d1a11',
        startTimeUnixNano: '1000000000',
        events: [{ name: 'xml: Speak' }],
      },
      {
        traceId,
        parentSpanId: '9a532f6f2c9d1a11',
        spanId: '00f067aa0ba902b7',
        name: 'callback StartApp',
        startTimeUnixNano: '2750000000',
        endTimeUnixNano: '3000000000',
        status: { code: 2, message: 'HTTP status 500' },
      },
      { name: 'SIP', events: [{ name: 'in INVITE sip:1@x SIP/2.0' }] },
    ]);
    expect(new Set(spans.map((span) => span['spanId'])).size).toBe(3);
  });

  it('contains a leg of a Dial as a span within its call', async () => {
    const out = exporter();
    const parts = {
      exporter: out,
      clock: new SimClock(),
      timelineOf: () => [],
      messagesOf: () => [],
    };
    const traces = new CallTraces(parts);
    const leg = asCallUuid('1b6c1c3e-8f0a-4f4e-8a53-2f6f2c9d1a22');
    traces.ended(aCdr({ callUuid: leg, parentCallUuid: CALL, streams: [] }));
    await traces.stop();
    expect(sent[0]?.body.resourceSpans[0]?.scopeSpans[0]?.spans[0]).toMatchObject({
      traceId: '0b6c1c3e8f0a4f4e9a532f6f2c9d1a11',
      parentSpanId: '9a532f6f2c9d1a11',
      spanId: '8a532f6f2c9d1a22',
    });
  });

  it('reports a failing collector once, and only loses spans', async () => {
    status = 503;
    const warned: string[] = [];
    const out = exporter({ ...silentLogger, warn: (_fields, text) => void warned.push(text) });
    const span = {
      traceId: '0',
      spanId: '1',
      name: 'x',
      kind: 'internal',
      startUs: 1,
      endUs: 2,
      attributes: {},
    } as const;
    for (let round = 0; round < 3; round += 1) {
      out.add([span]);
      await out.stop();
    }
    expect(warned).toEqual(['trace export failed']);
    expect(out.dropped).toBe(3);
  });
});
