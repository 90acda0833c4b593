import ipaddr from 'ipaddr.js';
import { ServiceError } from '../../base/errors.ts';
import { RecentMap } from '../../base/recent-map.ts';
import type { EdgePlace, Flow, PeerPlace, SipTransportName } from '../../protocol/sip/sip.ts';
import { inRanges } from './source-match.ts';

const MAX_KNOWN = 10_000;
const HEAD_BYTES = 65_535;
/** Header that an edge proxy adds to each forwarded message: `X-Carillon-Source: <transport> <address> <port>`. */
const SOURCE = /\r\nX-Carillon-Source[ \t]*:[ \t]*([^\r\n]*)/gi;
const PLACE = /^(udp|tcp|tls|ws|wss)[ \t]+\[?([0-9a-f.:]+)\]?[ \t]+(\d{1,5})$/i;

/** Trusted edge proxies. The source that they report replaces the flow's peer, and the header is removed. */
export class Edges {
  readonly #ranges: readonly string[];
  readonly #known = new RecentMap<boolean>(MAX_KNOWN);

  constructor(ranges: readonly string[]) {
    this.#ranges = ranges;
  }

  has({ remoteAddress }: Pick<Flow, 'remoteAddress'>): boolean {
    let known = this.#known.get(remoteAddress);
    if (known === undefined) {
      known = inRanges(remoteAddress, this.#ranges);
      this.#known.set(remoteAddress, known);
    }
    return known;
  }

  /** Returns undefined if the message is not from an edge proxy, or was created by the proxy. */
  received(
    bytes: Uint8Array,
    flow: Flow,
  ): { readonly bytes: Uint8Array; readonly flow: Flow } | undefined {
    if (!this.has(flow)) return undefined;
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
    const end = text.slice(0, HEAD_BYTES).indexOf('\r\n\r\n');
    const head = end === -1 ? text : text.slice(0, end);
    // The proxy removes headers from others. If there are several, the last one is from the proxy.
    const reported = [...head.matchAll(SOURCE)].at(-1)?.[1];
    if (reported === undefined) return undefined;
    const rest = Buffer.from(head.replace(SOURCE, '') + text.slice(head.length), 'latin1');
    return { bytes: rest, flow: { ...flow, behind: placeOf(reported) } };
  }
}

function placeOf(text: string): PeerPlace | undefined {
  const [, transport, address, port] = PLACE.exec(text.trim()) ?? [];
  if (transport === undefined || address === undefined || Number(port) > 65_535) return undefined;
  return {
    transport: transport.toLowerCase() as SipTransportName,
    address,
    port: Number(port),
  };
}

const PLACES = /^(?:\[([0-9a-f.:]+)\]|([\d.]+))(?::(\d{1,5}))?$/i;
/** Port of deploy/kamailio. */
const EDGE_PORT = 5070;

/**
 * Reads `sip.outboundEdges`. Each must be in `sip.edges`, because its source information must be trusted. Throws
 * CONFIG_INVALID.
 */
export function edgePlaces(
  texts: readonly string[],
  edges: readonly string[],
): readonly EdgePlace[] {
  const refused = (why: string): ServiceError => new ServiceError('CONFIG_INVALID', why);
  return texts.map((text) => {
    const [, v6, v4, port = EDGE_PORT] = PLACES.exec(text.trim()) ?? [];
    const written = v6 ?? v4 ?? '';
    if (!ipaddr.isValid(written) || Number(port) > 65_535)
      throw refused(`sip.outboundEdges needs addresses, as 10.0.0.5 or 10.0.0.5:5070: ${text}`);
    const address = ipaddr.process(written).toString();
    if (!inRanges(address, edges)) throw refused(`sip.edges lacks ${address} of sip.outboundEdges`);
    return { address, port: Number(port) };
  });
}
