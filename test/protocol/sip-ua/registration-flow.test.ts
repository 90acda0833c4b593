/** Our registration over a connection: a flow (RFC 5626) with its Service-Route (RFC 3608). */
import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../src/base/system-random.ts';
import { UserAgent, type UserAgentOutput } from '../../../src/protocol/sip/sip.ts';
import type { Flow } from '../../../src/protocol/sip/transport/flow.ts';
import { inviteCommand } from './script.ts';

const FLOW: Flow = {
  transport: 'tcp',
  localAddress: '192.0.2.1',
  localPort: 40_000,
  remoteAddress: '192.0.2.9',
  remotePort: 5060,
  connectionId: 7,
};
const REGISTRAR = 'sip:192.0.2.9;transport=tcp';
const ACCOUNT = { username: 'trunk', password: 'secret' };

/** A user agent whose connections open immediately. */
class Client {
  readonly #agent = new UserAgent({
    random: systemRandom,
    publicHost: '192.0.2.1',
    publicPort: 5060,
    localAddress: '192.0.2.1',
    localPort: 5060,
    userAgent: 'test',
    transports: ['udp', 'tcp'],
    wallOffsetMs: 0,
    realm: undefined,
    trustedSource: () => undefined,
    instanceId: 'urn:uuid:00000000-0000-5000-8000-000000000001',
  });
  readonly outputs: UserAgentOutput[] = [];

  dispatch(input: Parameters<UserAgent['handle']>[0]): void {
    for (const output of this.#agent.handle(input, 0)) {
      this.outputs.push(output);
      if (output.kind === 'connect')
        this.dispatch({ kind: 'connected', id: output.id, flow: FLOW });
    }
  }

  get sent(): string {
    const last = this.outputs.findLast((output) => output.kind === 'send');
    return last === undefined ? '' : Buffer.from(last.bytes).toString();
  }

  answer(status: string, more: readonly string[]): void {
    const echoed = this.sent
      .split('\r\n')
      .filter((line) => /^(?:via|from|to|call-id|cseq|contact):/i.test(line));
    const text = [`SIP/2.0 ${status}`, ...echoed, ...more, 'Content-Length: 0', '', ''];
    this.dispatch({ kind: 'received', bytes: Buffer.from(text.join('\r\n')), flow: FLOW });
  }
}

function registering(): Client {
  const client = new Client();
  client.dispatch({
    kind: 'register',
    registration: 1,
    aor: 'sip:trunk@192.0.2.9',
    registrar: REGISTRAR,
    transport: 'tcp',
    account: ACCOUNT,
    expires: 600,
  });
  return client;
}

const invite = (client: Client): void =>
  client.dispatch(
    inviteCommand({
      target: { kind: 'uri', uri: 'sip:4930@192.0.2.9', transport: 'tcp', registrar: REGISTRAR },
      from: { user: 'trunk', host: '192.0.2.1', displayName: '' },
      callId: 'c',
      sdp: 'v=0\r\n',
      account: ACCOUNT,
    }),
  );

describe('our registration over a connection', () => {
  it('registers a flow of our instance', () => {
    const { sent } = registering();
    expect(sent).toMatch(
      /^Contact: <[^>]*>;\+sip\.instance="<urn:uuid:00000000-0000-5000-8000-000000000001>";reg-id=1\r$/m,
    );
    expect(sent).toContain('Supported: path, outbound\r\n');
  });

  it('registers without outbound if the first proxy does not support it (439)', () => {
    const client = registering();
    client.answer('439 First Hop Lacks Outbound Support', []);
    expect(client.sent).toMatch(/^REGISTER /);
    expect(client.sent).not.toContain('reg-id');
  });

  it('is pinged if the registrar requires it, at 80 to 100 % of the interval', () => {
    const client = registering();
    client.answer('200 OK', ['Require: outbound', 'Flow-Timer: 90']);
    const requested = client.outputs.find((output) => output.kind === 'keepAlive');
    expect(requested?.connectionId).toBe(7);
    expect(requested?.everyMs).toBeGreaterThanOrEqual(72_000);
    expect(requested?.everyMs).toBeLessThanOrEqual(90_000);
    const plain = registering();
    plain.answer('200 OK', []);
    expect(plain.outputs.some((output) => output.kind === 'keepAlive')).toBe(false);
  });

  it('provides a Service-Route for calls until the next response changes it', () => {
    const client = registering();
    client.answer('200 OK', ['Service-Route: <sip:edge.example;lr>, <sip:core.example;lr>']);
    invite(client);
    const question = client.outputs.find((output) => output.kind === 'resolve');
    expect(question?.query.host).toBe('edge.example');
    const target = { transport: 'tcp', address: '192.0.2.9', port: 5060 } as const;
    client.dispatch({ kind: 'resolved', id: question?.id ?? 0, targets: [target] });
    expect(client.sent).toMatch(/^INVITE sip:4930@192\.0\.2\.9 /);
    expect(client.sent).toContain(
      'Route: <sip:edge.example;lr>\r\nRoute: <sip:core.example;lr>\r\n',
    );
    const other = registering();
    other.answer('200 OK', []);
    invite(other);
    expect(other.sent).not.toContain('Route:');
  });
});
