import { X509Certificate } from 'node:crypto';
import { isIP, type Socket } from 'node:net';
import { connect, TLSSocket } from 'node:tls';
import type { Flow, Target } from '../../../protocol/sip/sip.ts';
import type { SecureAcceptor } from './secure-acceptor.ts';
import { isCertificateOf } from './server-identity.ts';
import type { StreamKind } from './stream-transport.ts';
import type { TlsIdentity } from './tls-identity.ts';

/** TLS on a socket, as server and as client (RFC 3261 §26.3.1, RFC 5922, RFC 5923). */
export class TlsKind implements StreamKind {
  readonly transport = 'tls' as const;
  readonly #identity: TlsIdentity;
  readonly #acceptor: SecureAcceptor;
  /** Verified certificates of peers. */
  readonly #certificates = new WeakMap<Flow, X509Certificate>();
  readonly failed: (target: Target, why: string) => void;

  constructor(
    identity: TlsIdentity,
    acceptor: SecureAcceptor,
    failed: (target: Target, why: string) => void,
  ) {
    this.#identity = identity;
    this.#acceptor = acceptor;
    this.failed = failed;
  }

  mayBegin(address: string, nowMs: number): boolean {
    return this.#acceptor.mayBegin(address, nowMs);
  }

  accept(raw: Socket, ready: (socket: Socket) => void): void {
    this.#acceptor.accept(raw, ready);
  }

  open({ address, port, name = address }: Target, localAddress: string | undefined) {
    const { client, policy } = this.#identity;
    const socket = connect({
      host: address,
      port,
      ...(localAddress === undefined ? {} : { localAddress }),
      ...(isIP(name) === 0 ? { servername: name } : {}),
      secureContext: client,
      checkServerIdentity: (_host, { raw }) =>
        isCertificateOf(new X509Certificate(raw), name, policy.wildcards)
          ? undefined
          : new Error(`the certificate is not that of ${name}`),
    });
    return { socket, ready: 'secureConnect' as const };
  }

  opened(socket: Socket, flow: Flow): void {
    if (!(socket instanceof TLSSocket) || !socket.authorized) return;
    const certificate = socket.getPeerX509Certificate();
    if (certificate !== undefined) this.#certificates.set(flow, certificate);
  }

  /** Returns whether the peer has proved the requested name (RFC 5922 §7, RFC 5923 §8). */
  serves(flow: Flow, { address, name = address }: Target): boolean {
    return this.isNamed(flow, name);
  }

  isNamed(flow: Flow, name: string): boolean {
    const certificate = this.#certificates.get(flow);
    const { wildcards } = this.#identity.policy;
    return certificate !== undefined && isCertificateOf(certificate, name, wildcards);
  }
}
