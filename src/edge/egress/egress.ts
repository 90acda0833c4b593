/** Entry point: the egress guard of the running service. */
import { isIP } from 'node:net';
import {
  type AddressLookup,
  type EgressGuard,
  hostOf,
  type ResolvedAddress,
} from '../../base/egress.ts';
import { ServiceError } from '../../base/errors.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { createAddressPolicy } from './address-policy.ts';
import { type NameResolver, systemResolver } from './system-resolver.ts';

export { createDestinationGuard } from './destination-guard.ts';
export { createServiceAddresses } from './service-addresses.ts';

export interface EgressOptions {
  /** Permitted addresses, CIDR ranges and host names in private networks. */
  readonly allow: readonly string[];
  readonly allowLoopback: boolean;
  /** Whether `http://` and `ws://` are permitted in addition to `https://` and `wss://`. */
  readonly allowInsecure: boolean;
  readonly resolver?: NameResolver;
  /** Permits URLs of this service regardless of their address. */
  readonly isOpen?: (url: URL) => boolean;
}

const SECURE = new Set(['https:', 'wss:']);
const INSECURE = new Set(['http:', 'ws:']);

/** Guard of commands: their user chooses the hosts, so every address is permitted. */
export const openEgressGuard = (): EgressGuard =>
  createEgressGuard({ allow: ['0.0.0.0/0', '::/0'], allowLoopback: true, allowInsecure: true });

export function createEgressGuard(options: EgressOptions): EgressGuard {
  const policy = createAddressPolicy(options.allow, options.allowLoopback);
  const resolve = sharedResolver(options.resolver ?? systemResolver);

  const refuses = (url: string | URL): string | undefined => {
    const parsed = parseUrl(url);
    if (parsed === undefined) return 'not an absolute URL';
    if (options.isOpen?.(parsed) === true) return undefined;
    if (INSECURE.has(parsed.protocol) && !options.allowInsecure) {
      return `${parsed.protocol}// is not allowed, it is not encrypted (setting streams.allowInsecure)`;
    }
    if (!SECURE.has(parsed.protocol) && !INSECURE.has(parsed.protocol)) {
      return `${parsed.protocol} is not allowed`;
    }
    const host = hostOf(parsed);
    return isIP(host) === 0 ? undefined : withSetting(policy.refusal(host));
  };

  /** Returns the permitted addresses of a name. Rejects if it cannot be resolved. */
  const permitted = async (
    hostname: string,
  ): Promise<Result<readonly ResolvedAddress[], string>> => {
    const name = hostname.toLowerCase().replace(/\.$/, '');
    const addresses = isIP(name) === 0 ? await resolve(name) : [literal(name)];
    if (policy.allowsName(name)) return ok(addresses);
    const passed = addresses.filter(({ address }) => policy.refusal(address) === undefined);
    if (passed.length > 0) return ok(passed);
    const first = addresses[0];
    const why = first === undefined ? undefined : withSetting(policy.refusal(first.address));
    return err(`${name}: ${why ?? 'it has no address'}`);
  };

  return {
    refuses,
    lookup: createLookup(permitted),
    async check(url) {
      const refusal = refuses(url);
      if (refusal !== undefined) return err(refusal);
      const host = hostOf(new URL(url));
      if (isIP(host) !== 0 && options.isOpen?.(new URL(url)) === true) return ok([literal(host)]);
      try {
        return await permitted(host);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        return err(`${host} cannot be resolved: ${reason}`);
      }
    },
  };
}

/** Adds the setting that permits a refused address. */
const withSetting = (refusal: string | undefined): string | undefined =>
  refusal === undefined ? undefined : `${refusal} (setting egress.allow)`;

function createLookup(
  permitted: (hostname: string) => Promise<Result<readonly ResolvedAddress[], string>>,
): AddressLookup {
  return (hostname, { all }, callback) => {
    permitted(hostname).then(
      (result) => {
        const first = result.ok ? result.value[0] : undefined;
        if (!result.ok || first === undefined) {
          const why = result.ok ? `${hostname} has no address` : result.error;
          callback(new ServiceError('EGRESS_REFUSED', why), []);
        } else if (all === true) callback(null, [...result.value]);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), []),
    );
  };
}

/** Shares one DNS query among simultaneous requests for the same name, such as many calls of one customer. */
function sharedResolver(resolver: NameResolver): NameResolver {
  const requested = new Map<string, Promise<readonly ResolvedAddress[]>>();
  return (name) => {
    const underWay = requested.get(name);
    if (underWay !== undefined) return underWay;
    const answer = resolver(name).finally(() => requested.delete(name));
    requested.set(name, answer);
    return answer;
  };
}

const literal = (address: string): ResolvedAddress => ({
  address,
  family: isIP(address) === 6 ? 6 : 4,
});

function parseUrl(url: string | URL): URL | undefined {
  if (typeof url !== 'string') return url;
  return URL.canParse(url) ? new URL(url) : undefined;
}
